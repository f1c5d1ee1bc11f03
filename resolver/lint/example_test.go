package lint_test

import (
	"fmt"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

func ExampleRule() {
	rule := resolver.Rule{Key: "docs/*", Value: "https://docs.example"}
	for _, warning := range lint.Rule(rule, resolver.Options{}) {
		fmt.Println(warning.Kind + ":")
		fmt.Println(warning)
	}
	// Output:
	// literal *:
	// key "docs/*": a "*" in a key is a "*" in the path, and no wildcard; write docs, which matches everything below it, too
}
