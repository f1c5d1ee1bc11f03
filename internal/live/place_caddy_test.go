package live_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"aead.dev/minisign"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// placeOf returns where the rule stands that the admin endpoint says a path matches first.
func placeOf(t *testing.T, s *testcaddy.Server, path string) string {
	t.Helper()
	var outcome struct {
		Explanation struct {
			Walk []struct{ Position string }
		}
	}
	reply := s.Ask(t, "GET", "links/resolve?url="+url.QueryEscape(path), "")
	testcaddy.Must(t, json.Unmarshal([]byte(reply.Body), &outcome))
	if len(outcome.Explanation.Walk) == 0 {
		t.Fatalf("%s has no explanation: %s", path, reply.Body)
	}
	return filepath.Base(outcome.Explanation.Walk[0].Position)
}

// serveLinks starts a Caddy that serves a file of rules, which it reads when it is told to.
func serveLinks(t *testing.T, name, content string) (s *testcaddy.Server, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	testcaddy.Write(t, path, content)
	return testcaddy.Administer(t, "", "shortlink {\n inline https://inline.example\n from file "+path+
		" {\n poll off\n }\n name links\n }"), path
}

func TestWhereARuleStandsIsLookedUpInItsFile(t *testing.T) {
	for name, test := range map[string]struct {
		file, rules, place string
	}{
		"JSON": {
			"links.json", "{\n\t\"a\": \"https://a.example\",\n\t\"b\": \"/a\",\n" +
				"\t\"t/{x}\": \"https://t.example/{x}\"\n}\n", "links.json:3:2",
		},
		"CSV": {
			"links.csv", "a,https://a.example\nb,/a\nt/{x},https://t.example/{x}\n", "links.csv:2:1",
		},
		"_redirects": {
			"_redirects", "/a https://a.example 302\n/b /a 302\n", "_redirects:2:1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := serveLinks(t, test.file, test.rules)
			if got := placeOf(t, s, "/b"); got != test.place {
				t.Errorf("the rule stands in %s, want %s", got, test.place)
			}
			if reply := s.Put(t, "z", `"https://new.example"`); reply.Status >= 300 {
				t.Fatalf("%+v", reply)
			}
			if got := placeOf(t, s, "/b"); got != test.place {
				t.Errorf("after an edit the rule stands in %s, want %s", got, test.place)
			}
		})
	}
}

func TestARuleIsFoundWhereItHasMovedTo(t *testing.T) {
	const rules = "{\n\"a\": \"https://a.example\",\n\"b\": \"/a\",\n\"t/{x}\": \"/b/{x}\"\n}\n"
	s, path := serveLinks(t, "links.json", rules)
	for _, moved := range []struct{ above, want string }{
		{"\n\"new\": \"https://new.example\",", "links.json:4:1 links.json:5:1"},
		{"\n\n", "links.json:5:1 links.json:6:1"},
	} {
		testcaddy.Write(t, path, "{"+moved.above+rules[1:])
		if reply := s.Ask(t, "POST", "links/reload", ""); reply.Status != 200 {
			t.Fatalf("%+v", reply)
		}
		if got := placeOf(t, s, "/b") + " " + placeOf(t, s, "/t/1"); got != moved.want {
			t.Errorf("below %q the rules stand in %s, want %s", moved.above, got, moved.want)
		}
	}
	if reply := s.Ask(t, "DELETE", "links/rules/a", ""); reply.Status >= 300 {
		t.Fatalf("%+v", reply)
	}
	if got := placeOf(t, s, "/b"); got != "links.json:4:1" {
		t.Errorf("after the rule above has been removed it stands in %s", got)
	}
}

func TestOfAFileThatHasChangedAndIsRefusedNoLineIsNamed(t *testing.T) {
	s, path := serveLinks(t, "links.json", `{"a": "https://a.example"}`)
	if got := placeOf(t, s, "/a"); got != "links.json:1:2" {
		t.Errorf("the rule stands in %s", got)
	}
	testcaddy.Write(t, path, "{\n\"a\": \"https://a.example\", \"b\": \"nowhere\"}")
	s.Ask(t, "POST", "links/reload", "")
	if got := placeOf(t, s, "/a"); got != "links.json" {
		t.Errorf("the rule stands in %s, and the file is another", got)
	}
	testcaddy.Write(t, path, `{"a": "https://a.example"}`)
	if got := placeOf(t, s, "/a"); got != "links.json:1:2" {
		t.Errorf("the rule stands in %s, and the file is that again", got)
	}
}

