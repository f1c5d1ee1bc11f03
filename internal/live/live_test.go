package live_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

func TestWhateverIsWrongTheOldRulesServeAndTheLogSaysWhatAndWhere(t *testing.T) {
	for name, tt := range map[string]struct {
		fault func(t *testing.T, links string)
		error string
	}{
		"the file is removed": {
			func(t *testing.T, links string) { testcaddy.Must(t, os.Remove(links)) },
			"no such file or directory",
		},
		"the file is emptied": {
			func(t *testing.T, links string) { testcaddy.Must(t, os.Truncate(links, 0)) }, "it is empty",
		},
		"a directory stands in its place": {
			func(t *testing.T, links string) {
				testcaddy.Must(t, os.Remove(links))
				testcaddy.Must(t, os.Mkdir(links, 0o700))
			},
			"it is a directory, not a file",
		},
		"the file cannot be opened": {
			func(t *testing.T, links string) {
				testcaddy.Must(t, os.Remove(links))
				testcaddy.Must(t, os.Symlink(links, links))
			},
			"too many levels of symbolic links",
		},
		"the file does not parse": {
			func(t *testing.T, links string) { testcaddy.Write(t, links, "{\n\"old\": \"https://new.example\",\n") },
			"links.json:3:1: ",
		},
		"one rule is bad": {
			func(t *testing.T, links string) {
				testcaddy.Write(t, links, "{\"old\": \"https://new.example\",\n \"/b\": \"/c\"}")
			},
			`links.json:2:2: key "/b": the key begins with "/"; write b`,
		},
		"a key stands twice": {
			func(t *testing.T, links string) {
				testcaddy.Write(t, links, "{\"b\": \"/c\",\n \"b\": \"/d\"}")
			},
			`links.json:2:2: key "b": the key is already defined at `,
		},
		"a rule begins to loop": {
			func(t *testing.T, links string) {
				testcaddy.Write(t, links, `{"old": "https://old.example", "loop": "/loop"}`)
			},
			"1 working key would fail",
		},
		"an expectation fails": {
			func(t *testing.T, links string) { testcaddy.Write(t, links, `{"other": "https://new.example"}`) },
			`expect /old/page https://old.example/page: it is pass`,
		},
		"a rule is led into a loop that there was": {
			func(t *testing.T, links string) {
				testcaddy.Write(t, links, `{"old": "https://old.example", "a": "/c", "b": "/a", "c": "/b"}`)
			},
			`links.json:1:54: key "c": loop a -> c -> b -> a: its requests are answered with an error`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := testcaddy.Follow(t, `{"old": "https://old.example", "a": "/b", "b": "/a", "c": "https://c.example"}`,
				"", "expect /old/page https://old.example/page")
			tt.fault(t, s.Links)
			escaped := strings.Trim(strconv.Quote(tt.error), `"`) // as in the log's JSON
			entry := s.Logged(t, 1, escaped)
			if !strings.Contains(fmt.Sprint(entry["msg"]), testcaddy.Rejected) ||
				!strings.Contains(fmt.Sprint(entry["sources"]), s.Links) {
				t.Errorf("the entry is %v", entry)
			}
			if entry["failing_since"] == nil || entry["level"] != "error" {
				t.Errorf("the entry is %v", entry)
			}
			if got := s.Get(t, "/old/page").Location(); got != "302 https://old.example/page" {
				t.Errorf("got %s", got)
			}
			testcaddy.Must(t, os.RemoveAll(s.Links))
			testcaddy.Write(t, s.Links, `{"old": "https://old.example", "new": "https://new.example"}`)
			s.Eventually(t, "/new", "302 https://new.example/")
		})
	}
}

