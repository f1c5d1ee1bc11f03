package redis

import (
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

func TestEqualRulesHaveEqualVersionsHoweverTheyAreWritten(t *testing.T) {
	version := func(value string) string {
		rules, err := parseRules([]field{{"docs", value}}, "redis links")
		if err != nil {
			t.Fatal(err)
		}
		return versionOf(rules)
	}
	plain := version("/guide")
	for _, value := range []string{`{"to":"/guide"}`, `{ "exact": false, "to": "\/guide" }`} {
		if version(value) != plain {
			t.Errorf("%s has another version", value)
		}
	}
}

func TestEachQueryModeHasAVersionOfItsOwn(t *testing.T) {
	seen := make(map[string]resolver.Rule)
	for _, name := range append(resolver.QueryModeNames(), "") {
		var mode resolver.QueryMode
		if name != "" {
			mode, _ = resolver.ParseQueryMode(name)
		}
		for _, note := range []string{"", "why"} {
			for _, unlisted := range []bool{false, true} {
				rule := resolver.Rule{Key: "a", Value: "/b", Query: mode, Note: note, Unlisted: unlisted}
				version := versionOf([]resolver.Rule{rule})
				if same, ok := seen[version]; ok {
					t.Errorf("%v and %v have one version", same, rule)
				}
				seen[version] = rule
			}
		}
	}
}

func TestOtherRulesHaveOtherVersions(t *testing.T) {
	seen := make(map[string][]resolver.Rule)
	for _, rules := range [][]resolver.Rule{
		nil,
		{{Key: "a", Value: "/b"}},
		{{Key: "a/", Value: "b"}},
		{{Key: "a", Value: "/c"}},
		{{Key: "a", Value: "/b", Status: 301}},
		{{Key: "a", Value: "/b", Exact: true}},
		{{Key: "a", Value: "/b", Unlisted: true}},
		{{Key: "a", Value: "/b", Query: resolver.QueryMerge}},
		{{Key: "a", Value: "/b", Query: resolver.QueryIgnore}},
		{{Key: "a", Value: "/b", Query: resolver.QueryIgnore, Unlisted: true}},
		{{Key: "a", Value: "/b", Note: "why"}},
		{{Key: "a", Value: "/b", Note: "why not", Query: resolver.QueryIgnore}},
		{{Key: "a"}},
		{{Key: "a", Windows: `{"to":"/b","until":"2027-03-01"}`}},
		{{Key: "a", Windows: `{"to":"/b","until":"2027-03-02"}`}},
		{{Key: "a", Note: `{"to":"/b","until":"2027-03-02"}`}},
		{{Key: "a", Value: "/b"}, {Key: "c", Value: "/d"}},
	} {
		version := versionOf(rules)
		if same, ok := seen[version]; ok {
			t.Errorf("%v and %v have one version", same, rules)
		}
		seen[version] = rules
	}
}
