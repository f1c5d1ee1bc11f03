package resolver_test

import (
	"fmt"

	"github.com/caddy-shortlink/shortlink/resolver"
)

func Example() {
	rules, err := resolver.Compile([]resolver.Rule{
		{Key: "github", Value: "https://github.com"},
		{Key: "docs/api", Value: "/reference?from=docs"},
		{Key: "reference", Value: "https://docs.example/v2#top"},
	}, resolver.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, request := range []string{
		"https://go.example/github/ietf/guidelines",
		"https://go.example/docs/api/users?page=2",
		"https://go.example/colors",
	} {
		destination, result := rules.Resolve(request)
		fmt.Println(result.Outcome, destination, result.Key, result.Hops)
	}
	// Output:
	// redirect https://github.com/ietf/guidelines github 0
	// redirect https://docs.example/v2/users?from=docs&page=2#top docs/api 1
	// pass   0
}