func TestOfInlineRulesAndSignedOnesNoLineIsNamed(t *testing.T) {
	s, path := serveLinks(t, "links.json", `{"a": "https://a.example"}`)
	if got := placeOf(t, s, "/inline"); got != "shortlink links" {
		t.Errorf("the inline rule stands in %s", got)
	}
	public, private, err := minisign.GenerateKey(nil)
	testcaddy.Must(t, err)
	testcaddy.Write(t, path+".minisig", testcaddy.Signature(t, `{"a": "https://a.example"}`, private))
	s.Load(t, fmt.Sprintf("shortlink {\n from file %s {\n minisign %s\n }\n name links\n }", path,
		public))
	if got := placeOf(t, s, "/a"); got != "links.json" {
		t.Errorf("the signed rule stands in %s", got)
	}
}

func TestARuleOfAStorageEntryHasItsLine(t *testing.T) {
	testcaddy.StoreEntries(map[string]string{"links.json": "{\n\"a\": \"https://a.example\"}"}, nil)
	s := testcaddy.Administer(t, "", "shortlink {\n from storage links.json {\n storage test_memory\n"+
		" poll off\n }\n name links\n }")
	if got := placeOf(t, s, "/a"); got != "storage links.json:2:1" {
		t.Errorf("the rule stands in %s", got)
	}
}

func TestARuleOfASourceThatCannotSayItsLineHasNone(t *testing.T) {
	testcaddy.WriteWords("alpha")
	s := testcaddy.Administer(t, "",
		"shortlink {\n from example_words https://example.com/words/\n name links\n }")
	if got := placeOf(t, s, "/alpha"); strings.Contains(got, ":") {
		t.Errorf("the rule stands in %s", got)
	}
}

func TestRefusedRulesAreNamedWithTheLinesWhereTheyStandNow(t *testing.T) {
	const rules = "{\n\"a\": \"https://a.example\",\n\"b\": \"/a\",\n\"c\": \"/b\"\n}\n"
	s, path := serveLinks(t, "links.json", rules)
	testcaddy.Write(t, path, "{\n\n"+rules[1:]) // they move
	s.Ask(t, "POST", "links/reload", "")
	const loop = `links.json:4:1: key "a": loop`
	said := s.Ask(t, "PUT", "links/rules/a", `"/c"`).Said(t)
	for _, want := range []string{loop, `links.json:5:1: key "b": loop`, `links.json:6:1: key "c": loop`} {
		if !strings.Contains(said, want) {
			t.Errorf("an edit is refused with %s, want %s", said, want)
		}
	}
	testcaddy.Write(t, path, strings.ReplaceAll("{\n\n"+rules[1:], "https://a.example", "/c"))
	if said := s.Ask(t, "POST", "links/reload", "").Said(t); !strings.Contains(said, loop) ||
		!strings.Contains(said, `links.json:6:1: key "c": loop`) {
		t.Errorf("the file is refused with %s", said)
	}
	testcaddy.Write(t, path,
		"{\n\n"+strings.ReplaceAll(rules[1:], "}", ",\"%61\": \"/b\", \"d\": \"no\"}"))
	said = s.Ask(t, "POST", "links/reload", "").Said(t)
	for _, want := range []string{
		`links.json:7:2: key "%61": the key is the same as "a", which is already defined at `,
		`links.json:4:1; remove`, `links.json:7:15: key "d": `,
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the file is refused with %s, want %s", said, want)
		}
	}
}

func TestAPlaceIsLookedUpWhileRulesAreLoaded(t *testing.T) {
	s, path := serveLinks(t, "links.json", `{"a": "https://a.example"}`)
	var reloads sync.WaitGroup
	reloads.Go(func() {
		for i := range 20 {
			content := strings.Repeat("\n", i) + `{"a": "https://a.example"}`
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Error(err)
			}
			s.Ask(t, "POST", "links/reload", "")
		}
	})
	for range 50 {
		if got := placeOf(t, s, "/a"); !strings.HasPrefix(got, "links.json") {
			t.Errorf("the rule stands in %s", got)
		}
	}
	reloads.Wait()
	if got := placeOf(t, s, "/a"); got != "links.json:20:2" {
		t.Errorf("the rule stands in %s in the end", got)
	}
}
