package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/refusal"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/internal/turn"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// countedSource is a source without rules that counts how often it is read.
type countedSource struct{ reads int }

func (s *countedSource) String() string { return "counted" }

func (s *countedSource) Read(context.Context, func(resolver.Rule)) (string, error) {
	s.reads++
	return "one", nil
}

func (s *countedSource) Watch(context.Context, string, func()) {}

func (s *countedSource) Writable() error { return nil }

func (*countedSource) Written(resolver.Rule) (string, error) { return "", nil }

func (s *countedSource) Edit(context.Context, string, rulefile.Edit) (string, error) {
	return "", nil
}

var _ source.Writable = (*countedSource)(nil)

// refused returns the refusal that an error of an edit makes.
func refused(err error) error {
	reported, _ := refusalOf(err)
	return reported
}

func TestAClientThatHasGoneCostsNoLoad(t *testing.T) {
	for name, ask := range map[string]func(context.Context, *Ruleset) error{
		"an edit": func(ctx context.Context, rs *Ruleset) error {
			return rs.apply(ctx, "a", "https://a.example")
		},
		"a reload": func(ctx context.Context, rs *Ruleset) error {
			rs.Reload(ctx)
			return ErrGone
		},
	} {
		t.Run(name, func(t *testing.T) {
			counted := new(countedSource)
			rs := New(Config{
				Context: caddy.Context{Context: t.Context()}, Sources: []source.Source{counted},
			})
			rs.logger, rs.shared = zap.NewNop(), &shared{loading: turn.NewLock()}
			empty, _ := resolver.Compile(nil, resolver.Options{})
			rs.shared.serving.Store(&Loaded{Rules: schedule.Rules{Ruleset: empty}})
			rs.shared.loading.Lock() // by another edit
			ctx, leave := context.WithCancel(t.Context())
			answer := make(chan error)
			go func() { answer <- ask(ctx, rs) }()
			leave()
			rs.shared.loading.Unlock()
			if err := <-answer; !errors.Is(err, ErrGone) || counted.reads > 0 {
				t.Errorf("it is answered with %v, and the source is read %d times", err, counted.reads)
			}
		})
	}
}

func TestWhyASourceTakesNoEditIsTheReason(t *testing.T) {
	for want, err := range map[refusal.Reason]error{
		refusal.NotEditable: fmt.Errorf("%w: it is a replica", source.ErrNotWritable),
		refusal.Changed:     source.ErrChanged,
		refusal.Unavailable: fmt.Errorf("%w: no memory", source.ErrUnavailable),
	} {
		got, is := errors.AsType[*refusal.Refusal](refused(err))
		if !is || got.Reason != want || got.Error() != err.Error() {
			t.Errorf("%v is refused with %v, want %d", err, got, want)
		}
	}
}

// none is the reason of what is not refused.
const none refusal.Reason = -1

// reasonOf returns why an edit is refused, by an error that it has come to.
func reasonOf(err error) refusal.Reason {
	if err == nil {
		return none
	}
	r, _ := errors.AsType[*refusal.Refusal](refused(err))
	return r.Reason
}

// contested is a source that others edit first, until a number of edits.
type contested struct {
	countedSource
	edits, until int
}

func (c *contested) Edit(context.Context, string, rulefile.Edit) (version string, err error) {
	if c.edits++; c.edits < c.until {
		return "", source.ErrChanged
	}
	return "", nil
}

