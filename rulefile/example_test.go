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
/app/*    /index.html                    200
`)
	var rules []resolver.Rule
	add := func(rule resolver.Rule) { rules = append(rules, rule) }
	err := rulefile.Read(file, rulefile.Redirects, "_redirects", add)
	fmt.Println(err)
	rulefile.WriteJSON(os.Stdout, slices.Values(rules))
	// Output:
	// _redirects:4:42: 200 is a rewrite, and no redirect; use Caddy's rewrite, or reverse_proxy for another host
	// {
	// 	"paper": {"to":"https://example.com/paper.pdf","status":302,"exact":true},
	// 	"docs": {"to":"https://docs.example.com","status":301}
	// }
}
