package admin_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

func TestTheAdminEndpointTellsWhatServes(t *testing.T) {
	s, path, _ := testcaddy.Editable(t, "links.json",
		`{"docs": "/guide?lang=en", "docs/v2": "https://v2.example", "guide": {"to": "https://docs.example", "status": 301}}`)
	all := s.Ask(t, "GET", "", "")
	one := s.Ask(t, "GET", "links", "")
	if want := fmt.Sprintf(`{"links":%s}`, strings.TrimSpace(one.Body)); strings.TrimSpace(all.Body) != want {
		t.Errorf("all handlers are %s\nand one is  %s", all.Body, one.Body)
	}
	var status struct {
		Rules   int
		Digest  string
		Sources []struct {
			Source   string
			Writable bool
		}
		LastLoad struct{ Time, Result, Error string } `json:"last_load"`
	}
	testcaddy.Must(t, json.Unmarshal([]byte(one.Body), &status))
	if status.Rules != 4 || len(status.Digest) != 64 || len(status.Sources) != 1 ||
		status.Sources[0].Source != path || !status.Sources[0].Writable ||
		status.LastLoad.Result != "loaded" {
		t.Errorf("the status is %+v", status)
	}
	rules := s.Ask(t, "GET", "links/rules", "")
	if want := "{\n\t\"docs\": \"/guide?lang=en\",\n\t\"docs/v2\": " +
		"\"https://v2.example\",\n\t\"guide\": " +
		"{\"to\":\"https://docs.example\",\"status\":301},\n\t\"home\": \"https://home.example\"\n}\n"; rules.Body != want {
		t.Errorf("the rules are %s", rules.Body)
	}
	if tag := rules.Header.Get("ETag"); tag != `"`+status.Digest+`"` {
		t.Errorf("the tag is %s", tag)
	}
	if got := s.Ask(t, "GET", "links/rules", "", "If-None-Match", rules.Header.Get("ETag")).Status; got != 304 {
		t.Errorf("rules that are known are answered with %d", got)
	}
	if below := s.Ask(t, "GET", "links/rules/docs", ""); below.Body != "{\n\t\"docs\": \"/guide?lang=en\",\n\t\"docs/v2\": \"https://v2.example\"\n}\n" {
		t.Errorf("below docs there are %s", below.Body)
	}
	var outcome struct {
		Outcome, Destination, Key string
		Hops                      int
		Explanation               struct {
			Walk []struct{ Key, Position string }
		}
	}
	resolved := s.Ask(t, "GET", "links/resolve?url="+url.QueryEscape("https://go.example/docs/a?x=1"),
		"")
	testcaddy.Must(t, json.Unmarshal([]byte(resolved.Body), &outcome))
	if outcome.Outcome != "redirect" || outcome.Destination != "https://docs.example/a?lang=en&x=1" ||
		outcome.Hops != 1 || len(outcome.Explanation.Walk) != 2 {
		t.Errorf("resolved to %s", resolved.Body)
	}
}

func TestAnEditServesAtOnceAndStandsInItsSource(t *testing.T) {
	for name, tt := range map[string]struct{ file, before, after string }{
		"JSON": {"links.json", "{\n  \"docs\": \"https://docs.example\"\n}\n",
			"{\n  \"docs\": \"https://docs.example\",\n  \"paper\": " +
				"{\"to\":\"https://example.com/p\",\"status\":301,\"exact\":true}\n}\n"},
		"CSV": {"links.csv", "docs,https://docs.example\n",
			"docs,https://docs.example\npaper,https://example.com/p,301,exact\n"},
		"_redirects": {"_redirects", "# ours\n/docs https://docs.example\n",
			"# ours\n/docs https://docs.example\n/paper https://example.com/p 301\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s, path, log := testcaddy.Editable(t, tt.file, tt.before)
			testcaddy.Must(t, os.Chmod(path, 0o640))
			before := s.Ask(t, "GET", "links/rules", "").Header.Get("ETag")
			created := s.Put(t, "paper", `{"to": "https://example.com/p", "status": 301, "exact": true}`,
				"If-Match", before)
			if created.Status != 201 || created.Header.Get("ETag") == before {
				t.Fatalf("got %d %s %v", created.Status, created.Body, created.Header)
			}
			if got := s.Get(t, "/paper").Location(); got != "301 https://example.com/p" {
				t.Errorf("got %s", got)
			}
			content, err := os.ReadFile(path)
			testcaddy.Must(t, err)
			if string(content) != tt.after {
				t.Errorf("the file holds %q", content)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("the file's mode is %v, %v", info.Mode(), err)
			}
			const was = `{"to":"https://example.com/p","status":301,"exact":true}`
			const now = `{"to": "https://example.com/q", "status": 302, "exact": true}`
			replaced := s.Put(t, "paper", now)
			if replaced.Status != 200 || replaced.Header.Get("Shortlink-Was") != was {
				t.Errorf("got %d %s %v", replaced.Status, replaced.Body, replaced.Header)
			}
			if removed := s.Ask(t, "DELETE", "links/rules/paper", ""); removed.Status != 204 {
				t.Errorf("got %d %s", removed.Status, removed.Body)
			}
			if got := s.Get(t, "/paper").Location(); got != "299" {
				t.Errorf("got %s", got)
			}
			content, err = os.ReadFile(path)
			testcaddy.Must(t, err)
			if string(content) != tt.before {
				t.Errorf("the file holds %q", content)
			}
			left, err := os.ReadDir(filepath.Dir(path))
			testcaddy.Must(t, err)
			for _, entry := range left {
				if strings.HasPrefix(entry.Name(), ".") {
					t.Errorf("%s is left behind", entry.Name())
				}
			}
			logged := (&testcaddy.Follower{Log: log}).Logged(t, 3, "rule edited")
			if logged["key"] != "paper" || logged["is"] != "" ||
				!strings.Contains(fmt.Sprint(logged["was"]), "https://example.com/q") ||
				!strings.HasPrefix(fmt.Sprint(logged["remote"]), "127.0.0.1:") {
				t.Errorf("the record is %v", logged)
			}
		})
	}
}

