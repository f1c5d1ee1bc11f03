package lists

import (
	"cmp"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// ReadYAML reads redirects in YAML: see [pairs.readTable].
func ReadYAML(t *migrate.Table, r io.Reader) error {
	text, err := t.ReadText(r)
	if err != nil {
		return err
	}
	if page := frontMatter.FindStringSubmatch(text); page != nil &&
		strings.Contains(page[1], "\nredirect_from:") {
		text = page[1]
	}
	documents, err := t.DecodeYAML(text)
	if err != nil {
		return err
	}
	p := pairs{Table: t, facts: factsOf[noProgram]}
	for _, document := range documents.Inside() {
		p.readTable(document, 2)
	}
	p.finish("map in YAML")
	return nil
}

// frontMatter matches what stands above the text of a page.
var frontMatter = regexp.MustCompile(`(?s)^---[ \t]*(\r?\n.*?\n)---`)

// ReadArray reads a list of redirects in JSON, a file that contains one, or an object on each line:
// see [pairs.readTable].
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
	p := pairs{Table: t, facts: factsOf[noProgram], isJSON: true}
	for _, v := range values.Inside() {
		if isEntry(v) {
			p.readTable(values, 2)
			break
		}
		p.readTable(v, 2)
	}
	p.finish("list in JSON")
	return err
}

// javaScriptBeginning matches the beginning of configurations in JavaScript.
var javaScriptBeginning = regexp.MustCompile(
	`^\s*(module\.exports|(export|import|const)\s|/\*\* @type|// @ts-check)`)

// pairs reads paths and destinations in YAML or JSON.
type pairs struct {
	*migrate.Table
	facts
	isJSON  bool
	least   program       // that the configuration around a list tells
	ofAll   int           // the status of all entries of a map; 0 if each says its own
	unknown migrate.Names // ignored members of entries
	// hasStatus and lacksStatus are about entries, and hasQuery about a destination whose program
	// passes on a request's query, too.
	hasStatus, lacksStatus, hasQuery bool
}

// readTable reads a value that holds redirects, in one of these forms:
//
//	/a: /b                      a map of paths and destinations
//	/a: {to: /b, type: 301}     a map of paths and objects, as Redocly has it
//	[{from: /a, to: /b}]        a list of objects
//	301: {/a: /b}               maps of Ghost, for each status
//	redirects: ...              one of these, among other members
//	hosting: {redirects: ...}   the same of a site of Firebase
//
// The value may be inside others by some levels. More are an alias in YAML of a value to itself.
func (p *pairs) readTable(table migrate.Node, levels int) {
	var others migrate.Names
	under, isGhost, members, isOfPairs := migrate.Node{}, false, 0, 0
	for key, value := range table.Inside() {
		if members++; members > 100 { // enough to know it
			break
		}
		switch holds := levels > 0 && (value.Kind == '{' || value.Kind == '['); {
		case p.isPair(key, value) || strings.HasPrefix(key.Text, "/"):
			isOfPairs++
		case holds && key.Text == "redirects":
			under = value
		case holds && key.Text == "hosting" && p.isJSON:
			p.least, under = firebase, p.siteOf(value)
		case value.Kind == '{' && (key.Text == "301" || key.Text == "302"):
			isGhost = true
		case key.Text != "":
			others.Add(key.Text)
		}
	}
	switch {
	case under.Kind != 0:
		p.RemarkSkipped("members beside the redirects are", others)
		p.readTable(under, levels-1)
	case isGhost:
		p.readGhost(table)
	case table.Kind == '{' && isEntry(table):
		p.readEntry(migrate.Node{}, table)
	case 2*isOfPairs < members || table.Kind != '[' && members == 0:
		// the URLs of a configuration are no redirects
		found := "it is " + table.String()
		if len(others) > 0 {
			found = "it has " + migrate.QuoteAll(others)
		}
		p.Wrong(table.At, "this is no table of redirects: %s, and no path with a destination; write a "+
			"line such as /old: /new for each, and use --from json for rules of shortlink", found)
	default:
		p.setProgram(p.programOf(table))
		p.readEntries(table)
	}
	p.RemarkSkipped("members without a meaning here are", p.unknown)
	p.unknown = nil
}

