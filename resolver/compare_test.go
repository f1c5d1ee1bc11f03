package resolver

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
)

func TestEqualContentHasEqualDigestsWhateverOrderAndPosition(t *testing.T) {
	rules := []Rule{
		{Key: "a", Value: "https://example.com"},
		{Key: "b", Value: "/a", Status: 301},
		{Key: "c", Value: "/c"},
		{Key: "d", Value: "/b/x", Exact: true},
	}
	other := slices.Clone(rules)
	slices.Reverse(other)
	for i := range other {
		other[i].Position = Position{Source: "other", Line: i + 1}
	}
	first, second := digestOf(t, rules, Options{}), digestOf(t, other, Options{})
	if first != second || len(first) != 64 {
		t.Errorf("digests %s and %s", first, second)
	}
}

// digestOf returns the digest of rules.
func digestOf(t *testing.T, rules []Rule, opts Options) string {
	t.Helper()
	opts.Digest = true
	return mustCompile(t, rules, opts).Digest()
}

func TestEveryDifferenceInContentOrOptionsChangesTheDigest(t *testing.T) {
	base := Rule{Key: "a", Value: "https://example.com"}
	change := func(f func(*Rule)) []Rule {
		rule := base
		f(&rule)
		return []Rule{rule}
	}
	two := 2
	sets := []struct {
		what  string
		rules []Rule
		opts  Options
	}{
		{"nothing", []Rule{base}, Options{}},
		{"the key", change(func(r *Rule) { r.Key = "b" }), Options{}},
		{"the value", change(func(r *Rule) { r.Value = "https://example.org" }), Options{}},
		{"the status", change(func(r *Rule) { r.Status = 301 }), Options{}},
		{"exact", change(func(r *Rule) { r.Exact = true }), Options{}},
		{"unlisted", change(func(r *Rule) { r.Unlisted = true }), Options{}},
		{"a query mode", change(func(r *Rule) { r.Query = QueryIgnore }), Options{}},
		{"another query mode", change(func(r *Rule) { r.Query = QueryMerge }), Options{}},
		{"a note", change(func(r *Rule) { r.Note = "ignore" }), Options{}},
		{"another note", change(func(r *Rule) { r.Note = "merge" }), Options{}},
		{"a query mode and a note", change(func(r *Rule) { r.Query, r.Note = QueryIgnore, "x" }), Options{}},
		{"one rule more", []Rule{base, {Key: "b", Value: "/a"}}, Options{}},
		{"no rules", nil, Options{}},
		{"the default status", []Rule{base}, Options{Status: 301}},
		{"the query mode", []Rule{base}, Options{Query: QueryPreserve}},
		{"protect", []Rule{base}, Options{Protect: []string{"x"}}},
		{"fold case", []Rule{base}, Options{FoldCase: true}},
		{"max_redirects", []Rule{base}, Options{MaxRedirects: &two}},
		{"allow_hosts", []Rule{base}, Options{AllowHosts: []string{"example.com"}}},
		{"origin", []Rule{base}, Options{Origin: "https://go.example"}},
	}
	seen := map[string]string{}
	for _, set := range sets {
		digest := digestOf(t, set.rules, set.opts)
		if other, ok := seen[digest]; ok {
			t.Errorf("%s and %s have one digest", set.what, other)
		}
		seen[digest] = set.what
	}
}

func TestAComparisonNamesWhatIsAddedRemovedAndChanged(t *testing.T) {
	at := func(line int) Position { return Position{Source: "links.json", Line: line} }
	before := mustCompile(t, []Rule{
		{Key: "kept", Value: "https://example.com", Position: at(1)},
		{Key: "gone", Value: "https://example.com", Position: at(2)},
		{Key: "changed", Value: "https://example.com", Position: at(3)},
		{Key: "old-loop", Value: "/old-loop", Position: at(4)},
	}, Options{})
	after := mustCompile(t, []Rule{
		{Key: "kept", Value: "https://example.com", Position: at(7)},
		{Key: "changed", Value: "https://example.org", Position: at(3)},
		{Key: "old-loop", Value: "/old-loop", Position: at(4)},
		{Key: "new", Value: "/new-loop", Position: at(6)},
		{Key: "new-loop", Value: "/new", Position: at(5)},
	}, Options{})
	got := Compare(before, after, 10)
	want := Difference{
		before: before, after: after,
		Added: 2, Removed: 1, Changed: 1,
		FirstAdded: []string{"new-loop", "new"}, FirstRemoved: []string{"gone"},
		FirstChanged: []string{"changed"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("difference %+v\nwant       %+v", got, want)
	}
}

func TestAComparisonWithNoRulesetAddsEverything(t *testing.T) {
	after := mustCompile(t, benchRules(100), Options{})
	got := Compare(nil, after, 3)
	if want := []string{benchKey(0), benchKey(1), benchKey(2)}; got.Added != 100 ||
		!reflect.DeepEqual(got.FirstAdded, want) {
		t.Errorf("difference %+v", got)
	}
}

func TestCompilingAndComparingPauseAllTheWay(t *testing.T) {
	pauses := 0
	pause := func() { pauses++ }
	c, err := NewCompiler(Options{Pause: pause, Digest: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 * pauseEvery {
		c.Add(Rule{Key: fmt.Sprint(i), Value: "https://example.com"})
	}
	rs, err := c.Compile()
	if err != nil {
		t.Fatal(err)
	}
	for _, work := range []func(){func() {}, func() { rs.compiler().sumRules() },
		func() { rs.Destinations()(func(int, Destination) bool { return true }) },
		func() { Compare(rs, rs, 1) },
		func() { rs.RulesOf(0)(func(Rule) bool { return true }) }} {
		work()
		if pauses < 10 {
			t.Errorf("%d pauses", pauses)
		}
		pauses = 0
	}
}
