package live

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/caddy-shortlink/shortlink/internal/effects"
	"github.com/caddy-shortlink/shortlink/internal/refusal"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/source"
)

// edit returns an edit of keys and values, in turn. An empty value removes the key.
func edit(keysAndValues ...string) *Edit {
	e := new(Edit)
	for pair := range slices.Chunk(keysAndValues, 2) {
		change := Change{Key: pair[0]}
		if pair[1] != "" {
			change.Rule = &resolver.Rule{Key: pair[0], Value: pair[1]}
		}
		e.Changes = append(e.Changes, change)
	}
	return e
}

// onlyIf lets an edit require something of the rule of its first key.
func (e *Edit) onlyIf(check func(now *resolver.Rule) error) *Edit {
	e.Changes[0].If = check
	return e
}

func TestAPreviewTellsWhatAnEditDoesAndWritesNothing(t *testing.T) {
	for name, refusal := range map[string]error{
		"an error":           errors.New("only looking"),
		"a refusal":          refusal.Errorf(refusal.NotEditable, "only looking"),
		"an error of others": fmt.Errorf("only looking: %w", source.ErrChanged),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, other := new(rewritingSource), new(plainSource)
				s.set("base", one, "z", "/x", "y", "/base/deep", "x", "/base", "far", three)
				rs, logs := serve(t, Config{Sources: []source.Source{s, other}})
				var told *effects.Effects
				e := edit("base", two)
				e.Confirm = func(f *effects.Effects) error { told = f; return refusal }
				if _, err := rs.Apply(t.Context(), e); err != refusal {
					t.Errorf("it is answered with %v", err)
				}
				rs.wantServed(t, "base", one, "x", one)
				if s.reads != 1 || other.reads != 1 || s.version != 1 || logs.Len() > 0 {
					t.Errorf("%d and %d readings, version %d, records %v",
						s.reads, other.reads, s.version, logs.All())
				}
				var others []string
				for _, change := range told.Others {
					others = append(others, change.Rule.Key+" "+string(change.Kind)+" "+
						change.Before.Key.Destination+" "+change.After.Key.Destination)
				}
				want := []string{
					"x affected " + one + " " + two, "y affected " + one + "deep " + two + "deep",
					"z affected " + one + " " + two,
				}
				if told.Count != 3 || !slices.Equal(others, want) {
					t.Errorf("%d others: %q", told.Count, others)
				}
				if len(told.Own) != 1 || told.Own[0].After.Key.Destination != two {
					t.Errorf("of itself it tells %v", told.Own)
				}
				if err := rs.apply(t.Context(), "base", two); err != nil {
					t.Error(err)
				}
				if rs.Serving().Digest != told.Digest {
					t.Error("the digest is another one")
				}
			})
		})
	}
}

// Some are derived, some compiled for want of room, and some made of what is read again.
func TestEffectsAreWhatASwapChanges(t *testing.T) {
	numbered := func(prefix string, n int) (rules []string) {
		for i := range n {
			rules = append(rules, fmt.Sprint(prefix, i), "/base/"+fmt.Sprint(i))
		}
		return rules
	}
	base := []string{"base", one}
	for name, tt := range map[string]struct {
		served, meanwhile []string
		isTold            bool
	}{
		"nobody else":  {append(base, "x", "/base"), nil, false},
		"others write": {append(base, "x", "/base"), []string{"base", one, "y", "/base"}, false},
		"the rules are bad": {
			append(base, "x", "/base"), []string{"base", "bad", "y", "/base"}, true,
		},
		"most rules change": {
			append(base, numbered("a", 2500)...), append(base, numbered("b", 2500)...), false,
		},
		"few rules change": {
			append(base, numbered("a", 2500)...), append(base, numbered("a", 2400)...), false,
		},
		"many are concerned":   {append(base, numbered("a", 250)...), nil, false},
		"there is little room": {append(base, numbered("a", 2)...), nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := new(rewritingSource)
				s.set(tt.served...)
				rs, _ := serve(t, Config{Sources: []source.Source{s}})
				synctest.Wait()
				if tt.meanwhile != nil {
					s.set(tt.meanwhile...)
				}
				if tt.isTold {
					s.tell()
				}
				for _, e := range []*Edit{
					edit("base", two), edit("base/1", three), edit("base", "/far"), edit("base/1", ""),
					edit("base/2", two, "base", three, "base/1", one), edit("base/2", "", "base/1", ""),
				} {
					rs.wantEffects(t, e)
				}
			})
		})
	}
}

