package shortlink_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"
)

// liveServer is a Caddy that follows links, a file of rules, and what its log says of rules.
type liveServer struct {
	*server
	links, log string
}

// follow starts a Caddy that serves what links.json holds; options are lines of the source's block,
// and more are lines of the handler's.
func follow(t *testing.T, rules, options, more string) *liveServer {
	t.Helper()
	dir := t.TempDir()
	s := &liveServer{links: filepath.Join(dir, "links.json"), log: filepath.Join(dir, "caddy.log")}
	write(t, s.links, rules)
	s.server = serveWith(t, logTo(s.log), s.block(options, more))
	return s
}

func logTo(path string) string {
	return "log links {\n output file " + path +
		"\n include http.handlers.shortlink http.handlers.shortlink_page\n }"
}

func (s *liveServer) block(options, more string) string {
	return fmt.Sprintf("shortlink {\n from file %s {\n poll 5ms\n %s\n }\n %s\n }\n respond next 299",
		s.links, options, more)
}

// logged waits until the log has n lines that hold text, and returns the last of them.
func (s *liveServer) logged(t *testing.T, n int, text string) map[string]any {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		content, _ := os.ReadFile(s.log)
		var found []string
		for line := range strings.Lines(string(content)) {
			if strings.Contains(line, text) {
				found = append(found, line)
			}
		}
		if len(found) >= n {
			var entry map[string]any
			if err := json.Unmarshal([]byte(found[n-1]), &entry); err != nil {
				t.Fatal(err)
			}
			return entry
		}
		if time.Now().After(deadline) {
			t.Fatalf("the log has %d lines with %q, want %d:\n%s", len(found), text, n, content)
		}
	}
}

const rejected = "rules rejected"

func mustDo(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestWhateverIsWrongTheOldRulesServeAndTheLogSaysWhatAndWhere(t *testing.T) {
	for name, tt := range map[string]struct {
		fault func(t *testing.T, links string)
		error string
	}{
		"the file is removed": {
			func(t *testing.T, links string) { mustDo(t, os.Remove(links)) }, "no such file or directory",
		},
		"the file is emptied": {
			func(t *testing.T, links string) { mustDo(t, os.Truncate(links, 0)) }, "it is empty",
		},
		"a directory stands in its place": {
			func(t *testing.T, links string) {
				mustDo(t, os.Remove(links))
				mustDo(t, os.Mkdir(links, 0o700))
			},
			"it is no file, but a directory",
		},
		"the file cannot be opened": {
			func(t *testing.T, links string) {
				mustDo(t, os.Remove(links))
				mustDo(t, os.Symlink(links, links))
			},
			"too many levels of symbolic links",
		},
		"the file does not parse": {
			func(t *testing.T, links string) { write(t, links, "{\n\"old\": \"https://new.example\",\n") },
			"links.json:3:1: ",
		},
		"one rule is bad": {
			func(t *testing.T, links string) {
				write(t, links, "{\"old\": \"https://new.example\",\n \"/b\": \"/c\"}")
			},
			`links.json:2:2: key "/b": a key has no leading "/"; write b`,
		},
		"a key stands twice": {
			func(t *testing.T, links string) { write(t, links, "{\"b\": \"/c\",\n \"b\": \"/d\"}") },
			`links.json:2:2: key "b": the key stands already at `,
		},
		"a rule begins to loop": {
			func(t *testing.T, links string) {
				write(t, links, `{"old": "https://old.example", "loop": "/loop"}`)
			},
			"would be answered with an error",
		},
		"an expectation fails": {
			func(t *testing.T, links string) { write(t, links, `{"other": "https://new.example"}`) },
			`expect /old/page https://old.example/page: it is pass`,
		},
		"a rule is led into a loop that there was": {
			func(t *testing.T, links string) {
				write(t, links, `{"old": "https://old.example", "a": "/c", "b": "/a", "c": "/b"}`)
			},
			`links.json:1:54: key "c": loop a -> c -> b -> a: its requests are answered with an error`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := follow(t, `{"old": "https://old.example", "a": "/b", "b": "/a", "c": "https://c.example"}`,
				"", "expect /old/page https://old.example/page")
			tt.fault(t, s.links)
			escaped := strings.Trim(strconv.Quote(tt.error), `"`) // as in the log's JSON
			entry := s.logged(t, 1, escaped)
			if !strings.Contains(fmt.Sprint(entry["msg"]), rejected) ||
				!strings.Contains(fmt.Sprint(entry["sources"]), s.links) {
				t.Errorf("the entry is %v", entry)
			}
			if entry["failing_since"] == nil || entry["level"] != "error" {
				t.Errorf("the entry is %v", entry)
			}
			if got := s.get(t, "/old/page").location(); got != "302 https://old.example/page" {
				t.Errorf("got %s", got)
			}
			mustDo(t, os.RemoveAll(s.links))
			write(t, s.links, `{"old": "https://old.example", "new": "https://new.example"}`)
			s.eventually(t, "/new", "302 https://new.example/")
		})
	}
}

