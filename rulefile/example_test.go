package rulefile_test

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// A file of one format becomes one of another.
func Example() {
	file := strings.NewReader(`
/paper    https://example.com/paper.pdf  302
/docs/*   https://docs.example.com/:splat
/de/*     /german/:splat                 302  Language=de
`)
	var rules []resolver.Rule
	add := func(rule resolver.Rule) { rules = append(rules, rule) }
	err := rulefile.Read(file, rulefile.Redirects, "_redirects", add)
	fmt.Println(err)
	rulefile.WriteJSON(os.Stdout, slices.Values(rules))
	// Output:
	// _redirects:4:47: a rule has no condition Language; use Caddy's redir with a matcher; or leave such lines out: unsupported skip in the source's block, or --unsupported skip
	// {
	// 	"paper": {"to":"https://example.com/paper.pdf","status":302,"exact":true},
	// 	"docs": {"to":"https://docs.example.com/","status":301}
	// }
}
