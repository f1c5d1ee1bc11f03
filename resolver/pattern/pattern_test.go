package pattern_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/pattern"
)

// random makes keys of few texts, so that many paths match several of them.
type random struct{ *rand.Rand }

func newRandom(seed uint64) random { return random{rand.New(rand.NewPCG(seed, 1))} }

func (r random) one(of ...string) string { return of[r.IntN(len(of))] }

// key returns the key of a rule, with one of some ends.
func (r random) key(ends ...string) resolver.Rule {
	key := r.one("a", "ab", "{x}", "a{x}", "{x}b", "a{x}b", "aab")
	if r.IntN(2) == 0 {
		key += "/" + r.one("a", "ab", "{y}", "a{y}", "{y}b")
	}
	return resolver.Rule{Key: key + r.one(ends...), Exact: r.IntN(2) == 0}
}

func patternOf(rule resolver.Rule) *pattern.Pattern {
	return pattern.Parse(resolver.CanonicalKey(rule.Key, false), rule.Exact)
}

// answer returns where a ruleset leads a path, "" where it does not redirect.
func answer(t *testing.T, rules []resolver.Rule) func(path string) (destination string) {
	t.Helper()
	ruleset, err := resolver.Compile(rules, resolver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return func(path string) string {
		return ruleset.Resolve("https://go.example" + path).Destination
	}
}

// shortPaths are all paths of up to four segments of a few texts.
func shortPaths() (paths []string) {
	longest := []string{""}
	for range 4 {
		var longer []string
		for _, path := range longest {
			for _, segment := range []string{"a", "ab", "aab", "axb", "c", "x"} {
				longer = append(longer, path+"/"+segment)
			}
		}
		longest = longer
		paths = append(paths, longer...)
	}
	return paths
}

func TestAKeyOverlapsThoseThatMatchAPathOfIt(t *testing.T) {
	r := newRandom(5)
	paths := shortPaths()
	found, none := 0, 0
	for range 150 {
		a := r.key("", "", "/c", "/{+s}", "/{+s}/c", "/{+s}/a{z}/c")
		b := r.key("", "", "/c", "/{+s}", "/{+s}/c", "/{+s}/{z}b")
		if r.IntN(8) == 0 {
			a.Key = "{+s}/" + r.one("a", "ab", "{z}b", "a/c")
		}
		path, ok := patternOf(a).Overlap(patternOf(b))
		matchesA, matchesB := matcherOf(t, a), matcherOf(t, b)
		if ok && !(matchesA(path) && matchesB(path)) {
			t.Fatalf("%v and %v do not match %s both", a, b, path)
		}
		both := func(path string) bool { return matchesA(path) && matchesB(path) }
		if i := slices.IndexFunc(paths, both); i >= 0 && !ok {
			t.Fatalf("%v and %v match %s both", a, b, paths[i])
		}
		if ok {
			found++
		} else {
			none++
		}
	}
	if found < 40 || none < 40 {
		t.Errorf("%d overlap, %d do not", found, none)
	}
}

// matcherOf returns a function that reports whether a rule answers for a path.
func matcherOf(t *testing.T, rule resolver.Rule) func(path string) bool {
	rule.Value = "https://to.example"
	lead := answer(t, []resolver.Rule{rule})
	return func(path string) bool { return lead(path) != "" }
}

func TestOfKeysThatOverlapThePrecedingOneAnswers(t *testing.T) {
	r := newRandom(6)
	compared := 0
	for range 4000 {
		rules := []resolver.Rule{r.key("", "/c", "/{+s}"), r.key("", "/c", "/{+s}")}
		a, b := patternOf(rules[0]), patternOf(rules[1])
		path, both := a.Overlap(b)
		order := a.Compare(b)
		if !both || a.Key() == b.Key() || order == 0 {
			continue
		}
		compared++
		want := "https://0.example"
		if order > 0 {
			want = "https://1.example"
		}
		rules[0].Value, rules[1].Value = "https://0.example", "https://1.example"
		if got := answer(t, rules)(path); !strings.HasPrefix(got, want) {
			t.Fatalf("%v: %s leads to %s, not to %s", rules, path, got, want)
		}
	}
	if compared < 1000 {
		t.Errorf("only %d were compared", compared)
	}
}

func TestTheIndexFindsTheKeyThatComparingAllWouldFind(t *testing.T) {
	r := newRandom(7)
	found := 0
	for range 3000 {
		index := pattern.NewIndex(pattern.Preceded)
		var earlier []*pattern.Pattern
		for range 12 {
			p := patternOf(r.key("", "", "/c", "/{+splat}"))
			var want, got []int
			for i := range earlier {
				_, both := p.Overlap(earlier[i])
				if both && (p.IsTemplate() || earlier[i].IsTemplate()) && p.Compare(earlier[i]) <= 0 &&
					p.Form() != earlier[i].Form() {
					want = append(want, i)
				}
			}
			index.Each(p, func(number int, path string) bool {
				if common, _ := p.Overlap(earlier[number]); path != common {
					t.Fatalf("%v and %v: the path %s, not %s", p, earlier[number], path, common)
				}
				got = append(got, number)
				return true
			})
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("%v behind %v: numbers %v, not %v", p, earlier, got, want)
			}
			found += len(got)
			index.Add(p, len(earlier))
			earlier = append(earlier, p)
		}
	}
	if found < 1000 {
		t.Errorf("only %d were found", found)
	}
}

