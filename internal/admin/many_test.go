package admin_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// patch sends a merge patch for all rules, and putAll an object of them.
func patch(
	t *testing.T, s *testcaddy.Server, query, body string, header ...string,
) testcaddy.Reply {
	t.Helper()
	return s.Ask(t, "PATCH", "links/rules"+query, body,
		append(header, "Content-Type", "application/merge-patch+json")...)
}

func putAll(
	t *testing.T, s *testcaddy.Server, query, body string, header ...string,
) testcaddy.Reply {
	t.Helper()
	return s.Ask(t, "PUT", "links/rules"+query, body,
		append(header, "Content-Type", "application/json")...)
}

// changes is the answer to such an edit.
type changes struct {
	Digest                  string
	Added, Removed, Changed int
	Changes                 []struct {
		Kind, Key, Was, Now string
		After               struct{ Key struct{ Destination string } }
	}
	Findings []struct{ Severity, Kind, Key, Message string }
}

// changesIn returns the changes of an answer.
func changesIn(t *testing.T, reply testcaddy.Reply) (c changes) {
	t.Helper()
	if reply.Status != 200 {
		t.Fatalf("got %d %s", reply.Status, reply.Body)
	}
	testcaddy.Must(t, json.Unmarshal([]byte(reply.Body), &c))
	return c
}

// read returns the content of a file.
func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	testcaddy.Must(t, err)
	return string(content)
}

func TestManyRulesAreSetAndRemovedAsOneInAFile(t *testing.T) {
	for file, tt := range map[string]struct{ before, after string }{
		"links.json": {
			"{\n  \"docs\": {\"to\": \"/guide\", \"note\": \"why\"},\n  \"old\": \"https://old.example\"\n}\n",
			"{\n  \"docs\": {\"to\":\"/guide\",\"status\":301,\"note\":\"why\"},\n" +
				"  \"guide\": \"https://g.example\"\n}\n",
		},
		"links.csv": {
			"key,to,status,note\ndocs,/guide,,why\nold,https://old.example,,\n",
			"key,to,status,note\ndocs,/guide,301,why\nguide,https://g.example,,\n",
		},
		"_redirects": {
			"# ours\n/docs /guide 302\n/old https://old.example 302\n",
			"# ours\n/docs /guide 301\n/guide/* https://g.example/:splat 302\n",
		},
	} {
		t.Run(file, func(t *testing.T) {
			s, path, log := testcaddy.Editable(t, file, tt.before)
			const body = `{"docs": {"status": 301}, "old": null, "guide": "https://g.example", "absent": null}`
			dry := patch(t, s, "?dry_run=true", body)
			would := changesIn(t, dry)
			if would.Added != 1 || would.Removed != 1 || would.Changed != 1 ||
				read(t, path) != tt.before || strings.Contains(read(t, log), "rule edited") {
				t.Fatalf("a dry run answers %s, and the file holds %s", dry.Body, read(t, path))
			}
			before := s.Ask(t, "GET", "links/rules", "").Header.Get("ETag")
			if dry.Header.Get("ETag") != before || would.Digest == before {
				t.Errorf("a dry run of %s has the tag %s", before, dry.Header.Get("ETag"))
			}
			edited := patch(t, s, "", body, "If-Match", before)
			did := changesIn(t, edited)
			if fmt.Sprint(did) != fmt.Sprint(would) && file != "_redirects" {
				t.Errorf("it did %v, and would have done %v", did, would)
			}
			if got := read(t, path); got != tt.after {
				t.Errorf("the file holds %s", got)
			}
			serving := s.Ask(t, "GET", "links/rules", "").Header.Get("ETag")
			if edited.Header.Get("ETag") != serving || `"`+did.Digest+`"` != serving {
				t.Errorf("it serves %s, and was answered %s %v", serving, did.Digest, edited.Header)
			}
			if got := s.Get(t, "/docs").Location(); got != "302 https://g.example/" {
				t.Errorf("docs leads to %s", got)
			}
			if n := strings.Count(read(t, log), `"rule edited"`); n != 1 {
				t.Errorf("the log has %d entries of the edit", n)
			}
			if again := patch(t, s, "", body, "If-Match", before); again.Status != 412 {
				t.Errorf("with the old digest it is answered with %d %s", again.Status, again.Body)
			}
		})
	}
}

func TestTheRulesBecomeThoseOfAnObjectInAnEntryOfTheStorage(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "links")
	testcaddy.Write(t, path, `{"a": "https://a.example", "b": "https://b.example"}`)
	s := testcaddy.Administer(t, "storage file_system "+root,
		"shortlink {\n home https://home.example\n from storage links\n name links\n }")
	const object = `{"home": "https://home.example", "b": {"to": "https://b.example", "note": "new"}, "c": "/b"}`
	got := changesIn(t, putAll(t, s, "", object))
	if got.Added != 1 || got.Removed != 1 || got.Changed != 1 || len(got.Changes) != 3 {
		t.Errorf("got %+v", got)
	}
	if note := got.Changes[2]; note.Kind != "note" || note.Key != "b" || note.Now != "new" {
		t.Errorf("the note is told as %v", note)
	}
	rules := s.Ask(t, "GET", "links/rules", "")
	if want := "{\n\t\"b\": {\"to\":\"https://b.example\",\"note\":\"new\"},\n\t\"c\": \"/b\",\n\t\"home\": " +
		"\"https://home.example\"\n}\n"; rules.Body != want {
		t.Errorf("the rules are %s", rules.Body)
	}
	if same := changesIn(t, putAll(t, s, "", rules.Body)); same.Digest != got.Digest ||
		len(same.Changes) > 0 || same.Changes == nil {
		t.Errorf("what was read changes %v", same)
	}
}

