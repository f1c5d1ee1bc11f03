package rulefile

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Other programs match paths with regular expressions. Those that a few paths with captures say are
// taken over: texts, segments, alternatives of these, and at the end what is left.
//
//	^/a(?:/index\.html)?$     /a/index.html, and /a
//	^/blog/([^/]+)/?$         /blog/{p1}
//	^/(?:old|older)/(.*)$     /old/{rest}, and /older/{rest}

// pathExpression is a regular expression that has been taken apart.
type pathExpression struct {
	// variants are the paths that it matches. Of those that take a request, the first counts.
	variants []pathVariant
	names    []string // of the groups that have one, by number
	// folds tells that letters match in either case, hasDots that "." stands for a dot, hasRoot that
	// "/" matches, too; isAnywhere that it begins with "/" and not with "^"; hasQuery that it matches
	// paths with a query, too, of which there is no variant.
	folds, hasDots, hasRoot, isAnywhere, hasQuery bool
}

// pathVariant is a path as [foreignLine] has it, with the groups of the expression.
type pathVariant struct {
	path   string
	groups map[int]string // what of the path they are; nothing for those without a part
}

// maxVariants is how many paths a regular expression stands for at most.
const maxVariants = 64

// The longest regular expression that is taken apart, in bytes, and the most groups of one. Each
// variant has its own.
const (
	longestExpression = 1 << 13
	maxGroups         = 64
)

// expressionOptions say how a program matches with a regular expression.
type expressionOptions struct {
	base      string // the encoded path that it cuts off in front of what it matches
	folds     bool   // letters match in either case
	isEncoded bool   // it matches encoded paths with their query
}

// parse takes a regular expression apart.
func (o expressionOptions) parse(written string) (*pathExpression, error) {
	if len(written) > longestExpression {
		return nil, errLongExpression
	}
	expression, isFolded := strings.CutPrefix(written, "(?i)")
	isAnywhere := strings.HasPrefix(expression, "/")
	if isAnywhere {
		expression = "^" + expression
	}
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, unreadable(err)
	}
	if parsed.MaxCap() > maxGroups {
		return nil, errLongExpression
	}
	o.folds = o.folds || isFolded
	e := &pathExpression{names: parsed.CapNames(), isAnywhere: isAnywhere}
	b := expressionBuilder{expressionOptions: o, written: written, expression: e}
	states, err := b.add([]pathState{{path: b.base}}, parsed)
	if err != nil {
		return nil, err
	}
	for i := range states {
		if err := b.finish(&states[i]); err != nil {
			return nil, err
		}
	}
	switch {
	case len(e.variants) == 0 && e.hasQuery:
		return nil, errQuery
	case len(e.variants) == 0 && e.hasRoot:
		return nil, errors.New("a key is not empty, so no rule is for \"/\"; use Caddy's redir")
	case len(e.variants) == 0:
		return nil, errors.New("no path matches the regular expression; a path begins with \"/\", and " +
			"has no \"//\"")
	}
	return e, nil
}

// unreadable says why a regular expression cannot be read.
func unreadable(err error) error {
	wrong, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return err
	}
	what := map[syntax.ErrorCode]string{
		syntax.ErrInvalidPerlOp: "has no equivalent, as what a path must not or should have around it",
		syntax.ErrInvalidEscape: "is an escape without an equivalent",
	}[wrong.Code]
	if what == "" {
		what = "is not well-formed: " + wrong.Code.String()
	}
	return errors.New("in the regular expression, " + quoteExpression(wrong.Expr) + " " + what + "; " +
		insteadOfExpression)
}

const insteadOfExpression = "write a rule for each path, or use Caddy's redir with a path_regexp " +
	"matcher"

var (
	errNoBegin = errors.New("the regular expression matches anywhere within a path; begin it with " +
		"\"^\", or use Caddy's redir with a path_regexp matcher")
	errLongExpression = errors.New("the regular expression has more than 8192 bytes or 64 groups; " +
		insteadOfExpression)
	errTooManyVariants = errors.New("the regular expression stands for more than 64 paths; " +
		insteadOfExpression)
	errBehindRest = errors.New(
		"\".*\" has text behind it, and may only stand at the end; write [^/]+ " +
			"if one segment is meant, or " + insteadOfExpression)
)