// wantEffects makes an edit and compares its last effects with what the swap has changed.
func (rs *Ruleset) wantEffects(t *testing.T, e *Edit) {
	t.Helper()
	var told *effects.Effects
	var before *resolver.Ruleset
	e.Confirm = func(f *effects.Effects) error {
		told, before = f, rs.Serving().Ruleset
		return nil
	}
	if _, err := rs.Apply(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	var own, others []resolver.Change
	resolver.CompareResults(before, rs.Serving().Ruleset, func(change resolver.Change) {
		change.Rule.Position = resolver.Position{}
		if slices.ContainsFunc(e.Changes, func(c Change) bool { return c.Key == change.Rule.Key }) {
			own = append(own, change)
		} else {
			others = append(others, change)
		}
	})
	for _, changes := range [][]resolver.Change{told.Own, told.Others} {
		for i := range changes {
			changes[i].Rule.Position = resolver.Position{}
		}
	}
	for _, changes := range [][]resolver.Change{own, others} {
		slices.SortFunc(changes, func(a, b resolver.Change) int {
			return strings.Compare(a.Rule.Key, b.Rule.Key)
		})
	}
	first := others[:min(len(others), effects.Named)]
	if told.HasMore { // it is any of them, in their order
		first = slices.DeleteFunc(slices.Clone(others), func(change resolver.Change) bool {
			return !slices.ContainsFunc(told.Others, func(o resolver.Change) bool {
				return o.Rule.Key == change.Rule.Key
			})
		})
	}
	if told.HasMore != (len(others) > effects.Counted) ||
		told.Count != min(len(others), effects.Counted) ||
		len(told.Others) != len(first) || len(first) > 0 && !reflect.DeepEqual(told.Others, first) ||
		!reflect.DeepEqual(told.Own, own) {
		t.Errorf("%v: told are %+v, %d others, %d named; they are %+v, %d", e.Changes,
			told.Own, told.Count, len(told.Others), own, len(others))
	}
}

func TestEffectsCountAThousandOtherLinksAndSayIfThereAreMore(t *testing.T) {
	for others, hasMore := range map[int]bool{1000: false, 1001: true, 2000: true} {
		for name, e := range map[string]*Edit{
			"derived": edit("base", two), "a template is edited": edit("base", two, "t/{x}", three),
		} {
			synctest.Test(t, func(t *testing.T) {
				s := new(rewritingSource)
				rules := []string{"base", one, "t/{x}", one}
				for n := range others {
					rules = append(rules, fmt.Sprint("k", n), "/base/x")
				}
				s.set(rules...)
				rs, _ := serve(t, Config{Sources: []source.Source{s}})
				synctest.Wait()
				told, err := rs.Preview(t.Context(), e)
				if err != nil {
					t.Fatal(err)
				}
				if told.Count != 1000 || told.HasMore != hasMore ||
					len(told.Others) != effects.Named || len(told.Own) != len(e.Changes) {
					t.Errorf("%s, %d links: %d are counted, more: %t; %d are named, and %d of the edit",
						name, others, told.Count, told.HasMore, len(told.Others), len(told.Own))
				}
			})
		}
	}
}

func TestAnEditIsConfirmedAgainWhenItIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(rewritingSource)
		s.set("base", one)
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		s.beforeEdit = func() {
			s.beforeEdit = nil
			s.set("base", one, "x", "/base")
		}
		var counts []int
		e := edit("base", two)
		e.Confirm = func(f *effects.Effects) error { counts = append(counts, f.Count); return nil }
		if _, err := rs.Apply(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(counts, []int{0, 1}) {
			t.Errorf("other keys: %v", counts)
		}
		rs.wantServed(t, "x", two)
	})
}