func TestAFileThatIsWrittenSlowlyIsTakenWhenItIsWhole(t *testing.T) {
	s := follow(t, `{"a": "https://old.example"}`, "", "")
	file, err := os.Create(s.links)
	mustDo(t, err)
	defer file.Close()
	_, err = file.WriteString(`{"a": "https://new.example", `)
	mustDo(t, err)
	s.logged(t, 1, rejected)
	if got := s.get(t, "/a").location(); got != "302 https://old.example/" {
		t.Errorf("got %s", got)
	}
	_, err = file.WriteString(`"b": "/a"}`)
	mustDo(t, err)
	s.eventually(t, "/b", "302 https://new.example/")
}

// Kubernetes leads a symbolic link called ..data to another directory.
func TestASwappedSymbolicLinkIsFollowed(t *testing.T) {
	dir := t.TempDir()
	for version, destination := range map[string]string{"1": "https://old.example",
		"2": "https://new.example"} {
		mustDo(t, os.Mkdir(filepath.Join(dir, version), 0o700))
		write(t, filepath.Join(dir, version, "links.json"), fmt.Sprintf(`{"a": %q}`, destination))
	}
	mustDo(t, os.Symlink("1", filepath.Join(dir, "..data")))
	mustDo(t, os.Symlink("..data/links.json", filepath.Join(dir, "links.json")))
	s := serve(t, "shortlink {\n from file "+dir+"/links.json {\n poll 5ms\n }\n }")
	s.eventually(t, "/a", "302 https://old.example/")
	mustDo(t, os.Symlink("2", filepath.Join(dir, "..next")))
	mustDo(t, os.Rename(filepath.Join(dir, "..next"), filepath.Join(dir, "..data")))
	s.eventually(t, "/a", "302 https://new.example/")
}

func TestABadLineInALargeFileIsNamedWithItsPlace(t *testing.T) {
	s := follow(t, `{"k1": "https://old.example"}`, "", "")
	var rules strings.Builder
	rules.WriteString("{\n")
	for line := 2; line < 100_000; line++ {
		fmt.Fprintf(&rules, "\t\"k%d\": \"https://new.example/%d\",\n", line, line)
	}
	rules.WriteString("\t\"bad\": \"ftp://example.com\"\n}\n")
	write(t, s.links, rules.String())
	entry := s.logged(t, 1, rejected)
	if got := fmt.Sprint(entry["error"]); !strings.Contains(got, "links.json:100000:2: key \"bad\"") {
		t.Errorf("the error is %s", got)
	}
	if got := s.get(t, "/k1").location(); got != "302 https://old.example/" {
		t.Errorf("got %s", got)
	}
}

func TestABadSourceIsAFailureToStartThatTellsAll(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "bad.json"), `{"/a": "/b", "c": "d"}`)
	s := &server{addr: freeAddress(t)}
	err := s.tryToLoad(t,
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
	write(t, filepath.Join(dir, "one.json"),
		`{"a": "https://one.example", "b": "https://one.example"}`)
	write(t, filepath.Join(dir, "two.json"),
		`{"b": "https://two.example", "c": "https://two.example"}`)
	s := &liveServer{log: filepath.Join(dir, "caddy.log")}
	s.server = serveWith(t, logTo(s.log), fmt.Sprintf(
		"shortlink {\n from file %s/one.json\n from file %s/two.json\n a https://inline.example\n }", dir,
		dir))
	for key, want := range map[string]string{"a": "inline", "b": "one", "c": "two"} {
		if got := s.get(t, "/"+key).location(); got != "302 https://"+want+".example/" {
			t.Errorf("%s: got %s", key, got)
		}
	}
	for _, where := range []string{"one.json:1:2", "two.json:1:2"} {
		if entry := s.logged(t, 1, where); entry["kind"] != "shadowed" {
			t.Errorf("the entry is %v", entry)
		}
	}
}

