package find

import (
	"math/rand/v2"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// fuzzed returns an index of two random keys and of some that have been derived. ok is false where
// the keys make no ruleset.
func fuzzed(
	t *testing.T, key, other string, fold bool,
) (x *Index, ruleset *resolver.Ruleset, ok bool) {
	c, err := resolver.NewCompiler(resolver.Options{NoLines: true, FoldCase: fold})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{key, "docs", "re", "other/%2f", "x", "y", "z"} {
		c.Add(resolver.Rule{Key: key, Value: "https://x.example/"})
	}
	first, err := c.Compile()
	if err != nil {
		return nil, nil, false
	}
	x = unlimited()
	x.makeNow(first)
	rule := resolver.Rule{Key: other, Value: "https://x.example/Other", Note: "a note"}
	next, _, err := first.With([]resolver.RuleChange{{Key: other, Rule: &rule}})
	if err != nil {
		return nil, nil, false
	}
	if x.Follow(next); !next.SharesNumbers(first) {
		x.makeNow(next)
	}
	return x, next, true
}

func FuzzSearch(f *testing.F) {
	r := randomRules{rand.New(rand.NewPCG(1, 3))}
	for range 30 {
		f.Add(r.key(), r.key(), r.text(), r.IntN(2) == 0)
	}
	f.Fuzz(func(t *testing.T, key, other, text string, fold bool) {
		if len(key)+len(other)+len(text) > 1000 {
			return
		}
		x, ruleset, ok := fuzzed(t, key, other, fold)
		if !ok {
			return
		}
		checkAgainstPlain(t, x, ruleset, fold, text)
		x.keys.now.Store(nil)
		x.keys.latest = ruleset
		checkAgainstPlain(t, x, ruleset, fold, text)
	})
}
