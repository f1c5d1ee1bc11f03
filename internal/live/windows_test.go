package live

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-shortlink/shortlink/internal/ahead"
	"github.com/caddy-shortlink/shortlink/internal/past"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// setJSON sets rules as a file has them.
func (s *plainSource) setJSON(t *testing.T, text string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = nil
	err := rulefile.ReadJSON(strings.NewReader(text), s.name, func(rule resolver.Rule) {
		s.rules = append(s.rules, rule)
	})
	if err != nil {
		t.Fatal(err)
	}
	s.version++
	s.setLines()
}

// at is a time in JSON, some seconds after the beginning of the test.
func at(begin time.Time, seconds int) string {
	return begin.Add(time.Duration(seconds) * time.Second).UTC().Format(time.RFC3339)
}

// written returns all rules below a key as a file has them.
func (rs *Ruleset) written(t *testing.T, key string) string {
	t.Helper()
	var b bytes.Buffer
	if err := rulefile.WriteJSON(&b, rs.Serving().RulesBelow(key)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// edgeWarnings returns what there is to warn of at edges.
func edgeWarnings(rs *Ruleset) (warnings []string) {
	for _, w := range rs.EdgeWarnings(rs.Serving()) {
		warnings = append(warnings, w.String())
	}
	return warnings
}

func TestAWindowBeginsAndEndsWithinASecondAndTheDigestStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &plainSource{name: "links.json"}
		begin := time.Now()
		text := fmt.Sprintf(`{
	"docs": %q,
	"fair": [{"to":%q,"until":%q},{"to":%q,"since":%[3]q,"until":%[5]q}],
	"sale": {"to":%q,"since":%[3]q}
}
`, one, one, at(begin, 10), two, at(begin, 20), two)
		s.setJSON(t, text)
		rs, logs := serve(t, Config{Sources: []source.Source{s}})
		digest := rs.Serving().Digest
		step := func(d time.Duration, swaps int, want ...string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			rs.wantServed(t, want...)
			n := logs.FilterMessage("rules swapped: a window begins or ends").Len()
			if n != swaps || logs.Len() != n || rs.Serving().Digest != digest {
				t.Errorf("after %s: %d swaps, digest %s: %v", time.Since(begin), n, rs.Serving().Digest,
					logs.All())
			}
			if got := rs.written(t, ""); got != text {
				t.Errorf("the rules are %s", got)
			}
		}
		step(10*time.Second-1, 0, "fair", one, "sale", "pass", "docs", one)
		if edge, ok := rs.Serving().NextEdge(); !ok || !edge.Equal(begin.Add(10*time.Second)) {
			t.Errorf("the next edge is %s", edge)
		}
		step(1, 1, "fair", two, "sale", two, "docs", one)
		step(10*time.Second, 2, "fair", "pass", "sale", two, "docs", one)
		step(time.Hour, 2, "fair", "pass", "sale", two)
		if _, ok := rs.Serving().NextEdge(); ok {
			t.Error("there is another edge")
		}
	})
}

func TestARulesetWithoutWindowsKeepsItsDigest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &plainSource{name: "links.json"}
		s.set("a", one)
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		if serving := rs.Serving(); serving.Digest != serving.Ruleset.Digest() {
			t.Errorf("it is %s", serving.Digest)
		}
	})
}

func TestAClockThatJumpsAndASleepingMachineAreFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &plainSource{name: "links.json"}
		begin := time.Now()
		s.setJSON(t, fmt.Sprintf(
			`{"a": [{"to": %q, "until": %q}, {"to": %q, "since": %q, "until": %q}]}`, one,
			at(begin, 1000), two, at(begin, 2000), at(begin, 3000)))
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		now := rs.Serving()
		for _, jump := range []struct {
			to   int
			want string
		}{{5000, "pass"}, {2500, two}, {1500, "pass"}, {999, one}, {2000, two}, {-9999, one}} {
			next := newCandidate(now)
			if err := next.turn(schedule.At(begin.Add(time.Duration(jump.to) * time.Second))); err != nil {
				t.Fatal(err)
			}
			now = next.Loaded
			result := now.Ruleset.Resolve("https://go.example/a")
			if got := cmp.Or(result.Destination, result.Outcome.String()); got != jump.want {
				t.Errorf("after %d s it leads to %s, want %s", jump.to, got, jump.want)
			}
		}
		rs.turn(schedule.At(begin.Add(time.Hour)), edge{}) // the clock is set back from here
		time.Sleep(time.Second)
		synctest.Wait()
		rs.wantServed(t, "a", one)
	})
}