// frontOfExpression returns the paths of which an expression without an equivalent takes some:
// those that begin with the text that it begins with, behind the base, which ends in a slash.
func frontOfExpression(expression, base string) (path string) {
	text, isAnchored := strings.CutPrefix(expression, "^")
	if !isAnchored || strings.Contains(text, "|") {
		return base + capturedRest
	}
	end := strings.IndexAny(text, `.[(*+?{\$`)
	switch {
	case end < 0:
		end = len(text)
	case end > 0 && strings.IndexByte("*?{", text[end]) >= 0:
		end-- // which may lack
	}
	return base + encodedPath(strings.TrimPrefix(text[:end], "/")) + capturedRest
}

// pathState is the path of a variant, as far as it has been built.
type pathState struct {
	path   string
	groups []groupSpan
	// isBegun and isEnded tell that "^" and "$" are behind it, hasRest that nothing follows but "$".
	isBegun, isEnded, hasRest bool
	// isLazy tells that a variable ends the path that takes as little as it can.
	isLazy bool
}

// groupSpan is where in a path a group stands.
type groupSpan struct{ number, from, to int }

// expressionBuilder builds the paths of a regular expression.
type expressionBuilder struct {
	expressionOptions
	written    string // the whole expression
	expression *pathExpression
	variables  int
}

// add returns the paths that go on with an expression, those first that are tried first.
func (b *expressionBuilder) add(states []pathState, e *syntax.Regexp) (more []pathState,
	err error) {
	if e.Op == syntax.OpConcat {
		for _, sub := range e.Sub {
			if states, err = b.add(states, sub); err != nil {
				return nil, err
			}
		}
		return states, nil
	}
	name := ""
	if takesMany(e) {
		b.variables++
		name = "p" + strconv.Itoa(b.variables)
	}
	for _, state := range states {
		next, err := b.addTo(state, e, name)
		if err != nil {
			return nil, err
		}
		if more = append(more, next...); len(more) > maxVariants {
			return nil, errTooManyVariants
		}
	}
	return more, nil
}

// takesMany reports whether an expression is something repeated.
func takesMany(e *syntax.Regexp) bool {
	return e.Op == syntax.OpStar || e.Op == syntax.OpPlus || e.Op == syntax.OpRepeat
}

