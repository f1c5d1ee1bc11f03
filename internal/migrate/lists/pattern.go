package lists

import (
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

// pattern is a path with variables in the language of path-to-regexp, or a glob, written as a
// regular expression.
//
//	/u/:name        ^/u/([^/]+)$
//	/d/:path*       ^/d(?:/(.*))?$
//	/d/(.*)         ^/d/(.+)$
//	/(en|de)/a      ^/(en|de)/a$
//	/a/*/b{,/**}    ^/a/([^/]+)/b(?:/(.*))?$
type pattern struct {
	expression strings.Builder
	visible    strings.Builder // the path, for messages
	groups     []group         // of the expression, by number from 1
	// alternatives is the first part in parentheses with several texts, "" for none.
	alternatives string
	rest         string // of the source
	unnamed      int
	isOver       bool // nothing may follow
	isGlob       bool // no destination names its groups
}

// group is what a pattern captures.
type group struct {
	name string // the number among those without one: "0"
	// isSeveral tells that it takes segments, mayLack that it may be nothing, with the slash in front.
	isSeveral, mayLack bool
}

// parsePattern writes a path in the language of path-to-regexp as an expression, or says why it has
// no equivalent.
func parsePattern(source string) (*pattern, error) {
	p := &pattern{rest: source}
	for p.rest != "" {
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	return p, migrate.CheckPath(p.visible.String())
}

// next takes in the next character, or what stands for something else.
func (p *pattern) next() error {
	switch {
	case len(p.groups) > pathexpr.MaxGroups:
		return fmt.Errorf("a path has at most %d variables; use Caddy's redir with a path_regexp matcher",
			pathexpr.MaxGroups)
	case p.isOver:
		return errors.New("what takes several segments stands at the end of a path; " +
			migrate.InsteadOfExpression)
	}
	switch c := p.rest[0]; {
	case c == '\\' && len(p.rest) > 1:
		p.addText(redirects.Encoded(p.rest[1:2]))
		p.rest = p.rest[2:]
		return nil
	case c == '{' || c == '}':
		return errors.New("a rule has no optional part {…}; write a rule for each path")
	case c == '*':
		return errors.New("a \"*\" by itself has no equivalent; " + migrate.InsteadOfExpression)
	case c == '+':
		return errors.New("a \"+\" repeats what is in front of it, which no rule does; write \\+ for " +
			"the character, or a rule for each path")
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
	// plainAlternatives are texts of which a pattern takes one.
	plainAlternatives = regexp.MustCompile(`^(?:[\w~-]|\\[.-])+(?:\|(?:[\w~-]|\\[.-])+)*$`)
)

// addText adds text of a path.
func (p *pattern) addText(text string) {
	p.expression.WriteString(regexp.QuoteMeta(text))
	p.visible.WriteString(text)
}

// addGroup adds a group with such a name, or none, and takes in what stands behind the name.
func (p *pattern) addGroup(name string) error {
	inside, err := p.cutParentheses()
	if err != nil {
		return err
	}
	isSame := func(g group) bool { return g.name == name }
	if name != "" && slices.ContainsFunc(p.groups, isSame) {
		return errors.New(printable.Quote(":"+name) + " stands twice; give one of them another name")
	}
	modifier := ""
	if p.rest != "" && strings.IndexByte("*+?", p.rest[0]) >= 0 {
		modifier, p.rest = p.rest[:1], p.rest[1:]
	}
	if modifier == "?" {
		return errors.New("a rule has no optional segment " + printable.Quote(":"+name+"?") +
			"; write a rule for the path with it, and one for that without it")
	}
	if name == "" {
		name = strconv.Itoa(p.unnamed)
		p.unnamed++
	}
	p.visible.WriteString(":" + name)
	switch isOne := modifier == ""; {
	case isOne && (inside == "" || inside == "[^/]+"):
		p.write("([^/]+)", group{name: name})
		return nil
	case isOne && (inside == ".*" || inside == ".+"):
		// Nothing is left of a path with a slash at its end, which is that without it here, and ".*"
		// does not take that one.
		return p.addSeveral(name, "+")
	case isOne && plainAlternatives.MatchString(inside):
		if p.alternatives == "" && strings.Contains(inside, "|") {
			p.alternatives = inside
		}
		p.write("("+inside+")", group{name: name})
		return nil
	case inside != "":
		return noExpression(inside)
	}
	return p.addSeveral(name, modifier)
}

// noExpression is why an expression in parentheses has no equivalent.
func noExpression(inside string) error {
	return errors.New("a variable takes any segment, and no regular expression such as " +
		printable.Quote("("+inside+")") + "; " + migrate.InsteadOfExpression)
}

func (p *pattern) write(expression string, g group) {
	p.expression.WriteString(expression)
	p.groups = append(p.groups, g)
}

// addSeveral adds a group that takes segments: "*" for any, "+" for at least one.
func (p *pattern) addSeveral(name, modifier string) error {
	front, isBehindSlash := strings.CutSuffix(p.expression.String(), "/")
	if !isBehindSlash {
		return errors.New("what takes several segments stands for whole ones, behind a \"/\"; " +
			migrate.InsteadOfExpression)
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

// inParentheses is what stands in parentheses, in which others may stand.
var inParentheses = regexp.MustCompile(`(?s)^\(((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*)\)`)

// cutParentheses cuts off what stands in parentheses, if that is next.
func (p *pattern) cutParentheses() (inside string, err error) {
	if !strings.HasPrefix(p.rest, "(") {
		return "", nil
	}
	switch found := inParentheses.FindStringSubmatch(p.rest); {
	case found == nil:
		return "", errors.New("a parenthesis does not close, or too many stand in it; write \\( for " +
			"the character")
	case found[1] == "":
		return "", errors.New("there is nothing in the parentheses; remove them")
	default:
		p.rest = p.rest[len(found[0]):]
		return found[1], nil
	}
}

// parsePlain takes a path as it is.
func parsePlain(source string) (*pattern, error) {
	if strings.ContainsAny(source, "*()") {
		return nil, errors.New("what stands in a path here is taken as it is, and no request has such " +
			"a path")
	}
	p := new(pattern)
	p.addText(source)
	return p, migrate.CheckPath(source)
}

// parseGlob writes a glob of Firebase as an expression: "*" is a segment, "/**" at the end at least
// one, and "{,/**}" that or nothing.
func parseGlob(source string) (*pattern, error) {
	p := &pattern{isGlob: true}
	rest := "(?:/(.*))?"
	front, isBelow := strings.CutSuffix(source, "{,/**}")
	if !isBelow {
		rest = "/(.+)"
		front, isBelow = strings.CutSuffix(source, "/**")
	}
	if isBelow {
		front = strings.TrimSuffix(front, "/")
	}
	literal := strings.TrimSuffix(strings.ReplaceAll(front, "/*/", "//"), "/*")
	if strings.Contains(literal, "/:") {
		return p, errors.New("\":\" is a variable at Firebase only where the destination has one, " +
			"too; write \"*\" for any segment")
	}
	if at := strings.IndexAny(literal, "*?[]{}!@+()"); at >= 0 {
		return p, errors.New("a rule has no " + printable.Quote(literal[at:at+1]) + ", which is a part " +
			"of a glob; " + migrate.InsteadOfExpression)
	}
	for i, segment := range strings.Split(front, "/") {
		if i > 0 {
			p.addText("/")
		}
		if segment == "*" {
			p.write("([^/]+)", group{name: "part" + strconv.Itoa(i)})
		} else {
			p.addText(segment)
		}
	}
	if isBelow {
		p.write(rest, group{isSeveral: true})
	}
	return p, migrate.CheckPath(source)
}
