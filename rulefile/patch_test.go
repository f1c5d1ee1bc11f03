package rulefile

import (
	"reflect"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// patched returns what a patch makes of two rules, and the keys that it removes.
func patched(patch string) (rules []resolver.Rule, removed []string, err error) {
	until, _ := schedule.ParseTime("2028-01-01")
	windows := []schedule.Window{
		{Since: until - 9, Until: until, Rule: resolver.Rule{Value: "/w", Status: 301}},
		{Since: until, Until: schedule.End, Rule: resolver.Rule{Value: "gone"}},
	}
	now := map[string]resolver.Rule{
		"late":  schedule.Join("late", resolver.Position{}, windows[:1]),
		"two":   schedule.Join("two", resolver.Position{}, windows),
		"plain": {Key: "plain", Value: "https://p.example"},
		"full": {Key: "full", Value: "https://f.example", Status: 301, Exact: true, Unlisted: true,
			Query: resolver.QueryIgnore, Note: "why"},
	}
	rules = []resolver.Rule{}
	err = ReadJSONPatch(strings.NewReader(patch), "",
		func(key string) (resolver.Rule, bool) { rule, is := now[key]; return rule, is },
		func(rule resolver.Rule, isRemoved bool) {
			if rule.Position = (resolver.Position{}); isRemoved {
				removed = append(removed, rule.Key)
			} else {
				rules = append(rules, rule)
			}
		})
	return rules, removed, err
}

func TestAMergePatchMergesObjectsAndReplacesStrings(t *testing.T) {
	full := func(change func(*resolver.Rule)) []resolver.Rule {
		rule := resolver.Rule{Key: "full", Value: "https://f.example", Status: 301, Exact: true,
			Unlisted: true, Query: resolver.QueryIgnore, Note: "why"}
		change(&rule)
		return []resolver.Rule{rule}
	}
	for patch, want := range map[string][]resolver.Rule{
		`{"full": {"status": 302}}`:                full(func(r *resolver.Rule) { r.Status = 302 }),
		`{"full": {"to": "/x"}}`:                   full(func(r *resolver.Rule) { r.Value = "/x" }),
		`{"full": {"note": null}}`:                 full(func(r *resolver.Rule) { r.Note = "" }),
		`{"late": {"since": null, "until": null}}`: {{Key: "late", Value: "/w", Status: 301}},
		`{"late": "/x"}`:                           {{Key: "late", Value: "/x"}},
		`{"two": [{"to": "/x"}]}`:                  {{Key: "two", Value: "/x"}},
		`{"late": {"until": "2029-01-01"}, "two": {"to": "/x", "until": "2029-01-01"}}`: {
			{Key: "late", Windows: `{"to":"/w","status":301,"since":"2027-12-31T23:59:51Z","until":"2029-01-01"}`},
			{Key: "two", Windows: `{"to":"/x","until":"2029-01-01"}`},
		},
		`{"full": {}}`:                                       full(func(r *resolver.Rule) {}),
		`{"full": "/x"}`:                                     {{Key: "full", Value: "/x"}},
		`{"plain": {"exact": true}}`:                         {{Key: "plain", Value: "https://p.example", Exact: true}},
		`{"new": "/x", "gone": "gone"}`:                      {{Key: "new", Value: "/x"}, {Key: "gone", Value: "gone"}},
		`{"new": {"to": "/x"}}`:                              {{Key: "new", Value: "/x"}},
		`{"new": {"to": "/x", "note": null}, "plain": null}`: {{Key: "new", Value: "/x"}},
		`{"full": {"status": null, "exact": null, "unlisted": null, "query": null}}`: full(
			func(r *resolver.Rule) {
				*r = resolver.Rule{Key: r.Key, Value: r.Value, Note: r.Note}
			}),
		`{"plain": null, "new": "/x", "gone": "gone"}`: {
			{Key: "new", Value: "/x"}, {Key: "gone", Value: "gone"},
		},
		`{}`: {},
	} {
		got, removed, err := patched(patch)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s makes %v, %v", patch, got, err)
		}
		if is := strings.Contains(patch, `"plain": null`); is != (len(removed) == 1) {
			t.Errorf("%s removes %q", patch, removed)
		}
	}
}

func TestAPatchThatCannotBeARuleNamesItsLine(t *testing.T) {
	for patch, want := range map[string]string{
		"{\"plain\": \"/x\",\n\"new\": {\"status\": 301}}": `2:8: the value of "new" has no "to"`,
		`{"full": {"to": null}}`:                           `1:17: "to" in the value of "full" takes a string, not null`,
		`{"full": [null]}`:                                 `1:11: the array of "full" has objects`,
		`{"full": [{"to": "/", "note": null}]}`:            `1:31: "note" in the value of "full" takes`,
		`{"two": {"note": "it is an array"}}`:              `1:9: the value of "two" has no "to"`,
		`{"late": {"until": "2027-01-01"}}`:                `1:10: the value of "late": until is 2027`,
		`{"full": true}`:                                   `1:10: the value of "full" is true`,
		`null`:                                             "1:1: rules are an object",
	} {
		if _, _, err := patched(patch); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", patch, err, want)
		}
	}
	if _, err := ReadJSONValue(strings.NewReader("null"), "", "a"); err == nil {
		t.Error("null is the value of a rule")
	}
}
