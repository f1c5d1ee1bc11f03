package lists

import (
	"cmp"
	"errors"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// program is whose pairs a table has. If the entries of a list tell several, the last one below
// counts.
type program uint8

const (
	vercel program = iota
	vercelBulk
	nextJS
	firebase
	docusaurus
	noProgram
	ghost
	redocly
	canonical
)

// facts are what a program does with its pairs.
type facts struct {
	name        string
	statusThere int // of entries without one; 0 for the site's
	query       resolver.QueryMode
	// keepsQuery says that a request's query is passed on even to a destination with one.
	keepsQuery bool
	// keepsMethod says that "permanent" stands for 308 or 307, not for 301 or 302.
	keepsMethod bool
	lastCounts  bool // of several entries for the same path
	slashes     redirects.Slashes
	remark      string
	// add adds the lines of a path and its destination. The line has everything else.
	add func(p *pairs, line redirects.Line, path, to string)
}

// factsOf are the facts of each program.
var factsOf = [...]facts{
	vercel: {name: "Vercel", statusThere: 308, keepsQuery: true, keepsMethod: true,
		slashes: redirects.SlashesMerged, add: (*pairs).addPattern},
	vercelBulk: {name: "Vercel", statusThere: 307, query: resolver.QueryIgnore, keepsMethod: true,
		lastCounts: true, slashes: redirects.SlashesMerged, add: (*pairs).addLiteral,
		remark: "Vercel matches paths of bulk redirects in either letter case, unless an entry says " +
			"caseSensitive; the option fold case does so for a whole site"},
	nextJS: {name: "Next.js", statusThere: 308, keepsQuery: true, keepsMethod: true,
		slashes: redirects.SlashesMerged, add: (*pairs).addPattern,
		remark: "Next.js matches paths in either letter case; the option fold case does so for a site"},
	firebase: {name: "Firebase", statusThere: 301, keepsQuery: true, slashes: redirects.SlashesMerged,
		add: (*pairs).addGlob},
	docusaurus: {name: "Docusaurus", slashes: redirects.SlashesMerged, add: (*pairs).addPage},
	noProgram:  {add: (*pairs).AddKey},
	ghost: {name: "Ghost", statusThere: 302, keepsQuery: true, add: (*pairs).addGhost,
		remark: "Ghost looks for a path without \"^\" at the end of all paths, too, such as /x/a for " +
			"/a; rules match the path alone"},
	redocly: {name: "Redocly", statusThere: 301, add: (*pairs).AddKey},
	canonical: {name: "Canonical's yaml-responses", statusThere: 302, keepsQuery: true,
		add: (*pairs).addCanonical, remark: "this is read as a file of Canonical's yaml-responses: all " +
			"paths are regular expressions for whole paths"},
}

// programOf returns the program of a table. Lists in YAML are of none.
func (p *pairs) programOf(table migrate.Node) program {
	switch {
	case table.Kind == '{':
		return programOfMap(table)
	case !p.isJSON:
		return noProgram
	}
	found := p.least
	for _, entry := range table.Inside() {
		if entry.Member("from").Kind != 0 && entry.Member("permanent").Kind != 0 {
			return ghost
		}
		for key := range entry.Inside() {
			found = max(found, programOfMember[key.Text])
		}
	}
	return found
}

// programOfMember tells whose an entry in JSON is that has a member.
var programOfMember = map[string]program{
	"caseSensitive": vercelBulk, "sensitive": vercelBulk, "query": vercelBulk,
	"preserveQueryParams": vercelBulk, "basePath": nextJS, "locale": nextJS, "internal": nextJS,
	"glob": firebase, "type": firebase, "from": docusaurus, "sources": noProgram,
	"target": noProgram, "loc": noProgram, "url": noProgram, "source_path": noProgram,
	"redirect_url": noProgram,
}

// programOfMap returns the program of a map. In one of Canonical's, a path names groups as in
// Python. In one of Redocly, each path has an object.
func programOfMap(table migrate.Node) program {
	found := redocly
	for key, value := range table.Inside() {
		if strings.Contains(key.Text, "(?P<") && key.Text[0] != '^' && braces.MatchString(value.Text) {
			return canonical
		}
		if isText(value) {
			found = noProgram
		}
	}
	return found
}

// setProgram reads pairs as those of a program.
func (p *pairs) setProgram(of program) {
	p.facts = factsOf[of]
	if of == noProgram {
		return
	}
	p.Program, p.Slashes, p.LastCounts = p.name, p.slashes, p.lastCounts
	p.Query = cmp.Or(p.Query, p.query)
	if p.remark != "" {
		p.Remark("%s", p.remark)
	}
}

// addLiteral adds a line of Vercel's bulk redirects, which have no patterns.
func (p *pairs) addLiteral(line redirects.Line, path, to string) {
	if strings.Contains(path, "*") {
		line.Refused = cmp.Or(line.Refused, errors.New("this path has no patterns, and no request has "+
			"such a path; write a path without \"*\""))
	}
	line.Query, line.To = cmp.Or(line.Query, p.Reading.Query), redirects.Literal(to)
	p.AddPath(line, path, false)
}

// addPage adds a line of Docusaurus, whose pages pass on a query only if theirs has no "?" or "#".
func (p *pairs) addPage(line redirects.Line, path, to string) {
	if strings.ContainsAny(to, "?#") {
		line.Query = resolver.QueryIgnore
	}
	p.AddKey(line, path, to)
}

// addGhost adds the lines of Ghost, whose paths are regular expressions. A slash at the end of a
// path makes no difference.
func (p *pairs) addGhost(line redirects.Line, path, to string) {
	expression, folds := path, false
	if inside, is := strings.CutSuffix(path, "/i"); is && len(path) > 2 && path[0] == '/' {
		expression, folds = inside[1:], true
	}
	if expression = strings.TrimSuffix(expression, "/"); !strings.HasSuffix(expression, "$") {
		expression += "/?$"
	}
	if strings.HasPrefix(expression, "/") {
		expression = "^" + expression
	}
	p.AddMatch(line, expression, to, pathexpr.Options{Folds: folds, IsEncoded: true})
}

// braces matches the name of a group in a destination.
var braces = regexp.MustCompile(`\{(\w+)\}`)

// addCanonical adds the lines of Canonical's program. All paths are regular expressions for whole
// paths, and a destination names groups in braces.
func (p *pairs) addCanonical(line redirects.Line, path, to string) {
	expression := "/" + strings.TrimPrefix(path, "/")
	if strings.Contains(path, "|") {
		expression = "(?:" + expression + ")"
	}
	to = braces.ReplaceAllString(strings.ReplaceAll(to, "$", "%24"), "$${$1}")
	p.AddMatch(line, "^"+expression+"$", to, pathexpr.Options{})
}
