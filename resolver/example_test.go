package resolver_test

import (
	"fmt"
	"sync/atomic"

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
		result := rules.Resolve(request)
		fmt.Println(result.Outcome, result.Destination, result.Key, result.Hops)
	}
	// Output:
	// redirect https://github.com/ietf/guidelines github 0
	// redirect https://docs.example/v2/users?from=docs&page=2#top docs/api 1
	// pass   0
}

// A server has no request URL but a scheme, a host and a target, and a buffer to use again.
func ExampleRuleset_AppendDestination() {
	rules, err := resolver.Compile([]resolver.Rule{{Key: "docs", Value: "https://docs.example/v2"}},
		resolver.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	buffer := make([]byte, 0, 1024)
	request, ok := resolver.NewRequest("https", "go.example", "/docs/install?os=linux")
	if !ok {
		fmt.Println("the target is no path")
		return
	}
	request.OverHTTP = true
	location, result := rules.AppendDestination(buffer, &request)
	fmt.Println(result.Status, string(location))
	// Output:
	// 302 https://docs.example/v2/install?os=linux
}

// An explanation says which rules a request went through, and what each of them gave.
func ExampleRuleset_Explain() {
	rules, err := resolver.Compile([]resolver.Rule{
		{Key: "docs", Value: "/guide?lang=en",
			Position: resolver.Position{Source: "links.json", Line: 2}},
		{Key: "guide", Value: "https://docs.example/guide?lang=de&v=2",
			Position: resolver.Position{Source: "links.json", Line: 3}},
	}, resolver.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	request, err := resolver.ParseRequest("https://go.example/docs/start")
	if err != nil {
		fmt.Println(err)
		return
	}
	explanation := rules.Explain(request)
	fmt.Println(explanation.Destination)
	for _, step := range explanation.Walk {
		fmt.Printf("%s: %s leads to %s\n", step.Rule.Position, step.Pathname, step.Rule.Value)
	}
	for _, parameter := range explanation.Parameters {
		fmt.Printf("%s=%s is %s", parameter.Name, parameter.Value, parameter.From.Kind)
		for _, displaced := range parameter.Displaced {
			fmt.Printf(", not %s of the %s", displaced.Value, displaced.From.Kind)
		}
		fmt.Println()
	}
	// Output:
	// https://docs.example/guide/start?lang=en&v=2
	// links.json:2: /docs/start leads to /guide?lang=en
	// links.json:3: /guide leads to https://docs.example/guide?lang=de&v=2
	// lang=en is embedded, not de of the destination
	// v=2 is destination
}

// A ruleset never changes, so one that is live is exchanged for another: readers load the pointer
// once for each request and wait for nobody. Rules that do not compile leave the last good ones in
// place.
func Example_liveSwap() {
	var live atomic.Pointer[resolver.Ruleset]
	load := func(rules ...resolver.Rule) {
		compiled, err := resolver.Compile(rules, resolver.Options{})
		if err != nil {
			fmt.Println("kept:", err)
			return
		}
		live.Store(compiled)
	}
	show := func() {
		destination := live.Load().Resolve("https://go.example/talk").Destination
		fmt.Println(destination)
	}

	load(resolver.Rule{Key: "talk", Value: "https://slides.example/2025"})
	show()
	load(resolver.Rule{Key: "talk", Value: "slides.example/2026"})
	show()
	load(resolver.Rule{Key: "talk", Value: "https://slides.example/2026"})
	show()
	// Output:
	// https://slides.example/2025
	// kept: key "talk": the destination "slides.example/2026" is neither a URL that begins with http:// or https:// nor a path that begins with /; write https://slides.example/2026 or /slides.example/2026
	// https://slides.example/2025
	// https://slides.example/2026
}