func TestARuleWithAQueryModeIsEditedAndServes(t *testing.T) {
	s, path, _ := testcaddy.Editable(t, "links.json", "{}\n")
	const value = `{"to":"https://x.example/?q=1&flag","query":"ignore"}`
	if put := s.Put(t, "search", value); put.Status != 201 {
		t.Fatalf("got %d %s", put.Status, put.Body)
	}
	if got := s.Get(t, "/search?q=2").Location(); got != "302 https://x.example/?q=1&flag" {
		t.Errorf("got %s", got)
	}
	const want = "{\n\t\"search\": " + value + "\n}\n"
	if got := s.Ask(t, "GET", "links/rules/search", ""); got.Body != want {
		t.Errorf("got %s", got.Body)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != want {
		t.Errorf("the file holds %q, %v", content, err)
	}
	refused := s.Put(t, "search", `{"to": "gone", "query": "ignore"}`)
	if refused.Status != 422 || !strings.Contains(refused.Body, "takes no query mode") {
		t.Errorf("got %d %s", refused.Status, refused.Body)
	}
}

func TestANoteIsEditedWithItsRuleAndNoVisitorSeesIt(t *testing.T) {
	s, path, log := testcaddy.Editable(t, "links.json", `{"docs": "https://docs.example"}`)
	before := s.Ask(t, "GET", "links/rules", "").Header.Get("ETag")
	const value = `{"to":"https://docs.example","note":"secret é"}`
	if put := s.Put(t, "docs", value); put.Status != 200 || put.Body != value+"\n" {
		t.Fatalf("got %d %s", put.Status, put.Body)
	}
	const want = "{\n\t\"docs\": " + value + "\n}\n"
	listed := s.Ask(t, "GET", "links/rules/docs", "")
	if listed.Body != want || listed.Header.Get("ETag") == before {
		t.Errorf("got %s", listed.Body)
	}
	content, _ := os.ReadFile(path)
	if want := `{"docs": ` + value + `}`; string(content) != want {
		t.Errorf("the file holds %s", content)
	}
	for _, url := range []string{"/docs", "/docs/x?y", "/home", "/none"} {
		if got := s.Get(t, url); strings.Contains(fmt.Sprint(got), "secret") {
			t.Errorf("%s is answered with the note: %v", url, got)
		}
	}
	if put := s.Put(t, "docs", `"https://docs.example"`); put.Header.Get("Shortlink-Was") !=
		`{"to":"https://docs.example","note":"secret \u00e9"}` {
		t.Errorf("it was %s", put.Header.Get("Shortlink-Was"))
	}
	if again := s.Ask(t, "GET", "links/rules", "").Header.Get("ETag"); again != before {
		t.Errorf("without a note the digest is %s, want %s", again, before)
	}
	logged, _ := os.ReadFile(log)
	if n := strings.Count(string(logged), `"changed":1`); n != 2 {
		t.Errorf("%d swaps change a rule:\n%s", n, logged)
	}
}

func TestARefusedEditChangesNothingAndSaysWhy(t *testing.T) {
	const content = "{\n\t\"docs\": \"https://docs.example\",\n\t\"a\": \"/b\",\n\t\"x\": " +
		"\"/x/y\",\n\t\"x/y\": \"https://x.example\"\n}\n"
	for name, tt := range map[string]struct {
		method, key, body string
		header            []string
		status            int
		want              string
	}{
		"a query": {"PUT", "x?y=1", `"/y"`, nil, 400,
			`the path of a rule has no query; write %3F for a "?" of its key`},
		"an empty query": {"DELETE", "x/y?", ``, nil, 400, "write %3F"},
		"a bad destination": {"PUT", "x", `"example.com"`, nil, 422,
			`the destination "example.com" is neither`},
		"a loop":                 {"PUT", "b", `"/a"`, nil, 422, " working keys would fail"},
		"a loop, which is named": {"PUT", "b", `"/a"`, nil, 422, "a -> b -> a"},
		"a number":               {"PUT", "home/x", `5`, nil, 400, `the value of "home/x" is 5`},
		"a member too many": {"PUT", "x", `{"to": "/y", "host": "z"}`, nil, 400,
			`has a member "host"`},
		"thousands of members": {"PUT", "x", `{"to": "/y"` + strings.Repeat(`,"z":1`, 40_000) + `}`,
			nil, 400, "(9901 more)"},
		"a member twice": {"PUT", "x", `{"to": "/y", "to": "/z"}`, nil, 400, "is given twice"},
		"two values": {"PUT", "x", `"/y", "z": "/z"`, nil, 400,
			"nothing may follow the value"},
		"an empty body": {"PUT", "x", ``, []string{"Content-Type", "application/json"}, 400,
			"ends too early"},
		"a body that never ends": {"PUT", "x", `"/` + strings.Repeat("y", 300<<10) + `"`, nil, 413,
			"longer than 262144 bytes"},
		"a form": {"PUT", "x", `"/y"`, []string{"Content-Type", "text/plain"}, 415,
			"Content-Type: application/json"},
		"an inline rule": {"PUT", "home", `"/y"`, nil, 409,
			"inline rule, which cannot be edited; change Caddy's configuration"},
		"an inline rule removed": {"DELETE", "home", ``, nil, 409, "inline rule"},
		"a key that is not there": {"DELETE", "nothing", ``, nil, 404,
			`there is no rule for the key "nothing"`},
		"another digest": {"PUT", "x", `"/y"`,
			[]string{"Content-Type", "application/json", "If-Match", `"abc"`}, 412,
			"the rules have changed"},
		"an empty digest": {"PUT", "x", `"/y"`,
			[]string{"Content-Type", "application/json", "If-Match", `""`}, 412, "the rules have changed"},
		"two other digests": {"PUT", "x", `"/y"`,
			[]string{"Content-Type", "application/json", "If-Match", `"abc"`, "If-Match", `"def"`}, 412,
			"the rules have changed"},
		"a digest and a star": {"PUT", "x", `"/y"`,
			[]string{"Content-Type", "application/json", "If-Match", `"abc", *`}, 400, "in quotation marks"},
		"a rule in the way": {"PUT", "x", `"/y"`,
			[]string{"Content-Type", "application/json", "If-None-Match", "*"}, 412,
			`there is a rule for the key "x"`},
		"an inline rule in the way": {"PUT", "home", `"/y"`,
			[]string{"Content-Type", "application/json", "If-None-Match", "*"}, 412,
			`there is a rule for the key "home"`},
		"no rule to replace": {"PUT", "new", `"/y"`,
			[]string{"Content-Type", "application/json", "If-Match", "*"}, 412,
			`there is no rule for the key "new"`},
		"no rule to remove": {"DELETE", "new", ``, []string{"If-Match", "*"}, 412,
			`there is no rule for the key "new"`},
		"a digest without marks": {"PUT", "x", `"/y"`,
			[]string{"Content-Type", "application/json", "If-Match", "abc"}, 400, "in quotation marks"},
		"another method": {"POST", "x", `"/y"`, nil, 405,
			"this takes GET, PUT and DELETE, not POST"},
		"a status that is none": {"PUT", "x", `{"to": "/y", "status": 200}`, nil, 400,
			`takes 301, 302, 303, 307 or 308`},
		"a status of what is gone": {"PUT", "x", `{"to": "/y", "status": 410}`, nil, 400,
			`write "x": "gone"`},
		"a removal that breaks": {"DELETE", "x/y", ``, nil, 422, " would fail"},
		"a page that is sent there": {"PUT", "x", `"/y"`,
			[]string{"Content-Type", "application/json", "Origin", "https://evil.example"}, 403,
			"not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			s, path, _ := testcaddy.Editable(t, "links.json", content)
			before := s.Ask(t, "GET", "links", "").Body
			got := s.Ask(t, tt.method, "links/rules/"+tt.key, tt.body, tt.header...)
			isAsIs := !strings.Contains(got.Body, `\u003`)
			if got.Status != tt.status || !strings.Contains(got.Said(t), tt.want) || !isAsIs {
				t.Errorf("got %d %s", got.Status, got.Body)
			}
			now, err := os.ReadFile(path)
			testcaddy.Must(t, err)
			if after := s.Ask(t, "GET", "links", "").Body; string(now) != content || after != before {
				t.Errorf("the file holds %s, and the status is %s", now, after)
			}
		})
	}
}