func TestAFileThatIsWrittenSlowlyIsTakenWhenItIsWhole(t *testing.T) {
	s := testcaddy.Follow(t, `{"a": "https://old.example"}`, "", "")
	file, err := os.Create(s.Links)
	testcaddy.Must(t, err)
	defer file.Close()
	_, err = file.WriteString(`{"a": "https://new.example", `)
	testcaddy.Must(t, err)
	s.Logged(t, 1, testcaddy.Rejected)
	if got := s.Get(t, "/a").Location(); got != "302 https://old.example/" {
		t.Errorf("got %s", got)
	}
	_, err = file.WriteString(`"b": "/a"}`)
	testcaddy.Must(t, err)
	s.Eventually(t, "/b", "302 https://new.example/")
}

// Kubernetes leads a symbolic link called ..data to another directory.
func TestASwappedSymbolicLinkIsFollowed(t *testing.T) {
	dir := t.TempDir()
	for version, destination := range map[string]string{"1": "https://old.example",
		"2": "https://new.example"} {
		testcaddy.Must(t, os.Mkdir(filepath.Join(dir, version), 0o700))
		testcaddy.Write(t, filepath.Join(dir, version, "links.json"), fmt.Sprintf(`{"a": %q}`, destination))
	}
	testcaddy.Must(t, os.Symlink("1", filepath.Join(dir, "..data")))
	testcaddy.Must(t, os.Symlink("..data/links.json", filepath.Join(dir, "links.json")))
	s := testcaddy.Serve(t, "shortlink {\n from file "+dir+"/links.json {\n poll 5ms\n }\n }")
	s.Eventually(t, "/a", "302 https://old.example/")
	testcaddy.Must(t, os.Symlink("2", filepath.Join(dir, "..next")))
	testcaddy.Must(t, os.Rename(filepath.Join(dir, "..next"), filepath.Join(dir, "..data")))
	s.Eventually(t, "/a", "302 https://new.example/")
}

func TestABadLineInALargeFileIsNamedWithItsPlace(t *testing.T) {
	s := testcaddy.Follow(t, `{"k1": "https://old.example"}`, "", "")
	var rules strings.Builder
	rules.WriteString("{\n")
	for line := 2; line < 100_000; line++ {
		fmt.Fprintf(&rules, "\t\"k%d\": \"https://new.example/%d\",\n", line, line)
	}
	rules.WriteString("\t\"bad\": \"ftp://example.com\"\n}\n")
	testcaddy.Write(t, s.Links, rules.String())
	entry := s.Logged(t, 1, testcaddy.Rejected)
	if got := fmt.Sprint(entry["error"]); !strings.Contains(got, "links.json:100000:2: key \"bad\"") {
		t.Errorf("the error is %s", got)
	}
	if got := s.Get(t, "/k1").Location(); got != "302 https://old.example/" {
		t.Errorf("got %s", got)
	}
}

