package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// compileAt compiles rules of several sources for a time.
func compileAt(t *testing.T, at Time, sources ...map[string][]Window) Rules {
	t.Helper()
	c, err := NewCompiler(resolver.Options{NoLines: true, Digest: true}, at)
	if err != nil {
		t.Fatal(err)
	}
	for i, rules := range sources {
		if i > 0 {
			c.NextSource()
		}
		for key, windows := range rules {
			c.Add(Join(key, resolver.Position{}, windows))
		}
	}
	rules, err := c.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func leadingTo(value string, since, until Time) Window {
	return Window{since, until, resolver.Rule{Value: value}}
}

func TestARedirectHoldsUntilARuleOfAnySourceChangesIt(t *testing.T) {
	const to = "https://x.example/"
	always := []Window{leadingTo(to, Begin, End)}
	many := map[string][]Window{"docs": always, "far": {leadingTo(to, 60, End)}}
	for i := range mostBelow + 1 {
		many[fmt.Sprint("docs/", i)] = []Window{leadingTo(to, 70, End)}
		many[fmt.Sprint("docs-", i)] = []Window{leadingTo(to, 65, End)}
	}
	for name, tt := range map[string]struct {
		sources []map[string][]Window
		want    Time
	}{
		"its own window ends": {[]map[string][]Window{{"docs": {leadingTo(to, 0, 90)}}}, 90},
		"the rule of a source behind ends": {[]map[string][]Window{
			{"docs": {leadingTo(to, 0, 10)}}, {"docs": {leadingTo(to, 0, 80)}}}, 80},
		"a longer key begins": {[]map[string][]Window{{"docs": always,
			"docs/new": {leadingTo(to, 70, End)}}}, 70},
		"a key with the same beginning is another one": {[]map[string][]Window{{"docs": always,
			"docs-new": {leadingTo(to, 70, End)}}}, End},
		"a rule of its chain ends": {[]map[string][]Window{{"docs": {leadingTo("/home", Begin, End)},
			"home": {leadingTo(to, 0, 75)}}}, 75},
		"a template begins, which may match": {[]map[string][]Window{{"docs": always,
			"{a}/{b}": {leadingTo(to, 72, End)}}}, 72},
		"there are too many to look at": {[]map[string][]Window{many}, 60},
	} {
		t.Run(name, func(t *testing.T) {
			rules := compileAt(t, 50, tt.sources...)
			result := rules.Ruleset.Resolve("https://go.example/docs")
			for range 2 {
				if got := rules.EndOf(&result); result.Destination != to || got != tt.want {
					t.Errorf("%s holds until %d, want %d", result.Destination, got, tt.want)
				}
			}
		})
	}
}

func TestTheRemovalOfAnotherSpellingLeavesARuleItsWindows(t *testing.T) {
	for name, at := range map[string]Time{"open": 5, "closed": 50} {
		t.Run(name, func(t *testing.T) {
			rules := compileAt(t, at, map[string][]Window{"fair": {leadingTo("/a", 0, 10)}})
			changes, err := rules.Ruleset.BySpelling([]resolver.RuleChange{{Key: "%66air"}}, rules.RuleOf)
			if err != nil {
				t.Fatal(err)
			}
			next, err := rules.With(changes)
			if err != nil {
				t.Fatal(err)
			}
			was, _ := rules.Written("fair")
			if got, _ := next.Written("fair"); got != was || next.Digest() != rules.Digest() {
				t.Errorf("now it is %+v", got)
			}
		})
	}
}

func TestARuleThatStandsTwiceIsRefusedAlsoWhereNeitherIsThereNow(t *testing.T) {
	at := func(line int) resolver.Position {
		return resolver.Position{Source: "f", Line: line, Column: 1}
	}
	windowed := Join("a", at(1), []Window{leadingTo("/b", 0, 10)})
	plain := resolver.Rule{Key: "a", Value: "/c", Position: at(2)}
	again := Join("%61", at(2), []Window{leadingTo("/d", 20, 30)})
	for name, rules := range map[string][]resolver.Rule{
		"with a plain one": {windowed, plain}, "with another one": {windowed, again},
	} {
		t.Run(name, func(t *testing.T) {
			err := Validate(rules, resolver.Options{})
			const want = `f:2:1: key "%s": the key is already defined at f:1:1; write its rules as one that ` +
				"has all windows, or remove one of the two"
			if err == nil || err.Error() != fmt.Sprintf(want, rules[1].Key) {
				t.Errorf("got %v", err)
			}
			none := compileAt(t, 50)
			r := none.Reread()
			r.Source(0)
			for _, rule := range rules {
				r.Add(rule)
			}
			if _, err := r.Changes(); err != resolver.ErrDuplicateKey {
				t.Errorf("read again: %v", err)
			}
		})
	}
}

func TestDerivedRulesHaveTheDigestOfCompiledOnesAndDifferInWhatHasChanged(t *testing.T) {
	sources := []map[string][]Window{{}, {}}
	for i := range 1000 { // among few rules, each change compiles all
		sources[0][fmt.Sprint("x", i)] = []Window{leadingTo("https://x.example/", Begin, End)}
	}
	rules := compileAt(t, 50, sources...)
	for round := range 100 {
		var changes []resolver.RuleChange
		for _, k := range rand.Perm(10)[:3] {
			source, key := rand.N(2), fmt.Sprint("k", k)
			change := resolver.RuleChange{Source: source, Key: key}
			if delete(sources[source], key); rand.N(3) > 0 {
				since := Time(rand.N(90))
				value := fmt.Sprint("https://x.example/", rand.N(9))
				windows := []Window{leadingTo(value, since, since+10)}
				if rand.N(2) == 0 {
					windows = []Window{leadingTo(value, Begin, End)}
				}
				sources[source][key] = windows
				rule := Join(key, resolver.Position{}, windows)
				change.Rule = &rule
			}
			changes = append(changes, change)
		}
		next, err := rules.With(changes)
		if err == nil {
			checkDiffering(t, changes, &rules, &next.Rules)
			next, err = next.Turn(Time(rand.N(100)))
		}
		if err != nil {
			t.Fatal(err)
		}
		rules = next.Rules
		anew := compileAt(t, Time(rand.N(100)), sources...)
		if got, want := rules.Digest(), anew.Digest(); got != want {
			t.Fatalf("round %d: the digest is %s, want %s", round, got, want)
		}
	}
}

// checkDiffering checks that rules differ in what has changed, and in no other rules with windows.
func checkDiffering(t *testing.T, changes []resolver.RuleChange, before, after *Rules) {
	t.Helper()
	if !before.Ruleset.SharesNumbers(after.Ruleset) {
		return
	}
	isGiven := map[string]bool{}
	for key := range Differing(before, after) {
		isChange := slices.ContainsFunc(changes, func(c resolver.RuleChange) bool { return c.Key == key })
		if isGiven[key] || !isChange && (before.hasWindow(key) || after.hasWindow(key)) {
			t.Errorf("%s differs, after changes %+v", key, changes)
		}
		isGiven[key] = true
	}
	for _, c := range changes {
		was, _ := before.Written(c.Key)
		if is, _ := after.Written(c.Key); was != is && !isGiven[c.Key] {
			t.Errorf("%s does not differ, but was %+v, and is %+v", c.Key, was, is)
		}
	}
}
