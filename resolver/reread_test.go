package resolver

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

// reread reads rules as those of the source 0.
func reread(rs *Ruleset, rules []Rule) (*Ruleset, Difference, error) {
	r := rs.Reread()
	r.Source(0)
	for _, rule := range rules {
		r.Add(rule)
	}
	return r.derive()
}

// derive derives the ruleset of what has been read.
func (r *Rereading) derive() (*Ruleset, Difference, error) {
	changes, err := r.Changes()
	if err != nil {
		return nil, Difference{}, err
	}
	return r.before.With(changes)
}

func TestALineInsertedAboveChangesNothing(t *testing.T) {
	rules := benchRules(20_000)
	rs := mustCompile(t, rules, Options{NoLines: true, Digest: true})
	for i := range rules[5000:] {
		rules[5000+i].Position.Line++
	}
	moved, difference, err := reread(rs, rules)
	if err != nil {
		t.Fatal(err)
	}
	if difference.Added+difference.Removed+difference.Changed > 0 || moved.Digest() != rs.Digest() ||
		!slices.Equal(slices.Collect(moved.Rules()), slices.Collect(rs.Rules())) {
		t.Errorf("%+v", difference)
	}
	for i := range moved.Differing(rs) {
		t.Errorf("rule %d is another", i)
	}
}

func TestARulesetWithoutLinesNamesTheSourcesOfItsRulesAlone(t *testing.T) {
	at := Position{"links.json", 2, 3}
	c := mustNewCompiler(t)
	for _, key := range []string{"a", "from/{x}", "loop"} {
		c.Add(Rule{Key: key, Value: "/loop", Position: at})
	}
	c.NextSource()
	c.Add(Rule{Key: "a", Value: "/shadowed/", Position: at})
	inspected := 0
	c.Inspect(func(rs *Ruleset) {
		seen := lookAt(rs, nil)
		for _, rule := range slices.Concat(seen.Rules[0], seen.Rules[1]) {
			if inspected++; rule.Position != at {
				t.Errorf("%s stood in %s", rule.Key, rule.Position)
			}
		}
	})
	compiled, err := c.Compile()
	if err != nil {
		t.Fatal(err)
	}
	changes := []RuleChange{{Rule: &Rule{Key: "b", Value: "/page", Position: at}}}
	derived, _, err := compiled.With(changes)
	if err != nil {
		t.Fatal(err)
	}
	for _, rs := range []*Ruleset{compiled, derived} {
		seen := lookAt(rs, nil)
		for _, rule := range slices.Concat(seen.Serving, seen.Rules[0], seen.Rules[1]) {
			if rule.Position != (Position{Source: "links.json"}) {
				t.Errorf("%s stands in %s", rule.Key, rule.Position)
			}
		}
	}
	if inspected != 4 {
		t.Errorf("%d rules were inspected", inspected)
	}
}

func TestARereadingTellsThatAKeyStandsTwice(t *testing.T) {
	at := func(line int) Position { return Position{"links.json", line, 2} }
	old := []Rule{
		{Key: "kept", Value: "https://kept.example/", Position: at(2)},
		{Key: "t/{x}", Value: "https://t.example/{x}", Position: at(4)},
	}
	rs := mustCompile(t, old, Options{NoLines: true})
	for _, twice := range [][]Rule{
		{{Key: "%6Bept", Value: "https://kept.example/", Position: at(5)}},
		{{Key: "t/{y}", Value: "https://t.example/{y}", Position: at(9)}},
		{{Key: "new", Value: "/a", Position: at(6)}, {Key: "new", Value: "nowhere", Position: at(7)}},
	} {
		now := append(slices.Clone(old), twice...)
		if _, _, err := reread(rs, now); !errors.Is(err, ErrDuplicateKey) {
			t.Errorf("%+v: %v", twice, err)
		}
		if _, err := Compile(now, Options{}); !errors.Is(err, ErrDuplicateKey) {
			t.Errorf("%+v: compiled: %v", twice, err)
		}
	}
}

