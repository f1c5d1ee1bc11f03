package resolver

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// longRule leads to a long URL, and so lets chains take more.
func longRule(i int) Rule {
	return Rule{Key: fmt.Sprint("w", i), Value: "https://w.example/" + strings.Repeat("w", 60_000)}
}

func TestARuleIsNotRemovedThatTheChainsOfOthersNeed(t *testing.T) {
	makes := []Rule{{Key: "end", Value: "https://x.example"},
		{Key: "long", Value: "/end/" + strings.Repeat("p", 50_000)}}
	for i := range 225 {
		makes = append(makes, Rule{Key: fmt.Sprint("a", i), Value: fmt.Sprint("/long/", i)})
	}
	t.Run("text", func(t *testing.T) { checkRemovals(t, makes) })
	t.Run("templates", func(t *testing.T) {
		works := numberedChain("g%d/{+x}", "/g%d/{+x}")
		for i := range 9 {
			works[i].Value += "/{+x}"
		}
		for i := range 100 {
			works = append(works, Rule{Key: fmt.Sprint("a", i), Value: fmt.Sprint("/g0/b/c/", i)})
		}
		checkRemovals(t, works)
	})
}

// checkRemovals adds long rules until there is enough of them, and removes them again.
func checkRemovals(t *testing.T, rules []Rule) {
	t.Helper()
	var rs *Ruleset
	var inRules error
	added := 0
	for ; rs == nil && added < 100; added++ {
		rules = append(rules, longRule(added))
		rs, inRules = Compile(rules, Options{NoLines: true})
	}
	if inRules != nil {
		t.Fatalf("with %d long rules: %v", added, inRules)
	}
	_, want := Compile(rules[:len(rules)-1], Options{})
	if _, _, err := rs.With([]RuleChange{{Key: longRule(added - 1).Key}}); want == nil || err == nil ||
		err.Error() != want.Error() {
		t.Errorf("%.300v\nwant %.300v", err, want)
	}
}

func TestATemplateHasItsRedirectsWhateverWasEditedElsewhere(t *testing.T) {
	long := filled(4000, "", "/a", "")
	rules := []Rule{
		{Key: "start/{x}", Value: strings.Repeat("/o", 30) + long}, {Key: "o/{+p}", Value: "/{+p}"},
	}
	deep := Rule{Key: filled(4000, "d", "/d", ""), Value: "https://d.example"}
	compiled := mustCompile(t, rules, Options{NoLines: true})
	derived := compiled
	for _, change := range []RuleChange{{Rule: &deep}, {Key: deep.Key}} {
		var err error
		if derived, _, err = derived.With([]RuleChange{change}); err != nil {
			t.Fatal(err)
		}
	}
	for name, rs := range map[string]*Ruleset{"compiled": compiled, "derived": derived} {
		destination, result := resolve(rs, "https://go.example/start/x")
		if result.Hops != 31 || destination != "https://go.example"+long {
			t.Errorf("%s: %d bytes, %+v", name, len(destination), result)
		}
	}
}

func TestAnEditIsRefusedAfterWhichTheRulesTakeTooMuch(t *testing.T) {
	var rules []Rule
	for i := range 1000 {
		rules = append(rules, Rule{Key: fmt.Sprint("key", i), Value: "https://x.example/"})
	}
	options := Options{NoLines: true, MaxSize: 70_000}
	rs := mustCompile(t, rules, options)
	for i := range 5000 {
		rule := Rule{Key: fmt.Sprint("more", i), Value: "https://y.example/"}
		rules = append(rules, rule)
		next, _, err := rs.With([]RuleChange{{Rule: &rule}})
		if _, wanted := Compile(rules, options); fmt.Sprint(err) != fmt.Sprint(wanted) {
			t.Fatalf("with %d rules: %v, want %v", len(rules), err, wanted)
		}
		if err != nil {
			return
		}
		rs = next
	}
	t.Error("all of them are accepted")
}

// Rules come, go, grow and lead to one another, where there is room for no more.
func TestAnEditNearTheLimitIsAcceptedWhereAStartAcceptsIt(t *testing.T) {
	accepted, refused := 0, 0
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 24))
		options := Options{MaxSize: 10_000, Digest: true}
		rules := map[string]Rule{}
		rs := mustCompile(t, nil, options)
		for step := range 150 {
			rule := Rule{Key: fmt.Sprint("key", r.IntN(100)), Value: "https://x.example/"}
			if r.IntN(3) == 0 {
				rule.Value = fmt.Sprint("/key", r.IntN(100), "/")
			}
			rule.Value += strings.Repeat("y", r.IntN(300))
			change, next := RuleChange{Key: rule.Key, Rule: &rule}, maps.Clone(rules)
			if next[rule.Key] = rule; r.IntN(5) == 0 {
				change.Rule = nil
				delete(next, rule.Key)
			}
			derived, _, err := rs.With([]RuleChange{change})
			compiled, wanted := Compile(slices.Collect(maps.Values(next)), options)
			switch {
			case (err == nil) != (wanted == nil):
				t.Fatalf("seed %d, step %d, %d rules: %v, want %v", seed, step, len(next), err, wanted)
			case err != nil:
				refused++
				continue
			case derived.Digest() != compiled.Digest():
				t.Fatalf("seed %d, step %d: the digest is another one", seed, step)
			}
			accepted++
			rs, rules = derived, next
		}
	}
	if accepted < 100 || refused < 100 {
		t.Errorf("%d edits are accepted, and %d refused", accepted, refused)
	}
}
