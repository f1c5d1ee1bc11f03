package resolver

import "testing"

func TestTheRuleOfASourceIsFoundAlsoWhereItIsShadowed(t *testing.T) {
	sources := [][]Rule{
		{{Key: "a", Value: "/b"}, {Key: "t/{x}", Value: "https://one.example/{x}"}},
		{{Key: "a", Value: "https://two.example/"}, {Key: "%62", Value: "https://two.example/"}},
		{{Key: "%61", Value: "/b"}, {Key: "t/{y}", Value: "/b/{y}"}},
	}
	rs, err := compileSources(sources...)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range []map[string]string{
		{"a": "a", "%61": "a", "t/{z}": "t/{x}", "b": "", "none": ""},
		{"a": "a", "b": "%62", "t/{x}": "", "t/1": ""},
		{"a": "%61", "t/{x}": "t/{y}", "b": ""},
		{"a": ""},
	} {
		for key, spelled := range want {
			rule, ok := rs.RuleOf(n, key)
			if rule.Key != spelled || ok != (spelled != "") {
				t.Errorf("source %d has %+v, %t for %s, want %q", n, rule, ok, key, spelled)
			}
		}
	}
}
