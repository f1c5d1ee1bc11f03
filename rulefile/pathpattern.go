package rulefile

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// pathPattern is a path in the language of path-to-regexp, which Vercel, Next.js and others have:
// ":x" is a segment or a part of one, ":x*" any segments, ":x+" at least one.
type pathPattern struct {
	path   string // as a [foreignLine] has it
	groups []patternGroup
}

// patternGroup is what a pattern captures.
type patternGroup struct {
	name string // the number among those without one: "0"
	// value stands for it in a destination.
	value string
	// mayLack tells that it may be nothing, together with the slash in front of it.
	mayLack bool
}

// parsePathPatterns takes a pattern apart, of which alternatives in parentheses make several.
func parsePathPatterns(source string) (patterns []pathPattern, err error) {
	for _, variant := range withAlternatives(source) {
		p, err := parsePathPattern(variant)
		if err != nil {
			return onePattern(parsePathPattern(source)) // whose message has what is there
		}
		isSame := func(other pathPattern) bool { return other.path == p.path }
		if !slices.ContainsFunc(patterns, isSame) {
			patterns = append(patterns, p)
		}
	}
	return patterns, nil
}

func onePattern(p pathPattern, err error) ([]pathPattern, error) {
	if err != nil {
		return nil, err
	}
	return []pathPattern{p}, nil
}

// withAlternatives returns a pattern for each of the alternatives in its parentheses, those first
// that are tried first. Of too many, and of a long one, it returns the pattern as it is.
func withAlternatives(source string) []string {
	if strings.IndexByte(source, '|') < 0 || len(source) > longestExpression {
		return []string{source}
	}
	variants, end := []string{""}, 0
	for _, at := range patternAlternatives.FindAllStringSubmatchIndex(source, -1) {
		if at[2] < 0 {
			continue
		}
		alternatives := strings.Split(source[at[2]:at[3]], "|")
		if len(variants)*len(alternatives) > maxVariants {
			return []string{source}
		}
		var more []string
		for _, front := range variants {
			for _, alternative := range alternatives {
				more = append(more, front+source[end:at[2]]+alternative)
			}
		}
		variants, end = more, at[3]
	}
	for i := range variants {
		variants[i] += source[end:]
	}
	return variants
}

var (
	// patternAlternatives finds alternatives of plain text in parentheses, and escapes.
	patternAlternatives = regexp.MustCompile(`\\.|\(((?:[\w~-]|\\[.-])+(?:\|(?:[\w~-]|\\[.-])+)+)\)`)
	// patternText is one of them.
	patternText = regexp.MustCompile(`^(?:[\w~-]|\\[.-])+$`)
)

// parsePathPattern takes a pattern apart, or says why it has no equivalent.
func parsePathPattern(source string) (p pathPattern, err error) {
	b := patternParser{rest: source}
	for b.rest != "" && err == nil {
		err = b.next()
	}
	if err != nil {
		return p, err
	}
	p = pathPattern{b.path.String(), b.groups}
	return p, checkPlainPath(p.path)
}

// checkPlainPath says what is wrong with the path of an entry.
func checkPlainPath(path string) error {
	if !strings.HasPrefix(path, "/") {
		return errors.New("a path begins with \"/\", not as in " + quote(visibleCaptures(path)))
	}
	end := strings.IndexAny(path, "?#")
	switch {
	case end < 0:
		return nil
	case path[end] == '#':
		return errors.New(noFragment)
	}
	return errors.New("a rule has no \"?\" in its path, as it is found by the path alone; use " +
		"Caddy's redir with a query matcher")
}

// visibleCaptures returns a path for a message.
func visibleCaptures(path string) string {
	return strings.NewReplacer(string(captureStart), ":", string(captureEnd), "").Replace(path)
}

// patternParser takes a pattern apart.
type patternParser struct {
	rest   string
	path   strings.Builder
	groups []patternGroup
	// unnamed are the groups without a name.
	unnamed int
	isOver  bool // nothing may follow
}