func TestWhatItsAuthorWroteTakesEffectWhereAnExpectationFailsOrALoopCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &plainSource{name: "links.json"}
		begin := time.Now()
		s.setJSON(t, fmt.Sprintf(`{
			"a": {"to": %q, "until": %q},
			"x": "/y", "y": [{"to": %q, "until": %q}, {"to": "/x", "since": %[2]q}], "z": %[3]q}`,
			one, at(begin, 10), two, at(begin, 10)))
		rs, logs := serve(t, Config{
			Sources: []source.Source{s}, Expect: source.Expectations{"/a": one},
		})
		synctest.Wait()
		before := logs.Len()
		for _, want := range []string{
			"at 2000-01-01T00:00:10Z: loop", "at 2000-01-01T00:00:10Z: expect",
		} {
			told := slices.ContainsFunc(logs.All(), func(e observer.LoggedEntry) bool {
				return e.Level == zap.WarnLevel && strings.HasPrefix(e.Message, want)
			})
			said := slices.ContainsFunc(edgeWarnings(rs), func(w string) bool {
				return strings.Contains(w, want) && !strings.Contains(w, `key ""`)
			})
			if !told || !said || before != 3 {
				t.Errorf("beforehand the log says %v, and the status %v", logs.All(), edgeWarnings(rs))
			}
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		const fails = "an expectation has failed since a window began or ended: expect /a " +
			"https://one.example/: it is pass"
		if got := edgeWarnings(rs); !slices.Equal(got, []string{fails}) {
			t.Errorf("afterwards the status says %q", got)
		}
		rs.wantServed(t, "a", "pass", "x", "error", "y", "error", "z", two)
		for message, want := range map[string]string{
			"an expectation fails now that a window begins or ends, which takes effect all the same": "/a",
			"keys are answered with an error now that a window begins or ends": "2 working keys would " +
				"fail",
		} {
			told := logs.FilterMessage(message).All()
			if len(told) != 1 || !strings.Contains(told[0].ContextMap()["error"].(string), want) {
				t.Errorf("%s: %v", message, told)
			}
		}
		if got, _ := rs.BrokenIn(rs.Serving()); got != 2 {
			t.Errorf("%d rules are broken", got)
		}
	})
}

func TestAnExpectationThatAnEdgeMadeFailRefusesNoEditNoReloadAndNoStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &rewritingSource{plainSource{name: "links.json"}}
		begin := time.Now()
		s.setJSON(t, fmt.Sprintf(`{"a": {"to": %q, "until": %q}, "b": {"to": %[1]q, "until": %[3]q}}`,
			one, at(begin, 10), at(begin, 20)))
		config := Config{Sources: []source.Source{s}, Expect: source.Expectations{"/a": one}}
		rs, _ := serve(t, config)
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if err := rs.apply(t.Context(), "c", two); err != nil {
			t.Error(err)
		}
		if rs.Reload(t.Context()); rs.LastLoad().Err != nil {
			t.Error(rs.LastLoad().Err)
		}
		rs.wantServed(t, "a", "pass", "c", two)
		later, logs := serve(t, config)
		synctest.Wait()
		later.wantServed(t, "a", "pass", "c", two)
		const failed = "an expectation has failed since a window began or ended: expect /a " + one +
			": it is pass"
		if logs.FilterMessage(failed).Len() != 1 {
			t.Errorf("the log of the start says %v", logs.All())
		}
		never := edit("a", two)
		if _, err := rs.Apply(t.Context(), never); err == nil || !strings.Contains(err.Error(), "/a") {
			t.Errorf("an edit that an expectation never allows is answered with %v", err)
		}
	})
}

// slowSource is read as slowly as somebody else wants.
type slowSource struct {
	plainSource
	let chan struct{}
}

func (s *slowSource) Read(ctx context.Context, add func(resolver.Rule)) (string, error) {
	if s.let != nil {
		<-s.let
	}
	return s.plainSource.Read(ctx, add)
}

func TestAWindowEndsWhileASourceIsReadSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowSource{plainSource: plainSource{name: "links.json"}}
		begin := time.Now()
		windows := fmt.Sprintf(`"a": {"to": %q, "until": %q}, "n": {"to": %[1]q, "since": %[2]q}`,
			one, at(begin, 10))
		s.setJSON(t, `{`+windows+`}`)
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		synctest.Wait()
		s.setJSON(t, `{`+windows+`, "b": "/c", "c": "`+two+`"}`)
		s.let = make(chan struct{})
		s.tell()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		rs.wantServed(t, "a", "pass", "n", one, "b", "pass")
		result := rs.Serving().Ruleset.Resolve("https://go.example/n")
		rs.Count(&result, rs.Serving())
		close(s.let)
		synctest.Wait()
		rs.wantServed(t, "a", "pass", "n", one, "b", two)
		list, err := rs.Hits().List(t.Context(), rs.Serving().Ruleset)
		if err != nil {
			t.Fatal(err)
		}
		for key, m := range list.All() {
			if (key == "n") != (m.N == 1) {
				t.Errorf("%s has %d hits", key, m.N)
			}
		}
	})
}

