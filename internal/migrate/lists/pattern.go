package lists

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
)

// pattern is a path with variables in the syntax of path-to-regexp, as a regular expression.
//
//	/u/:name        ^/u/([^/]+)$
//	/d/:path*       ^/d(?:/(.*))?$
//	/d/(.*)         ^/d/(.+)$
//	/(en|de)/a      ^/(en|de)/a$
type pattern struct {
	expression string  // without "^" and "$"
	groups     []group // by number from 1
	unnamed    int     // how many of the groups have no name
}

// group is a captured part of a path.
type group struct {
	name string // unnamed groups are numbered from "0"
	// isSeveral reports whether the group matches several segments. mayLack reports whether it may
	// be empty, without the slash before it.
	isSeveral, mayLack bool
}

// addPattern adds the lines of a path in the syntax of path-to-regexp.
func (p *pairs) addPattern(line redirects.Line, source, to string) {
	if !strings.ContainsAny(source, `\:(){}*+`) { // the usual case
		line.To = redirects.Literal(to)
		if strings.Contains(to, "/:") || strings.ContainsAny(to, `$\`) {
			var none pattern
			line.Notes = append(slices.Clip(line.Notes), none.unknownIn(to, p.name)...)
			line.To, _ = none.destination(to, new(pathexpr.Path))
		}
		p.AddPath(line, source, false)
		return
	}
	if !strings.HasPrefix(source, "/") && !redirects.IsURL(source) {
		source = "/" + source
	}
	pattern, err := parsePattern(source)
	if err = cmp.Or(line.Refused, err); err == nil && line.Answer == redirects.Leads {
		err = migrate.CheckDestination(to)
	}
	var e *pathexpr.Expression
	if err == nil {
		e, err = pathexpr.Parse("^"+pattern.expression+"$", pathexpr.Options{IsEncoded: true,
			Names: pattern.variables(), IsMade: !strings.Contains(pattern.expression, "|"),
			Loosely: p.Loosely})
	}
	if err != nil {
		line.To = redirects.Literal(to)
		p.RefuseLine(line, frontOf(source), err)
		return
	}
	line.Notes = append(slices.Clip(line.Notes), pattern.unknownIn(to, p.name)...)
	p.AddPaths(line, e, func(path *pathexpr.Path) ([]redirects.Piece, error) {
		return pattern.destination(to, path)
	})
}

// frontOf returns the paths that begin like a source without an equivalent, up to its first special
// character, or nil.
func frontOf(source string) []redirects.Segment {
	if !strings.HasPrefix(source, "/") {
		return nil
	}
	text := source[:strings.IndexAny(source+"*", `:*+?(){}[]|\`)]
	return redirects.Below(redirects.Text(text[:strings.LastIndexByte(text, '/')+1]))
}

// patternPart matches a part of a pattern: an escaped character, a variable with an expression and
// a modifier, an expression with a modifier, or text.
var patternPart = regexp.MustCompile(`(?s)\\(.)|:(\w+)(?:\((` + inParentheses + `)\))?([*+?]?)|` +
	`\((` + inParentheses + `)\)([*+?]?)|[^\\:({}*+#]+|.`)

// inParentheses matches an expression in parentheses, which may have others.
const inParentheses = `(?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))+`

// parsePattern converts a path to an expression. The error explains why it has no equivalent.
func parsePattern(source string) (p pattern, err error) {
	for _, m := range patternPart.FindAllStringSubmatch(source, -1) {
		escaped, name, inside, modifier := m[1], m[2], m[3]+m[5], m[4]+m[6]
		switch part := m[0]; {
		case len(p.groups) > pathexpr.MaxGroups:
			err = fmt.Errorf("a path has at most %d variables; use Caddy's redir with a path_regexp "+
				"matcher", pathexpr.MaxGroups)
		case len(p.groups) > 0 && p.groups[len(p.groups)-1].isSeveral:
			err = errors.New("a variable for several segments must be at the end of a path; " +
				pathexpr.Remedy)
		case part == "#":
			err = migrate.CheckPath("/#")
		case escaped != "":
			p.expression += regexp.QuoteMeta(redirects.Encoded(escaped))
		case name+inside != "":
			err = p.addGroup(name, inside, modifier)
		case strings.ContainsAny(part, "({}*+"):
			err = fmt.Errorf("a %q by itself has no equivalent; write \\%s for the character, a rule "+
				"for each path, or use Caddy's redir with a path_regexp matcher", part, part)
		default:
			p.expression += regexp.QuoteMeta(part)
		}
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

// addGroup adds a group for a variable with a name, or for an expression in parentheses, or both.
func (p *pattern) addGroup(name, inside, modifier string) error {
	isSame := func(g group) bool { return g.name == name }
	front, isBehindSlash := strings.CutSuffix(p.expression, "/")
	isAll := inside == ".*" || inside == ".+"
	switch {
	case name != "" && slices.ContainsFunc(p.groups, isSame):
		return errors.New(printable.Quote(":"+name) + " is given twice; give one of them another name")
	case modifier == "?" || modifier != "" && inside != "":
		return errors.New("a rule has no optional or repeated part " +
			printable.Quote(cmp.Or(name, inside)+modifier) + "; write a rule for each path")
	case strings.Contains(strings.ReplaceAll(inside, "(?:", ""), "("):
		return errors.New("an expression in parentheses has no others: " + printable.Quote(inside) +
			"; write a rule for each path")
	case (isAll || modifier != "") && !isBehindSlash:
		return errors.New("a variable for several segments must match whole ones, after a \"/\"; " +
			pathexpr.Remedy)
	case name == "":
		name = strconv.Itoa(p.unnamed)
		p.unnamed++
	}
	g := group{name: name, isSeveral: isAll || modifier != "", mayLack: modifier == "*"}
	switch {
	case g.mayLack:
		p.expression = front + "(?:/(.*))?"
	case g.isSeveral:
		// ".*" would also match nothing after a slash at the end. Here, that path equals the one
		// without the slash, which ".*" does not match.
		p.expression += "(.+)"
	default:
		p.expression += "(" + cmp.Or(inside, "[^/]+") + ")"
	}
	p.groups = append(p.groups, g)
	return nil
}

// variables returns a unique name for the variable of each group.
func (p *pattern) variables() (names []string) {
	for i, g := range p.groups {
		if otherName.MatchString(g.name) {
			g.name = "part" + strconv.Itoa(i+1)
		}
		names = append(names, g.name)
	}
	return names
}

// otherName matches the names of groups that no variable has.
var otherName = regexp.MustCompile(`^(splat$|part|[0-9_])`)

// number returns the number of the group that a reference in a destination names, such as :name or
// $1, or 0.
func (p *pattern) number(reference string) int {
	named := func(g group) bool { return reference == ":"+g.name }
	if n, err := strconv.Atoi(reference[1:]); reference[0] == '$' && err == nil && n <= len(p.groups) {
		return n
	}
	return slices.IndexFunc(p.groups, named) + 1
}

// destination returns a destination with the captures of a path in it. A reference to an empty
// group includes the slash before it.
func (p *pattern) destination(to string, path *pathexpr.Path) ([]redirects.Piece, error) {
	pieces, err := path.Substitute(to, func(text string) (found pathexpr.Reference, err error) {
		if strings.IndexByte(`/:$\`, text[0]) < 0 { // the usual case
			return found, nil
		}
		m := reference.FindStringSubmatch(text)
		switch {
		case m == nil:
			return found, nil
		case m[1] != "":
			return pathexpr.Reference{Text: m[1], Length: 2}, nil
		}
		n := p.number(m[3])
		if n == 0 {
			return found, nil
		}
		g, length := p.groups[n-1], len(m[0])
		if m[2] != "" && !(g.mayLack && path.Groups[n] == nil) {
			return found, nil // the slash stays
		}
		if !g.isSeveral {
			length -= len(m[4])
		}
		return pathexpr.Reference{Group: n, Length: length}, nil
	})
	if len(pieces) == 0 || strings.IndexAny(pieces[0].Text, "?#") == 0 {
		pieces = slices.Insert(pieces, 0, redirects.Piece{Text: "/"})
	}
	return pieces, err
}

// reference matches an escaped character, or a reference to a group with what may stand around it.
var reference = regexp.MustCompile(`^(?:\\([:*+?(){}\\$])|(/?)([:$]\w+)([*+]?))`)

// unknownIn returns a note about what looks like a reference to a group that there is not.
func (p *pattern) unknownIn(to, program string) (notes []string) {
	for _, m := range apparent.FindAllStringSubmatch(to, -1) {
		name := m[1] + m[2]
		if name != "" && p.number(name) == 0 && (name[0] == ':' || program == "Vercel") {
			return []string{name + " is not in the path, so it stays as it is in the destination"}
		}
	}
	return nil
}

// apparent matches what looks like a reference, or an escaped character.
var apparent = regexp.MustCompile(`\\.|/(:[A-Za-z_]\w*)|(\$[1-9]\w*)`)
