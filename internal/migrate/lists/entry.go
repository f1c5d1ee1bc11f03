package lists

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// redirectEntry is an object in a list of redirects.
type redirectEntry struct {
	*object
	platform    platform
	sources     []string
	destination string
	saysQuery   resolver.QueryMode // set by bulk redirects
}

// entryMembers are the members of entries that are known.
var entryMembers = strings.Fields("source glob from destination to statusCode type status has " +
	"missing env regex permanent internal query preserveQueryParams basePath locale caseSensitive " +
	"sensitive")

// newEntry parses an object.
func newEntry(o *object, of platform) *redirectEntry {
	e := &redirectEntry{object: o, platform: of}
	var names []string
	for key, m := range o.Inside() {
		switch {
		case !slices.Contains(entryMembers, key.Text):
			continue
		case slices.Contains(names, key.Text):
			e.refuse("%q is given twice; remove one of the two", key.Text)
		case m.Kind == '[' && key.Text == "from":
			for _, path := range m.Inside() {
				e.addSource(path)
			}
		case key.Text == "source" || key.Text == "glob" || key.Text == "from":
			e.addSource(m)
		case key.Text == "statusCode" || key.Text == "type" || key.Text == "status":
			setStatus(&e.line, m)
		case key.Text == "has" || key.Text == "missing":
			e.setConditions(key.Text, m)
		}
		names = append(names, key.Text)
	}
	e.destination = cmp.Or(e.text("destination"), e.text("to"))
	e.setOptions()
	e.check()
	return e
}

// addSource adds a path.
func (e *redirectEntry) addSource(m migrate.Node) {
	if m.Kind != '"' {
		e.refuse("a path is a text, not %s", m)
		return
	}
	e.line.Refused = cmp.Or(e.line.Refused, migrate.CheckText("a path", m.Text))
	e.sources = append(e.sources, m.Text)
}

// setOptions sets what the members with true or false say.
func (e *redirectEntry) setOptions() {
	if is, ok := e.truth("permanent"); ok && e.line.Status == 0 {
		e.line.Status = map[bool]int{true: 308, false: 307}[is]
	} else if ok && e.platform == vercel {
		e.refuse("Vercel takes no entry with both \"permanent\" and \"statusCode\"; remove one of " +
			"the two")
	}
	for _, name := range []string{"query", "preserveQueryParams"} {
		if is, ok := e.truth(name); ok {
			e.saysQuery = map[bool]resolver.QueryMode{
				true: resolver.QueryPreserve, false: resolver.QueryIgnore,
			}[is]
		}
	}
}

// truth returns the value of a member that is true or false; ok reports whether there is one.
func (o *object) truth(name string) (is, ok bool) {
	m := o.Member(name)
	if is, ok = m.Truth(); !ok && m.Kind != 0 {
		o.refuse("%q takes true or false, not %s", name, m)
	}
	return is, ok
}

// setConditions checks conditions. A rule can express only one: that the host is the site's.
func (e *redirectEntry) setConditions(name string, m migrate.Node) {
	isHost, kind, host := name == "has", "", ""
	for _, condition := range m.Inside() {
		isHost = isHost && kind == ""
		kind = cmp.Or(kind, condition.Member("type").Text, "?")
		host = cmp.Or(host, condition.Member("value").Text)
	}
	isHost = isHost && kind == "host"
	switch {
	case kind == "" && m.Kind != '[':
		e.refuse("%q takes a list, not %s", name, m)
	case kind == "":
	case isHost && e.HasHost(strings.ReplaceAll(host, `\.`, ".")):
		e.line.Notes = append(e.line.Notes, "the redirect is for the host "+printable.Quote(host)+
			" alone, and the rule for every host of the site")
	case isHost:
		e.refuse("%w", migrate.OtherHostError(host))
	default:
		e.refuse("a rule has no condition %q (%s); use Caddy's redir with a matcher", name,
			printable.Text(kind))
	}
}

// check checks that the entry is complete.
func (e *redirectEntry) check() {
	switch {
	case e.Member("env").Kind != 0:
		e.refuse("a rule has no \"env\"; write the destination without settings of the server")
	case e.line.Answer == redirects.Gone:
		e.line.Answer = redirects.Leads
		e.refuse("%w", migrate.StatusError(410))
	case len(e.sources) == 0 && e.Member("regex").Kind != 0:
		e.refuse("a rule's path is not a regular expression; %s", pathexpr.Remedy)
	case len(e.sources) == 0:
		e.refuse("the redirect has no \"source\", which is the path")
	case e.destination == "":
		e.refuse("the redirect has no \"destination\"")
	default:
		e.line.Refused = cmp.Or(e.line.Refused, migrate.CheckDestination(e.destination))
	}
}

// addLines adds the lines of an entry.
func (e *redirectEntry) addLines() {
	if len(e.sources) == 0 {
		e.Refuse(e.line.At, nil, e.line.Refused)
	}
	for _, source := range e.sources {
		lines, err := e.lines(source)
		if err != nil {
			line := e.line
			line.Path, line.To = front(source), redirects.Literal(e.destination)
			line.Refused = cmp.Or(line.Refused, err)
			lines = []redirects.Line{line}
		}
		for _, line := range lines {
			e.Add(line)
		}
	}
}

// lines returns the lines of one path of an entry.
func (e *redirectEntry) lines(source string) ([]redirects.Line, error) {
	source, err := e.WithoutHost(source)
	if err != nil {
		return nil, err
	}
	if e.platform == firebase && source != "" && source[0] != '/' {
		source = "/" + source
	}
	parse, isPlain := parsePattern, platforms[e.platform].isPlain
	switch {
	case isPlain:
		parse = parsePlain
	case e.platform == firebase && !strings.Contains(e.destination, "/:"):
		parse = parseGlob
	}
	p, err := parse(source, e.Loosely)
	if err != nil {
		return nil, err
	}
	d := destination{written: e.destination, pattern: p}
	line := e.line
	line.Query = e.query()
	lines, err := p.lines(line, &d)
	if d.unknown != "" && !isPlain && (d.unknown[0] == ':' || e.platform == vercel) {
		for i := range lines {
			lines[i].Notes = append(slices.Clip(lines[i].Notes), d.unknown+" is not in the path, so it "+
				"stays as it is in the destination")
		}
	}
	return lines, err
}

// query returns how an entry treats queries.
func (e *redirectEntry) query() resolver.QueryMode {
	switch {
	case e.platform == vercelBulk:
		return cmp.Or(e.saysQuery, e.Reading.Query)
	case e.platform == docusaurus && strings.ContainsAny(e.destination, "?#"):
		return resolver.QueryIgnore
	case e.platform.keepsQuery() && migrate.HasQuery(e.destination):
		return cmp.Or(e.Reading.Query, resolver.QueryPreserve)
	}
	return resolver.QueryDefault
}