// next takes in the next character, or what stands for something else.
func (p *patternParser) next() error {
	if p.isOver {
		return errors.New("what takes several segments stands at the end of a path; " +
			insteadOfExpression)
	}
	c := p.rest[0]
	switch {
	case c == '\\' && len(p.rest) > 1:
		p.path.WriteString(encodedPath(p.rest[1:2]))
		p.rest = p.rest[2:]
		return nil
	case c == '{' || c == '}':
		return errors.New("a rule has no optional part {…}; write a rule for each path")
	case c == '*':
		return errors.New("a \"*\" by itself has no equivalent; " + insteadOfExpression)
	case c == '+':
		return errors.New("a \"+\" repeats what is in front of it, which no rule does; write " +
			"\\+ for the character, or a rule for each path")
	case c == '(':
		return p.group("")
	case c == ':':
		if name := patternName.FindString(p.rest[1:]); name != "" {
			p.rest = p.rest[1+len(name):]
			return p.group(name)
		}
	}
	p.path.WriteByte(c)
	p.rest = p.rest[1:]
	return nil
}

var (
	patternName   = regexp.MustCompile(`^\w+`)
	patternNumber = regexp.MustCompile(`^\$[1-9]`)
)

// group takes in what stands behind a name, and the group with it.
func (p *patternParser) group(name string) error {
	inParentheses, err := p.expression()
	if err != nil {
		return err
	}
	if name != "" && slices.ContainsFunc(p.groups, func(g patternGroup) bool {
		return g.name == name
	}) {
		return errors.New(quote(":"+name) + " stands twice; give one of them another name")
	}
	modifier := byte(0)
	if p.rest != "" && strings.IndexByte("*+?", p.rest[0]) >= 0 {
		modifier = p.rest[0]
		p.rest = p.rest[1:]
	}
	if modifier == '?' {
		return errors.New("a rule has no optional segment " + quote(":"+name+"?") +
			"; write a rule for " +
			"the path with it, and one for that without it")
	}
	if name == "" {
		name = strconv.Itoa(p.unnamed)
		p.unnamed++
	}
	switch {
	case inParentheses == "" && modifier == 0 || inParentheses == "[^/]+" && modifier == 0:
		p.capture(name, p.unique(name))
		return nil
	case (inParentheses == ".*" || inParentheses == ".+") && modifier == 0:
		// Nothing is left of a path with a slash at its end, which is that without it here, and
		// ".*" does not take that one.
		return p.several(name, '+')
	case patternText.MatchString(inParentheses) && modifier == 0:
		text := strings.ReplaceAll(inParentheses, `\`, "")
		p.path.WriteString(text)
		p.groups = append(p.groups, patternGroup{name: name, value: text})
		return nil
	case inParentheses != "":
		return errors.New("a variable takes any segment, and no regular expression such as " +
			quote("("+inParentheses+")") + "; " + insteadOfExpression)
	}
	return p.several(name, modifier)
}

// several takes in a group that takes several segments.
func (p *patternParser) several(name string, modifier byte) error {
	path := p.path.String()
	if !strings.HasSuffix(path, "/") {
		return errors.New("what takes several segments stands for whole ones, behind a \"/\"; " +
			insteadOfExpression)
	}
	p.isOver = true
	rest := capturedRest
	if modifier == '+' {
		rest = capturedSome
	}
	p.path.WriteString(rest)
	p.groups = append(p.groups, patternGroup{name, capturedRest, modifier == '*'})
	return nil
}

// capture takes in a group for a segment, or a part of one.
func (p *patternParser) capture(name, unique string) {
	p.path.WriteString(captured(unique))
	p.groups = append(p.groups, patternGroup{name: name, value: captured(unique)})
}

// unique returns the name of a variable, which is not that of the rest of a path.
func (p *patternParser) unique(name string) string {
	switch {
	case name == splatName || name[0] >= '0' && name[0] <= '9' || name[0] == '_':
		return "part" + strconv.Itoa(len(p.groups)+1)
	case strings.HasPrefix(name, "part"):
		return name + strconv.Itoa(len(p.groups)+1)
	}
	return name
}

// expression takes in a regular expression in parentheses, if one is next.
func (p *patternParser) expression() (inside string, err error) {
	if p.rest == "" || p.rest[0] != '(' {
		return "", nil
	}
	depth := 0
	for i := 0; i < len(p.rest); i++ {
		switch p.rest[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth > 0 {
				continue
			}
			inside, p.rest = p.rest[1:i], p.rest[i+1:]
			if inside == "" {
				return "", errors.New("there is nothing in the parentheses; remove them")
			}
			return inside, nil
		}
	}
	return "", errors.New("a parenthesis does not close; write \\( for the character")
}

// destination returns a destination with what is captured, that of the path without the segments
// that it may lack ("" for the same with nothing in their place), and what looks like a name and is
// none of the path's.
func (p *pathPattern) destination(to string) (all, itself, unknown string) {
	var b strings.Builder
	lacks := false
	for i := 0; i < len(to) && b.Len() < longestDestination; {
		group, length := p.groupAt(to[i:])
		switch {
		case group != nil:
			b.WriteString(group.value)
			lacks = lacks || group.mayLack
			i += length
			continue
		case to[i] == '\\' && i+1 < len(to) && strings.IndexByte(`:*+?(){}\$`, to[i+1]) >= 0:
			i++
		case to[i] == ':' && i > 0 && to[i-1] == '/':
			if name := placeholderAtStart.FindString(to[i:]); name != "" && unknown == "" {
				unknown = name
			}
		case to[i] == '$' && unknown == "":
			unknown = patternNumber.FindString(to[i:])
		}
		b.WriteByte(to[i])
		i++
	}
	if all = b.String(); lacks {
		itself = strings.ReplaceAll(strings.ReplaceAll(all, "/"+capturedRest, ""), capturedRest, "")
		if itself == "" || itself[0] == '?' || itself[0] == '#' {
			itself = "/" + itself
		}
	}
	return all, itself, unknown
}

// groupAt returns the group that a text of a destination begins with, and how long its name is.
func (p *pathPattern) groupAt(text string) (group *patternGroup, length int) {
	if text[0] != ':' && text[0] != '$' {
		return nil, 0
	}
	name := patternName.FindString(text[1:])
	if name == "" {
		return nil, 0
	}
	length = 1 + len(name)
	n, err := strconv.Atoi(name)
	isNumber := err == nil && n > 0 && n <= len(p.groups)
	for i := range p.groups {
		g := &p.groups[i]
		switch {
		case text[0] == '$' && isNumber && i == n-1:
		case text[0] == ':' && g.name == name:
		default:
			continue
		}
		isSeveral := g.value == capturedRest
		if isSeveral && length < len(text) && strings.IndexByte("*+", text[length]) >= 0 {
			length++
		}
		return g, length
	}
	return nil, 0
}

// globPattern returns what a glob of Firebase takes: "*" is a segment, "/**" at the end at least
// one, and "{,/**}" that or nothing.
func globPattern(source string) (p pathPattern, err error) {
	rest := "/" + capturedRest
	front, isBelow := strings.CutSuffix(source, "{,/**}")
	if !isBelow {
		rest = "/" + capturedSome
		front, isBelow = strings.CutSuffix(source, "/**")
	}
	literal := strings.TrimSuffix(strings.ReplaceAll(front, "/*/", "//"), "/*")
	if strings.Contains(literal, "/:") {
		return p, errors.New("\":\" is a variable at Firebase only where the destination has one, " +
			"too; write \"*\" for any segment")
	}
	if at := strings.IndexAny(literal, "*?[]{}!@+()"); at >= 0 {
		return p, fmt.Errorf("a rule has no %s, which is a part of a glob; %s",
			quote(literal[at:at+1]), insteadOfExpression)
	}
	var b strings.Builder
	for i, segment := range strings.Split(front, "/") {
		if i > 0 {
			b.WriteByte('/')
		}
		if segment == "*" {
			segment = captured("part" + strconv.Itoa(i))
		}
		b.WriteString(segment)
	}
	p.path = b.String()
	if isBelow {
		p.path = strings.TrimSuffix(p.path, "/") + rest
	}
	return p, checkPlainPath(p.path)
}