// Whoever looks for changes of the source takes what the preview has read for known.
func TestAPreviewLosesNoChangeThatItReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(rewritingSource)
		s.set("a", one)
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		s.set("a", one, "b", two)
		e := edit("b", three).onlyIf(isStill(two))
		no := errors.New("no")
		e.Confirm = func(*effects.Effects) error { return no }
		if _, err := rs.Apply(t.Context(), e); err != no {
			t.Errorf("it is answered with %v", err)
		}
		rs.wantServed(t, "a", one, "b", two)
	})
}

func TestAnEditIsToldTheRuleWhereverItStands(t *testing.T) {
	for name, tt := range map[string]struct {
		key, value string
		now        string // "" for none
	}{
		"it is there":             {"a", two, one},
		"it is spelled otherwise": {"%61", two, one},
		"it is to be removed":     {"a", "", one},
		"it is new":               {"new", two, ""},
		"it is removed and gone":  {"new", "", ""},
		"it is inline":            {"inline", two, "/inline.html"},
		"it is in a later source": {"other", two, three},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, other := new(rewritingSource), new(plainSource)
				s.set("a", one, "b", one)
				other.set("other", three)
				rs, _ := serve(t, Config{
					Sources: []source.Source{s, other},
					Rules:   []resolver.Rule{{Key: "inline", Value: "/inline.html"}},
				})
				told, no := "", errors.New("no")
				e := edit(tt.key, tt.value).onlyIf(func(now *resolver.Rule) error {
					if told = ""; now != nil {
						told = now.Value
					}
					return no
				})
				_, err := rs.Apply(t.Context(), e)
				if reasonOf(err) != refusal.Changed || !errors.Is(err, no) || told != tt.now || s.version > 1 {
					t.Errorf("it is told %q, and answered with %v; version %d", told, err, s.version)
				}
			})
		})
	}
}

// isStill requires that the rule of a key leads to a value, "" for none.
func isStill(value string) func(*resolver.Rule) error {
	return func(now *resolver.Rule) error {
		if (now == nil) != (value == "") || now != nil && now.Value != value {
			return errOther
		}
		return nil
	}
}

var errOther = errors.New("the rule is another one")

// Under the race detector, too. The servers wait for each other, so that the time is the real one.
func TestAHundredEditorsAtOnceLoseNoEdit(t *testing.T) {
	s := new(rewritingSource)
	s.set("a", one)
	var servers []*Ruleset
	for range 2 {
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		servers = append(servers, rs)
	}
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			key := fmt.Sprint("key", i)
			e := edit(key, one).onlyIf(isStill(""))
			e.Confirm = func(*effects.Effects) error { return nil }
			if _, err := servers[i%2].Apply(t.Context(), e); err != nil {
				t.Error(err)
			}
			e.Changes = edit(key, three).onlyIf(isStill(one)).Changes
			if _, err := servers[(i+1)%2].Apply(t.Context(), e); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, rs := range servers {
		rs.Reload(t.Context())
		for key := range 100 {
			rs.wantServed(t, fmt.Sprint("key", key), three)
		}
		if n := rs.Serving().Ruleset.Len(); n != 101 {
			t.Errorf("%d rules serve", n)
		}
	}
}

func TestOfTheEditorsOfOneNewKeyOneWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(rewritingSource)
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		var lost atomic.Int32
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				e := edit("key", fmt.Sprint(one, i)).onlyIf(isStill(""))
				if _, err := rs.Apply(t.Context(), e); errors.Is(err, errOther) {
					lost.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if lost.Load() != 99 || s.version != 1 {
			t.Errorf("%d edits are refused, and %d written", lost.Load(), s.version)
		}
	})
}