func TestABadSourceIsAFailureToStartThatTellsAll(t *testing.T) {
	dir := t.TempDir()
	testcaddy.Write(t, filepath.Join(dir, "bad.json"), `{"/a": "/b", "c": "d"}`)
	s := &testcaddy.Server{Addr: testcaddy.FreeAddress(t)}
	err := s.TryToLoad(t,
		fmt.Sprintf("shortlink {\n from file %s/none.json\n from file %s/bad.json\n }", dir, dir))
	for _, want := range []string{"none.json: no such file", `bad.json:1:2: key "/a": `,
		`bad.json:1:14: key "c": `} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestOfTwoSourcesWithAKeyTheFirstServesAndTheOtherIsReported(t *testing.T) {
	dir := t.TempDir()
	testcaddy.Write(t, filepath.Join(dir, "one.json"),
		`{"a": "https://one.example", "b": "https://one.example"}`)
	testcaddy.Write(t, filepath.Join(dir, "two.json"),
		`{"b": "https://two.example", "c": "https://two.example"}`)
	s := &testcaddy.Follower{Log: filepath.Join(dir, "caddy.log")}
	s.Server = testcaddy.ServeWith(t, testcaddy.LogTo(s.Log), fmt.Sprintf(
		"shortlink {\n from file %s/one.json\n from file %s/two.json\n a https://inline.example\n }", dir,
		dir))
	for key, want := range map[string]string{"a": "inline", "b": "one", "c": "two"} {
		if got := s.Get(t, "/"+key).Location(); got != "302 https://"+want+".example/" {
			t.Errorf("%s: got %s", key, got)
		}
	}
	for _, where := range []string{"one.json:1:2", "two.json:1:2"} {
		if entry := s.Logged(t, 1, where); entry["kind"] != "shadowed" {
			t.Errorf("the entry is %v", entry)
		}
	}
}

func TestEachSwapLeavesARecordOfWhatChanged(t *testing.T) {
	s := testcaddy.Follow(t,
		`{"kept": "https://a.example", "gone": "https://a.example", "moved": "https://a.example"}`, "",
		"name docs")
	first := s.Logged(t, 1, "rules loaded")
	testcaddy.Write(t, s.Links,
		`{"kept": "https://a.example", "moved": "https://b.example", "new": "/new/x", "other": "/kept"}`)
	entry := s.Logged(t, 1, "1 working key would fail")
	if !strings.Contains(fmt.Sprint(entry["error"]), `"new"`) {
		t.Errorf("the rejection is %v", entry)
	}
	testcaddy.Write(t, s.Links,
		`{"kept": "https://a.example", "moved": "https://b.example", "new": "/kept/x", "other": "/kept"}`)
	swap := s.Logged(t, 1, "rules swapped")
	for field, want := range map[string]string{
		"name": "docs", "rules": "4", "old_digest": fmt.Sprint(first["digest"]),
		"added": "2", "first_added": "[new other]",
		"removed": "1", "first_removed": "[gone]",
		"changed": "1", "first_changed": "[moved]",
	} {
		if got := fmt.Sprint(swap[field]); got != want {
			t.Errorf("%s is %s, want %s", field, got, want)
		}
	}
	if digest := fmt.Sprint(swap["digest"]); len(digest) != 64 || digest == swap["old_digest"] {
		t.Errorf("the digest is %s", digest)
	}
}

func TestAReloadThatChangesNothingReadsNothing(t *testing.T) {
	s := testcaddy.Follow(t, `{"a": "https://a.example"}`, "", "")
	s.Logged(t, 1, "rules loaded")
	s.Load(t, s.Block("", "")+"\n header X-Reloaded yes")
	s.Eventually(t, "/a", "302 https://a.example/")
	s.Load(t, s.Block("", "status 301"))
	s.Eventually(t, "/a", "301 https://a.example/")
	s.Logged(t, 2, "rules loaded")
	content, err := os.ReadFile(s.Log)
	testcaddy.Must(t, err)
	if n := strings.Count(string(content), "rules loaded"); n != 2 {
		t.Errorf("rules were loaded %d times, want 2", n)
	}
	testcaddy.Write(t, s.Links, `{"a": "https://b.example"}`)
	s.Eventually(t, "/a", "301 https://b.example/")
}

func TestAHundredReloadsLeaveNothingBehind(t *testing.T) {
	s := testcaddy.Follow(t, manyRules(5_000, 1), "", "")
	block := func(i int) string { return s.Block("", fmt.Sprintf("cache %ds", i+1)) }
	s.Load(t, block(1000))
	s.Eventually(t, "/generation", "302 https://example.com/1")
	goroutines, files, memory := runtime.NumGoroutine(), openFiles(t), testcaddy.Heap()
	for i := range 100 {
		s.Load(t, block(i))
	}
	s.Eventually(t, "/generation", "302 https://example.com/1")
	const few = 8 << 20 // a hundred rulesets are three times as much
	settled := func() bool {
		return runtime.NumGoroutine() <= goroutines+10 && openFiles(t) <= files+10 &&
			testcaddy.Heap() <= memory+few
	}
	for deadline := time.Now().Add(time.Minute); !settled(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d files and %d bytes after, %d, %d and %d before",
				runtime.NumGoroutine(), openFiles(t), testcaddy.Heap(), goroutines, files, memory)
		}
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0 // not Linux
	}
	return len(entries)
}