func TestAnInvalidWindowIsRefusedBeforeItBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &plainSource{name: "links.json"}
		s.set("a", one)
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		synctest.Wait()
		const instead = "; write its rules as one that has all windows, or remove one of the two"
		for text, want := range map[string]string{
			`{"a": [{"to": "/b", "until": "2027-01-01"}, {"to": "b", "since": "2027-01-01"}]}`: "links." +
				`json:1: key "a": the destination "b" is neither`,
			`{"b": {"to": "/b", "since": "2027-01-01"}, "b": {"to": "/c", "since": "2028-01-01"}}`: "links." +
				`json:2: key "b": the key is already defined at links.json:1` + instead,
			`{"b": {"to": "/b", "since": "2027-01-01"}, "b": "/c"}`: "links.json:2: key \"b\": the " +
				"key is already defined at links.json:1" + instead,
		} {
			s.setJSON(t, text)
			s.tell()
			if err := rs.LastLoad().Err; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
			}
			rs.wantServed(t, "a", one)
		}
	})
}

// randomWindows returns the value of a key, in JSON.
func randomWindows(begin time.Time) string {
	to := func() string { return []string{`"` + one + `"`, `"/k1"`, `"/k2/x"`, `"gone"`}[rand.N(4)] }
	if rand.N(4) == 0 {
		return to()
	}
	var windows []string
	for n, from := rand.N(3)+1, rand.N(40)-10; n > 0; n-- {
		end := from + rand.N(20) + 1
		windows = append(windows, fmt.Sprintf(`{"to": %s, "since": %q, "until": %q}`, to(),
			at(begin, from), at(begin, end)))
		from = end + rand.N(2)*rand.N(9)
	}
	return "[" + strings.Join(windows, ", ") + "]"
}

func TestAtRandomInstantsWhatServesIsWhatAFreshStartServes(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			first := &changingSource{plainSource: plainSource{name: "keys"}}
			second := &rewritingSource{plainSource{name: "links.json"}}
			begin := time.Now()
			fill := func(s *plainSource) {
				text := `"docs": "` + one + `"`
				for i := range 5 {
					if rand.N(3) > 0 {
						text += fmt.Sprintf(`, "k%d": %s`, i, randomWindows(begin))
					}
				}
				s.setJSON(t, "{"+text+"}")
			}
			fill(&first.plainSource)
			fill(&second.plainSource)
			config := Config{Sources: []source.Source{first, second}}
			rs, _ := serve(t, config)
			synctest.Wait()
			for range 12 {
				time.Sleep(rand.N(5 * time.Second))
				switch rand.N(4) {
				case 0:
					fill(&second.plainSource)
					second.tell()
				case 1:
					first.put("k1", one)
					first.tell()
				case 2:
					fill(&first.plainSource)
					first.unknown = true
					first.tell()
				}
				synctest.Wait()
				if rs.LastLoad().Err != nil {
					return // it breaks keys, which is refused
				}
				config.Context.Context = t.Context()
				fresh, _ := newRuleset(t, config)
				want, err := fresh.newLoading(t.Context(), nil).load()
				if err != nil {
					t.Fatal(err)
				}
				sameAs(t, rs.Serving(), want)
			}
		})
	}
}

// sameAs checks that two rulesets answer alike, and have the same rules as they are written.
func sameAs(t *testing.T, got, want *Loaded) {
	t.Helper()
	if got.Digest != want.Digest || got.Ruleset.Digest() != want.Ruleset.Digest() {
		t.Errorf("the digest is %s, want %s", got.Digest, want.Digest)
	}
	if !slices.Equal(slices.Collect(got.RulesBelow("")), slices.Collect(want.RulesBelow(""))) {
		t.Errorf("the rules are %v, want %v", slices.Collect(got.RulesBelow("")),
			slices.Collect(want.RulesBelow("")))
	}
	for i := range 5 {
		url := fmt.Sprintf("https://go.example/k%d/y?q=1", i)
		a, b := got.Ruleset.Resolve(url), want.Ruleset.Resolve(url)
		if a.Outcome != b.Outcome || a.Destination != b.Destination || a.Key != b.Key {
			t.Errorf("%s leads to %v, want %v", url, a, b)
		}
	}
}

func TestTheFirstTenThousandEdgesAreLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &plainSource{name: "links.json"}
		begin := time.Now()
		text := `"x": "/y", "z": "` + one + `"`
		for i := range ahead.MostEdges {
			text += fmt.Sprintf(`, "k%d": {"to": %q, "since": %q}`, i, one, at(begin, i+1))
		}
		text += fmt.Sprintf(`, "y": {"to": "/x", "since": %q}`, at(begin, ahead.MostEdges+1))
		s.setJSON(t, "{"+text+"}")
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		if got := edgeWarnings(rs); !rs.Serving().LooksAhead() || got != nil {
			t.Errorf("before the edges have been looked at, the status says %v", got)
		}
		synctest.Wait()
		got := edgeWarnings(rs)
		if len(got) != 1 || !strings.Contains(got[0], "only the first 10000 such times") {
			t.Errorf("the status says %v", got)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		s.setJSON(t, "{"+text+`, "n": "/z"}`)
		s.tell()
		synctest.Wait()
		if got := edgeWarnings(rs); len(got) != 2 || !strings.Contains(got[0], "loop") {
			t.Errorf("later it says %v", got)
		}
	})
}

func TestEdgesAreLookedAtForSomeTimeAndItSaysHowMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &plainSource{name: "links.json"}
		begin, text := time.Now(), ""
		for i := range 100 {
			text += fmt.Sprintf(`, "k%d": {"to": %q, "since": %q}`, i, one, at(begin, 1000+i))
		}
		s.setJSON(t, `{"a": "`+one+`"`+text+"}")
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		serving := *rs.Serving()
		serving.ahead = new(ahead.Look)
		serving.ahead.At(&serving.Rules, rs.checkOf(&serving), func() bool {
			time.Sleep(ahead.LongestLook / 4)
			return true
		})
		want := "at " + at(begin, 1005) + ": windows begin or end, and what fails from here on is not " +
			"known: only the first 5 such times were looked at"
		if got := serving.ahead.Warnings(serving.At()); len(got) != 1 || got[0].Message != want {
			t.Errorf("got %v", got)
		}
	})
}

func TestRulesWithWindowsAreEditedAsTheyAreWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &rewritingSource{plainSource{name: "links.json"}}
		s.set("docs", one)
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		synctest.Wait()
		begin := time.Now()
		put := func(value string) string {
			t.Helper()
			change := Change{Key: "fair"}
			if value != "" {
				rule, err := rulefile.ReadJSONValue(strings.NewReader(value), "", "fair")
				if err != nil {
					t.Fatal(err)
				}
				change.Rule = &rule
			}
			was, err := rs.Apply(t.Context(), &Edit{Changes: []Change{change}})
			if err != nil {
				return err.Error()
			}
			return past.Text(was[0])
		}
		before := rs.Serving().Digest
		later := fmt.Sprintf(`{"to":%q,"since":%q}`, one, at(begin, 10))
		if was := put(later); was != "" || rs.Serving().Digest == before {
			t.Errorf("the key had %s, and the digest is %s", was, rs.Serving().Digest)
		}
		rs.wantServed(t, "fair", "pass")
		sooner := fmt.Sprintf(`{"to":%q,"since":%q}`, two, at(begin, 5))
		if was := put(sooner); was != later {
			t.Errorf("the key had %s, want %s", was, later)
		}
		bad := fmt.Sprintf(`[{"to":%q,"until":%q},{"to":"//","since":%[2]q}]`, two, at(begin, 5))
		if was := put(bad); !strings.Contains(was, `"//"`) {
			t.Errorf("a bad window is answered with %s", was)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		rs.wantServed(t, "fair", two, "docs", one)
		if was := put(later); was != sooner {
			t.Errorf("the key had %s, want %s", was, sooner)
		}
		rs.wantServed(t, "fair", "pass")
		if was := put(""); was != later || rs.Serving().Digest != before {
			t.Errorf("the key had %s, want %s; the digest is %s", was, later, rs.Serving().Digest)
		}
	})
}

func TestAFileThatIsReadAgainWithTheSameWindowsChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &plainSource{name: "links.json"}
		text := fmt.Sprintf(`{"a": {"to": %q, "since": %q}, "b": {"to": %[1]q, "until": %q}}`, one,
			at(time.Now(), 100), at(time.Now(), 100))
		s.setJSON(t, text)
		rs, logs := serve(t, Config{Sources: []source.Source{s}})
		synctest.Wait()
		s.setJSON(t, text)
		s.tell()
		const nothing = "the sources of the rules have been read, and nothing has changed"
		if logs.FilterMessage(nothing).Len() != 1 || logs.Len() != 1 {
			t.Errorf("the log says %v", logs.All())
		}
		time.Sleep(100 * time.Second)
		synctest.Wait()
		rs.wantServed(t, "a", one, "b", "pass")
	})
}