func TestTheLogNamesWhoEdits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(rewritingSource)
		rs, logs := serve(t, Config{Sources: []source.Source{s}})
		e := edit("a", one)
		e.User = "ann"
		if _, err := rs.Apply(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		if err := rs.apply(t.Context(), "a", two); err != nil {
			t.Fatal(err)
		}
		edits := logs.FilterMessage("rule edited").All()
		if _, named := edits[1].ContextMap()["user"]; named || edits[0].ContextMap()["user"] != "ann" {
			t.Errorf("the records are %v", edits)
		}
	})
}

func TestWhereNothingCanBeEditedTheReasonIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rs, _ := serve(t, Config{Sources: []source.Source{new(plainSource)}})
		if err := rs.WhyNotWritable(); err != nil {
			t.Error(err)
		}
		rs, _ = serve(t, Config{Rules: []resolver.Rule{{Key: "a", Value: one}}})
		if err, edited := rs.WhyNotWritable(), rs.apply(t.Context(), "a", two); err == nil ||
			err.Error() != edited.Error() {
			t.Errorf("%v and %v", err, edited)
		}
	})
}

func TestAnEditNamesTheLinksThatBecomeDeadEndsByIt(t *testing.T) {
	const ends, further = "; the site itself must", "no link answers /"
	for name, tt := range map[string]struct {
		edit *Edit
		want []string // keys and messages, in turn
	}{
		"a key is removed": {
			edit("base", ""), []string{"x", further + "base" + ends, "y", further + "base/deep" + ends},
		},
		"a link leads to nobody": {
			edit("new", "/nobody?x"), []string{"new", further + "nobody" + ends},
		},
		"a link of others leads there": {
			edit("base", "/nobody"), []string{
				"base", further + "nobody" + ends, "x", further + "nobody" + ends,
				"y", further + "nobody/deep" + ends,
			},
		},
		"a slip, as is told":   {edit("new", "/nothimg"), nil},
		"a dead end moves":     {edit("dead", "/other"), []string{"dead", further + "other" + ends}},
		"a dead end stays":     {edit("dead", "/nothing?x"), nil},
		"a dead end is mended": {edit("nothing", one), nil},
		"a pass is removed":    {edit("kept", ""), []string{"k", further + "kept/x" + ends}},
		"all of it is removed": {edit("base", "", "x", "", "y", "/kept"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := new(rewritingSource)
				s.set("base", one, "x", "/base", "y", "/base/deep", "k", "/kept/x", "kept", "pass",
					"dead", "/nothing", "home", "/", "nothimgs", two)
				rs, _ := serve(t, Config{Sources: []source.Source{s}})
				synctest.Wait()
				told, err := rs.Preview(t.Context(), tt.edit)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, w := range told.Warnings {
					if w.Kind == lint.WarnDeadEnd {
						got = append(got, w.Key, w.Message)
					}
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("got  %q\nwant %q", got, tt.want)
				}
			})
		})
	}
}

// countingPages answer nothing, and count how often they were asked.
type countingPages struct{ asked *int }

func (p countingPages) Answer(string) bool {
	*p.asked++
	return false
}

func TestAPreviewLooksForTheDeadEndsOfNoMoreLinksThanItNames(t *testing.T) {
	for name, tt := range map[string]struct {
		key, was, is string
		most         int
	}{
		"a pass is removed":      {"kept", resolver.PassValue, "", effects.Named},
		"a pass becomes another": {"kept", resolver.PassValue, resolver.GoneValue, 0},
		"a link is removed":      {"base", one, "", effects.Named},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, asked := new(rewritingSource), 0
			rules := []string{tt.key, tt.was}
			for n := range 1000 {
				rules = append(rules, fmt.Sprint("k", n), fmt.Sprint("/", tt.key, "/", n))
			}
			s.set(rules...)
			rs, _ := serve(t, Config{
				Sources: []source.Source{s}, Pages: countingPages{&asked},
			})
			synctest.Wait()
			before := asked
			if _, err := rs.Preview(t.Context(), edit(tt.key, tt.is)); err != nil {
				t.Fatal(err)
			}
			if asked -= before; asked > tt.most {
				t.Errorf("%s: the ends of %d links were looked at", name, asked)
			}
		})
	}
}