// readGhost reads Ghost's maps for each status.
func (p *pairs) readGhost(table migrate.Node) {
	p.setProgram(ghost)
	for _, p.ofAll = range []int{302, 301} { // the order in which Ghost tries them
		p.readEntries(table.Member(strconv.Itoa(p.ofAll)))
	}
	p.ofAll = 0
}

// siteOf returns the site of Firebase that has redirects. Only one of several can have some.
func (p *pairs) siteOf(hosting migrate.Node) (site migrate.Node) {
	if hosting.Kind == '{' {
		return hosting
	}
	for _, s := range hosting.Inside() {
		if s.Member("redirects").IsEmpty() {
			continue
		}
		if site.Kind != 0 {
			p.Wrong(hosting.At, "several sites have redirects; convert each from a file with that site "+
				"alone in \"hosting\"")
			return migrate.Node{Kind: '['}
		}
		site = s
	}
	return site
}

// finish adds the remarks on what a file does not say.
func (p *pairs) finish(what string) {
	if p.hasQuery {
		p.Remark("if request and destination have the same parameter, Vercel, Next.js and Ghost keep " +
			"the destination's, Firebase both, and rules the request's; the option protect q keeps the " +
			"destination's parameter q")
	}
	switch isUnsaid := p.Status == 0 && p.lacksStatus; {
	case isUnsaid && p.statusThere != 0:
		p.Remark("entries without a status have %d, as at %s; --status sets another", p.statusThere,
			p.name)
	case isUnsaid && !p.hasStatus:
		p.Remark("a %s says neither the status of redirects nor what happens to queries, so the site's "+
			"settings apply; set others with --status and --query", what)
	}
	p.Status = cmp.Or(p.Status, p.statusThere)
}

// isPair reports whether a member or an element looks like a redirect. Its key is 0 in a list. In
// JSON, keys without a slash are those of our own rules.
func (p *pairs) isPair(key, value migrate.Node) bool {
	isPath := key.Kind == 0 && key.Text == "" || strings.HasPrefix(key.Text, "/") ||
		strings.HasPrefix(key.Text, "^")
	leads := strings.HasPrefix(value.Text, "/") || redirects.IsURL(value.Text)
	return isPath && value.Kind == '{' && isEntry(value) ||
		isText(value) && key.Text != "" && (isPath || leads && !p.isJSON)
}

// readEntries reads the members of a map, or the elements of a list.
func (p *pairs) readEntries(table migrate.Node) {
	for key, value := range table.Inside() {
		at := cmp.Or(key.At, value.At)
		switch {
		case p.IsGivenUp(at):
			return
		case key.Kind == 'w' && key.Text == "<<":
			p.Wrong(at, "maps that are merged with \"<<\" are not converted; write out their entries")
		case table.Kind == '{' && key.At.Line > 0 && !isText(key):
			p.Wrong(at, "a path is a text, not %s", key)
		case value.Kind == '{':
			p.readEntry(key, value)
		case table.Kind == '[':
			p.Wrong(at, "a redirect is an object with a path and a destination, not %s", value)
		case !isText(value):
			p.Wrong(at, "the destination of %s is a text, not %s", printable.Quote(key.Text), value)
		default:
			p.addPair(redirects.Line{At: at, Status: p.ofAll}, key.Text, value.Text)
		}
	}
}

// addPair adds the lines of a path and its destination. The line has everything else.
func (p *pairs) addPair(line redirects.Line, path, to string) {
	if line.Status == 0 && line.Answer == redirects.Leads {
		p.lacksStatus = true
	}
	if p.keepsQuery && redirects.HasQuery(to) {
		p.hasQuery = true
		line.Query = cmp.Or(line.Query, p.Reading.Query, resolver.QueryPreserve)
	}
	ofSite, err := p.WithoutHost(path)
	line.Refused = cmp.Or(line.Refused, err, migrate.CheckText("a path or a destination", path+to))
	if err == nil {
		path = ofSite
	}
	p.add(p, line, path, to)
}