func TestAnEditIsTriedAgainForAsLongAsItWaitsForALock(t *testing.T) {
	const forEver = 1_000_000
	for name, tt := range map[string]struct {
		until     int
		leave     time.Duration // after which the client leaves
		isOfRules bool
		reason    refusal.Reason // none if it succeeds
		took      time.Duration  // at most
	}{
		"others are quick":        {20, time.Hour, false, none, editTime},
		"others never stop":       {forEver, time.Hour, false, refusal.Unavailable, 16 * time.Second},
		"the client leaves":       {forEver, time.Second, false, refusal.ClientGone, time.Second},
		"the rules are to be old": {2, time.Hour, true, refusal.Changed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				from := &contested{until: tt.until}
				rs, _ := newRuleset(t, Config{
					Context: caddy.Context{Context: t.Context()}, Sources: []source.Source{from},
				})
				first, err := rs.newLoading(t.Context(), nil).load()
				if err != nil {
					t.Fatal(err)
				}
				rs.shared, err = newShared(t.Name(), first, &LastLoad{})
				if err != nil {
					t.Fatal(err)
				}
				e := edit("a", "/b")
				if tt.isOfRules {
					e.IfRules = func(string) error { return nil }
				}
				ctx, cancel := context.WithTimeout(t.Context(), tt.leave)
				defer cancel()
				start := time.Now()
				_, err = rs.Apply(ctx, e)
				if took := time.Since(start); reasonOf(err) != tt.reason || took > tt.took {
					t.Errorf("%v after %s, want %d", err, took, tt.reason)
				}
			})
		})
	}
}

func TestAnEditReadsNoSourceThatTellsWhatBecameOfIt(t *testing.T) {
	moving, fixed := new(rewritingSource), new(changingSource)
	for name, tt := range map[string]struct {
		from source.Source
		of   *plainSource
		want string // where the rule for b stands then
	}{
		"rules that move":         {moving, &moving.plainSource, "links:3"},
		"rules without positions": {fixed, &fixed.plainSource, "links"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, other := tt.of, &plainSource{name: "other"}
				s.name = "links"
				s.set("a", one, "b", one)
				rs, logs := serve(t, Config{Sources: []source.Source{tt.from, other}})
				before := rs.Serving().Digest
				if err := rs.apply(t.Context(), "new", two); err != nil {
					t.Fatal(err)
				}
				rs.wantServed(t, "a", one, "b", one, "new", two)
				if _, at := rs.lookUp("b"); at != tt.want {
					t.Errorf("b stands at %s, want %s", at, tt.want)
				}
				for key, value := range map[string]string{"a": "", "b": two} {
					if err := rs.apply(t.Context(), key, value); err != nil {
						t.Fatal(err)
					}
				}
				rs.wantServed(t, "a", "pass", "b", two, "new", two)
				if s.reads != 1 || other.reads != 1 {
					t.Errorf("the sources are read %d and %d times", s.reads, other.reads)
				}
				edited := logs.FilterMessage("rule edited").All()[0].ContextMap()
				swapped := logs.FilterMessage("rules swapped").All()[0].ContextMap()
				if edited["key"] != "new" || edited["is"] != `"`+two+`"` || edited["old_digest"] != before ||
					swapped["old_digest"] != before || fmt.Sprint(swapped["first_added"]) != "[new]" {
					t.Errorf("the records are %v and %v", edited, swapped)
				}
			})
		})
	}
}

func TestAWarningOfAnEditNamesTheLineThatItHasBecome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &rewritingSource{plainSource{name: "links"}}
		s.set("a", one, "b", "http://plain.example/")
		rs, logs := serve(t, Config{Sources: []source.Source{s}})
		if err := rs.apply(t.Context(), "new", "https://ann@x.example/"); err != nil {
			t.Fatal(err)
		}
		warnings := logs.FilterLevelExact(zap.WarnLevel).All()
		if len(warnings) != 1 || warnings[0].ContextMap()["position"] != "links:1" {
			t.Errorf("the warnings are %v", warnings)
		}
	})
}

func TestAnEditOfAnotherWritableSourceReadsThatAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, other := &plainSource{name: "links"}, &plainSource{name: "other"}
		s.set("a", one)
		rs, _ := serve(t, Config{Sources: []source.Source{s, other}})
		if err := rs.apply(t.Context(), "new", two); err != nil {
			t.Fatal(err)
		}
		rs.wantServed(t, "a", one, "new", two)
		if _, at := rs.lookUp("new"); at != "links:1" || s.reads != 2 || other.reads != 1 {
			t.Errorf("new stands at %s; readings: %d and %d", at, s.reads, other.reads)
		}
	})
}