func TestADeepKeyPrecedesThoseWithVariables(t *testing.T) {
	index := pattern.NewIndex(pattern.Preceded)
	deep := strings.Repeat("a/", 100)
	for number, key := range []string{deep + "b", "{x}/a/{+rest}", deep + "c"} {
		p := patternOf(resolver.Rule{Key: key})
		got, path, ok := index.First(p)
		if ok != (number == 2) || ok && (got != 1 || path != "/"+key) {
			t.Errorf("%s: key %d precedes key %d at %s, %t", key, number, got, path, ok)
		}
		index.Add(p, number)
	}
}

func TestAKeyIsLookedUpInAFewStepsHoweverManyThereAre(t *testing.T) {
	const n = 3000
	for name, kinds := range map[string][2]resolver.Rule{
		"ends of segments before plain paths": {{Key: "p#-{s}"}, {Key: "x#", Exact: true}},
		"plain paths before ends of segments": {{Key: "x#", Exact: true}, {Key: "p#-{s}"}},
		"ends of segments before others":      {{Key: "p#-{s}"}, {Key: "q#-{s}"}},
		"starts of segments before others": {{Key: "{x}-s#", Exact: true},
			{Key: "{x}-r#", Exact: true}},
		"starts of segments before paths": {{Key: "{x}-s#", Exact: true},
			{Key: "x#", Exact: true}},
		"plain paths before placeholders": {{Key: "b#/c", Exact: true},
			{Key: "{x}/a#", Exact: true}},
		"placeholders before plain paths": {{Key: "{x}/a#", Exact: true},
			{Key: "b#/c", Exact: true}},
		"placeholders in another place": {{Key: "b#/{x}/d", Exact: true},
			{Key: "{x}/c#/d", Exact: true}},
		"all below paths, before others": {{Key: "b#"}, {Key: "{x}-a#/c", Exact: true}},
		"below which others differ":      {{Key: "b#/zz"}, {Key: "{x}/c/a#", Exact: true}},
		"one place for all below a path": {{Key: "b#/{+s}"}, {Key: "{x}-a#/c", Exact: true}},
		"keys that are preceded":         {{Key: "b#/{+s}"}, {Key: "{x}/{y}/a#", Exact: true}},
		"keys that overlap":              {{Key: "{x}/a#", Exact: true}, {Key: "b#/{+s}"}},
	} {
		t.Run(name, func(t *testing.T) {
			index := pattern.NewIndex(pattern.Preceded)
			for number := range 2 * n {
				rule := kinds[number/n]
				rule.Key = strings.ReplaceAll(rule.Key, "#", strconv.Itoa(number%n))
				p := patternOf(rule)
				if _, _, ok := index.First(p); !ok {
					index.Add(p, number)
				}
			}
			if steps := index.Steps() / index.Keys(); steps > 20 {
				t.Errorf("%d steps a key", steps)
			}
		})
	}
}

func TestAnIndexOfTooManyFormsIsSpent(t *testing.T) {
	index := pattern.NewIndex(pattern.Preceded)
	for i := range 2000 {
		first, second := strings.Repeat("p", i/40), strings.Repeat("q", i%40)
		p := patternOf(resolver.Rule{Key: fmt.Sprintf("%s{x}/%s{y}", first, second)})
		index.First(p)
		index.Add(p, i)
	}
	if !index.IsSpent() {
		t.Errorf("%d steps for %d keys", index.Steps(), index.Keys())
	}
}
