package lint

import (
	"slices"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// kindsOf returns the kinds and keys of warnings.
func kindsOf(warnings []Warning) (kinds []string) {
	for _, w := range warnings {
		kinds = append(kinds, string(w.Kind)+" "+w.Key)
	}
	return kinds
}

func TestAPassThatHoldsNothingBackHasNoEffect(t *testing.T) {
	const url = "https://x.example"
	for name, tt := range map[string]struct {
		rules []resolver.Rule
		want  []string
	}{
		"nothing is shorter": {
			[]resolver.Rule{{Key: "docs/api", Value: "pass"}, {Key: "doc", Value: url}},
			[]string{"no effect docs/api"},
		},
		"a key alone": {[]resolver.Rule{{Key: "a", Value: "pass"}}, []string{"no effect a"}},
		"a shorter key": {
			[]resolver.Rule{{Key: "docs", Value: url}, {Key: "docs/api", Value: "pass"}}, nil,
		},
		"a shorter key that is gone": {
			[]resolver.Rule{{Key: "docs", Value: "gone"}, {Key: "docs/api", Value: "pass"}}, nil,
		},
		"an internal shorter key": {
			[]resolver.Rule{{Key: "docs", Value: "/x"}, {Key: "docs/a/b/api", Value: "pass"}}, nil,
		},
		"a shorter key that is exact": {
			[]resolver.Rule{{Key: "docs", Value: url, Exact: true}, {Key: "docs/api", Value: "pass"}},
			[]string{"no effect docs/api"},
		},
		"a shorter key that passes, too": {
			[]resolver.Rule{{Key: "docs", Value: url}, {Key: "docs/a", Value: "pass"},
				{Key: "docs/a/b", Value: "pass"}},
			[]string{"no effect docs/a/b"},
		},
		"a template": {
			[]resolver.Rule{{Key: "{x}/{+y}", Value: url + "/{x}/{y}"}, {Key: "docs/api",
				Value: "pass"}}, nil,
		},
		"a template of another form": {
			[]resolver.Rule{{Key: "p-{x}", Value: url + "/{x}"}, {Key: "docs/api", Value: "pass"}},
			[]string{"no effect docs/api"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := kindsOf(warnings(t, tt.rules, resolver.Options{}))
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAPassThatShadowsALaterSourceHasAnEffect(t *testing.T) {
	rs := compileSources(t, []resolver.Rule{{Key: "docs", Value: "pass"}},
		[]resolver.Rule{{Key: "docs", Value: "https://x.example"}})
	if got := kindsOf(Ruleset(rs).Warnings()); !slices.Equal(got, []string{"shadowed docs"}) {
		t.Errorf("%q", got)
	}
}

func TestGoneAndPassEndLoopsAndCircles(t *testing.T) {
	for name, rules := range map[string][]resolver.Rule{
		"a rule that leads below itself": {
			{Key: "docs", Value: "/docs/v2"}, {Key: "docs/v2", Value: "pass"}},
		"two rules": {
			{Key: "a", Value: "/b/x"}, {Key: "b", Value: "/a/x"}, {Key: "a/x", Value: "gone"}},
		"a key below a destination that is gone": {
			{Key: "old", Value: "/new"}, {Key: "new/b", Value: "gone"}},
		"a key below a destination that passes": {
			{Key: "old", Value: "/new"}, {Key: "new/b", Value: "pass"}},
		"an absolute destination at the site": {
			{Key: "a", Value: "https://go.example/a/b"}, {Key: "a/b", Value: "pass"}},
		"a destination with a slash": {{Key: "a", Value: "/b/"}, {Key: "b", Value: "gone"}},
	} {
		t.Run(name, func(t *testing.T) {
			rs := mustCompile(t, rules, resolver.Options{Origin: "https://go.example"})
			for _, f := range findings(rs) {
				if f.Kind != WarnNoEffect {
					t.Errorf("%s: %s", f.Kind, f)
				}
			}
			if count, _ := Broken(rs, nil, 1); count > 0 {
				t.Errorf("%d broken rules", count)
			}
		})
	}
}

func TestUnlistedIsOfNoEffectWhereNothingIsAdvertised(t *testing.T) {
	rules := []resolver.Rule{{Key: "a", Value: "gone", Unlisted: true, Position: at}}
	got := warnings(t, rules, resolver.Options{})
	const want = where + `"a": unlisted has no effect, as a rule that says gone is never ` +
		`advertised; remove it`
	if len(got) != 1 || got[0].String() != want {
		t.Errorf("%v", got)
	}
}

func TestNoDestinationIsMisspeltBecauseOfGoneOrPass(t *testing.T) {
	for _, rules := range [][]resolver.Rule{
		{{Key: "a", Value: "/guides"}, {Key: "guide", Value: "gone"}},
		{{Key: "a", Value: "/guides"}, {Key: "guide", Value: "https://x.example"},
			{Key: "guides", Value: "pass"}},
	} {
		got := kindsOf(warnings(t, rules, resolver.Options{}))
		if slices.Contains(got, "misspelt destination a") {
			t.Errorf("%v: %v", rules, got)
		}
	}
}

func TestANewIdlePassIsWarnedOfBesideWarningsOfItsReader(t *testing.T) {
	at := func(line int) resolver.Position {
		return resolver.Position{Source: "file", Line: line, Column: 1}
	}
	opts := resolver.Options{NoLines: true}
	c, err := resolver.NewCompiler(opts)
	if err != nil {
		t.Fatal(err)
	}
	list := New(opts)
	c.NextSource()
	for i, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		rule := resolver.Rule{Key: key, Value: "https://x.example", Position: at(2 + i)}
		c.Add(rule)
		list.Add(1, rule)
	}
	said := Warning{Kind: "said", Position: at(1), Message: "something else"}
	list.AddRead(1, said)
	c.Inspect(list.Finish)
	before, err := c.Compile()
	if err != nil {
		t.Fatal(err)
	}
	pass := resolver.Rule{Key: "p/q", Value: resolver.PassValue, Position: at(11)}
	changes := []resolver.RuleChange{{Source: 1, Rule: &pass}}
	next, _, err := before.With(changes)
	if err != nil {
		t.Fatal(err)
	}
	_, fresh := list.Derive(before, next, changes, map[int][]Warning{1: {said}})
	if len(fresh) != 1 || fresh[0].Kind != WarnNoEffect || fresh[0].Position.Line != 11 {
		t.Errorf("the new warnings are %v", fresh)
	}
}
