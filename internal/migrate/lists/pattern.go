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

// pattern is a path with variables in the syntax of path-to-regexp, converted to a regular
// expression.
//
//	/u/:name        ^/u/([^/]+)$
//	/d/:path*       ^/d(?:/(.*))?$
//	/d/(.*)         ^/d/(.+)$
//	/(en|de)/a      ^/(en|de)/a$
type pattern struct {
	expression strings.Builder
	visible    strings.Builder // the path, for messages
	groups     []group         // of the expression, by number from 1
	// alternatives is the first part in parentheses with several texts, or "".
	alternatives string
	rest         string // of the source
	unnamed      int
	isOver       bool // nothing may follow
	isLoose      bool // groups of some characters are of any
	isGlob       bool // destinations cannot name its groups
}

// group is a captured part of a path.
type group struct {
	name string // unnamed groups are numbered from "0"
	// isSeveral reports whether the group matches several segments. mayLack reports whether it may
	// be empty, without the slash before it.
	isSeveral, mayLack bool
}

// parsePattern converts a path in the syntax of path-to-regexp to an expression. The error explains
// why it has no equivalent.
func parsePattern(source string, loosely bool) (*pattern, error) {
	p := &pattern{rest: source, isLoose: loosely}
	for p.rest != "" {
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	return p, migrate.CheckPath(p.visible.String())
}

// next handles the next character or special sequence.
func (p *pattern) next() error {
	switch {
	case len(p.groups) > pathexpr.MaxGroups:
		return fmt.Errorf("a path has at most %d variables; use Caddy's redir with a path_regexp matcher",
			pathexpr.MaxGroups)
	case p.isOver:
		return errors.New("a variable for several segments must be at the end of a path; " +
			pathexpr.Remedy)
	}
	switch c := p.rest[0]; {
	case c == '\\' && len(p.rest) > 1:
		p.addText(redirects.Encoded(p.rest[1:2]))
		p.rest = p.rest[2:]
		return nil
	case strings.IndexByte("{}*+", c) >= 0:
		return fmt.Errorf("a \"%c\" by itself has no equivalent; write \\%c for the character, a rule "+
			"for each path, or use Caddy's redir with a path_regexp matcher", c, c)
	case c == '(':
		return p.addGroup("")
	case c == ':':
		if name := patternName.FindString(p.rest[1:]); name != "" {
			p.rest = p.rest[1+len(name):]
			return p.addGroup(name)
		}
	}
	end := 1 + strings.IndexAny(p.rest[1:]+":", `\{}*+(:`)
	p.addText(p.rest[:end])
	p.rest = p.rest[end:]
	return nil
}

var (
	patternName = regexp.MustCompile(`^\w+`)
	// plainAlternatives matches a list of alternative texts.
	// someCharacters matches a repetition of some characters.
	someCharacters    = regexp.MustCompile(`^(?:\\[dw]|\[[^\[\]/]+\])(?:[+*]|\{[\d,]+\})$`)
	plainAlternatives = regexp.MustCompile(`^(?:[\w~-]|\\[.-])+(?:\|(?:[\w~-]|\\[.-])+)*$`)
)

// addText adds literal text of a path.
func (p *pattern) addText(text string) {
	p.expression.WriteString(regexp.QuoteMeta(text))
	p.visible.WriteString(text)
}

// addGroup adds a group with the given name, or none. It also reads the modifier after the name.
func (p *pattern) addGroup(name string) error {
	inside, modifier := "", ""
	if strings.HasPrefix(p.rest, "(") {
		found := inParentheses.FindStringSubmatch(p.rest)
		if found == nil {
			return errors.New("a parenthesis is empty, not closed or nested too deeply; write \\( for the " +
				"character")
		}
		inside, p.rest = found[1], p.rest[len(found[0]):]
	}
	if p.rest != "" && strings.IndexByte("*+?", p.rest[0]) >= 0 {
		modifier, p.rest = p.rest[:1], p.rest[1:]
	}
	isSame := func(g group) bool { return g.name == name }
	switch {
	case name != "" && slices.ContainsFunc(p.groups, isSame):
		return errors.New(printable.Quote(":"+name) + " is given twice; give one of them another name")
	case modifier == "?":
		return errors.New("a rule has no optional segment " + printable.Quote(":"+name+"?") +
			"; write one rule with it, and one without it")
	case name == "":
		name = strconv.Itoa(p.unnamed)
		p.unnamed++
	}
	p.visible.WriteString(":" + name)
	switch isOne := modifier == ""; {
	case isOne && (inside == "" || inside == "[^/]+"):
		p.write("([^/]+)", group{name: name})
	case isOne && (inside == ".*" || inside == ".+"):
		// ".*" would also match nothing after a slash at the end. Here, that path equals the one
		// without the slash, which ".*" does not match.
		return p.addSeveral(name, "+")
	case isOne && plainAlternatives.MatchString(inside):
		if p.alternatives == "" && strings.Contains(inside, "|") {
			p.alternatives = inside
		}
		p.write("("+inside+")", group{name: name})
	case p.isLoose && isOne && someCharacters.MatchString(inside):
		p.write("("+inside+")", group{name: name})
	case inside != "":
		return expressionError(inside)
	default:
		return p.addSeveral(name, modifier)
	}
	return nil
}

// inParentheses matches an expression in parentheses, which may be nested.
var inParentheses = regexp.MustCompile(`(?s)^\(((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))+)\)`)

// expressionError returns the error for an unsupported expression in parentheses.
func expressionError(inside string) error {
	return errors.New("a variable matches any segment, not a regular expression such as " +
		printable.Quote("("+inside+")") + "; write --loosely if that is meant, or " + pathexpr.Remedy)
}

func (p *pattern) write(expression string, g group) {
	p.expression.WriteString(expression)
	p.groups = append(p.groups, g)
}

// addSeveral adds a group of segments: "*" for any number, "+" for at least one.
func (p *pattern) addSeveral(name, modifier string) error {
	front, isBehindSlash := strings.CutSuffix(p.expression.String(), "/")
	if !isBehindSlash {
		return errors.New("a variable for several segments must match whole ones, after a \"/\"; " +
			pathexpr.Remedy)
	}
	p.isOver = true
	if modifier == "+" {
		p.write("(.+)", group{name: name, isSeveral: true})
		return nil
	}
	p.expression.Reset()
	p.expression.WriteString(front)
	p.write("(?:/(.*))?", group{name: name, isSeveral: true, mayLack: true})
	return nil
}

// parsePlain parses a path without patterns.
func parsePlain(source string, _ bool) (*pattern, error) {
	if strings.ContainsAny(source, "*()") {
		return nil, errors.New("this path has no patterns, and no request has such a path; write a " +
			"path without \"*\" and parentheses")
	}
	p := new(pattern)
	p.addText(source)
	return p, migrate.CheckPath(source)
}

// parseGlob parses a glob of Firebase. "*" is a segment, or a part of one. "/**" at the end is at
// least one segment, and "{,/**}" is any number.
func parseGlob(source string, _ bool) (*pattern, error) {
	p := &pattern{rest: source, isGlob: true}
	for p.rest != "" {
		if err := p.nextOfGlob(); err != nil {
			return nil, err
		}
	}
	return p, migrate.CheckPath(p.visible.String())
}

// nextOfGlob handles the next character or special sequence of a glob.
func (p *pattern) nextOfGlob() error {
	rest, before := p.rest, p.visible.String()
	g := group{name: "part" + strconv.Itoa(strings.Count(before, "/"))}
	isBegin := strings.HasSuffix(before, "/")
	found := globAlternatives.FindStringSubmatch(rest)
	end := 1 + strings.IndexAny(rest[1:]+"*", globSpecial)
	switch c := rest[0]; {
	case rest == "/**", rest == "{,/**}":
		p.rest = ""
		if !isBegin {
			p.addText("/")
		}
		return p.addSeveral(redirects.Splat, map[byte]string{'/': "+", '{': "*"}[c])
	case found != nil:
		p.alternatives = strings.ReplaceAll(regexp.QuoteMeta(found[1]), ",", "|")
		p.write("("+p.alternatives+")", g)
		p.visible.WriteString(found[0])
		end = len(found[0])
	case c == '*' && !strings.HasPrefix(rest, "**"):
		expression := "([^/]*)"
		if isBegin && strings.IndexByte("/.", (rest + "/")[1]) >= 0 { // not a dot alone
			expression = "([^/]+)"
		}
		p.write(expression, g)
		p.visible.WriteString(":" + g.name)
		end = 1
	case c == ':' && isBegin:
		return errors.New("\":\" begins a variable at Firebase only if the destination has one, " +
			"too; write \"*\" for any segment")
	case strings.IndexByte("*?[]{}()", c) >= 0,
		strings.IndexByte("!@+", c) >= 0 && (rest + " ")[1] == '(':
		return fmt.Errorf("a rule has no \"%c\", which is a part of a glob; %s", c, pathexpr.Remedy)
	default:
		p.addText(rest[:end])
	}
	p.rest = rest[end:]
	return nil
}

// globSpecial holds the special characters of globs. globAlternatives matches a list of texts.
const globSpecial = "/:*?[]{}!@+()"

var globAlternatives = regexp.MustCompile(`^\{([^*?\[\]{}()|/]*,[^*?\[\]{}()|/]*)\}`)

// lines returns the lines of a pattern.
func (p *pattern) lines(line redirects.Line, d *destination) ([]redirects.Line, error) {
	visible := p.visible.String()
	if len(p.groups) == 0 || strings.Contains(visible, "//") { // the usual case, or unreachable
		d.pattern = new(pattern)
		to, err := d.write(new(pathexpr.Path))
		line.Path, line.To = redirects.Text(visible), to
		return []redirects.Line{line}, err
	}
	options := pathexpr.Options{IsEncoded: true, IsMade: p.alternatives == "",
		Loosely: p.isLoose}
	for i := range p.groups {
		options.Names = append(options.Names, p.variable(i))
	}
	e, err := pathexpr.Parse("^"+p.expression.String()+"$", options)
	switch {
	case err != nil && p.alternatives != "":
		return nil, expressionError(p.alternatives)
	case err != nil:
		return nil, err
	}
	line.Notes = append(slices.Clip(line.Notes), e.Approximations()...)
	return e.Lines(line, d.write)
}

// variable returns the unique variable name of a group.
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

// destination writes the destinations for the paths of a pattern.
type destination struct {
	written string
	pattern *pattern
	path    *pathexpr.Path
	// lacks reports whether the destination names a group that is empty in this path.
	lacks bool
	// unknown is the first apparent variable that the path does not have.
	unknown string
}

// write returns the destination for a path.
func (d *destination) write(path *pathexpr.Path) ([]redirects.Piece, error) {
	if d.pattern.isGlob {
		return redirects.Literal(d.written), nil
	}
	d.path, d.lacks = path, false
	to, err := path.Substitute(d.written, d.find)
	if d.lacks && (len(to) == 0 || strings.HasPrefix(to[0].Text, "?") ||
		strings.HasPrefix(to[0].Text, "#")) {
		to = slices.Insert(to, 0, redirects.Piece{Text: "/"})
	}
	return to, err
}

// find finds the next :name, $1 or escaped character. A reference to an empty group includes the
// slash before it.
func (d *destination) find(text string) (r pathexpr.Reference, err error) {
	if text[0] == '\\' && len(text) > 1 && strings.IndexByte(`:*+?(){}\$`, text[1]) >= 0 {
		return pathexpr.Reference{Text: text[1:2], Length: 2}, nil
	}
	if strings.IndexByte("/:$", text[0]) < 0 { // the usual case
		return r, nil
	}
	parts := variable.FindStringSubmatch(text)
	if parts == nil {
		return r, nil
	}
	hasSlash, name, modifier := parts[1] != "", parts[2], parts[3]
	number, _ := strconv.Atoi(name[1:])
	for i, g := range d.pattern.groups {
		if name != ":"+g.name && (name[0] == ':' || number != i+1) {
			continue
		}
		lacks := g.mayLack && d.path.Groups[i+1] == nil
		d.lacks = d.lacks || lacks
		switch {
		case hasSlash && !lacks:
			return r, nil
		case !g.isSeveral:
			return pathexpr.Reference{Group: i + 1, Length: len(parts[0]) - len(modifier)}, nil
		}
		return pathexpr.Reference{Group: i + 1, Length: len(parts[0])}, nil
	}
	if isNamed := name[0] == ':' && name[1] > '9'; isNamed && hasSlash ||
		name[0] == '$' && name[1] > '0' && name[1] <= '9' && !hasSlash {
		d.unknown = cmp.Or(d.unknown, name)
	}
	return r, nil
}

// variable matches a reference to a group in a destination.
var variable = regexp.MustCompile(`^(/?)([:$]\w+)([*+]?)`)

// front returns the paths that begin like a source without an equivalent, up to its first special
// character, or nil.
func front(source string) []redirects.Segment {
	if !strings.HasPrefix(source, "/") {
		return nil
	}
	text := source[:strings.IndexAny(source+"*", `:*+?(){}[]|\`)]
	return redirects.Below(redirects.Text(text[:strings.LastIndexByte(text, '/')+1]))
}
