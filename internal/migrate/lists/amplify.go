package lists

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
)

// ReadAmplify reads the redirects and rewrites of an app of AWS Amplify. A source can have <name>
// for a segment and <*> for the rest, or be a regular expression: </^...$/>.
func ReadAmplify(t *migrate.Table, r io.Reader) error {
	t.Program, t.Slashes = "Amplify", redirects.SlashesMerged
	known := []string{"source", "target", "status", "condition"}
	return readObjects(t, r, "customRules", known, func(o *object) {
		var line redirects.Line
		source, target, status := o.text("source"), o.text("target"), o.text("status")
		if o.text("condition") != "" {
			o.refuse("a rule has no condition such as a country; use Caddy's redir with a matcher")
		}
		expression, isExpression := strings.CutPrefix(source, "</")
		switch isRewrite := status == "200" || strings.HasPrefix(status, "404"); {
		case isRewrite && isExpression:
			o.refuse("this is a rewrite, with a regular expression; use Caddy's rewrite or try_files " +
				"after this handler")
		case isRewrite:
			line.Answer = redirects.Passes
		default:
			o.answer(&line, "status")
		}
		switch {
		case isExpression:
			o.addMatch(line, strings.TrimSuffix(expression, "/>"), target)
		case strings.ContainsAny(source+target, "<>"):
			o.addPlaceholders(line, source, target)
		default:
			o.add(line, source, target, false)
		}
	})
}

// placeholder matches a variable of a path.
var placeholder = regexp.MustCompile(`<(\*|[\w-]+)>`)

// addPlaceholders adds the lines of a path with variables, as a regular expression.
func (o *object) addPlaceholders(line redirects.Line, source, target string) {
	path, err := o.table.WithoutHost(source)
	if err = cmp.Or(err, migrate.CheckPath(path)); err != nil {
		o.refuse(err.Error())
	}
	names, expression := placeholder.FindAllString(path, -1), "^"
	for i, text := range placeholder.Split(path, -1) {
		expression += regexp.QuoteMeta(text)
		if i < len(names) && names[i] == "<*>" {
			expression += "(.*)"
		} else if i < len(names) {
			expression += "([^/]+)"
		}
	}
	target = placeholder.ReplaceAllStringFunc(strings.ReplaceAll(target, "$", "%24"),
		func(name string) string {
			if !slices.Contains(names, name) {
				o.refuse(name + " is in the target and not in the source; write it in both, or in neither")
			}
			return fmt.Sprintf("${%d}", slices.Index(names, name)+1)
		})
	o.addMatch(line, expression+"$", target)
}
