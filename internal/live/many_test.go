package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/effects"
	"github.com/caddy-shortlink/shortlink/internal/past"
	"github.com/caddy-shortlink/shortlink/internal/refusal"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// readOnly is a source that takes no edits.
type readOnly struct{ plainSource }

func (*readOnly) Writable() error { return errors.New("it is read only") }

// made returns an edit of keys and values, in turn, of which an empty value removes the key. With
// isWhole it makes all rules these.
func made(isWhole bool, keysAndValues ...string) *Edit {
	wanted := edit(keysAndValues...)
	return &Edit{Make: func(serving *Loaded) ([]Change, error) {
		return ChangesFor(serving, isWhole, func(
			_ func(string) (resolver.Rule, bool), change func(resolver.Rule, bool),
		) error {
			for _, c := range wanted.Changes {
				if c.Rule == nil {
					change(resolver.Rule{Key: c.Key}, true)
				} else {
					change(*c.Rule, false)
				}
			}
			return nil
		})
	}}
}

func toRules(keysAndValues ...string) *Edit { return made(true, keysAndValues...) }
func byPatch(keysAndValues ...string) *Edit { return made(false, keysAndValues...) }

func TestAllRulesBecomeThoseOfAnObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, other := &rewritingSource{}, &readOnly{plainSource{name: "other"}}
		s.set("a", one, "b", two, "t/{x}", one)
		other.set("o", three)
		rs, _ := serve(t, Config{Sources: []source.Source{s, other}})
		if _, err := rs.Apply(t.Context(), toRules("%61", one, "b", three, "o", three, "c", "/a",
			"t/{y}", one)); err != nil {
			t.Fatal(err)
		}
		rs.wantServed(t, "a", one, "b", three, "o", three, "c", one)
		if rs.Serving().Ruleset.Len() != 5 || len(s.rules) != 4 || s.version != 2 {
			t.Errorf("served %d rules, of which the source has %v", rs.Serving().Ruleset.Len(), s.rules)
		}
	})
}

func TestWindowsThatBeginLaterAreCountedAndRemovedLikeAllRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &rewritingSource{}
		s.set("a", one)
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		later, err := rulefile.ReadJSONValue(strings.NewReader(
			fmt.Sprintf(`{"to": %q, "since": %q}`, two, at(time.Now(), 60))), "", "fair")
		if err != nil {
			t.Fatal(err)
		}
		var told *effects.Effects
		confirm := func(f *effects.Effects) error { told = f; return nil }
		add := &Edit{Changes: []Change{{Key: "fair", Rule: &later}}, Confirm: confirm}
		if _, err := rs.Apply(t.Context(), add); err != nil || told.Added != 1 || told.Own != nil ||
			len(told.Written) != 1 || past.Text(told.Written[0].Now) != past.Text(&later) {
			t.Fatalf("got %+v, %v", told, err)
		}
		same := byPatch()
		same.Make = func(serving *Loaded) ([]Change, error) {
			return ChangesFor(serving, false, func(
				now func(string) (resolver.Rule, bool), change func(resolver.Rule, bool),
			) error {
				rule, _ := now("fair")
				change(rule, false)
				return nil
			})
		}
		same.Confirm = confirm
		if _, err := rs.Apply(t.Context(), same); err != nil || told.Changed != 0 || s.version != 2 {
			t.Fatalf("got %+v, %v", told, err)
		}
		without := toRules("a", one)
		without.Confirm = confirm
		if _, err := rs.Apply(t.Context(), without); err != nil || told.Removed != 1 {
			t.Fatalf("got %+v, %v", told, err)
		}
		if rs.Serving().HasWindows() {
			t.Error("it is still there")
		}
	})
}

func TestATemplateThatBeginsLaterIsRemovedBesideOtherRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		later := fmt.Sprintf(`{"to": %q, "since": %q}`, two, at(time.Now(), 60))
		for n := range 40 {
			s := &rewritingSource{}
			rules, plain := `"t/{x}": `+later, []string(nil)
			for i := range n {
				key := fmt.Sprint("k", i)
				rules += fmt.Sprintf(`, %q: %q`, key, one)
				plain = append(plain, key, one)
			}
			s.setJSON(t, "{"+rules+"}")
			rs, _ := serve(t, Config{Sources: []source.Source{s}})
			if _, err := rs.Apply(t.Context(), toRules(append(plain, "a", one)...)); err != nil {
				t.Fatal(err)
			}
			if rs.Serving().HasWindows() {
				t.Errorf("beside %d rules it is still there", n)
			}
		}
	})
}

func TestANewKeyThatIsAlsoRemovedStandsTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &rewritingSource{}
		s.set("a", one)
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		for _, twice := range [][]string{{"b", one, "b", ""}, {"b", "", "%62", one}, {"b", "", "b", ""}} {
			_, err := rs.Apply(t.Context(), byPatch(twice...))
			if reasonOf(err) != refusal.Invalid || s.version != 1 {
				t.Errorf("%q: got %v", twice, err)
			}
		}
	})
}