func TestAnEditIsMadeOfWhatTheSourceHoldsMeanwhile(t *testing.T) {
	for name, tt := range map[string]struct {
		meanwhile []string // keys and values of the source
		isOfRules bool
		reason    refusal.Reason // none if it is made
		want      []string       // keys and where they lead
	}{
		"another rule is there": {[]string{"a", one, "b", two}, false, none,
			[]string{"a", three, "b", two}},
		"the rule is another": {[]string{"a", two}, false, none, []string{"a", three}},
		"the rule is gone":    {[]string{"b", two}, false, none, []string{"a", three, "b", two}},
		"it is bad otherwise": {[]string{"a", "bad", "b", "bad"}, false, refusal.Invalid,
			[]string{"a", one}},
		"it breaks": {[]string{"a", one, "b", "/b"}, false, refusal.Invalid,
			[]string{"a", one}},
		"the edit mends it":    {[]string{"a", "bad"}, false, none, []string{"a", three}},
		"the digest is stated": {[]string{"a", two}, true, refusal.Changed, []string{"a", two}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := new(rewritingSource)
				s.set("a", one)
				rs, _ := serve(t, Config{Sources: []source.Source{s}})
				e := edit("a", three)
				if tt.isOfRules {
					e.IfRules = func(string) error { return nil }
				}
				s.set(tt.meanwhile...)
				_, err := rs.Apply(t.Context(), e)
				if reasonOf(err) != tt.reason {
					t.Errorf("got %v", err)
				}
				rs.wantServed(t, tt.want...)
				synctest.Wait()
			})
		})
	}
}

func TestAnEditCanMendASourceThatIsRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, other := new(rewritingSource), &plainSource{name: "other"}
		s.set("a", one)
		other.set("o", one)
		rs, logs := serve(t, Config{Sources: []source.Source{s, other}})
		synctest.Wait()
		s.set("a", "bad", "b", two)
		s.tell()
		if err := rs.apply(t.Context(), "c", three); err == nil || !strings.Contains(err.Error(), "bad") {
			t.Errorf("got %v", err)
		}
		other.set("o", two)
		other.tell() // which is rejected, too
		if err := rs.apply(t.Context(), "a", three); err != nil {
			t.Error(err)
		}
		rs.wantServed(t, "a", three, "b", two, "o", two)
		if rs.LastLoad().Err != nil || logs.FilterMessage("rules swapped").Len() != 1 {
			t.Errorf("%v; %v", rs.LastLoad().Err, logs.All())
		}
	})
}

func TestAnEditOfASourceThatIsGoneIsTriedWithoutHarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &gone{}
		s.set("a", one)
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		s.out = errors.New("the disk is gone")
		err := rs.apply(t.Context(), "a", two)
		if reasonOf(err) != refusal.Unavailable || !refusal.Is(err) ||
			err.Error() != "the rules cannot be read: source : the disk is gone" {
			t.Errorf("got %v", err)
		}
		rs.wantServed(t, "a", one)
		if rs.LastLoad().Err == nil {
			t.Error("nothing is rejected")
		}
	})
}

func TestAnEditThatIsWrongIsToldSoWhileAnotherSourceIsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, other := new(rewritingSource), &gone{}
		s.set("a", one)
		rs, _ := serve(t, Config{
			Sources: []source.Source{s, other},
			Expect:  source.Expectations{"/a": one},
		})
		other.reach.Fail(errors.New("the disk is gone"))
		for value, want := range map[string]string{two: "expect /a ", "bad": "bad"} {
			err := rs.apply(t.Context(), "a", value)
			if reasonOf(err) != refusal.Invalid || !strings.Contains(err.Error(), want) ||
				strings.Contains(err.Error(), "cannot be read") {
				t.Errorf("%s: got %v", value, err)
			}
		}
	})
}

// gone is a source that can be out.
type gone struct {
	plainSource
	reach source.Reachability
	out   error
}

func (s *gone) Read(ctx context.Context, add func(resolver.Rule)) (string, error) {
	if s.out != nil {
		s.reach.Fail(s.out)
		return "", s.out
	}
	return s.plainSource.Read(ctx, add)
}