func TestAReloadWhileRulesAreSwappedEndsWithTheNewestOfBoth(t *testing.T) {
	s := testcaddy.Follow(t, manyRules(50_000, 0), "", "")
	for generation := 1; generation <= 3; generation++ {
		testcaddy.Write(t, s.Links, manyRules(50_000, generation))
		s.Load(t, s.Block("", fmt.Sprintf("cache %ds", generation)))
		s.Eventually(t, "/generation", fmt.Sprintf("302 https://example.com/%d", generation))
	}
}

func manyRules(n, generation int) string {
	var rules strings.Builder
	fmt.Fprintf(&rules, `{"generation": "https://example.com/%d"`, generation)
	for i := range n {
		fmt.Fprintf(&rules, ",\n\"k%d\": \"https://example.com/%d\"", i, i+generation)
	}
	rules.WriteString("}")
	return rules.String()
}

func TestAHandlerThatFailedToStartLeavesNothingBehind(t *testing.T) {
	links := filepath.Join(t.TempDir(), "links.json")
	config := fmt.Sprintf(`{"sources": [{"source": "file", "path": %q}]}`, links)
	if _, err := testcaddy.Provision(t, config); err == nil {
		t.Fatal("there is no file, and no error")
	}
	testcaddy.Write(t, links, `{"a": "https://a.example"}`)
	if _, err := testcaddy.Provision(t, config); err != nil {
		t.Error(err)
	}
}

func TestAnEntryOfTheStorageIsServedAndPickedUpWhenItChanges(t *testing.T) {
	dir := t.TempDir()
	testcaddy.Must(t, os.Mkdir(filepath.Join(dir, "shortlink"), 0o700))
	links := filepath.Join(dir, "shortlink", "links.json")
	testcaddy.Write(t, links, `{"a": "https://old.example"}`)
	s := &testcaddy.Follower{Links: links, Log: filepath.Join(dir, "caddy.log")}
	s.Server = testcaddy.ServeWith(t, testcaddy.LogTo(s.Log), fmt.Sprintf(`shortlink {
		from storage shortlink/links.json {
			storage file_system %s
			poll 5ms
		}
	}`, dir))
	s.Eventually(t, "/a", "302 https://old.example/")
	testcaddy.Must(t, os.Remove(links))
	if entry := s.Logged(t, 1, testcaddy.Rejected); !strings.Contains(fmt.Sprint(entry["error"]), "source storage shortlink/links.json: ") {
		t.Errorf("the entry is %v", entry)
	}
	if got := s.Get(t, "/a").Location(); got != "302 https://old.example/" {
		t.Errorf("got %s", got)
	}
	testcaddy.Write(t, links, `{"a": "https://new.example"}`)
	s.Eventually(t, "/a", "302 https://new.example/")
}

func TestASignedFileServesOnlyWithASignatureByTheKey(t *testing.T) {
	public, private, err := minisign.GenerateKey(nil)
	testcaddy.Must(t, err)
	_, stranger, err := minisign.GenerateKey(nil)
	testcaddy.Must(t, err)
	dir := t.TempDir()
	s := &testcaddy.Follower{Links: filepath.Join(dir, "links.json"), Log: filepath.Join(dir, "caddy.log")}
	sign := func(rules string, key minisign.PrivateKey) {
		testcaddy.Write(t, s.Links+".minisig", testcaddy.Signature(t, rules, key))
		testcaddy.Write(t, s.Links, rules)
	}
	sign(`{"a": "https://old.example"}`, private)
	s.Server = testcaddy.ServeWith(t, testcaddy.LogTo(s.Log), s.Block("minisign "+public.String(), ""))
	s.Eventually(t, "/a", "302 https://old.example/")

	const evil = `{"a": "https://evil.test"}`
	testcaddy.Write(t, s.Links, evil)
	s.Logged(t, 1, "its signature does not match this content and the configured key")
	sign(evil, stranger)
	s.Logged(t, 2, "its signature does not match this content and the configured key")
	// as minisign signed before 0.10: the content, not its hash
	testcaddy.Write(t, s.Links+".minisig", string(minisign.Sign(private, []byte(evil))))
	s.Logged(t, 1, "its signature is in minisign's old format, which signs the content and not its hash; "+
		"sign it again with minisign -Sm, of version 0.10 or later and without -l")
	testcaddy.Must(t, os.Remove(s.Links+".minisig"))
	s.Logged(t, 1, "its signature: ")
	if got := s.Get(t, "/a").Location(); got != "302 https://old.example/" {
		t.Errorf("got %s", got)
	}
	sign(`{"a": "https://new.example"}`, private)
	s.Eventually(t, "/a", "302 https://new.example/")
}