// addTo is add for one path. name is that of the variable for what is repeated.
func (b *expressionBuilder) addTo(
	state pathState, e *syntax.Regexp, name string,
) (more []pathState, err error) {
	switch e.Op {
	case syntax.OpEmptyMatch:
		return []pathState{state}, nil
	case syntax.OpNoMatch:
		return nil, nil
	case syntax.OpBeginText, syntax.OpBeginLine:
		if state.isBegun = true; state.path != b.base {
			return nil, nil
		}
		return []pathState{state}, nil
	case syntax.OpEndText, syntax.OpEndLine:
		state.isEnded = true
		return []pathState{state}, nil
	case syntax.OpLiteral:
		if e.Flags&syntax.FoldCase != 0 {
			return nil, errors.New("(?i) stands in front of a whole regular expression; write it there")
		}
		b.expression.folds = b.expression.folds || b.folds &&
			slices.ContainsFunc(e.Rune, unicode.IsLetter)
		return b.addText(state, string(e.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.expression.hasDots = true
		return b.addText(state, ".")
	case syntax.OpCharClass:
		return b.addClass(state, e)
	case syntax.OpCapture:
		return b.addGroup(state, e)
	case syntax.OpAlternate:
		return b.addAny(state, e.Sub)
	case syntax.OpQuest:
		return b.addOptional(state, e)
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		return b.addRepeated(state, e, name)
	}
	return nil, b.refuse(e)
}

// refuse says that a part of an expression has no equivalent.
func (b *expressionBuilder) refuse(e *syntax.Regexp) error {
	instead := insteadOfExpression
	if e.Op == syntax.OpRepeat {
		instead = "write [^/]+ if any segment is meant, or " + instead
	}
	return errors.New(b.quote(e) + " has no equivalent; " + instead)
}

// quote quotes a part of the expression, or all of it where the part is written in another way.
func (b *expressionBuilder) quote(e *syntax.Regexp) string {
	for _, part := range []string{e.String(), asWritten.Replace(e.String())} {
		if strings.Contains(b.written, part) {
			return "in the regular expression, " + quoteExpression(part)
		}
	}
	return "the regular expression " + quoteExpression(b.written)
}

// quoteExpression quotes an expression with its backslashes as they are.
func quoteExpression(text string) string { return strings.ReplaceAll(quote(text), `\\`, `\`) }

// asWritten writes what [syntax.Regexp.String] spells out as most people do.
var asWritten = strings.NewReplacer("[0-9]", `\d`, "[^0-9]", `\D`, "[0-9A-Z_a-z]", `\w`,
	"(?-s:.)", ".", "(?-s:.+)", ".+", "(?-s:.*)", ".*", `[^\./]`, "[^/.]")

// addText adds text. Without a path there is no way on: it begins with one slash, and has no two in
// a row.
func (b *expressionBuilder) addText(state pathState, text string) ([]pathState, error) {
	switch {
	case !state.isBegun:
		return nil, errNoBegin
	case state.isEnded, state.path == "" && text[0] != '/':
		return nil, nil
	case state.path == b.base && b.base != "":
		text = strings.TrimPrefix(text, "/") // what a server's own configuration sees
	case b.isEncoded && strings.Contains(text, "?"):
		b.expression.hasQuery = true
		return nil, nil
	case state.hasRest:
		return nil, errBehindRest
	}
	if strings.HasSuffix(state.path, "/") && strings.HasPrefix(text, "/") {
		return nil, nil
	}
	state.path += b.encoded(text)
	state.isLazy = false
	return []pathState{state}, nil
}

// encoded returns text of an expression as it stands in a path.
func (b *expressionBuilder) encoded(text string) string {
	if b.isEncoded {
		return strings.ReplaceAll(text, "#", "%23")
	}
	return encodedPath(text)
}

// addClass adds one of a few characters.
func (b *expressionBuilder) addClass(state pathState, e *syntax.Regexp) (more []pathState,
	err error) {
	const few = 16
	n := 0
	for i := 0; i < len(e.Rune); i += 2 {
		if n += int(e.Rune[i+1]-e.Rune[i]) + 1; n > few {
			return nil, b.refuse(e)
		}
	}
	for i := 0; i < len(e.Rune); i += 2 {
		for c := e.Rune[i]; c <= e.Rune[i+1]; c++ {
			next, err := b.addText(state, string(c))
			if err != nil {
				return nil, err
			}
			more = append(more, next...)
		}
	}
	return more, nil
}

// addGroup adds what a group captures.
func (b *expressionBuilder) addGroup(state pathState, e *syntax.Regexp) ([]pathState, error) {
	from := len(state.path)
	more, err := b.add([]pathState{state}, e.Sub[0])
	for i := range more {
		groups := slices.Clip(more[i].groups)
		more[i].groups = append(groups, groupSpan{e.Cap, from, len(more[i].path)})
	}
	return more, err
}

// addAny adds one of several expressions.
func (b *expressionBuilder) addAny(
	state pathState, of []*syntax.Regexp,
) (more []pathState, err error) {
	for _, e := range of {
		next, err := b.add([]pathState{state}, e)
		if err != nil {
			return nil, err
		}
		if more = append(more, next...); len(more) > maxVariants {
			return nil, errTooManyVariants
		}
	}
	return more, nil
}

// addOptional adds an expression, and leaves it out.
func (b *expressionBuilder) addOptional(
	state pathState, e *syntax.Regexp,
) ([]pathState, error) {
	if state.hasRest && isSlash(e.Sub[0]) {
		return []pathState{state}, nil
	}
	with, err := b.add([]pathState{state}, e.Sub[0])
	if err != nil {
		return nil, err
	}
	if e.Flags&syntax.NonGreedy != 0 {
		return append([]pathState{state}, with...), nil
	}
	return append(with, state), nil
}

func isSlash(e *syntax.Regexp) bool {
	return e.Op == syntax.OpLiteral && string(e.Rune) == "/"
}

// addRepeated adds a variable for what is repeated.
func (b *expressionBuilder) addRepeated(
	state pathState, e *syntax.Regexp, name string,
) ([]pathState, error) {
	least, isEndless := leastOf(e)
	if !isEndless || least > 1 {
		return nil, b.refuse(e)
	}
	of := e.Sub[0]
	isAny := of.Op == syntax.OpAnyChar || of.Op == syntax.OpAnyCharNotNL ||
		b.isEncoded && isNoneOf(of, "?")
	switch {
	case isAny && !state.isBegun && state.path == b.base:
		state.isBegun = true
	case !state.isBegun:
		return nil, errNoBegin
	case state.isEnded:
		return nil, b.refuse(e)
	}
	isLazy := e.Flags&syntax.NonGreedy != 0
	switch {
	case isAny:
		if state.hasRest || state.isLazy {
			return nil, errBehindRest
		}
		if least == 1 && endsInVariable(state.path) {
			return nil, b.refuse(e)
		}
		return b.addAll(state, least == 1 && state.path != "")
	case !isNoneOf(of, "/") && !(b.isEncoded && isNoneOf(of, "/?")):
		return nil, errors.New(b.quote(e) + " takes some characters alone, and a variable takes any " +
			"of a segment; write [^/]+ if that is meant, or " + insteadOfExpression)
	case state.hasRest:
		return nil, errBehindRest
	case endsInVariable(state.path):
		return nil, b.refuse(e)
	}
	with := state
	with.path += captured(name)
	with.isLazy = isLazy
	switch {
	case state.path == "":
		return nil, nil // a path begins with "/"
	case least == 1:
		return []pathState{with}, nil
	case isLazy:
		return []pathState{state, with}, nil
	}
	return []pathState{with, state}, nil
}

// leastOf returns how often something is repeated at least, and whether that may go on endlessly.
func leastOf(e *syntax.Regexp) (least int, isEndless bool) {
	switch e.Op {
	case syntax.OpStar:
		return 0, true
	case syntax.OpPlus:
		return 1, true
	}
	return e.Min, e.Max < 0
}

// isNoneOf reports whether an expression is any character but these, which are sorted and have gaps
// between them.
func isNoneOf(e *syntax.Regexp, characters string) bool {
	ranges := []rune{0}
	for _, c := range characters {
		ranges = append(ranges, c-1, c+1)
	}
	return e.Op == syntax.OpCharClass && slices.Equal(e.Rune, append(ranges, utf8.MaxRune))
}

func endsInVariable(path string) bool { return strings.HasSuffix(path, string(captureEnd)) }

// addAll adds what is left of a path. Behind a variable that begins with a slash, or is nothing.
func (b *expressionBuilder) addAll(state pathState, isSome bool) ([]pathState, error) {
	without := state
	state.isLazy = false
	if err := b.addRest(&state, isSome); err != nil {
		return nil, err
	}
	if !endsInVariable(without.path) {
		return []pathState{state}, nil
	}
	return []pathState{state, without}, nil
}

// addRest adds what is left of a path.
func (b *expressionBuilder) addRest(state *pathState, isSome bool) error {
	switch {
	case state.hasRest:
		return nil
	case state.isLazy:
		return errors.New("in the regular expression, nothing settles what is taken as a whole where " +
			"something follows that takes as little as it can; write [^/]+ for a segment")
	case state.path == "", endsInVariable(state.path):
		state.path += "/"
	}
	state.hasRest = true
	if isSome {
		state.path += capturedSome
	} else {
		state.path += capturedRest
	}
	return nil
}

// finish takes in a variant that ends here. One that differs from an earlier one in a slash at its
// end, or in names, is left out, and so is what no request has.
func (b *expressionBuilder) finish(state *pathState) error {
	if !state.isBegun {
		return errNoBegin
	}
	if !state.isEnded {
		if err := b.addRest(state, false); err != nil {
			return err
		}
	}
	e := b.expression
	isSame := func(other pathVariant) bool {
		return unnamed(other.path) == unnamed(state.path)
	}
	if state.path == "/" {
		e.hasRoot = true
		return nil
	}
	if state.path == "" || slices.ContainsFunc(e.variants, isSame) {
		return nil
	}
	if _, kind, err := newRedirectPath(state.path, foreign); kind == neverReached {
		return nil
	} else if err != nil {
		return err
	}
	v := pathVariant{path: state.path, groups: make(map[int]string)}
	for _, g := range state.groups {
		v.groups[g.number] = inDestination(state.path[g.from:g.to])
	}
	v.groups[0] = inDestination(strings.TrimPrefix(state.path, b.base))
	e.variants = append(e.variants, v)
	return nil
}

// unnamed returns a path without the names of its variables, and without a slash at its end.
func unnamed(path string) string {
	return variableName.ReplaceAllString(strings.TrimSuffix(path, "/"), captured(""))
}

// variableName is a variable for what is repeated.
var variableName = regexp.MustCompile(captured(`p\d+`))

// inDestination returns a part of a path as it stands in a destination.
func inDestination(part string) string {
	return strings.Replace(part, capturedSome, capturedRest, 1)
}

// lines returns the lines of an expression: line with the path of each variant, and the destination
// that to makes of it.
func (e *pathExpression) lines(
	line foreignLine, to func(*pathVariant) (string, error),
) (lines []foreignLine, err error) {
	for i := range e.variants {
		v := &e.variants[i]
		line := line
		line.path = v.path
		if line.answer == leads {
			if line.to, err = to(v); err != nil {
				return nil, err
			}
		}
		if last := len(lines) - 1; last >= 0 && lines[last].path == below(v.path) {
			lines[last].itself = line.to
			continue
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// group returns what a program writes as $1, $name or ${name}. text begins behind the "$", and rest
// is what follows.
func (e *pathExpression) group(v *pathVariant, text string) (value, rest string, ok bool) {
	inBraces, isBraced := strings.CutPrefix(text, "{")
	if !isBraced && text != "" && text[0] >= '0' && text[0] <= '9' {
		return v.groups[int(text[0]-'0')], text[1:], true
	}
	var name string
	if isBraced {
		name, rest, _ = strings.Cut(inBraces, "}")
	} else {
		end := strings.IndexFunc(text+" ", func(c rune) bool { return c != '_' && !isAlphanumeric(c) })
		name, rest = text[:end], text[end:]
	}
	n, err := strconv.Atoi(name)
	if err != nil {
		n = slices.Index(e.names, name)
	}
	if name == "" || n < 0 || n >= len(e.names) {
		return "", text, false
	}
	return v.groups[n], rest, true
}

func isAlphanumeric(c rune) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// approximations say what an expression means elsewhere and its lines do not.
func (e *pathExpression) approximations() (how []string) {
	if e.isAnywhere {
		how = append(how, "the regular expression matches anywhere within a path there, and at the "+
			"beginning of one here; begin it with \"^\"")
	}
	if e.hasDots {
		how = append(how, "\".\" stands for any character there, and for a dot here; write \\. for a dot")
	}
	if e.folds {
		how = append(how, "letters of either case match there, and here those of the line alone; fold "+
			"case in the shortlink block if that is meant")
	}
	if e.hasRoot {
		how = append(how, "no rule is for \"/\", so this takes the other paths; use Caddy's redir for it")
	}
	return how
}

// longestDestination is from where on, in bytes, no more is added to a destination, which is too
// long then for any rule.
const longestDestination = 1 << 16

// destination returns a destination in which $1, ${1} and $name stand for what was captured.
func (e *pathExpression) destination(v *pathVariant, text string) (string, error) {
	var to strings.Builder
	for to.Len() < longestDestination {
		before, behind, found := strings.Cut(text, "$")
		to.WriteString(before)
		if !found {
			break
		}
		value, rest, ok := e.group(v, behind)
		if !ok {
			return "", errors.New("\"$\" in the destination stands for no group of the regular " +
				"expression; write %24 for the character")
		}
		to.WriteString(value)
		text = rest
	}
	return to.String(), nil
}
