package lists

import (
	"cmp"
	"io"
	"regexp"
	"slices"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
)

// array is a list of redirects in JSON. Whose it is, its entries tell.
type array struct {
	t       *migrate.Table
	program program // of those that entries tell, the last one
	entries []*entry
	isFound bool     // there is a list, or an entry
	unknown []string // members of entries that say nothing
	sites   []string // of Firebase that have redirects
}

// ReadArray reads a list of redirects, a file that holds one, or an object on each line.
func ReadArray(t *migrate.Table, r io.Reader) error {
	text, err := migrate.ReadText(r, t.Source)
	if err != nil {
		return err
	}
	if programBegin.Match(text[:min(len(text), 256)]) {
		return migrate.ErrorAt(t.Position(1, 1), "this is a program, and no JSON; of Next.js take the "+
			"routes-manifest.json of the build folder, of others write their list of redirects as JSON")
	}
	a := array{t: t}
	err = a.readText(text)
	a.finish()
	return err
}

// programBegin is what configurations in JavaScript begin with.
var programBegin = regexp.MustCompile(
	`^\s*(module\.exports|(export|import|const)\s|/\*\* @type|// @ts-check)`)

// readText reads one list or object, or objects one behind the other.
func (a *array) readText(text []byte) error {
	values, err := migrate.DecodeJSON(text, a.t.Source)
	for i, v := range values {
		switch {
		case v.Kind == '{':
			a.readObject(v)
		case v.Kind == '[' && i == 0:
			a.readList(v)
		case i == 0:
			return migrate.ErrorAt(v.At, "redirects are a list of objects, or an object with the member "+
				"\"redirects\", not "+v.String())
		default:
			return migrate.ErrorAt(v.At, "nothing may follow the list of redirects")
		}
		if i == 0 && !a.isFound {
			a.t.Wrong(v.At, "there are no redirects here; they are a list of objects, or that is the "+
				"member \"redirects\" of an object, or of \"hosting\" in it; write --from json if these "+
				"are rules of shortlink")
		}
	}
	return err
}

// readObject reads an object that is not in a list: a redirect, or what holds a list of them.
func (a *array) readObject(v migrate.JSON) {
	for m := range v.Inside() {
		switch m.Name {
		case "source", "from", "glob", "destination", "to":
			a.isFound = true
			a.readEntry(v)
			return
		}
	}
	switch hosting := v.Member("hosting"); hosting.Kind {
	case '{':
		a.tellsProgram(firebase)
		a.readHolder(hosting)
	case '[':
		a.tellsProgram(firebase)
		a.readSites(hosting)
	}
	a.readHolder(v)
}

// readHolder reads what has a list of redirects, and says what else it has that leads elsewhere.
func (a *array) readHolder(v migrate.JSON) {
	var elsewhere []string
	isOfPages := false
	for m := range v.Inside() {
		isFalse := m.Kind == 'w' && m.Text == "false"
		switch m.Name {
		case "redirects":
			if m.Kind == '[' {
				a.readList(m)
			}
		case "fromExtensions", "toExtensions", "createRedirects":
			isOfPages = true
		case "rewrites", "routes", "trailingSlash":
			elsewhere = append(elsewhere, m.Name)
		case "cleanUrls":
			if !isFalse {
				elsewhere = append(elsewhere, m.Name)
			}
		}
	}
	if isOfPages {
		a.t.Remark("fromExtensions, toExtensions and createRedirects depend on the pages that " +
			"Docusaurus builds, and are left out; write their redirects down")
	}
	if len(elsewhere) > 0 {
		a.t.Remark("what leads requests elsewhere beside the redirects is left out: %s; cleanUrls and "+
			"trailingSlash make redirects of their own", migrate.QuoteAll(elsewhere))
	}
}

// readList reads a list of redirects.
func (a *array) readList(list migrate.JSON) {
	a.isFound = true
	for v := range list.Inside() {
		switch {
		case a.t.IsGivenUp(v.At):
			return
		case v.Kind == '{':
			a.readEntry(v)
		default:
			a.t.Wrong(v.At, "a redirect is an object with source and destination, not %s", v)
		}
	}
}

// readSites reads the sites of Firebase, of which one can have redirects.
func (a *array) readSites(sites migrate.JSON) {
	for site := range sites.Inside() {
		n := len(a.entries)
		if a.readHolder(site); len(a.entries) > n {
			name := site.Member("target")
			if name.Kind == 0 {
				name = site.Member("site")
			}
			a.sites = append(a.sites, name.Text)
		}
	}
	if len(a.sites) > 1 {
		a.entries = nil
		a.t.Wrong(sites.At, "several sites have redirects: %s; convert each alone, from a file with "+
			"that one in \"hosting\"", migrate.QuoteAll(a.sites))
	}
}

// readEntry reads an object that is a redirect.
func (a *array) readEntry(v migrate.JSON) {
	e := newEntry(a.t, v)
	a.tellsProgram(e.program())
	for _, name := range e.unknown {
		if !slices.Contains(a.unknown, name) && len(a.unknown) <= 20 {
			a.unknown = append(a.unknown, name)
		}
	}
	e.check()
	for _, wrong := range e.wrong {
		a.t.Wrong(e.at, "%s", wrong)
	}
	switch {
	case len(e.wrong) > 0:
	case e.isInternal:
		a.t.Count(e.at) // which Next.js has made itself
	default:
		e.names, e.unknown = nil, nil
		a.entries = append(a.entries, e)
	}
}

// tellsProgram takes down whose an entry is.
func (a *array) tellsProgram(p program) { a.program = max(a.program, p) }

// finish makes lines of all entries, and says what is true of the whole list.
func (a *array) finish() {
	facts := programs[a.program]
	a.t.Program, a.t.Slashes, a.t.LastCounts = facts.name, redirects.SlashesMerged, facts.lastCounts
	isUnsaid, hasQuery := false, false
	for i, e := range a.entries {
		a.entries[i] = nil // as lines take memory, too
		a.addLines(e)
		isUnsaid = isUnsaid || e.status == 0 && e.permanent == 0
		hasQuery = hasQuery || a.keepsQuery() && migrate.HasQuery(e.destination)
	}
	for _, remark := range facts.remarks {
		a.t.Remark("%s", remark)
	}
	if hasQuery {
		a.t.Remark("of a parameter that both the request and a destination have, Vercel and Next.js " +
			"take the destination's, Firebase has both, and rules take the request's; the option " +
			"protect q keeps the destination's of a parameter q")
	}
	if len(a.unknown) > 0 {
		a.t.Remark("members that say nothing here are passed over: %s", migrate.QuoteAll(a.unknown))
	}
	if isUnsaid && a.t.Status == 0 {
		a.t.Remark("%s; --status sets another", a.program.remarkOnStatus())
	}
	a.t.Status = cmp.Or(a.t.Status, facts.status)
	a.t.Query = cmp.Or(a.t.Query, facts.query)
}