func TestAnEditIsMadeWhereItsConditionsHold(t *testing.T) {
	s, _, _ := testcaddy.Editable(t, "links.json", `{"x": "https://x.example"}`)
	for name, tt := range map[string]struct {
		key    string
		header []string
		status int
	}{
		"one of several digests": {"x", []string{"If-Match", `"abc"`, "If-Match", `"def", DIGEST`},
			200},
		"a rule to replace":         {"x", []string{"If-Match", "*"}, 200},
		"no rule in the way":        {"new", []string{"If-None-Match", "*"}, 201},
		"other digests":             {"x", []string{"If-None-Match", `"abc", W/"def"`}, 200},
		"a digest that is excluded": {"x", []string{"If-None-Match", `W/DIGEST`}, 412},
		"a weak digest":             {"x", []string{"If-Match", `W/DIGEST`}, 412},
		"a media type in capitals": {"x", []string{"Content-Type", "APPLICATION/JSON; charset=utf-8"},
			200},
	} {
		t.Run(name, func(t *testing.T) {
			tag := s.Ask(t, "GET", "links/rules", "").Header.Get("ETag")
			var header []string
			for _, text := range tt.header {
				header = append(header, strings.ReplaceAll(text, "DIGEST", tag))
			}
			if header[0] != "Content-Type" {
				header = append(header, "Content-Type", "application/json")
			}
			got := s.Ask(t, "PUT", "links/rules/"+tt.key,
				`"https://`+strings.ReplaceAll(name, " ", "-")+`.example"`, header...)
			if got.Status != tt.status {
				t.Errorf("got %d %s", got.Status, got.Body)
			}
		})
	}
}