func TestARereadingNamesEveryBadRule(t *testing.T) {
	at := func(line int) Position { return Position{"links.json", line, 2} }
	old := []Rule{{Key: "kept", Value: "https://kept.example/", Position: at(2)}}
	now := append(slices.Clone(old),
		Rule{Key: "new", Value: "nowhere", Position: at(6)},
		Rule{Key: "/new", Value: "https://good.example/", Position: at(7)},
		Rule{Key: "t/{y}", Value: "https://{y}.example/", Position: at(9)},
	)
	_, _, err := reread(mustCompile(t, old, Options{NoLines: true}), now)
	_, want := Compile(now, Options{})
	if err == nil || err.Error() != want.Error() {
		t.Errorf("%v\nwant\n%v", err, want)
	}
}

func mustNewCompiler(t *testing.T) *Compiler {
	t.Helper()
	c, err := NewCompiler(Options{NoLines: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRoomThatDerivationsLeaveWhichAreGivenUpIsTakenBack(t *testing.T) {
	rs := mustCompile(t, benchRules(20_000), Options{NoLines: true})
	change := func(i int) (next *Ruleset) {
		next, _, err := rs.With([]RuleChange{{Rule: &Rule{Key: "a", Value: fmt.Sprint("/", i)}}})
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	for i := 0; !rs.IsWorn(); i++ {
		if i == 1000 {
			t.Fatalf("%d bytes are taken, and the ruleset is not worn", rs.Size())
		}
		change(i) // given up
		rs = change(i)
	}
}

func TestWhereMostRulesHaveChangedTheyAreToBeCompiled(t *testing.T) {
	rs := mustCompile(t, benchRules(10_000), Options{NoLines: true})
	changed := benchRules(10_000)
	for i := range changed {
		changed[i].Value += "x"
	}
	if _, _, err := reread(rs, changed); !errors.Is(err, ErrMostChanged) {
		t.Errorf("the error is %v", err)
	}
	if _, _, err := reread(rs, nil); !errors.Is(err, ErrMostChanged) {
		t.Errorf("without rules, the error is %v", err)
	}
}

func TestAKeyKeepsItsNumberAsLongAsTheRulesetIsDerived(t *testing.T) {
	rules := benchRules(1000)
	rs := mustCompile(t, rules, Options{NoLines: true})
	key := rules[500].Key
	number, _ := rs.NumberOf(key)
	without, _, err := rs.With([]RuleChange{{Key: key}})
	if err != nil {
		t.Fatal(err)
	}
	if _, serves := without.Numbered(number); serves || without.KeyOf(number) != key ||
		!without.SharesNumbers(rs) {
		t.Errorf("number %d is of %q, and serves: %v", number, without.KeyOf(number), serves)
	}
	again, _, err := without.With([]RuleChange{{Key: key, Rule: &Rule{Key: key, Value: "/new"}},
		{Key: "more", Rule: &Rule{Key: "more", Value: "/other"}}})
	if err != nil {
		t.Fatal(err)
	}
	if rule, serves := again.Numbered(number); !serves || rule.Value != "/new" {
		t.Errorf("number %d is of %+v", number, rule)
	}
	if rule, _ := rs.Numbered(number); rule.Value != rules[500].Value {
		t.Errorf("what it was derived from has %+v now", rule)
	}
}

func TestALargeRulesetStaysWhatItIsCompiledOf(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rules := map[string]Rule{}
	for i, rule := range benchRules(12_000) {
		if i%10 == 0 {
			rule.Value = "/" + benchKey(i+1) + "/x"
		}
		rules[rule.Key] = rule
	}
	compile := func() *Ruleset {
		return mustCompile(t, slices.Collect(maps.Values(rules)),
			Options{NoLines: true, Digest: true})
	}
	rs := compile()
	for range 100 {
		var changes []RuleChange
		for range r.IntN(40) {
			n := r.IntN(24_000)
			rule := Rule{Key: benchKey(n), Value: benchURL(r.IntN(1000))}
			switch r.IntN(4) {
			case 0:
				changes = append(changes, RuleChange{Key: rule.Key})
				delete(rules, rule.Key)
				continue
			case 1:
				rule.Value = "/" + benchKey(r.IntN(24_000)) + strings.Repeat("/x", r.IntN(2))
			}
			rules[rule.Key] = rule
			changes = append(changes, RuleChange{Key: rule.Key, Rule: &rule})
		}
		next, _, err := rs.With(changes)
		if err != nil {
			t.Fatal(err)
		}
		rs = next
	}
	compiled := compile()
	if rs.Digest() != compiled.Digest() || rs.Len() != compiled.Len() ||
		!maps.Equal(failuresOf(rs), failuresOf(compiled)) {
		t.Errorf("%d rules, want %d", rs.Len(), compiled.Len())
	}
	for n := range 24_000 {
		for _, url := range []string{"https://go.example/" + benchKey(n), benchURL(n)} {
			request, err := ParseRequest(url)
			if err != nil {
				t.Fatal(err)
			}
			got, gotResult := rs.AppendDestination(nil, &request)
			want, wantResult := compiled.AppendDestination(nil, &request)
			if string(got) != string(want) || gotResult.Key != wantResult.Key ||
				fmt.Sprint(gotResult.Err) != fmt.Sprint(wantResult.Err) {
				t.Fatalf("%s: %s %+v\nwant %s %+v", url, got, gotResult, want, wantResult)
			}
		}
	}
	again, err := rs.Recompile()
	if err != nil || again.Digest() != rs.Digest() || again.IsWorn() {
		t.Errorf("compiled anew: %v, worn: %v", err, again.IsWorn())
	}
}

func TestRulesetsThatAreDerivedFromOneAnotherServeAtOnce(t *testing.T) {
	rules := benchRules(100)
	rs := mustCompile(t, rules, Options{NoLines: true, Digest: true})
	var readers sync.WaitGroup
	for branch := range 4 { // all of them behind the same records
		readers.Go(func() {
			derived := rs
			for i := range 50 {
				rule := Rule{Key: rules[i].Key, Value: fmt.Sprintf("https://x.example/%d/%d", branch, i)}
				next, _, err := derived.With([]RuleChange{{Rule: &rule}})
				if err != nil {
					t.Error(err)
					return
				}
				for _, want := range []struct {
					*Ruleset
					value string
				}{{rs, rules[i].Value}, {derived, rules[i].Value}, {next, rule.Value}} {
					result := want.Resolve("https://go.example/" + rule.Key)
					if result.Destination != want.value {
						t.Errorf("%s leads to %s, want %s", rule.Key, result.Destination, want.value)
					}
				}
				derived = next
			}
		})
	}
	readers.Wait()
}

func TestARereadingKeepsNoTextThatItWasLent(t *testing.T) {
	at := func(line int) Position { return Position{"links.json", line, 2} }
	rules := []Rule{
		{Key: "kept", Value: "https://kept.example/", Position: at(2)},
		{Key: "changed", Value: "https://old.example/", Position: at(3)},
		{Key: "t/{x}", Value: "https://t.example/{x}", Position: at(4)},
	}
	options := Options{NoLines: true, Digest: true}
	rs := mustCompile(t, rules, options)
	for _, now := range [][]Rule{
		append(slices.Clone(rules), Rule{Key: "to", Value: "/kept/x", Position: at(5)},
			Rule{Key: "u/{x}", Value: "/kept/{x}", Position: at(6)},
			Rule{Key: "warned/", Value: "https://warned.example/", Position: at(7)}),
		{rules[0], {Key: "changed", Value: "/kept", Position: at(3)}},
		append(slices.Clone(rules), Rule{Key: "new", Value: "nowhere", Position: at(6)},
			Rule{Key: "t/{+x", Value: "https://t.example/{y}", Position: at(7)}),
	} {
		r := rs.Reread()
		r.Source(0)
		var memory []byte
		for _, rule := range now {
			lent := rule
			memory = append(append(memory[:0], rule.Key...), rule.Value...)
			lent.Key, lent.Value = text(memory[:len(rule.Key)]), text(memory[len(rule.Key):])
			r.Add(lent)
			copy(memory, strings.Repeat("x", len(memory)))
		}
		got, _, gotErr := r.derive()
		want, wantErr := Compile(now, options)
		if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
			t.Errorf("the error is %v\nwant %v", gotErr, wantErr)
		}
		if wantErr == nil && !reflect.DeepEqual(lookAt(got, nil), lookAt(want, nil)) {
			t.Errorf("%+v\nwant\n%+v", lookAt(got, nil), lookAt(want, nil))
		}
	}
}
