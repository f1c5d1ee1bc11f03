package migrate

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
)

// KeyKind says what the keys of a list are whose program does not say it.
type KeyKind string

// The kinds of keys.
const (
	// GuessedKeys are regular expressions if they look so, else paths, in which "*" at the end
	// stands for the rest.
	GuessedKeys KeyKind = ""
	LiteralKeys KeyKind = "literal" // paths, also with "*"
	RegexpKeys  KeyKind = "regexp"  // regular expressions
)

// KeyKinds returns what a command line can say of keys.
func KeyKinds() []string { return []string{string(LiteralKeys), string(RegexpKeys)} }

// AddKey adds the lines of a key of a list and its destination. The line has everything else. An
// expression without "^" or "$" is one for a whole path.
func (t *Table) AddKey(line redirects.Line, key, to string) {
	err := CheckText("a path or a destination", key+to)
	if line.Answer == redirects.Leads {
		err = cmp.Or(err, CheckDestination(to)) // allows $1 in it
	}
	line.Query = cmp.Or(line.Query, t.Reading.Query)
	t.hasKeys = true
	switch isGuessed := t.Keys == GuessedKeys; {
	case err != nil:
		t.Wrong(line.At, "%s", err)
	case t.Keys == RegexpKeys, isGuessed && looksLikeExpression.MatchString(key):
		if isGuessed && key[0] != '^' {
			t.expressions.Add(key)
		}
		t.AddMatch(line, wholeExpression(key), to, pathexpr.Options{})
	case isGuessed && (strings.Contains(key, "*") || hasPlaceholder(key, to)):
		t.AddWildcard(line, key, to)
	default:
		line.To = redirects.Literal(to)
		t.AddPath(line, key, false)
	}
}

// remarkOnKeys says which keys were taken for regular expressions.
func (t *Table) remarkOnKeys() {
	if t.Keys != GuessedKeys && !t.hasKeys && t.Program != "" {
		t.Remark("--keys has no effect: %s says what its paths are", t.Program)
	}
	if len(t.expressions) > 0 {
		t.Remark("keys that look like regular expressions are read as such, for whole paths: %s; --keys "+
			"literal reads all as paths", QuoteAll(t.expressions))
	}
}

// looksLikeExpression matches what occurs in expressions, but hardly in paths.
var looksLikeExpression = regexp.MustCompile(`^\^|\$$|\||\[[^\]]*\]|\\|\.[*+]|\(\?`)

// wholeExpression returns the expression for a whole path that a key means.
func wholeExpression(key string) string {
	if strings.HasPrefix(key, "^") {
		return key
	}
	text, hasEnd := strings.CutSuffix(key, "$")
	if hasEnd && strings.HasSuffix(text, `\`) {
		text = key
	}
	text = strings.TrimPrefix(text, "/")
	if strings.Contains(text, "|") { // alternatives can have a slash each
		return "^/?(?:" + text + ")$"
	}
	return "^/" + text + "$"
}

// placeholder matches a variable such as :id behind a slash, as some programs write it.
var placeholder = regexp.MustCompile(`/:(\w+)`)

// hasPlaceholder reports whether a path has a variable that its destination has, too.
func hasPlaceholder(path, to string) bool {
	names := placeholder.FindAllString(to, -1)
	isIn := func(name string) bool { return slices.Contains(names, name) }
	return slices.ContainsFunc(placeholder.FindAllString(path, -1), isIn)
}

// AddWildcard adds the line of a path that ends in "/*", with the rest of the path in the place of
// ":splat", "$1" or "*" in its destination. Other variables have no equivalent here.
func (t *Table) AddWildcard(line redirects.Line, key, to string) {
	path, err := t.WithoutHost(key)
	path, isBelow := strings.CutSuffix("/"+strings.TrimPrefix(path, "/"), "/*")
	unknown := placeholder.FindString(strings.ReplaceAll(to, "/:splat", ""))
	switch {
	case err != nil:
	case !isBelow || strings.Contains(path, "*") || hasPlaceholder(path, to):
		err = errors.New("\"*\" stands for the rest of a path, at its end behind a \"/\"; " +
			expressionInstead(key, to))
	case unknown != "":
		err = fmt.Errorf("%s is not in the path; for the rest of the path write :splat",
			printable.Quote(unknown[1:]))
	default:
		err = CheckPath(path + "/")
	}
	line.Refused = cmp.Or(line.Refused, err)
	line.Path, line.NeedsSlash = redirects.Below(redirects.Text(path)), true
	line.To = RestIn(to, "*", "$1", ":splat")
	if err != nil {
		line.Path = nil
	}
	t.Add(line)
}

// RestIn returns a destination with the rest of the path in the place of one of several texts. If
// it has several of them, the last counts.
func RestIn(to string, texts ...string) (pieces []redirects.Piece) {
	parts := []string{to}
	for _, rest := range texts {
		if strings.Contains(to, rest) {
			parts = strings.Split(to, rest)
		}
	}
	for i, text := range parts {
		if i > 0 {
			pieces = append(pieces, redirects.Piece{Variable: redirects.Splat})
		}
		pieces = append(pieces, redirects.Piece{Text: text})
	}
	return pieces
}

// expressionInstead tells the line with a regular expression that a path with variables may mean.
func expressionInstead(key, to string) string {
	var groups []string
	expression := variable.ReplaceAllStringFunc(regexp.QuoteMeta(key), func(name string) string {
		groups = append(groups, strings.TrimPrefix(name, `\`), fmt.Sprintf("$%d", len(groups)/2+1))
		return "([^/]+)"
	})
	return fmt.Sprintf("for a segment, or a part of one, write in YAML ^%s$: %s", expression,
		strings.NewReplacer(groups...).Replace(to))
}

// variable matches "*" and a placeholder, in a quoted expression.
var variable = regexp.MustCompile(`\\\*|:\w+`)