func TestAListOfRulesHeedsItsConditions(t *testing.T) {
	s, _, _ := testcaddy.Editable(t, "links.json", `{"x": "https://x.example"}`)
	tag := s.Ask(t, "GET", "links/rules", "").Header.Get("ETag")
	for name, tt := range map[string]struct {
		header []string
		status int
	}{
		"known":                  {[]string{"If-None-Match", `W/` + tag}, 304},
		"known by a second line": {[]string{"If-None-Match", `"abc"`, "If-None-Match", tag}, 304},
		"any is known":           {[]string{"If-None-Match", "*"}, 304},
		"others are known":       {[]string{"If-None-Match", `"abc"`}, 200},
		"no condition at all":    {[]string{"If-None-Match", "abc"}, 200},
		"as they were":           {[]string{"If-Match", tag}, 200},
		"changed":                {[]string{"If-Match", `"abc"`}, 412},
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.Ask(t, "GET", "links/rules", "", tt.header...); got.Status != tt.status {
				t.Errorf("got %d %s", got.Status, got.Body)
			}
		})
	}
}

func TestAnEditThatFailsAnExpectationIsRefused(t *testing.T) {
	dir := t.TempDir()
	testcaddy.Write(t, dir+"/links.json", `{"docs": "https://docs.example"}`)
	s := testcaddy.Administer(t, "",
		"shortlink {\n from file "+dir+"/links.json\n expect /docs/a https://docs.example/a\n name "+
			"links\n }")
	for _, got := range []testcaddy.Reply{s.Put(t, "docs", `"https://evil.example"`),
		s.Ask(t, "DELETE", "links/rules/docs", "")} {
		if got.Status != 422 ||
			!strings.Contains(got.Said(t), "expect /docs/a https://docs.example/a: it is") {
			t.Errorf("got %d %s", got.Status, got.Body)
		}
	}
}

