package lists

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
)

// ReadAmplify reads the redirects and rewrites of an app of AWS Amplify. A source can have <name>
// for a segment and <*> for the rest, or be a regular expression: </^...$/>.
func ReadAmplify(t *migrate.Table, r io.Reader) error {
	t.Program, t.Slashes = "Amplify", redirects.SlashesMerged
	known := []string{"source", "target", "status", "condition"}
	return readObjects(t, r, "customRules", known, func(o *object) {
		source, target, status := o.text("source"), o.text("target"), o.text("status")
		if o.text("condition") != "" {
			o.refuse("a rule has no condition such as a country; use Caddy's redir with a matcher")
		}
		expression, isExpression := strings.CutPrefix(source, "</")
		switch isRewrite := status == "200" || strings.HasPrefix(status, "404"); {
		case isRewrite && isExpression:
			o.refuse("a regular expression rewrites here; use Caddy's rewrite or try_files")
		case isRewrite:
			o.line.Answer = redirects.Passes
		default:
			setStatus(&o.line, o.Member("status"))
		}
		o.line.To = redirects.Literal(target)
		switch {
		case isExpression:
			t.AddMatch(o.line, strings.TrimSuffix(expression, "/>"), target,
				pathexpr.Options{IsEncoded: true})
		case strings.ContainsAny(source+target, "<>"):
			o.addPlaceholders(source, target)
		default:
			t.AddPath(o.line, source, false)
		}
	})
}

// placeholder matches a variable of a path.
var placeholder = regexp.MustCompile(`<(\*|[\w-]+)>`)

// addPlaceholders adds the lines of a path with variables, as a regular expression.
func (o *object) addPlaceholders(source, target string) {
	path, err := o.WithoutHost(source)
	if err = cmp.Or(err, migrate.CheckPath(path)); err != nil {
		o.refuse("%w", err)
	}
	expression := strings.ReplaceAll(regexp.QuoteMeta(path), `<\*>`, "(.*)")
	expression = placeholder.ReplaceAllString(expression, "([^/]+)")
	groups := []string{"$", "%24"}
	for i, name := range placeholder.FindAllString(path, -1) {
		groups = append(groups, name, fmt.Sprintf("${%d}", i+1))
	}
	to := strings.NewReplacer(groups...).Replace(target)
	if name := placeholder.FindString(to); name != "" {
		o.refuse("%s is in the target and not in the source; write it in both, or in neither", name)
	}
	o.AddMatch(o.line, "^"+expression+"$", to, pathexpr.Options{IsEncoded: true})
}