func TestEachSwapLeavesARecordOfWhatChanged(t *testing.T) {
	s := follow(t,
		`{"kept": "https://a.example", "gone": "https://a.example", "moved": "https://a.example"}`, "",
		"name docs")
	first := s.logged(t, 1, "rules loaded")
	write(t, s.links,
		`{"kept": "https://a.example", "moved": "https://b.example", "new": "/new/x", "other": "/kept"}`)
	entry := s.logged(t, 1, "would be answered with an error")
	if !strings.Contains(fmt.Sprint(entry["error"]), `"new"`) {
		t.Errorf("the rejection is %v", entry)
	}
	write(t, s.links,
		`{"kept": "https://a.example", "moved": "https://b.example", "new": "/kept/x", "other": "/kept"}`)
	swap := s.logged(t, 1, "rules swapped")
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
	s := follow(t, `{"a": "https://a.example"}`, "", "")
	s.logged(t, 1, "rules loaded")
	s.load(t, s.block("", "")+"\n header X-Reloaded yes")
	s.eventually(t, "/a", "302 https://a.example/")
	s.load(t, s.block("", "status 301"))
	s.eventually(t, "/a", "301 https://a.example/")
	s.logged(t, 2, "rules loaded")
	content, err := os.ReadFile(s.log)
	mustDo(t, err)
	if n := strings.Count(string(content), "rules loaded"); n != 2 {
		t.Errorf("rules were loaded %d times, want 2", n)
	}
	write(t, s.links, `{"a": "https://b.example"}`)
	s.eventually(t, "/a", "301 https://b.example/")
}