func TestAnEditGoesIntoTheFirstSourceThatCanBeWrittenTo(t *testing.T) {
	dir := t.TempDir()
	testcaddy.Write(t, dir+"/first.json", `{"first": "https://first.example"}`)
	testcaddy.Write(t, dir+"/second.json", `{"second": "https://second.example"}`)
	testcaddy.WriteWords("fixed")
	s := testcaddy.Administer(t, "", fmt.Sprintf("shortlink {\n from example_words https://words.example\n "+
		"from file %s/first.json\n from file %s/second.json\n name links\n }", dir, dir))
	if got := s.Put(t, "new", `"https://new.example"`); got.Status != 201 {
		t.Fatalf("got %d %s", got.Status, got.Body)
	}
	content, err := os.ReadFile(dir + "/first.json")
	testcaddy.Must(t, err)
	if want := `{"first": "https://first.example","new": "https://new.example"}`; string(
		content) != want {
		t.Errorf("the first file holds %s", content)
	}
	if got := s.Ask(t, "DELETE", "links/rules/second", ""); got.Status != 409 ||
		!strings.Contains(got.Said(t), "second.json, and edits go into") {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	if got := s.Put(t, "fixed", `"https://new.example"`); got.Status != 409 ||
		!strings.Contains(got.Said(t), "stands in source example_words") {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
}

func TestWithoutASourceThatCanBeWrittenToAnEditIsRefused(t *testing.T) {
	s := testcaddy.Administer(t, "", "shortlink {\n home https://home.example\n name links\n }")
	if got := s.Put(t, "new", `"https://new.example"`); got.Status != 409 ||
		!strings.Contains(got.Said(t), "inline rules cannot be edited; change Caddy's configuration") {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
}

func TestAnEntryOfAStorageIsEdited(t *testing.T) {
	dir := t.TempDir()
	testcaddy.Write(t, dir+"/links.json", "{\n\t\"docs\": \"https://docs.example\"\n}\n")
	s := testcaddy.Administer(t, "",
		"shortlink {\n from storage links.json {\n storage file_system "+dir+"\n }\n name links\n }\n respond 299")
	if got := s.Put(t, "new", `"https://new.example"`); got.Status != 201 {
		t.Fatalf("got %d %s", got.Status, got.Body)
	}
	if got := s.Get(t, "/new/a").Location(); got != "302 https://new.example/a" {
		t.Errorf("got %s", got)
	}
	content, err := os.ReadFile(dir + "/links.json")
	testcaddy.Must(t, err)
	if want := "{\n\t\"docs\": \"https://docs.example\",\n\t\"new\": \"https://new.example\"\n}\n"; string(content) != want {
		t.Errorf("the entry holds %s", content)
	}
}

func TestASymbolicLinkStaysOneWhenItsFileIsEdited(t *testing.T) {
	dir := t.TempDir()
	testcaddy.Must(t, os.Mkdir(dir+"/of", 0o700))
	testcaddy.Write(t, dir+"/of/links.json", "{}")
	testcaddy.Must(t, os.Symlink("of/links.json", dir+"/links.json"))
	s := testcaddy.Administer(t, "", "shortlink {\n from file "+dir+"/links.json\n name links\n }")
	if got := s.Put(t, "new", `"https://new.example"`); got.Status != 201 {
		t.Fatalf("got %d %s", got.Status, got.Body)
	}
	if target, err := os.Readlink(dir + "/links.json"); err != nil || target != "of/links.json" {
		t.Errorf("the link is %s, %v", target, err)
	}
	if got := s.Get(t, "/new").Location(); got != "302 https://new.example/" {
		t.Errorf("got %s", got)
	}
}

func TestEditsAtOnceAllTakeEffectAndNoneIsLost(t *testing.T) {
	s, path, _ := testcaddy.Editable(t, "links.json", "{}")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if got := s.Put(t, fmt.Sprint("key", i), `"https://example.com"`); got.Status != 201 {
				t.Errorf("got %d %s", got.Status, got.Body)
			}
		})
	}
	all.Wait()
	content, err := os.ReadFile(path)
	testcaddy.Must(t, err)
	var rules map[string]string
	testcaddy.Must(t, json.Unmarshal(content, &rules))
	if len(rules) != 20 {
		t.Errorf("there are %d rules: %s", len(rules), content)
	}
}

func TestOfEditsWithTheSameDigestOneIsMade(t *testing.T) {
	s, _, _ := testcaddy.Editable(t, "links.json", "{}")
	tag := s.Ask(t, "GET", "links/rules", "").Header.Get("ETag")
	var mu sync.Mutex
	statuses := map[int]int{}
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			got := s.Put(t, fmt.Sprint("key", i), `"https://example.com"`, "If-Match", tag)
			mu.Lock()
			defer mu.Unlock()
			statuses[got.Status]++
		})
	}
	all.Wait()
	if statuses[201] != 1 || statuses[412] != 9 {
		t.Errorf("the answers are %v", statuses)
	}
}