func TestAnEditOfManyRulesIsRefusedAsAWholeAndSaysWhatToDo(t *testing.T) {
	const rules = `{"docs": "https://docs.example", "x": "/docs"}`
	s, path, _ := testcaddy.Editable(t, "links.json", rules)
	merge := []string{"Content-Type", "application/merge-patch+json"}
	object := []string{"Content-Type", "application/json"}
	for _, tt := range []struct {
		method, path, body string
		header             []string
		status             int
		said               string
	}{
		{"PATCH", "rules", `{"good": "/docs", "bad": "nowhere", "worse": "ftp://x"}`, merge, 422, `1:19: key "bad"`},
		{"PATCH", "rules", `{"good": "/docs", "bad": "nowhere", "worse": "ftp://x"}`, merge, 422, `key "worse"`},
		{"PATCH", "rules", `{"docs": "/x"}`, merge, 422, "loop"},
		{"PATCH", "rules", `{"home": "/docs", "docs": null}`, merge, 409, `the rule for the key "home" is an inline rule`},
		{"PATCH", "rules", `{"docs": "/a", "d%6Fcs": "/b"}`, merge, 422, `"d%6Fcs" stands twice`},
		{"PATCH", "rules", `{"a": "/x", "a": "/y"}`, merge, 422, `1:13: the key "a" stands twice`},
		{"PATCH", "rules", "{\n\"a\": \"/x\"", merge, 400, "2:10: this is not JSON"},
		{"PATCH", "rules", `{}`, object, 415, "Content-Type: application/merge-patch+json"},
		{"PATCH", "rules", `{}`, append(merge, "If-Match", "mist"), 400, "If-Match"},
		{"PATCH", "rules", `{}`, append(merge, "If-Match", `"mist"`), 412, "have changed"},
		{"PUT", "rules", `{}`, append(object, "If-None-Match", "*"), 412, "asks for none"},
		{"PATCH", "rules?dryrun=true", `{"a": "/docs"}`, merge, 400, "?dry_run=true"},
		{"PATCH", "rules?dry_run=yes", `{"a": "/docs"}`, merge, 400, "?dry_run=true"},
		{"PATCH", "rules?dry_run=true&x", `{"a": "/docs"}`, merge, 400, "?dry_run=true"},
		{"PATCH", "rules?dry_run=false&dry_run=true", `{"a": "/docs"}`, merge, 400, "?dry_run=true"},
		{"PUT", "rules", `{"docs": "https://docs.example"}`, object, 409, `"home" is an inline rule`},
		{"PUT", "rules", `"https://docs.example"`, object, 400, "an object"},
		{"PUT", "rules", `{}`, merge, 415, "Content-Type: application/json"},
		{"PUT", "rules/", `{"to": "https://docs.example"}`, object, 405, "GET"},
		{"DELETE", "rules", ``, nil, 405, "GET, PUT and PATCH"},
	} {
		for _, query := range []string{"", "?dry_run=true"} {
			path := tt.path
			if !strings.Contains(path, "?") {
				path += query
			}
			got := s.Ask(t, tt.method, "links/"+path, tt.body, tt.header...)
			if got.Status != tt.status || !strings.Contains(got.Said(t), tt.said) {
				t.Errorf("%s %s %s is answered with %d %s", tt.method, path, tt.body, got.Status, got.Body)
			}
		}
	}
	if read(t, path) != rules {
		t.Errorf("the file holds %s", read(t, path))
	}
}

func TestAWarningOfManyRulesIsAFinding(t *testing.T) {
	s, _, _ := testcaddy.Editable(t, "links.json", `{"docs": "https://docs.example/#top"}`)
	got := changesIn(t, patch(t, s, "?dry_run=true", `{"a": "https://u:p@x.example"}`))
	if len(got.Findings) != 1 || got.Findings[0].Key != "a" || got.Findings[0].Severity != "warning" {
		t.Errorf("the findings are %+v", got.Findings)
	}
}

func TestPatchesAtOnceAllTakeEffect(t *testing.T) {
	const clients, rulesOfEach = 6, 20
	s, path, _ := testcaddy.Editable(t, "links.json", `{}`)
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() {
			rules := map[string]string{}
			for i := range rulesOfEach {
				rules[fmt.Sprintf("%d-%d", n, i)] = "https://a.example"
			}
			body, _ := json.Marshal(rules)
			if got := patch(t, s, "", string(body)); got.Status != 200 {
				t.Errorf("got %d %s", got.Status, got.Body)
			}
		})
	}
	all.Wait()
	if n := strings.Count(read(t, path), "a.example"); n != clients*rulesOfEach {
		t.Errorf("the file holds %d rules", n)
	}
}