func TestWhatCannotBecomeThoseOfAnObjectIsNamedAllAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, other := &rewritingSource{}, &readOnly{plainSource{name: "other"}}
		s.name = "mine"
		s.set("a", one, "shadowed", two)
		other.set("o", three, "p", three, "shadowed", one)
		rs, logs := serve(t, Config{Sources: []source.Source{s, other}})
		_, err := rs.Apply(t.Context(), toRules("a", two))
		if reasonOf(err) != refusal.NotEditable || rs.Serving().Ruleset.Len() != 4 || logs.Len() > 1 {
			t.Fatalf("got %v", err)
		}
		for _, want := range []string{
			`the rule for the key "o" stands in source other`, `the rule for the key "p" stands in`,
			`without its rule in source mine the key "shadowed" would be answered by that of source other`,
		} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q lacks %q", err, want)
			}
		}
	})
}

func TestARuleThatStandsTwiceInAnObjectIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &rewritingSource{}
		s.set("a", one)
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		for name, e := range map[string]*Edit{
			"as it serves": toRules("a", one, "a", one), "new": toRules("b", one, "b", two),
			"in a patch": byPatch("a", two, "a", ""),
		} {
			if _, err := rs.Apply(t.Context(), e); reasonOf(err) != refusal.Invalid {
				t.Errorf("%s: got %v", name, err)
			}
		}
	})
}

func TestAPatchThatChangesNothingWritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &rewritingSource{}
		s.set("a", one)
		rs, logs := serve(t, Config{Sources: []source.Source{s}})
		e := byPatch("a", one, "b", "")
		before := rs.Serving()
		previewed, err := rs.Preview(t.Context(), e)
		if err != nil || previewed.Digest != before.Digest {
			t.Errorf("the preview is %v, %v", previewed, err)
		}
		var told *effects.Effects
		e.Confirm = func(f *effects.Effects) error { told = f; return nil }
		if _, err := rs.Apply(t.Context(), e); err != nil || told.Digest != before.Digest {
			t.Errorf("got %v, %v", told, err)
		}
		refusal := errors.New("only looking")
		e.Confirm = func(*effects.Effects) error { return refusal }
		if _, err := rs.Apply(t.Context(), e); err != refusal {
			t.Errorf("got %v", err)
		}
		if s.version != 1 || rs.Serving() != before || logs.Len() > 0 {
			t.Errorf("version %d, records %v", s.version, logs.All())
		}
	})
}

// overtaken is a source that others write to before the first edit does.
type overtaken struct {
	rewritingSource
	by []string // the rules then, keys and values in turn
}

func (s *overtaken) Edit(
	ctx context.Context, version string, edit rulefile.Edit,
) (string, error) {
	if by := s.by; by != nil {
		s.by = nil
		s.set(by...)
	}
	return s.rewritingSource.Edit(ctx, version, edit)
}

func TestManyChangesAreMadeAnewOfWhatOthersHaveWritten(t *testing.T) {
	for name, tt := range map[string]struct {
		edit *Edit
		want []string
	}{
		"all rules": {toRules("a", one, "e", one), []string{"a", one, "b", "pass", "e", one}},
		"a patch":   {byPatch("b", "", "c", ""), []string{"a", three, "b", "pass", "d", two}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &overtaken{by: []string{"a", three, "b", two, "d", two}}
				s.set("a", one, "c", three)
				rs, _ := serve(t, Config{Sources: []source.Source{s}})
				if _, err := rs.Apply(t.Context(), tt.edit); err != nil {
					t.Error(err)
				}
				if rs.wantServed(t, tt.want...); rs.Serving().Ruleset.Len() != 2 {
					t.Errorf("there are %d rules", rs.Serving().Ruleset.Len())
				}
				s.by = []string{"a", two}
				pinned := byPatch("x", three)
				pinned.IfRules = func(string) error { return nil }
				if _, err := rs.Apply(t.Context(), pinned); !errors.Is(err, errOutrun) {
					t.Errorf("what must be as it was is answered with %v", err)
				}
			})
		})
	}
}

func TestAnErrorNamesTheLineOfTheChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, other := &rewritingSource{}, &readOnly{plainSource{name: "other"}}
		other.set("o", one)
		rs, _ := serve(t, Config{Sources: []source.Source{other, s}})
		for want, rule := range map[string]resolver.Rule{
			`5:2: key "bad": `:                        {Key: "bad", Value: "nowhere"},
			`5:2: the rule for the key "o" stands in`: {Key: "o", Value: two},
		} {
			rule.Position = resolver.Position{Line: 5, Column: 2}
			_, err := rs.Apply(t.Context(), &Edit{Changes: []Change{{Key: rule.Key, Rule: &rule}}})
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
	})
}