func TestAReloadAnswersWhatCameOfIt(t *testing.T) {
	dir := t.TempDir()
	testcaddy.Write(t, dir+"/links.json", `{"a": "https://old.example"}`)
	s := testcaddy.Administer(t, "",
		"shortlink {\n from file "+dir+"/links.json {\n poll off\n }\n name links\n }")
	testcaddy.Write(t, dir+"/links.json", `{"a": "https://new.example"}`)
	if got := s.Ask(t, "POST", "links/reload", ""); got.Status != 200 ||
		!strings.Contains(got.Body, `"result":"loaded"`) {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	if got := s.Get(t, "/a").Location(); got != "302 https://new.example/" {
		t.Errorf("got %s", got)
	}
	testcaddy.Write(t, dir+"/links.json", `{"/a": "https://new.example"}`)
	if got := s.Ask(t, "POST", "links/reload", ""); got.Status != 422 ||
		!strings.Contains(got.Said(t), `key "/a": the key begins with "/"`) {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	if got := s.Ask(t, "GET", "links", ""); !strings.Contains(got.Body, `"result":"rejected"`) ||
		!strings.Contains(got.Body, "failing_since") {
		t.Errorf("got %s", got.Body)
	}
	if got := s.Ask(t, "GET", "links/reload", ""); got.Status != 405 ||
		got.Header.Get("Allow") != "POST" {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
}

func TestHandlersOfOneNameAreToldApart(t *testing.T) {
	s := testcaddy.Administer(t, "", "handle /a/* {\n shortlink {\n a https://a.example\n }\n }\n handle /b/* "+
		"{\n shortlink {\n b https://b.example\n }\n }\n shortlink {\n c https://c.example\n name "+
		"links\n }")
	var all map[string]struct{ Rules int }
	testcaddy.Must(t, json.Unmarshal([]byte(s.Ask(t, "GET", "", "").Body), &all))
	for _, name := range []string{"shortlink", "shortlink-2", "links"} {
		if all[name].Rules != 1 {
			t.Errorf("%s is %v", name, all[name])
		}
	}
	for path, want := range map[string]string{"none": `there is no shortlink handler "none"; there are: links, shortlink, shortlink-2`, "links/rule": `a handler has no "rule"`, "links/resolve": "write ?url="} {
		if got := s.Ask(t, "GET", path, ""); !strings.Contains(got.Said(t), want) {
			t.Errorf("%s: got %d %s", path, got.Status, got.Body)
		}
	}
}

func TestAConfigurationThatIsGoneIsNotAnswered(t *testing.T) {
	s := testcaddy.Administer(t, "", "shortlink {\n a https://a.example\n name old\n }")
	s.Load(t, "shortlink {\n a https://a.example\n name new\n }")
	if got := s.Ask(t, "GET", "", "").Body; !strings.Contains(got, `"new"`) ||
		strings.Contains(got, `"old"`) {
		t.Errorf("got %s", got)
	}
}

// What a refused edit has seen of a source is not known yet to those who watch it.
func TestARefusedEditDoesNotHideAChangeOfTheSource(t *testing.T) {
	s, path, _ := testcaddy.Editable(t, "links.json", `{"a": "https://old.example"}`)
	testcaddy.Write(t, path, `{"a": "https://new.example"}`)
	if got := s.Ask(t, "DELETE", "links/rules/nothing", ""); got.Status != 404 {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	if got := s.Get(t, "/a").Location(); got != "302 https://new.example/" {
		t.Errorf("got %s", got)
	}
}

func TestAnEditOfAChangedSourceIsRefusedDespiteItsDigest(t *testing.T) {
	s, path, _ := testcaddy.Editable(t, "links.json", `{"a": "https://old.example"}`)
	tag := s.Ask(t, "GET", "links/rules", "").Header.Get("ETag")
	testcaddy.Write(t, path, `{"a": "https://old.example", "k": "https://theirs.example"}`)
	if got := s.Put(t, "k", `"https://mine.example"`, "If-Match", tag); got.Status != 412 {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	if got := s.Get(t, "/k").Location(); got != "302 https://theirs.example/" {
		t.Errorf("got %s", got)
	}
}

func TestAReloadOfInlineRulesChangesNothing(t *testing.T) {
	s := testcaddy.Administer(t, "", "shortlink {\n a https://a.example\n name links\n }\n respond 299")
	if got := s.Ask(t, "POST", "links/reload", ""); got.Status != 200 ||
		!strings.Contains(got.Body, `"rules":1`) {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	if got := s.Get(t, "/a").Location(); got != "302 https://a.example/" {
		t.Errorf("got %s", got)
	}
}

func TestAnEditThatWouldSpoilTheFileIsRefused(t *testing.T) {
	for name, tt := range map[string]struct{ file, content, key, want string }{
		"the last row": {"links.csv", "docs,https://docs.example\n", "docs",
			"this is the last rule"},
		"the last line": {"_redirects", "/docs https://docs.example\n", "docs",
			"this is the last rule"},
		"one that tells commas": {"links.csv", "x,https://x.example\na;b,https://a.example\n", "x",
			"edit it by hand"},
	} {
		t.Run(name, func(t *testing.T) {
			s, path, _ := testcaddy.Editable(t, tt.file, tt.content)
			got := s.Ask(t, "DELETE", "links/rules/"+tt.key, "")
			content, err := os.ReadFile(path)
			testcaddy.Must(t, err)
			if got.Status != 422 || !strings.Contains(got.Said(t), tt.want) ||
				string(content) != tt.content {
				t.Errorf("got %d %s, and the file holds %q", got.Status, got.Body, content)
			}
		})
	}
}

func TestAKeyThatIsEditedKeepsItsSpelling(t *testing.T) {
	s, path, _ := testcaddy.Editable(t, "links.json", `{"straße": "https://a.example"}`)
	s.Put(t, "stra%C3%9Fe", `"https://b.example"`)
	s.Put(t, "gr%C3%BCn%20x", `"https://c.example"`)
	content, err := os.ReadFile(path)
	testcaddy.Must(t, err)
	if want := `{"straße": "https://b.example","grün%20x": "https://c.example"}`; string(
		content) != want {
		t.Errorf("the file holds %s", content)
	}
}

func TestAnEditOfARedirectsFileHasTheStatusOfTheHandler(t *testing.T) {
	dir := t.TempDir()
	testcaddy.Write(t, dir+"/_redirects", "/a https://a.example 302\n")
	s := testcaddy.Administer(t, "", "shortlink {\n from file "+dir+"/_redirects\n status 301\n name links\n }")
	s.Put(t, "b", `{"to": "https://b.example", "exact": true}`)
	if got := s.Get(t, "/b").Location(); got != "301 https://b.example/" {
		t.Errorf("got %s", got)
	}
}

func TestHandlersThatShareANameAreNotEdited(t *testing.T) {
	dir := t.TempDir()
	testcaddy.Write(t, dir+"/one.json", "{}")
	testcaddy.Write(t, dir+"/two.json", "{}")
	s := testcaddy.Administer(t, "", fmt.Sprintf("handle /a/* {\n shortlink {\n from file %s/one.json\n }\n "+
		"}\n handle /c/* {\n shortlink {\n x https://x.example\n name shortlink-2\n }\n }\n shortlink "+
		"{\n from file %s/two.json\n }", dir, dir))
	for _, name := range []string{"shortlink", "shortlink-3"} {
		if got := s.Ask(t, "PUT", name+"/rules/a", `"https://a.example"`); got.Status != 409 ||
			!strings.Contains(got.Said(t), "give each a name") {
			t.Errorf("%s: got %d %s", name, got.Status, got.Body)
		}
	}
	if got := s.Ask(t, "GET", "shortlink-2/rules/x", ""); !strings.Contains(got.Body, "https://x.example") {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
}

func TestHandlersThatShareAFileLoseNoEdit(t *testing.T) {
	dir := t.TempDir()
	testcaddy.Write(t, dir+"/links.json", "{}")
	block := "shortlink {\n from file " + dir + "/links.json\n name %s\n }\n"
	s := testcaddy.Administer(t, "", fmt.Sprintf(block+block, "one", "two"))
	var all sync.WaitGroup
	var made sync.Map
	for i := range 20 {
		for _, name := range []string{"one", "two"} {
			all.Go(func() {
				key := fmt.Sprint(name, i)
				if got := s.Ask(t, "PUT", name+"/rules/"+key, `"https://example.com"`); got.Status == 201 {
					made.Store(key, true)
				}
			})
		}
	}
	all.Wait()
	content, err := os.ReadFile(dir + "/links.json")
	testcaddy.Must(t, err)
	n := 0
	made.Range(func(key, _ any) bool {
		n++
		if !strings.Contains(string(content), fmt.Sprintf("%q", key)) {
			t.Errorf("%s is lost", key)
		}
		return true
	})
	if n < 20 {
		t.Errorf("%d edits of 40 are made", n)
	}
}

func TestAnEditWaitsForTheOneWhoWritesTheFileInItsPlace(t *testing.T) {
	s, path, _ := testcaddy.Editable(t, "links.csv", "a,https://a.example\n")
	file, err := os.Create(path)
	testcaddy.Must(t, err)
	defer file.Close()
	_, err = file.WriteString("a,https://b.example\n")
	testcaddy.Must(t, err)
	edited := make(chan testcaddy.Reply, 1)
	go func() { edited <- s.Put(t, "new", `"https://new.example"`) }()
	_, err = file.WriteString("c,https://c.example\n")
	testcaddy.Must(t, err)
	if got := <-edited; got.Status != 201 {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	content, err := os.ReadFile(path)
	testcaddy.Must(t, err)
	want := "a,https://b.example\nc,https://c.example\nnew,https://new.example\n"
	if string(content) != want {
		t.Errorf("the file holds %q", content)
	}
}

func TestTheAdminEndpointListsEveryKeyThatLeadsToAURL(t *testing.T) {
	s, path, _ := testcaddy.Editable(t, "links.json",
		`{"g": "/docs/guide", "s/{id}": "https://story.example/{id}", "old": {"to": "https://story.example/17", "unlisted": true}}`)
	for query, want := range map[string]string{
		"url=" + url.QueryEscape(
			"https://story.example/17"): `{"url":"https://story.example/17","leads":[` +
			`{"path":"/old","key":"old","destination":"https://story.example/17","unlisted":true,"position":"` + path + `"},` +
			`{"path":"/s/17","key":"s/{id}","destination":"https://story.example/17","position":"` + path + `"}]}`,
		"url=/docs/guide":                     `{"url":"/docs/guide","leads":[{"path":"/g","key":"g","destination":"/docs/guide","position":"` + path + `"}]}`,
		"url=https://home.example&below=true": `{"url":"https://home.example","leads":[{"path":"/home","key":"home","destination":"https://home.example/","position":"shortlink links"}]}`,
		"url=https://nobody.example/":         `{"url":"https://nobody.example/","leads":[]}`,
	} {
		if got := s.Ask(t, "GET", "links/reverse?"+query, ""); got.Status != 200 ||
			strings.TrimSpace(got.Body) != want {
			t.Errorf("%s: got %d %s\nwant %s", query, got.Status, got.Body, want)
		}
	}
	for query, want := range map[string]string{"": "the URL is missing",
		"url=mailto:x": "does not begin with http", "url=/a&below=1": "below takes true or false"} {
		if got := s.Ask(t, "GET", "links/reverse?"+query, ""); got.Status != 400 ||
			!strings.Contains(got.Said(t), want) {
			t.Errorf("%s: got %d %s", query, got.Status, got.Body)
		}
	}
}

// Caddy's ServeMux redirects paths that are not clean before it asks anybody.
func TestAKeyThatCannotBeNamedIsNotTakenForAnother(t *testing.T) {
	const content = `{"a/b": "https://b.example"}`
	s, path, _ := testcaddy.Editable(t, "links.json", content)
	for _, key := range []string{"a//b", "a/../a/b", "a/./b"} {
		if got := s.Put(t, key, `"/y"`); got.Status != 307 {
			t.Errorf("%s: got %d %s", key, got.Status, got.Body)
		}
	}
	now, err := os.ReadFile(path)
	testcaddy.Must(t, err)
	if string(now) != content {
		t.Errorf("the file holds %s", now)
	}
}

func TestOfVeryManyEffectsAnEditTellsThatThereAreMore(t *testing.T) {
	links := map[string]string{"base": "https://base.example"}
	for i := range 1001 {
		links[fmt.Sprint("k", i)] = "/base"
	}
	content, err := json.Marshal(links)
	testcaddy.Must(t, err)
	s, _, _ := testcaddy.Editable(t, "links.json", string(content))
	put := s.Put(t, "base", `"https://new.example"`, "Prefer", "effects")
	if !strings.HasPrefix(put.Body, `{"others":1000,"more":true,`) ||
		!strings.Contains(put.Body, `"unnamed":900`) {
		t.Errorf("of very many others PUT tells %.100s", put.Body)
	}
}

func TestAnEditTellsItsEffectsToWhoPrefersThem(t *testing.T) {
	s, _, _ := testcaddy.Editable(t, "links.json", `{"base": "https://base.example", "x": "/base",
		"top": "/"}`)
	const applied = "Preference-Applied"
	put := s.Put(t, "base", `"https://new.example"`, "Prefer", "effects")
	want := `{"others":1,"effects":[{"requests":"x","before":"302 https://base.example/",` +
		`"after":"302 https://new.example/"}],"unnamed":0,"warnings":null}` + "\n"
	if put.Status != 200 || put.Body != want || put.Header.Get(applied) != "effects" {
		t.Errorf("PUT got %+v", put)
	}
	put = s.Put(t, "base", `"https://base.example"`)
	if put.Body != "\"https://base.example\"\n" || put.Header.Get(applied) != "" {
		t.Errorf("without it PUT got %+v", put)
	}
	refused := s.Put(t, "base", `"https://"`, "Prefer", "effects")
	if refused.Status != 422 || !strings.Contains(refused.Body, `{"error":`) {
		t.Errorf("a bad rule got %+v", refused)
	}
	removed := s.Ask(t, "DELETE", "links/rules/base", "", "Prefer", "effects")
	if removed.Status != 200 || !strings.Contains(removed.Body, "no link answers /base") {
		t.Errorf("DELETE got %+v", removed)
	}
}
