package live

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/history"
	"github.com/caddy-shortlink/shortlink/internal/refusal"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

func (m *memoryStorage) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.entries, key)
	return nil
}

func (m *memoryStorage) List(_ context.Context, prefix string, _ bool) (names []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key := range m.entries {
		if strings.HasPrefix(key, prefix+"/") {
			names = append(names, key)
		}
	}
	if names == nil {
		return nil, fs.ErrNotExist
	}
	return names, nil
}

// keepHistory makes a ruleset keep its changes in memory.
func (rs *Ruleset) keepHistory(ctx context.Context) *memoryStorage {
	m := &memoryStorage{entries: map[string]string{}}
	rs.shared.totals.history.KeepIn(ctx, m, rs.logger, history.DefaultKept)
	return m
}

func TestAnyRulesOfThePastAreRestored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &rewritingSource{}
		s.set("a", one, "b", two, "gh/{x}", "https://github.com/{x}")
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		rs.keepHistory(t.Context())
		synctest.Wait()
		digests := []string{rs.Serving().Digest}
		next := rand.New(rand.NewPCG(1, 2))
		for i := range 60 {
			switch next.IntN(6) {
			case 0: // everything is another
				s.set("a", one, fmt.Sprint("new", i), two, "b", three)
				s.tell()
			case 1:
				if err := rs.Restore(t.Context(), digests[next.IntN(len(digests))], new(Edit)); err != nil &&
					!strings.Contains(err.Error(), "already") {
					t.Fatal(err)
				}
			case 2, 3: // windows that begin and end meanwhile
				now := time.Now()
				key := []string{"a", "b", "c"}[next.IntN(3)]
				rule, err := rulefile.ReadJSONValue(strings.NewReader(fmt.Sprintf(
					`[{"to": %q, "until": %q}, {"to": "gone", "since": %[2]q, "until": %[3]q}]`, one,
					at(now, next.IntN(9)), at(now, next.IntN(9)+9))), "", key)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = rs.Apply(t.Context(), &Edit{Changes: []Change{{Key: key, Rule: &rule}}})
			default:
				key := []string{"a", "b", "c", "gh/{x}", "to/{y}", "café"}[next.IntN(6)]
				value := []string{one, two, "", "/a"}[next.IntN(4)]
				_ = rs.apply(t.Context(), key, value) // some remove what is not there
			}
			time.Sleep(time.Second)
			digests = append(digests, rs.Serving().Digest)
		}
		for _, digest := range digests {
			if digest == rs.Serving().Digest {
				continue
			}
			if err := rs.Restore(t.Context(), digest, &Edit{User: "bob"}); err != nil {
				t.Fatal(err)
			}
			if now := rs.Serving().Digest; now != digest {
				t.Fatalf("restored %s, and it is %s", digest, now)
			}
			synctest.Wait()
			change, err := rs.Past().ChangeTo(t.Context(), digest)
			if err != nil {
				t.Fatal(err)
			}
			kinds := map[resolver.ChangeKind]int{}
			for _, k := range change.Keys {
				kinds[k.Kind()]++
			}
			if kinds[resolver.ChangeAdded] != change.Added ||
				kinds[resolver.ChangeEdited] != change.Changed ||
				kinds[resolver.ChangeRemoved] != change.Removed || change.User != "bob" {
				t.Errorf("of %v it says %+v", change.Keys, change.Change)
			}
		}
	})
}

