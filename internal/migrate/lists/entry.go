package lists

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// redirectEntry is an object in a list of redirects.
type redirectEntry struct {
	*array
	at          resolver.Position
	sources     []string
	destination string
	names       []string // of its members
	// status is the value of statusCode or type. permanent is 308 or 307. Either is 0 if the entry
	// has none.
	status, permanent int
	saysQuery         resolver.QueryMode // set by bulk redirects
	isInternal        bool
	wrong             []string
	refused           error // why no rule is equivalent
	notes             []string
}

// newEntry parses an object.
func (a *array) newEntry(v migrate.Node) *redirectEntry {
	e := &redirectEntry{array: a, at: v.At}
	for key, m := range v.Inside() {
		if e.has(key.Text) {
			e.wrong = append(e.wrong, printable.Quote(key.Text)+" is given twice")
			continue
		}
		want, isKnown := e.set(key.Text, m)
		if want != "" {
			e.wrong = append(e.wrong, fmt.Sprintf("%q takes %s, not %s", key.Text, want, m))
		}
		if isKnown {
			e.names = append(e.names, key.Text)
		} else {
			a.unknown.Add(key.Text)
		}
	}
	return e
}

// set applies a member. For an invalid value, it returns a description of valid ones.
func (e *redirectEntry) set(name string, m migrate.Node) (want string, isKnown bool) {
	is, isTruth := m.Truth()
	switch name {
	case "source", "glob", "from":
		return e.setSources(name, m), true
	case "destination", "to":
		e.destination = m.Text
		return e.checkText(m, "a string"), true
	case "statusCode", "type", "status":
		return e.setStatus(m), true
	case "has", "missing":
		return e.setConditions(name, m), true
	case "env":
		e.refuse("a rule has no \"env\"; write the destination without settings of the server")
		return "", true
	case "regex":
		return "", true
	case "permanent":
		if e.permanent = 307; is {
			e.permanent = 308
		}
	case "internal":
		e.isInternal = is
	case "query", "preserveQueryParams":
		if e.saysQuery = resolver.QueryIgnore; is {
			e.saysQuery = resolver.QueryPreserve
		}
	case "basePath", "locale", "caseSensitive", "sensitive":
	default:
		return "", false
	}
	if !isTruth {
		want = "true or false"
	}
	return want, true
}

// refuse records why the entry has no equivalent. The first reason counts.
func (e *redirectEntry) refuse(why string) { e.refused = cmp.Or(e.refused, errors.New(why)) }

// has reports whether an entry has any of the given members.
func (e *redirectEntry) has(names ...string) bool {
	return slices.ContainsFunc(e.names, func(name string) bool { return slices.Contains(names, name) })
}

// name returns the name of an entry for messages.
func (e *redirectEntry) name() string { return printable.Quote(strings.Join(e.sources, " ")) }

// checkText returns want if a value is not a text.
func (e *redirectEntry) checkText(v migrate.Node, want string) string {
	if v.Kind != '"' {
		return want
	}
	if err := v.Check("a string"); err != nil {
		e.wrong = append(e.wrong, err.Error())
	}
	return ""
}

// setSources sets the path, or a list of paths.
func (e *redirectEntry) setSources(name string, m migrate.Node) (want string) {
	if m.Kind == '[' && name == "from" {
		for _, path := range m.Inside() {
			if want == "" {
				want = e.setSources("", path)
			}
		}
		return want
	}
	if want = e.checkText(m, "a path"); want == "" {
		e.sources = append(e.sources, m.Text)
	}
	return want
}

// setStatus sets the status.
func (e *redirectEntry) setStatus(m migrate.Node) (want string) {
	code, err := strconv.Atoi(m.Text)
	switch {
	case m.Kind != 'w' || err != nil || code < 100 || code > 999:
		return migrate.StatusCodes
	case !resolver.ValidStatus(code):
		e.refuse(migrate.StatusError(code).Error())
	default:
		e.status = code
	}
	return ""
}

// setConditions checks conditions. A rule can express only one: that the host is the site's.
func (e *redirectEntry) setConditions(name string, m migrate.Node) (want string) {
	if m.Kind != '[' {
		return "a list"
	}
	isHost, kind, host := name == "has", "", ""
	for _, condition := range m.Inside() {
		isHost = isHost && kind == ""
		kind = cmp.Or(kind, condition.Member("type").Text, "?")
		host = cmp.Or(host, condition.Member("value").Text)
	}
	isHost = isHost && kind == "host"
	switch {
	case kind == "":
	case isHost && e.HasHost(strings.ReplaceAll(host, `\.`, ".")):
		e.notes = append(e.notes, "the redirect is for the host "+printable.Quote(host)+" alone, and "+
			"the rule for every host of the site")
	case isHost:
		e.refuse(migrate.OtherHostError(host).Error())
	default:
		e.refuse("a rule has no condition " + printable.Quote(name) + " (" + kind + "); use Caddy's " +
			"redir with a matcher")
	}
	return ""
}

// check checks that the entry is complete.
func (e *redirectEntry) check() {
	switch hasSource := e.has("source", "glob", "from"); {
	case len(e.sources) > 0 || hasSource && len(e.wrong) > 0:
	case e.has("regex"):
		e.refuse("a rule's path is not a regular expression; " + pathexpr.Remedy)
	default:
		e.wrong = append(e.wrong, `it has no "source", which is the path`)
	}
	if !e.has("destination", "to") {
		e.wrong = append(e.wrong, `it has no "destination"`)
	}
}

// addLines adds the lines of an entry.
func (e *redirectEntry) addLines() {
	if err := migrate.CheckDestination(e.destination); err != nil {
		e.refuse(err.Error())
	}
	if e.platform == vercel && e.status != 0 && e.permanent != 0 {
		e.refuse(platforms[vercel].name + " takes no entry with both \"permanent\" and \"statusCode\"; " +
			"remove one of the two")
	}
	if len(e.sources) == 0 {
		e.Refuse(e.at, nil, e.refused)
	}
	for _, source := range e.sources {
		lines, err := e.lines(source)
		if err != nil {
			lines = []redirects.Line{{At: e.at, Path: front(source), To: redirects.Literal(e.destination),
				Status: cmp.Or(e.status, e.permanent), Notes: e.notes, Refused: cmp.Or(e.refused, err)}}
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
	lines, err := p.lines(redirects.Line{At: e.at, Status: cmp.Or(e.status, e.permanent),
		Query: e.query(), Refused: e.refused, Notes: e.notes}, &d)
	if d.unknown != "" && !isPlain && (d.unknown[0] == ':' || e.platform == vercel) {
		for i := range lines {
			lines[i].Notes = append(slices.Clip(lines[i].Notes), d.unknown+" is not in the path, so it "+
				"stays as "+
				"it is in the destination")
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
