package lists

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
)

// addGlob adds the lines of a glob of Firebase, or of a pattern, whose variables the destination
// names.
func (p *pairs) addGlob(line redirects.Line, source, to string) {
	if strings.Contains(to, "/:") || !strings.ContainsAny(source, `*?[]{}()!@+:\`) {
		p.addPattern(line, source, to)
		return
	}
	path, err := p.sitePath(source)
	expression, wrong := globExpression(path)
	line.Refused = cmp.Or(line.Refused, err, wrong)
	p.addExpression(line, path, expression, nil, to,
		func(to string, _ *pathexpr.Path) ([]redirects.Piece, error) {
			return redirects.Literal(to), nil
		})
}

// globExpression converts a glob to an expression. "*" is a segment, or a part of one. "/**" at the
// end is at least one segment, and "{,/**}" is any number.
func globExpression(glob string) (expression string, err error) {
	end := ""
	if front, is := strings.CutSuffix(glob, "{,/**}"); is {
		glob, end = strings.TrimSuffix(front, "/"), "(?:/(.*))?"
	} else if front, is := strings.CutSuffix(glob, "/**"); is {
		glob, end = front, "/(.+)"
	}
	if other := otherInGlobs.FindString(alternatives.ReplaceAllString(glob, "")); other != "" {
		return "", fmt.Errorf("a rule has no %q, which is a part of a glob, or of a variable that the "+
			"destination lacks; %s", other, pathexpr.Remedy)
	}
	expression = alternatives.ReplaceAllStringFunc(regexp.QuoteMeta(glob), func(list string) string {
		return strings.NewReplacer(`\{`, "(", ",", "|", `\}`, ")").Replace(list)
	})
	segments := strings.Split(expression, "/")
	for i, s := range segments {
		if s == `\*` || strings.HasPrefix(s, `\*\.`) { // not a dot alone
			segments[i] = "([^/]+)" + strings.TrimPrefix(s, `\*`)
		}
	}
	return strings.ReplaceAll(strings.Join(segments, "/"), `\*`, "([^/]*)") + end, nil
}

// alternatives matches a list of texts, also in an expression. otherInGlobs matches what has no
// equivalent.
var (
	alternatives = regexp.MustCompile(`\\?\{[^*?\[\]{}()|/]*,[^*?\[\]{}()|/]*\}`)
	otherInGlobs = regexp.MustCompile(`\*\*|[?\[\]{}()]|[!@+]\(|/:`)
)
