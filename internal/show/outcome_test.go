package show

import (
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/find"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
)

func TestAnExplanationForProgramsNamesRulesAndWhereEachPartComesFrom(t *testing.T) {
	at := func(line int) resolver.Position { return resolver.Position{Source: "links", Line: line} }
	ruleset, err := resolver.Compile([]resolver.Rule{
		{Key: "t/{b}/{a}", Value: "/to/{a}?x=1&y#f", Note: "a & b", Query: resolver.QueryMerge,
			Position: at(1)},
		{Key: "to", Value: "https://to.example/?x=2", Position: at(2)},
		{Key: "docs", Value: "https://docs.example", Exact: true, Position: at(3)},
	}, resolver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		"https://go.example/t/q/r?x=3": `{"request":"https://go.example/t/q/r?x=3",` +
			`"outcome":"redirect","destination":"https://to.example/r?x=3&y=#f","key":"t/{b}/{a}",` +
			`"hops":1,"status":302,"explanation":{"walk":[{"pathname":"/t/q/r","key":"t/{b}/{a}",` +
			`"value":"/to/r?x=1&y#f","captures":{"a":"r","b":"q"},"position":"links:1",` +
			`"note":"a & b"},{"pathname":"/to/r","key":"to","value":"https://to.example/?x=2",` +
			`"remaining":"/r","position":"links:2"}],"origin":{"source":"destination","key":"to"},` +
			`"appended":"/r","query":"merge","parameters":[{"name":"x","value":"3",` +
			`"from":{"source":"request"},"displaced":[{"name":"x","value":"2",` +
			`"from":{"source":"destination","key":"to"}},{"name":"x","value":"1",` +
			`"from":{"source":"embedded","key":"t/{b}/{a}"}}]},{"name":"y","value":"",` +
			`"from":{"source":"embedded","key":"t/{b}/{a}"}}],` +
			`"fragment":{"value":"#f","from":{"source":"embedded","key":"t/{b}/{a}"}}}}`,
		"https://go.example/doc": `{"request":"https://go.example/doc","outcome":"pass",` +
			`"explanation":{},"suggestions":[{"key":"docs","position":"links:3"}]}`,
		"docs": `{"request":"docs","outcome":"error","error":"\"docs\": it does not begin with ` +
			`http:// or https://; write /docs for a path of the site"}`,
	} {
		var got strings.Builder
		outcome := Explain(find.Listed{Ruleset: ruleset}, Ask(url, "https://go.example"))
		if err := printable.NewJSONEncoder(&got).Encode(outcome); err != nil {
			t.Fatal(err)
		}
		if got.String() != want+"\n" {
			t.Errorf("got  %s\nwant %s", got.String(), want)
		}
	}
}
