package live

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/caddy-shortlink/shortlink/source"
)

const (
	one   = "https://one.example/"
	two   = "https://two.example/"
	three = "https://three.example/"
)

func TestOnlyTheSourceThatHasChangedIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := &plainSource{name: "first"}, &plainSource{name: "second"}
		first.set("a", one)
		second.set("a", two, "b", two)
		rs, logs := serve(t, Config{Sources: []source.Source{first, second}})
		synctest.Wait()
		second.set("b", three)
		second.tell()
		rs.wantServed(t, "a", one, "b", three)
		if first.reads != 1 || second.reads != 2 {
			t.Errorf("the sources are read %d and %d times", first.reads, second.reads)
		}
		first.set("c", one)
		first.tell()
		rs.wantServed(t, "a", "pass", "b", three, "c", one)
		swaps := logs.FilterMessage("rules swapped").All()
		if len(swaps) != 2 || fmt.Sprint(swaps[1].ContextMap()["first_removed"]) != "[a]" {
			t.Errorf("the records are %v", swaps)
		}
	})
}

func TestWhatIsRejectedIsReadAgainWithTheNextChange(t *testing.T) {
	for name, spoil := range map[string]func(*plainSource){
		"it cannot be read":    func(s *plainSource) { s.fails = errors.New("the disk is gone") },
		"a rule is bad":        func(s *plainSource) { s.set("a", "nowhere") },
		"a key breaks":         func(s *plainSource) { s.set("a", "/a") },
		"an expectation fails": func(s *plainSource) { s.set("a", three) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bad, good := &plainSource{name: "bad"}, &plainSource{name: "good"}
				bad.set("a", one)
				good.set("b", two)
				rs, logs := serve(t, Config{
					Sources: []source.Source{bad, good}, Expect: source.Expectations{"/a": one},
				})
				synctest.Wait()
				spoil(bad)
				bad.tell()
				good.set("b", three)
				good.tell()
				rs.wantServed(t, "a", one, "b", two)
				rejections := logs.FilterMessageSnippet("rules rejected").Len()
				if rejections != 2 || rs.LastLoad().Err == nil || bad.reads != 3 {
					t.Errorf("%d rejections, %v, %d readings", rejections, rs.LastLoad().Err, bad.reads)
				}
				bad.fails = nil
				bad.set("a", one, "c", one)
				bad.tell()
				rs.wantServed(t, "a", one, "b", three, "c", one)
				if rs.LastLoad().Err != nil {
					t.Error(rs.LastLoad().Err)
				}
			})
		})
	}
}

func TestEverythingThatIsWrongWithSourcesIsToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := &plainSource{name: "first"}, &changingSource{}
		first.set("a", one)
		second.name = "second"
		second.set("b", two)
		rs, _ := serve(t, Config{Sources: []source.Source{first, second}})
		synctest.Wait()
		second.put("b", "two words")
		second.tell()
		first.fails = errors.New("the disk is gone")
		first.set("a", "one")
		first.tell()
		for _, want := range []string{"source first: the disk is gone", `first:1: key "a"`, `key "b"`} {
			if err := rs.LastLoad().Err; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v does not say %s", err, want)
			}
		}
		rs.wantServed(t, "a", one, "b", two)
	})
}

func TestOfAChangingSourceTheChangesAloneAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, file := &changingSource{}, &plainSource{name: "file"}
		s.set("a", one, "b", one)
		file.set("f", one)
		rs, _ := serve(t, Config{Sources: []source.Source{s, file}})
		synctest.Wait()
		s.put("a", two)
		s.put("b", "")
		s.tell()
		rs.wantServed(t, "a", two, "b", "pass", "f", one)
		s.put("a", "/a") // which breaks
		s.tell()
		rs.wantServed(t, "a", two)
		s.put("b", three) // which is good, but what was refused is still there
		s.tell()
		rs.wantServed(t, "a", two, "b", "pass")
		file.set("f", two)
		file.tell()
		rs.wantServed(t, "a", two, "b", "pass", "f", one)
		s.put("a", three)
		s.tell()
		rs.wantServed(t, "a", three, "b", three, "f", two)
		if s.reads != 1 {
			t.Errorf("it is read %d times", s.reads)
		}
		s.set("a", one)
		s.unknown = true
		s.tell()
		rs.wantServed(t, "a", one, "b", "pass", "f", two)
		if s.reads != 2 {
			t.Errorf("it is read %d times", s.reads)
		}
	})
}

func TestAChangeThatIsNotReadIsReadLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &changingSource{}
		s.set("a", one)
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		synctest.Wait()
		s.put("a", two)
		s.fails = errors.New("the connection is lost")
		s.tell()
		rs.wantServed(t, "a", one)
		s.fails = nil
		s.tell()
		rs.wantServed(t, "a", two)
	})
}

func TestAReloadReadsAllSourcesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, s := &plainSource{name: "file"}, &changingSource{}
		file.set("a", one)
		s.set("b", one)
		rs, _ := serve(t, Config{Sources: []source.Source{file, s}})
		file.set("a", two)
		s.set("b", two)
		rs.Reload(t.Context())
		rs.wantServed(t, "a", two, "b", two)
		if file.reads != 2 || s.reads != 2 {
			t.Errorf("they are read %d and %d times", file.reads, s.reads)
		}
	})
}

func TestLinesThatMoveAreNoChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &plainSource{name: "links.json"}
		s.set("a", one, "b", two, "c", three)
		rs, logs := serve(t, Config{Sources: []source.Source{s}})
		synctest.Wait()
		s.set("c", three, "a", one, "b", two)
		s.tell()
		if _, at := rs.lookUp("b"); at != "links.json:3" {
			t.Errorf("the rule stands at %s", at)
		}
		if n := logs.FilterLevelExact(0).Len(); n != 0 {
			t.Errorf("%d records are written: %v", n, logs.All())
		}
	})
}

// Most of it is other then, so that it is compiled.
func TestASourceThatIsReplacedServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &plainSource{name: "links.json"}
		keys := func(prefix string) (rules []string) {
			for i := range 100 {
				rules = append(rules, fmt.Sprint(prefix, i), one)
			}
			return rules
		}
		s.set(keys("old")...)
		rs, logs := serve(t, Config{Sources: []source.Source{s}})
		synctest.Wait()
		s.set(keys("new")...)
		s.tell()
		rs.wantServed(t, "new7", one, "old7", "pass")
		swap := logs.FilterMessage("rules swapped").All()[0].ContextMap()
		if fmt.Sprint(swap["added"], swap["removed"]) != "100 100" {
			t.Errorf("the record is %v", swap)
		}
	})
}

func TestHitsStayWithTheirKeyOverChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(rewritingSource)
		s.set("a", one, "t/{x}", two+"{x}")
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		synctest.Wait()
		late := rs.Serving()
		hit := func(key string) {
			serving := rs.Serving()
			result := serving.Ruleset.Resolve("https://go.example/" + key)
			rs.Count(&result, serving)
		}
		want := func(key string, n uint64) {
			t.Helper()
			list, err := rs.Hits().List(t.Context(), rs.Serving().Ruleset)
			if err != nil {
				t.Fatal(err)
			}
			for listed, m := range list.All() {
				if listed == key && m.N != n {
					t.Errorf("%s has %d hits, want %d", key, m.N, n)
				}
			}
		}
		hit("a")
		hit("t/1")
		for _, step := range []struct{ key, value string }{
			{"b", one}, {"a", two}, {"t/{y}/z", one}, {"a", ""}, {"c", one}, {"a", three},
		} {
			if err := rs.apply(t.Context(), step.key, step.value); err != nil {
				t.Fatal(err)
			}
			hit("t/1")
		}
		result := late.Ruleset.Resolve("https://go.example/a")
		rs.Count(&result, late)
		hit("a")
		want("a", 3)
		want("t/{x}", 7)
		hit("c")
		s.set("c", one)
		s.tell()
		want("c", 1)
		s.set("c", one, "a", one)
		s.tell()
		want("a", 3)
	})
}

// Under the race detector, too.
func TestEditsAndChangesAtOnceAllTakeEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, s := new(rewritingSource), &changingSource{}
		file.set("a", one)
		s.set("b", one)
		rs, _ := serve(t, Config{Sources: []source.Source{file, s}})
		synctest.Wait()
		var all sync.WaitGroup
		const each = 10
		for i := range each {
			all.Go(func() {
				if err := rs.apply(t.Context(), fmt.Sprint("edit", i), two); err != nil {
					t.Error(err)
				}
			})
			all.Go(func() {
				s.put(fmt.Sprint("change", i), three)
				s.changed()
			})
			all.Go(func() {
				serving := rs.Serving()
				result := serving.Ruleset.Resolve("https://go.example/a")
				rs.Count(&result, serving)
			})
		}
		all.Wait()
		synctest.Wait()
		for i := range each {
			rs.wantServed(t, fmt.Sprint("edit", i), two, fmt.Sprint("change", i), three)
		}
		if n := rs.Serving().Ruleset.Len(); n != 2+2*each {
			t.Errorf("%d rules serve", n)
		}
	})
}

func TestAKeyThatIsSpelledOtherwiseIsStillServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &changingSource{}
		s.set("~jo", one)
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		synctest.Wait()
		s.put("%7Ejo", two)
		s.put("~jo", "")
		s.tell()
		rs.wantServed(t, "~jo", two)
		s.put("~jo", three) // so that the key stands twice
		s.tell()
		rs.wantServed(t, "~jo", two)
		if err := rs.LastLoad().Err; err == nil || !strings.Contains(err.Error(), "already defined") {
			t.Errorf("the error is %v", err)
		}
		s.put("%7Ejo", "")
		s.tell()
		rs.wantServed(t, "~jo", three)
		if err := rs.LastLoad().Err; err != nil {
			t.Error(err)
		}
	})
}