func (s *gone) Edit(ctx context.Context, version string, edit rulefile.Edit) (string, error) {
	if s.out != nil {
		s.reach.Fail(s.out)
		return "", s.out
	}
	return s.plainSource.Edit(ctx, version, edit)
}

func (s *gone) Reach() *source.Reachability { return &s.reach }

func TestChangesOfSeveralKeysAreMadeTogether(t *testing.T) {
	whole, byKey := new(rewritingSource), new(changingSource)
	for name, tt := range map[string]struct {
		from source.Source
		of   *plainSource
	}{
		"of a source that is read as a whole": {whole, &whole.plainSource},
		"of a source that is read by key":     {byKey, &byKey.plainSource},
	} {
		for moment, meanwhile := range map[string][]string{
			"as it serves":                   nil,
			"as it has become at two keys":   {"%61", two, "b", one, "c", two},
			"as it is mended by all of it":   {"%61", "bad", "b", "/b", "c", one},
			"as it has become at other keys": {"%61", one, "b", one, "c", one, "d", one},
		} {
			t.Run(name+", "+moment, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					tt.of.set("%61", one, "b", one, "c", one)
					rs, logs := serve(t, Config{Sources: []source.Source{tt.from}})
					synctest.Wait()
					if meanwhile != nil {
						tt.of.set(meanwhile...)
					}
					version := tt.of.version
					// each of them is a loop, or leads nowhere, without the others
					e := edit("a", "/b", "b", "/new", "c", "", "new", three)
					was, err := rs.Apply(t.Context(), e)
					if err != nil {
						t.Fatal(err)
					}
					rs.wantServed(t, "a", three, "b", three, "c", "pass", "new", three)
					if len(was) != 4 || was[0].Key != "%61" || was[1].Key != "b" || was[3] != nil {
						t.Errorf("it tells that there were %v", was)
					}
					swaps := logs.FilterMessage("rules swapped").All()
					own := swaps[len(swaps)-1].ContextMap()
					if tt.of.version != version+1 || fmt.Sprint(own["first_added"]) != "[new]" ||
						len(swaps) > 2 || len(swaps) == 2 && meanwhile == nil {
						t.Errorf("version %d, records %v", tt.of.version, logs.All())
					}
					edited := logs.FilterMessage("rule edited").All()
					if len(edited) != 1 || edited[0].ContextMap()["keys"] != int64(4) {
						t.Errorf("the records are %v", edited)
					}
				})
			})
		}
	}
}

func TestAllThatIsWrongWithChangesOfSeveralKeysIsTold(t *testing.T) {
	for name, tt := range map[string]struct {
		edit   *Edit
		reason refusal.Reason
		want   []string
	}{
		"where they stand": {edit("x", "", "inline", two, "a", two, "y", ""), refusal.NoRule,
			[]string{`no rule for the key "x"`, `"inline" is an inline`, `no rule for the key "y"`}},
		"what they require": {edit("a", two, "b", two).onlyIf(isStill(two)), refusal.Changed,
			[]string{errOther.Error()}},
		"two changes of one key": {edit("a", two, "%61", "", "b", one, "b", two), refusal.Invalid,
			[]string{`the key "a" and another one of "%61"`, `the key "b" and another one of "b"`}},
		"what they say": {edit("a", "nowhere", "b", two, "c", "nothing"), refusal.Invalid,
			[]string{`key "a"`, `key "c"`}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := new(rewritingSource)
				s.set("a", one, "b", one)
				inline := []resolver.Rule{{Key: "inline", Value: "/inline.html"}}
				rs, _ := serve(t, Config{Sources: []source.Source{s}, Rules: inline})
				_, err := rs.Apply(t.Context(), tt.edit)
				if reasonOf(err) != tt.reason {
					t.Fatalf("it is refused with %v", err)
				}
				for _, want := range tt.want {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("nothing of %s in %v", want, err)
					}
				}
				rs.wantServed(t, "a", one, "b", one)
				if s.version != 1 {
					t.Error("it is written")
				}
			})
		})
	}
}