func TestAFileOfExpectationsIsHeldToAtTheStartAndBeforeASwap(t *testing.T) {
	expect := filepath.Join(t.TempDir(), "expect.json")
	testcaddy.Write(t, expect,
		`{"/a/b": "https://a.example/b", "/nothing": "pass", "/a/%2e%2e": "pass", "/a/%252e%252e/c": "error"}`)
	s := testcaddy.Follow(t, `{"a": "https://a.example"}`, "expect "+expect, "")
	testcaddy.Write(t, s.Links, `{"a": "https://b.example"}`)
	entry := s.Logged(t, 1, testcaddy.Rejected)
	if got := fmt.Sprint(entry["error"]); !strings.Contains(got,
		`expect /a/b https://a.example/b: it is https://b.example/b, by the key "a"`) {
		t.Errorf("the error is %s", got)
	}
	testcaddy.Write(t, expect, `{"/a/b": "https://b.example/b"}`)
	s.Eventually(t, "/a", "302 https://b.example/")

	other := &testcaddy.Server{Addr: testcaddy.FreeAddress(t)}
	err := other.TryToLoad(t, s.Block("", "expect /a/b https://a.example/b"))
	if err == nil ||
		!strings.Contains(err.Error(), "expect /a/b https://a.example/b: it is https://b.example/b") {
		t.Errorf("got %v", err)
	}
}

func TestHandlersOfOneConfigurationShareARuleset(t *testing.T) {
	s := testcaddy.Follow(t, `{"a": "https://a.example"}`, "", "")
	block := s.Block("", "status 301")
	s.Load(t, "route /a/* {\n"+block+"\n }\n route {\n"+block+"\n }")
	for _, target := range []string{"/a/x", "/a"} {
		if got := s.Get(t, target).Location(); !strings.HasPrefix(got, "301 https://a.example/") {
			t.Errorf("%s: got %s", target, got)
		}
	}
	if n := s.TimesLogged(t, "rules loaded"); n != 2 { // once before, and once for both
		t.Errorf("rules were loaded %d times, want 2", n)
	}
	testcaddy.Write(t, s.Links, `{"a": "https://b.example"}`)
	s.Eventually(t, "/a/x", "301 https://b.example/x")
	s.Eventually(t, "/a", "301 https://b.example/")
	testcaddy.Write(t, s.Links, `{"a": "nonsense"}`)
	s.Logged(t, 1, testcaddy.Rejected)
	testcaddy.Write(t, s.Links, `{"a": "https://c.example"}`)
	s.Eventually(t, "/a", "301 https://c.example/")
	s.Logged(t, 2, "rules swapped") // which is told when it serves already
	if swapped, refused := s.TimesLogged(t, "rules swapped"), s.TimesLogged(t, testcaddy.Rejected); swapped != 2 || refused != 1 {
		t.Errorf("two swaps and a rejection are logged %d times and %d times", swapped, refused)
	}
}

