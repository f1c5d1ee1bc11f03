package lists

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// addLines adds the lines of an entry.
func (a *array) addLines(e *entry) {
	if err := migrate.CheckDestination(e.destination); err != nil {
		e.refuse(err)
	}
	if a.program == vercel && e.status != 0 && e.permanent != 0 {
		e.refuse(errors.New("Vercel takes no entry with both \"permanent\" and \"statusCode\"; remove " +
			"one of the two"))
	}
	if len(e.sources) == 0 {
		a.t.Refuse(e.at, nil, e.refused)
	}
	for _, source := range e.sources {
		lines, err := a.linesOf(e, source)
		if err != nil {
			lines = []redirects.Line{{At: e.at, Refused: err}}
		}
		for _, line := range lines {
			a.t.Add(line)
		}
	}
}

// linesOf returns the lines of one path of an entry.
func (a *array) linesOf(e *entry, source string) ([]redirects.Line, error) {
	line := redirects.Line{At: e.at, Status: cmp.Or(e.status, e.permanent), Query: a.queryOf(e),
		Refused: e.refused, Notes: e.notes, To: redirects.Literal(e.destination)}
	if host, path, isURL := migrate.CutURL(source); isURL {
		if !a.t.HasHost(host) {
			return nil, migrate.OtherHost(host)
		}
		source = path
	}
	if a.program == firebase && source != "" && source[0] != '/' {
		source = "/" + source
	}
	parse := parsePattern
	switch {
	case programs[a.program].isPlain:
		parse = parsePlain
	case a.program == firebase && !strings.Contains(e.destination, "/:"):
		parse = parseGlob
	}
	p, err := parse(source)
	if err != nil {
		return nil, err
	}
	if note := a.noteOfUnknown(p, e.destination); note != "" {
		line.Notes = append(slices.Clip(line.Notes), note)
	}
	return p.lines(line, e.destination)
}

// keepsQuery reports whether the query of a request goes along also to a destination with one.
func (a *array) keepsQuery() bool { return a.program != vercelBulk && a.program != docusaurus }

// queryOf returns what an entry does with queries.
func (a *array) queryOf(e *entry) resolver.QueryMode {
	switch {
	case a.program == vercelBulk:
		return cmp.Or(e.query, a.t.Reading.Query)
	case a.program == docusaurus && strings.ContainsAny(e.destination, "?#"):
		return resolver.QueryIgnore
	case a.keepsQuery() && migrate.HasQuery(e.destination):
		return cmp.Or(a.t.Reading.Query, resolver.QueryPreserve)
	}
	return resolver.QueryDefault
}

// lines returns the lines of a pattern, which lead to a destination that names its groups.
func (p *pattern) lines(line redirects.Line, destination string) ([]redirects.Line, error) {
	visible := p.visible.String()
	if len(p.groups) == 0 || strings.Contains(visible, "//") { // as most are, or as no request has it
		line.Path = redirects.Text(visible)
		to, err := new(pathexpr.Path).Substitute(destination, p.reference)
		line.To = to
		return []redirects.Line{line}, err
	}
	options := pathexpr.Options{IsEncoded: true, IsMade: p.alternatives == ""}
	for i := range p.groups {
		options.Names = append(options.Names, p.variable(i))
	}
	e, err := pathexpr.Parse("^"+p.expression.String()+"$", options)
	switch {
	case err != nil && p.alternatives != "":
		return nil, noExpression(p.alternatives)
	case err != nil:
		return nil, err
	}
	return e.Lines(line, func(path *pathexpr.Path) ([]redirects.Piece, error) {
		if p.isGlob {
			return line.To, nil
		}
		return path.Substitute(p.withoutLacking(path, destination), p.reference)
	})
}

// variable returns the name of a group's variable, which no other one has.
func (p *pattern) variable(i int) string {
	switch name := p.groups[i].name; {
	case p.isGlob:
		return name
	case name == redirects.Splat || name[0] >= '0' && name[0] <= '9' || name[0] == '_':
		return "part" + strconv.Itoa(i+1)
	case strings.HasPrefix(name, "part"):
		return name + strconv.Itoa(i+1)
	default:
		return name
	}
}

// reference finds :name and $1 of a destination, and characters with a backslash.
func (p *pattern) reference(text string) (r pathexpr.Reference, err error) {
	if text[0] == '\\' && len(text) > 1 && strings.IndexByte(`:*+?(){}\$`, text[1]) >= 0 {
		return pathexpr.Reference{Group: -1, Text: text[1:2], Length: 2}, nil
	}
	i := p.groupAt(text)
	if i < 0 {
		return r, nil
	}
	r = pathexpr.Reference{Group: i + 1, Length: 1 + len(patternName.FindString(text[1:]))}
	if p.groups[i].isSeveral && r.Length < len(text) && strings.IndexByte("*+", text[r.Length]) >= 0 {
		r.Length++
	}
	return r, nil
}

// groupAt returns the place of the group that a text of a destination begins with, -1 for none.
func (p *pattern) groupAt(text string) int {
	name := patternName.FindString(text[1:])
	switch n, err := strconv.Atoi(name); {
	case text[0] == '$' && err == nil && n > 0 && n <= len(p.groups):
		return n - 1
	case text[0] == ':' && name != "":
		return slices.IndexFunc(p.groups, func(g group) bool { return g.name == name })
	}
	return -1
}

var (
	// references are what looks like a group in a destination, with the slash in front.
	references = regexp.MustCompile(`\\.|/?(?:[:$]\w+)[*+]?`)
	// variables are what looks like a variable in a path.
	variables = regexp.MustCompile(`^/:[A-Za-z]\w*|^/?\$[1-9]`)
)

// withoutLacking returns a destination without groups that are nothing of a path, and without the
// slashes in front of them.
func (p *pattern) withoutLacking(path *pathexpr.Path, destination string) string {
	lacks := false
	to := references.ReplaceAllStringFunc(destination, func(found string) string {
		i := p.groupAt(strings.TrimPrefix(found, "/"))
		if i < 0 || !p.groups[i].mayLack || path.Groups[i+1] != nil {
			return found
		}
		lacks = true
		return ""
	})
	if lacks && (to == "" || to[0] == '?' || to[0] == '#') {
		return "/" + to
	}
	return to
}

// noteOfUnknown says what in a destination looks like a variable, and is none of the path's.
func (a *array) noteOfUnknown(p *pattern, destination string) string {
	if programs[a.program].isPlain {
		return ""
	}
	for _, found := range references.FindAllString(destination, -1) {
		name := strings.TrimPrefix(variables.FindString(found), "/")
		if name == "" || p.groupAt(strings.TrimPrefix(found, "/")) >= 0 ||
			name[0] == '$' && a.program != vercel {
			continue
		}
		return name + " stands for nothing, as the path does not have it, and stays as it is in the " +
			"destination"
	}
	return ""
}