func TestTheHistoryKnowsWhoAndWhat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &rewritingSource{}
		s.name = "links.json"
		s.set("a", one)
		rs, _ := serve(t, Config{Sources: []source.Source{s}, Options: resolver.Options{FoldCase: true}})
		rs.keepHistory(t.Context())
		e := edit("a", two, "c", three)
		e.User, e.Remote = "bob", "192.0.2.1"
		if _, err := rs.Apply(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		s.set("a", two)
		s.tell()
		rs.Reload(t.Context()) // changes nothing
		var got []string
		all, err := rs.Past().List(t.Context(), "A")
		for _, e := range all {
			got = append(got, fmt.Sprint(e.Who(), " ", e.Added, e.Removed, e.Changed, " ", e.First, " ",
				e.Keys[0].Key, " ", string(e.Keys[0].Before), " ", string(e.Keys[0].After)))
		}
		want := []string{fmt.Sprintf("bob 1 0 1 [{a changed} {c added}] a %q %q", one, two)}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("got %q, want %q, %v", got, want, err)
		}
		all, err = rs.Past().List(t.Context(), "")
		if err != nil || len(all) != 2 || all[0].Who() != "links.json" {
			t.Errorf("got %v, %v", all, err)
		}
	})
}

func TestARestorationIsRefusedWithWhatToDoInstead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, other := &rewritingSource{}, &rewritingSource{}
		s.name, other.name = "first", "second"
		s.set("a", one)
		other.set("b", one)
		rs, _ := serve(t, Config{Sources: []source.Source{s, other}})
		rs.keepHistory(t.Context())
		before := rs.Serving().Digest
		synctest.Wait()
		other.set("b", two)
		other.tell()
		for digest, want := range map[string]string{
			before: `the rule for the key "b" stands in source second, and edits go into first; change it ` +
				"in second; take the changes back where these rules stand: caddy shortlink history " +
				"--digest shows each",
			strings.Repeat("0", 64): "the history does not know it: of what is kept, no change has led to " +
				strings.Repeat("0", 64) + ", or away from it",
			rs.Serving().Digest: "the rules are those of " + rs.Serving().Digest + " already",
		} {
			if err := rs.Restore(t.Context(), digest, new(Edit)); !refusal.Is(err) || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		}
	})
}

func TestAnotherSpellingOfAKeyIsNotRestored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &rewritingSource{}
		s.set("docs", one)
		rs, _ := serve(t, Config{Sources: []source.Source{s}, Options: resolver.Options{FoldCase: true}})
		rs.keepHistory(t.Context())
		before := rs.Serving().Digest
		synctest.Wait()
		s.set("Docs", one)
		s.tell()
		err := rs.Restore(t.Context(), before, new(Edit))
		if want := "the rules of " + before + " serve already: keys are only spelt otherwise, " +
			"or other sources have them, too; change that in the sources"; !refusal.Is(err) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}

func TestAStorageThatFailsKeepsNoEditFromHappening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &rewritingSource{}
		s.set("a", one)
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		m := rs.keepHistory(t.Context())
		m.fails, m.hangs = errors.New("no space left on device"), make(chan struct{})
		for _, value := range []string{two, three, one} {
			begun := time.Now()
			if err := rs.apply(t.Context(), "a", value); err != nil || time.Since(begun) > 0 {
				t.Errorf("after %s: %v", time.Since(begun), err)
			}
		}
		close(m.hangs)
		time.Sleep(time.Minute)
		if h := rs.Past().Outage(); h == nil || h.Error != "no space left on device" {
			t.Errorf("the status says %v", h)
		}
		m.heal()
		time.Sleep(time.Hour)
		all, err := rs.Past().List(t.Context(), "")
		if err != nil || len(all) != 3 || rs.Past().Outage() != nil {
			t.Errorf("got %v, %v, %v", all, err, rs.Past().Outage())
		}
	})
}

func TestNobodyIsSaidToHaveChangedWhatOthersHave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &rewritingSource{plainSource{name: "links"}}
		s.set("a", one, "b", one)
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		rs.keepHistory(t.Context())
		s.set("a", one, "b", two) // just now, so that nobody has told
		e := edit("a", two)
		e.User = "bob"
		if _, err := rs.Apply(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if a, b := rs.Past().LastChange("a"), rs.Past().LastChange("b"); a == nil || a.User != "bob" || b == nil ||
			b.User != "" || b.Source != "links" {
			t.Errorf("the changes are %+v and %+v", a, b)
		}
	})
}
