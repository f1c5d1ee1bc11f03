package lists

import (
	"cmp"
	"fmt"
	"io"
	"regexp"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// array is a list of redirects in JSON. Only all its entries together identify the platform, so
// they are read twice.
type array struct {
	*migrate.Table
	platform platform
	lists    []migrate.Node // of entries
	isTable  bool           // the list is a map of paths
	unknown  migrate.Names  // ignored members of entries
	// isUnsaid reports whether an entry lacks a status, hasQuery whether a destination has a query.
	isUnsaid, hasQuery bool
}

// ReadArray reads a list of redirects, a file that contains one, or an object on each line.
func ReadArray(t *migrate.Table, r io.Reader) error {
	text, err := t.ReadText(r)
	if err != nil {
		return err
	}
	if javaScriptBeginning.MatchString(text[:min(len(text), 256)]) {
		return migrate.ErrorAt(t.Position(1, 1), "this is JavaScript, not JSON; for Next.js convert "+
			"routes-manifest.json from the build folder, else write the list of redirects as JSON")
	}
	values, err := t.DecodeJSON(text)
	a := array{Table: t}
	err = cmp.Or(a.find(values), err)
	for _, list := range a.lists {
		for _, v := range list.Inside() {
			a.platform = max(a.platform, platformOf(v))
		}
	}
	if a.platform >= listed || a.isTable {
		a.readPairs()
		return err
	}
	facts := platforms[a.platform]
	t.Program, t.Slashes, t.LastCounts = facts.name, redirects.SlashesMerged, facts.lastCounts
	for _, list := range a.lists {
		readList(t, list, entryMembers, &a.unknown, a.readEntry)
	}
	a.remark()
	t.Status, t.Query = cmp.Or(t.Status, facts.status), cmp.Or(t.Query, facts.query)
	return err
}

// javaScriptBeginning matches the beginning of configurations in JavaScript.
var javaScriptBeginning = regexp.MustCompile(
	`^\s*(module\.exports|(export|import|const)\s|/\*\* @type|// @ts-check)`)

// find finds the lists in a file: a list, an object that contains one, or a sequence of objects.
func (a *array) find(values migrate.Node) error {
	isFirst := true
	for _, v := range values.Inside() {
		switch {
		case !isFirst:
			return migrate.ErrorAt(v.At, "nothing may follow the list of redirects")
		case v.Kind == '{' && isEntry(v):
			a.lists = append(a.lists, values)
			return nil
		case v.Kind == '{' && isPairs(v):
			a.lists, a.isTable = append(a.lists, v), true
		case v.Kind == '{':
			a.findInObject(v)
		case v.Kind == '[':
			a.lists = append(a.lists, v)
		default:
			return migrate.ErrorAt(v.At, "redirects are a list of objects, or an object with the member "+
				"\"redirects\", not "+v.String())
		}
		isFirst = false
		if len(a.lists) == 0 {
			a.Wrong(v.At, "there are no redirects here; write a list of objects, by itself or as "+
				"\"redirects\" in an object or in its \"hosting\"; use --from json for rules of shortlink")
		}
	}
	return nil
}

// findInObject finds the list of an object, or that of a Firebase site. Only one of the sites can
// have redirects.
func (a *array) findInObject(v migrate.Node) {
	hosting := v.Member("hosting")
	if hosting.Kind == '{' || hosting.Kind == '[' {
		a.platform = firebase
	}
	if hosting.Kind == '{' {
		a.findRedirects(hosting)
	}
	var sites []string
	for _, site := range hosting.Inside() {
		if hosting.Kind == '[' && !a.findRedirects(site).IsEmpty() {
			sites = append(sites, cmp.Or(site.Member("target").Text, site.Member("site").Text))
		}
	}
	if len(sites) > 1 {
		a.lists = []migrate.Node{{}}
		a.Wrong(hosting.At, "several sites have redirects: %s; convert each from a file with that site "+
			"alone in \"hosting\"", migrate.QuoteAll(sites))
	}
	a.findRedirects(v)
}

// findRedirects finds the list in an object. It warns of other members that redirect.
func (a *array) findRedirects(v migrate.Node) (list migrate.Node) {
	var elsewhere migrate.Names
	isOfPages := false
	for key, m := range v.Inside() {
		switch key.Text {
		case "redirects":
			if m.Kind == '[' {
				list = m
				a.lists = append(a.lists, list)
			}
		case "fromExtensions", "toExtensions", "createRedirects":
			isOfPages = true
		case "rewrites", "routes", "trailingSlash", "cleanUrls":
			if key.Text != "cleanUrls" || m.Text != "false" {
				elsewhere.Add(key.Text)
			}
		}
	}
	if isOfPages {
		a.Remark("fromExtensions, toExtensions and createRedirects depend on the pages that Docusaurus " +
			"builds, and are left out; write out their redirects")
	}
	if elsewhere != nil {
		a.Remark("other members that affect requests are left out: %s; cleanUrls and trailingSlash make "+
			"redirects of their own", migrate.QuoteAll(elsewhere))
	}
	return list
}

// readPairs reads lists in a form of no program, and those of Ghost.
func (a *array) readPairs() {
	p := newPairs(a.Table)
	if a.platform == ghost {
		p.setGhost()
	}
	for _, list := range a.lists {
		p.readTable(list)
	}
	p.finish("list in JSON")
}

// readEntry reads an object that is a redirect.
func (a *array) readEntry(o *object) {
	e := newEntry(o, a.platform)
	if is, _ := e.truth("internal"); is {
		a.Count(o.line.At) // Next.js has made this entry itself
		return
	}
	a.isUnsaid = a.isUnsaid || e.line.Status == 0 && e.line.Refused == nil
	a.hasQuery = a.hasQuery || a.platform.keepsQuery() && migrate.HasQuery(e.destination)
	e.addLines()
}

// remark adds the remarks on the whole list.
func (a *array) remark() {
	for _, remark := range platforms[a.platform].remarks {
		a.Remark("%s", remark)
	}
	if a.hasQuery {
		a.Remark("if request and destination have the same parameter, Vercel and Next.js keep the " +
			"destination's, Firebase both, and rules the request's; the option protect q keeps the " +
			"destination's parameter q")
	}
	a.RemarkSkipped("members without a meaning here are", a.unknown)
	if a.isUnsaid && a.Status == 0 {
		a.Remark("%s; --status sets another", a.platform.remarkOnStatus())
	}
}

// platform is where a list in JSON belongs. If entries differ, the last one below counts.
type platform uint8

const (
	vercel platform = iota
	vercelBulk
	nextJS
	firebase
	docusaurus
	listed // by no program in particular
	ghost
)

// platforms describes the entries of each platform.
var platforms = [...]struct {
	name   string
	status int // of entries without one
	query  resolver.QueryMode
	// isPlain reports whether paths have no patterns. lastCounts reports whether the last of
	// several entries for the same path counts.
	isPlain, lastCounts bool
	remarks             []string
}{
	vercel: {name: "Vercel", status: 308},
	vercelBulk: {name: "Vercel", status: 307, query: resolver.QueryIgnore, isPlain: true,
		lastCounts: true, remarks: []string{"Vercel matches paths of bulk redirects in either letter " +
			"case, unless an entry says caseSensitive; the option fold case does so for a whole site"}},
	nextJS: {name: "Next.js", status: 308, remarks: []string{"Next.js matches paths in either " +
		"letter case; the option fold case does so for a site"}},
	firebase:   {name: "Firebase", status: 301},
	docusaurus: {name: "Docusaurus", isPlain: true},
}

// remarkOnStatus names the status of entries without one.
func (p platform) remarkOnStatus() string {
	if p == docusaurus {
		return "the pages of Docusaurus have no status, and rules without one have 302"
	}
	return fmt.Sprintf("entries without a status have %d, as at %s", platforms[p].status,
		platforms[p].name)
}

// keepsQuery reports whether a request's query is passed on even to a destination with one.
func (p platform) keepsQuery() bool { return p != vercelBulk && p != docusaurus }

// platformOf returns the platform of an entry.
func platformOf(v migrate.Node) (p platform) {
	if v.Member("from").Kind != 0 && v.Member("permanent").Kind != 0 {
		return ghost
	}
	for key := range v.Inside() {
		switch key.Text {
		case "sources", "target", "loc", "url", "source_path", "redirect_url":
			p = listed
		case "from":
			p = max(p, docusaurus)
		case "glob", "type":
			p = max(p, firebase)
		case "basePath", "locale", "internal":
			p = max(p, nextJS)
		case "caseSensitive", "sensitive", "query", "preserveQueryParams":
			p = max(p, vercelBulk)
		}
	}
	return p
}