func TestAHundredReloadsLeaveNothingBehind(t *testing.T) {
	s := follow(t, manyRules(5_000, 1), "", "")
	block := func(i int) string { return s.block("", fmt.Sprintf("cache %ds", i+1)) }
	s.load(t, block(1000))
	s.eventually(t, "/generation", "302 https://example.com/1")
	goroutines, files, memory := runtime.NumGoroutine(), openFiles(t), heap()
	for i := range 100 {
		s.load(t, block(i))
	}
	s.eventually(t, "/generation", "302 https://example.com/1")
	const few = 8 << 20 // a hundred rulesets are three times as much
	settled := func() bool {
		return runtime.NumGoroutine() <= goroutines+10 && openFiles(t) <= files+10 && heap() <= memory+few
	}
	for deadline := time.Now().Add(time.Minute); !settled(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d files and %d bytes after, %d, %d and %d before",
				runtime.NumGoroutine(), openFiles(t), heap(), goroutines, files, memory)
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
	s := follow(t, manyRules(50_000, 0), "", "")
	for generation := 1; generation <= 3; generation++ {
		write(t, s.links, manyRules(50_000, generation))
		s.load(t, s.block("", fmt.Sprintf("cache %ds", generation)))
		s.eventually(t, "/generation", fmt.Sprintf("302 https://example.com/%d", generation))
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
	if _, err := provision(t, config); err == nil {
		t.Fatal("there is no file, and no error")
	}
	write(t, links, `{"a": "https://a.example"}`)
	if _, err := provision(t, config); err != nil {
		t.Error(err)
	}
}

func TestAnEntryOfTheStorageIsServedAndPickedUpWhenItChanges(t *testing.T) {
	dir := t.TempDir()
	mustDo(t, os.Mkdir(filepath.Join(dir, "shortlink"), 0o700))
	links := filepath.Join(dir, "shortlink", "links.json")
	write(t, links, `{"a": "https://old.example"}`)
	s := &liveServer{links: links, log: filepath.Join(dir, "caddy.log")}
	s.server = serveWith(t, logTo(s.log), fmt.Sprintf(`shortlink {
		from storage shortlink/links.json {
			storage file_system %s
			poll 5ms
		}
	}`, dir))
	s.eventually(t, "/a", "302 https://old.example/")
	mustDo(t, os.Remove(links))
	if entry := s.logged(t, 1, rejected); !strings.Contains(fmt.Sprint(entry["error"]), "source storage shortlink/links.json: ") {
		t.Errorf("the entry is %v", entry)
	}
	if got := s.get(t, "/a").location(); got != "302 https://old.example/" {
		t.Errorf("got %s", got)
	}
	write(t, links, `{"a": "https://new.example"}`)
	s.eventually(t, "/a", "302 https://new.example/")
}

// signature returns the signature of a text, as minisign writes it into a file.
func signature(t *testing.T, text string, key minisign.PrivateKey) string {
	t.Helper()
	reader := minisign.NewReader(strings.NewReader(text))
	_, err := io.Copy(io.Discard, reader)
	mustDo(t, err)
	return string(reader.Sign(key))
}

func TestASignedFileServesOnlyWithASignatureByTheKey(t *testing.T) {
	public, private, err := minisign.GenerateKey(nil)
	mustDo(t, err)
	_, stranger, err := minisign.GenerateKey(nil)
	mustDo(t, err)
	dir := t.TempDir()
	s := &liveServer{links: filepath.Join(dir, "links.json"), log: filepath.Join(dir, "caddy.log")}
	sign := func(rules string, key minisign.PrivateKey) {
		write(t, s.links+".minisig", signature(t, rules, key))
		write(t, s.links, rules)
	}
	sign(`{"a": "https://old.example"}`, private)
	s.server = serveWith(t, logTo(s.log), s.block("minisign "+public.String(), ""))
	s.eventually(t, "/a", "302 https://old.example/")

	const evil = `{"a": "https://evil.test"}`
	write(t, s.links, evil)
	s.logged(t, 1, "its signature is none of this content by the configured key")
	sign(evil, stranger)
	s.logged(t, 2, "its signature is none of this content by the configured key")
	// as minisign signed before 0.10: the content, not its hash
	write(t, s.links+".minisig", string(minisign.Sign(private, []byte(evil))))
	s.logged(t, 1, "its signature has minisign's old form, of the content and not of its hash; "+
		"sign it again with minisign -Sm, of version 0.10 or later and without -l")
	mustDo(t, os.Remove(s.links+".minisig"))
	s.logged(t, 1, "its signature: ")
	if got := s.get(t, "/a").location(); got != "302 https://old.example/" {
		t.Errorf("got %s", got)
	}
	sign(`{"a": "https://new.example"}`, private)
	s.eventually(t, "/a", "302 https://new.example/")
}

func TestAFileOfExpectationsIsHeldToAtTheStartAndBeforeASwap(t *testing.T) {
	expect := filepath.Join(t.TempDir(), "expect.json")
	write(t, expect,
		`{"/a/b": "https://a.example/b", "/nothing": "pass", "/a/%2e%2e": "pass", "/a/%252e%252e/c": "error"}`)
	s := follow(t, `{"a": "https://a.example"}`, "expect "+expect, "")
	write(t, s.links, `{"a": "https://b.example"}`)
	entry := s.logged(t, 1, rejected)
	if got := fmt.Sprint(entry["error"]); !strings.Contains(got,
		`expect /a/b https://a.example/b: it is https://b.example/b, by the key "a"`) {
		t.Errorf("the error is %s", got)
	}
	write(t, expect, `{"/a/b": "https://b.example/b"}`)
	s.eventually(t, "/a", "302 https://b.example/")

	other := &server{addr: freeAddress(t)}
	err := other.tryToLoad(t, s.block("", "expect /a/b https://a.example/b"))
	if err == nil ||
		!strings.Contains(err.Error(), "expect /a/b https://a.example/b: it is https://b.example/b") {
		t.Errorf("got %v", err)
	}
}

func TestHandlersOfOneConfigurationShareARuleset(t *testing.T) {
	s := follow(t, `{"a": "https://a.example"}`, "", "")
	block := s.block("", "status 301")
	s.load(t, "route /a/* {\n"+block+"\n }\n route {\n"+block+"\n }")
	for _, target := range []string{"/a/x", "/a"} {
		if got := s.get(t, target).location(); !strings.HasPrefix(got, "301 https://a.example/") {
			t.Errorf("%s: got %s", target, got)
		}
	}
	if n := s.timesLogged(t, "rules loaded"); n != 2 { // once before, and once for both
		t.Errorf("rules were loaded %d times, want 2", n)
	}
	write(t, s.links, `{"a": "https://b.example"}`)
	s.eventually(t, "/a/x", "301 https://b.example/x")
	s.eventually(t, "/a", "301 https://b.example/")
	write(t, s.links, `{"a": "nonsense"}`)
	s.logged(t, 1, rejected)
	write(t, s.links, `{"a": "https://c.example"}`)
	s.eventually(t, "/a", "301 https://c.example/")
	s.logged(t, 2, "rules swapped") // which is told when it serves already
	if swapped, refused := s.timesLogged(t, "rules swapped"), s.timesLogged(t, rejected); swapped != 2 || refused != 1 {
		t.Errorf("two swaps and a rejection are logged %d times and %d times", swapped, refused)
	}
}

func (s *liveServer) timesLogged(t *testing.T, text string) int {
	t.Helper()
	content, err := os.ReadFile(s.log)
	mustDo(t, err)
	return strings.Count(string(content), text)
}

func TestHandlersThatDifferInTheirSourcesAloneShareNothing(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "one.json"), `{"a": "https://one.example"}`)
	write(t, filepath.Join(dir, "two.json"), `{"a": "https://two.example"}`)
	s := serve(t, fmt.Sprintf("handle /a {\n shortlink {\n from file %s/one.json\n }\n }\n handle "+
		"{\n shortlink {\n from file %s/two.json\n }\n }", dir, dir))
	for target, want := range map[string]string{"/a": "302 https://one.example/",
		"/a/x": "302 https://two.example/x"} {
		if got := s.get(t, target).location(); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
}

