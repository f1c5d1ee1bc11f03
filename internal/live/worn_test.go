package live

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// editedSource is a source in memory that says what it is after an edit.
type editedSource struct {
	keys    []string
	rules   map[string]resolver.Rule // of some of the keys
	version int
}

// newEditedSource returns a source of n rules.
func newEditedSource(n int) *editedSource {
	s := &editedSource{rules: map[string]resolver.Rule{}}
	for i := range n {
		s.keys = append(s.keys, editedKey(i))
		s.rules[editedKey(i)] = resolver.Rule{Key: editedKey(i), Value: editedValue(i)}
	}
	return s
}

func editedKey(i int) string   { return fmt.Sprint("key-", i) }
func editedValue(i int) string { return fmt.Sprint("https://example.com/some/page/", i) }

func (*editedSource) String() string { return "edited" }

func (s *editedSource) Read(_ context.Context, add func(resolver.Rule)) (string, error) {
	for _, key := range s.keys {
		if rule, there := s.rules[key]; there {
			add(rule)
		}
	}
	return fmt.Sprint(s.version), nil
}

func (*editedSource) Watch(context.Context, string, func()) {}

func (*editedSource) Writable() error { return nil }

func (*editedSource) Written(resolver.Rule) (string, error) { return "", nil }

func (s *editedSource) Edit(_ context.Context, version string, edit rulefile.Edit) (string, error) {
	if version != fmt.Sprint(s.version) {
		return "", source.ErrChanged
	}
	for _, change := range edit.Changes {
		if delete(s.rules, change.Key); change.Rule != nil {
			s.rules[change.Key] = *change.Rule
		}
	}
	s.version++
	return fmt.Sprint(s.version), nil
}

// editAtRandom makes an edit of one of n keys, which changes, adds or removes a rule, or which is
// refused.
func editAtRandom(t *testing.T, rs *Ruleset, r *rand.Rand, n int, refused bool) {
	t.Helper()
	rule := resolver.Rule{Key: editedKey(r.IntN(n)), Value: editedValue(r.IntN(1_000_000))}
	change := Change{Key: rule.Key, Rule: &rule}
	_, there := rs.Serving().Ruleset.RuleOf(1, rule.Key)
	switch kind := r.IntN(4); {
	case refused && kind == 0:
		rule.Value = "nowhere"
	case refused: // which only shows when all has been derived
		rule.Value = "/" + rule.Key
	case kind == 0 && there:
		change.Rule = nil
	}
	_, err := rs.Apply(t.Context(), &Edit{Changes: []Change{change}})
	if (err != nil) != refused {
		t.Fatalf("the edit of %s to %+v: %v", change.Key, change.Rule, err)
	}
}

// heapAfter returns the bytes that are in use when a ruleset has been edited often, each third time
// in vain.
func heapAfter(t *testing.T, rs *Ruleset, r *rand.Rand, edits int) int64 {
	t.Helper()
	for i := range edits {
		editAtRandom(t, rs, r, 1000, i%3 == 0)
	}
	_ = rs.alone(func() error { return nil }) // when it has been compiled anew
	runtime.GC()
	runtime.GC() // what the first one found to be finalised
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func TestEditsWithoutEndTakeNoMoreMemory(t *testing.T) {
	if os.Getenv("SHORTLINK_SLOW") == "" {
		t.Skip("to run this test, set SHORTLINK_SLOW=1")
	}
	const edits, most = 100_000, 20 << 20 // each refused one compiles all rules
	rs := serveForEdits(t, newEditedSource(1000))
	r := rand.New(rand.NewPCG(1, 24))
	before := heapAfter(t, rs, r, 1000)
	after := heapAfter(t, rs, r, edits)
	t.Logf("%d bytes after 1,000 edits, and %d more after %d", before, after-before, edits)
	if after-before > most {
		t.Errorf("%d edits take %d bytes", edits, after-before)
	}
}

// There is no moment in which nobody edits, and the rules are compiled anew all the same.
func TestRulesThatAreEditedWithoutAPauseAreCompiledAnew(t *testing.T) {
	rs := serveForEdits(t, newEditedSource(1000))
	r := rand.New(rand.NewPCG(2, 24))
	first := rs.Serving().Ruleset
	compiled, largest := 0, 0
	for i, last := 0, first; compiled < 3; i++ {
		if i == 100_000 {
			t.Fatalf("after %d edits they have been compiled anew %d times", i, compiled)
		}
		editAtRandom(t, rs, r, 1000, i%3 == 0)
		now := rs.Serving().Ruleset
		largest = max(largest, now.Size())
		if !now.SharesNumbers(last) {
			compiled++
		}
		last = now
	}
	if largest > 4*first.Size() {
		t.Errorf("of %d bytes at the start the rules have become %d", first.Size(), largest)
	}
}