func TestHandlersThatDifferInTheirSourcesAloneShareNothing(t *testing.T) {
	dir := t.TempDir()
	testcaddy.Write(t, filepath.Join(dir, "one.json"), `{"a": "https://one.example"}`)
	testcaddy.Write(t, filepath.Join(dir, "two.json"), `{"a": "https://two.example"}`)
	s := testcaddy.Serve(t, fmt.Sprintf("handle /a {\n shortlink {\n from file %s/one.json\n }\n }\n handle "+
		"{\n shortlink {\n from file %s/two.json\n }\n }", dir, dir))
	for target, want := range map[string]string{"/a": "302 https://one.example/",
		"/a/x": "302 https://two.example/x"} {
		if got := s.Get(t, target).Location(); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
}

// With poll off nothing but a reload looks at the file, and the reload takes the rules over.
func TestAReloadPicksUpAFileThatHasChangedSinceItWasRead(t *testing.T) {
	links := filepath.Join(t.TempDir(), "links.json")
	testcaddy.Write(t, links, `{"a": "https://old.example"}`)
	block := "shortlink {\n from file " + links + " {\n poll off\n }\n }"
	s := testcaddy.Serve(t, block)
	testcaddy.Write(t, links, `{"a": "https://new.example"}`)
	s.Load(t, block)
	s.Eventually(t, "/a", "302 https://new.example/")
}

func TestAConfigurationWithABadSourceLeavesTheOldOneServing(t *testing.T) {
	s := testcaddy.Follow(t, `{"a": "https://a.example"}`, "", "")
	err := s.TryToLoad(t,
		fmt.Sprintf("shortlink {\n from file %s\n from file %s.none\n }", s.Links, s.Links))
	if want := "source " + s.Links + ".none: no such file or directory"; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	testcaddy.Write(t, s.Links, `{"a": "https://b.example"}`)
	s.Eventually(t, "/a", "302 https://b.example/")
}

func TestFailuresInARowAreSaidToLastSinceTheFirst(t *testing.T) {
	s := testcaddy.Follow(t, `{"a": "https://a.example"}`, "", "")
	testcaddy.Write(t, s.Links, `{"a": "one"}`)
	first := s.Logged(t, 1, testcaddy.Rejected)
	testcaddy.Write(t, s.Links, `{"a": "two"}`)
	second := s.Logged(t, 2, testcaddy.Rejected)
	if second["failing_since"] != first["failing_since"] {
		t.Errorf("failing since %v, then since %v", first["failing_since"], second["failing_since"])
	}
	testcaddy.Write(t, s.Links, `{"a": "https://a.example"}`)
	s.Logged(t, 1, "are good again")
	testcaddy.Write(t, s.Links, `{"a": "three"}`)
	if third := s.Logged(t, 3, testcaddy.Rejected); third["failing_since"] == first["failing_since"] {
		t.Errorf("failing since %v all the same", third["failing_since"])
	}
}

// A rule that is shadowed changes no answer, and so the digest stays.
func TestARuleThatASwapShadowsIsReported(t *testing.T) {
	s := testcaddy.Follow(t, `{"a": "https://a.example"}`, "", "inline https://inline.example")
	testcaddy.Write(t, s.Links, "{\"a\": \"https://a.example\",\n \"inline\": \"https://file.example\"}")
	if entry := s.Logged(t, 1, "links.json:2:2"); entry["kind"] != "shadowed" ||
		entry["key"] != "inline" {
		t.Errorf("the entry is %v", entry)
	}
}

// A loop at the start is served, as there is nothing better to serve; it is no reason to refuse
// later rules that have it still.
func TestALoopThatServesAlreadyKeepsNoOtherRuleFromBeingServed(t *testing.T) {
	s := testcaddy.Follow(t, `{"loop": "/loop"}`, "", "")
	testcaddy.Write(t, s.Links, `{"loop": "/loop", "a": "https://a.example"}`)
	s.Eventually(t, "/a", "302 https://a.example/")
}