// With poll off nothing but a reload looks at the file, and the reload takes the rules over.
func TestAReloadPicksUpAFileThatHasChangedSinceItWasRead(t *testing.T) {
	links := filepath.Join(t.TempDir(), "links.json")
	write(t, links, `{"a": "https://old.example"}`)
	block := "shortlink {\n from file " + links + " {\n poll off\n }\n }"
	s := serve(t, block)
	write(t, links, `{"a": "https://new.example"}`)
	s.load(t, block)
	s.eventually(t, "/a", "302 https://new.example/")
}

func TestAConfigurationWithABadSourceLeavesTheOldOneServing(t *testing.T) {
	s := follow(t, `{"a": "https://a.example"}`, "", "")
	err := s.tryToLoad(t,
		fmt.Sprintf("shortlink {\n from file %s\n from file %s.none\n }", s.links, s.links))
	if want := "source " + s.links + ".none: no such file or directory"; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	write(t, s.links, `{"a": "https://b.example"}`)
	s.eventually(t, "/a", "302 https://b.example/")
}

func TestFailuresInARowAreSaidToLastSinceTheFirst(t *testing.T) {
	s := follow(t, `{"a": "https://a.example"}`, "", "")
	write(t, s.links, `{"a": "one"}`)
	first := s.logged(t, 1, rejected)
	write(t, s.links, `{"a": "two"}`)
	second := s.logged(t, 2, rejected)
	if second["failing_since"] != first["failing_since"] {
		t.Errorf("failing since %v, then since %v", first["failing_since"], second["failing_since"])
	}
	write(t, s.links, `{"a": "https://a.example"}`)
	s.logged(t, 1, "are well again")
	write(t, s.links, `{"a": "three"}`)
	if third := s.logged(t, 3, rejected); third["failing_since"] == first["failing_since"] {
		t.Errorf("failing since %v all the same", third["failing_since"])
	}
}

// A rule that is shadowed changes no answer, and so the digest stays.
func TestARuleThatASwapShadowsIsReported(t *testing.T) {
	s := follow(t, `{"a": "https://a.example"}`, "", "inline https://inline.example")
	write(t, s.links, "{\"a\": \"https://a.example\",\n \"inline\": \"https://file.example\"}")
	if entry := s.logged(t, 1, "links.json:2:2"); entry["kind"] != "shadowed" ||
		entry["key"] != "inline" {
		t.Errorf("the entry is %v", entry)
	}
}

// A loop at the start is served, as there is nothing better to serve; it is no reason to refuse
// later rules that have it still.
func TestALoopThatServesAlreadyKeepsNoOtherRuleFromBeingServed(t *testing.T) {
	s := follow(t, `{"loop": "/loop"}`, "", "")
	write(t, s.links, `{"loop": "/loop", "a": "https://a.example"}`)
	s.eventually(t, "/a", "302 https://a.example/")
}
