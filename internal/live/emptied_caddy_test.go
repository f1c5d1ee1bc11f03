package live_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// emptied is what is said of a source that has lost all its rules.
const emptied = ": it had rules before and is now empty; put rules back or, if that is meant, " +
	"write allow_empty into its block"

// rejectedAs checks that the status says of which source nothing is served, and why.
func rejectedAs(t *testing.T, s *testcaddy.Server, reason string) {
	t.Helper()
	got, exit := s.Command("status")
	if exit != 1 || !strings.Contains(got, "\n  rejected at ") || !strings.Contains(got, reason) {
		t.Errorf("the status is %s, %d; want %s", got, exit, reason)
	}
}

// reads reads the sources, which have to be good.
func reads(t *testing.T, s *testcaddy.Server) {
	t.Helper()
	if got, exit := s.Command("reload"); exit != 0 {
		t.Errorf("a reload says %s, %d", got, exit)
	}
}

// followed starts a Caddy that has its rules from files of a directory, which an admin endpoint
// edits; sources are the lines from the first from on.
func followed(t *testing.T, sources string) (s *testcaddy.Follower, block func(sources string) string) {
	t.Helper()
	block = func(sources string) string {
		return "shortlink {\n name links\n " + sources + "\n }\n respond next 299"
	}
	s = &testcaddy.Follower{Log: filepath.Join(t.TempDir(), "caddy.log")}
	s.Server = testcaddy.Administer(t, testcaddy.LogTo(s.Log), block(sources))
	return s, block
}

func TestASourceThatBecomesEmptyIsRefused(t *testing.T) {
	for name, tt := range map[string]struct{ from, file, rules, empty, source string }{
		"a JSON file": {"file DIR/links.json", "links.json",
			`{"docs": "https://docs.example"}`, "{ }", "DIR/links.json"},
		"a CSV file": {"file DIR/links.csv", "links.csv",
			"key,destination\ndocs,https://docs.example\n", "key,destination\n", "DIR/links.csv"},
		"a _redirects file": {"file DIR/_redirects", "_redirects",
			"/docs/* https://docs.example/:splat 302\n", "# none\n", "DIR/_redirects"},
		"an entry": {"storage links.json", "links.json",
			`{"docs": "https://docs.example"}`, "{}", "storage links.json"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, tt.file)
			block := "from " + strings.Replace(tt.from, "DIR", dir, 1) + " {\n poll 5ms\n OPTION\n }"
			if strings.HasPrefix(tt.from, "storage") {
				block = strings.Replace(block, "OPTION", "OPTION\n storage file_system "+dir, 1)
			}
			testcaddy.Write(t, path, tt.rules)
			s, whole := followed(t, strings.Replace(block, "OPTION", "", 1))
			testcaddy.Write(t, path, tt.empty)
			entry := s.Logged(t, 1, testcaddy.Rejected)
			want := "source " + strings.Replace(tt.source, "DIR", dir, 1) + emptied
			if got := entry["error"]; got != want {
				t.Errorf("the log says %v, want %s", got, want)
			}
			s.Leads(t, "/docs/a", "302 https://docs.example/a")
			rejectedAs(t, s.Server, want)
			if got, exit := s.Command("reload"); exit != 1 || !strings.Contains(got, want) {
				t.Errorf("a reload says %s, %d", got, exit)
			}
			testcaddy.Write(t, path, tt.rules)
			reads(t, s.Server)
			s.Load(t, whole(strings.Replace(block, "OPTION", "allow_empty", 1)))
			s.Leads(t, "/docs/a", "302 https://docs.example/a")
			testcaddy.Write(t, path, tt.empty)
			s.Eventually(t, "/docs/a", "299")
		})
	}
}

func TestOneOfTwoSourcesThatBecomesEmptyIsRefused(t *testing.T) {
	dir := t.TempDir()
	testcaddy.Write(t, dir+"/a.json", `{"a": "https://a.example"}`)
	testcaddy.Write(t, dir+"/b.json", `{"b": "https://b.example"}`)
	s, _ := followed(t, "from file "+dir+"/a.json\n from file "+dir+"/b.json {\n allow_empty\n }")
	testcaddy.Write(t, dir+"/a.json", `{}`)
	testcaddy.Write(t, dir+"/b.json", `{}`)
	got, exit := s.Command("reload")
	if exit != 1 || strings.Count(got, "source ") != 1 || !strings.Contains(got, "a.json"+emptied) {
		t.Errorf("got %s, %d", got, exit)
	}
	s.Leads(t, "/a", "302 https://a.example/")
	testcaddy.Write(t, dir+"/a.json", `{"a": "https://a.example/2"}`)
	reads(t, s.Server)
	s.Leads(t, "/a", "302 https://a.example/2")
	s.Leads(t, "/b", "299")
}

// A shell's > leaves such a file.
func TestAnEditOfAFileWithoutContentSaysThatItHasNone(t *testing.T) {
	s, path, _ := testcaddy.Editable(t, "links.json", `{"docs": "https://docs.example"}`)
	testcaddy.Write(t, path, "")
	for _, args := range [][]string{{"add", "new", "https://new.example"}, {"remove", "docs"}} {
		got, exit := s.Command(args...)
		if !strings.HasPrefix(got, "Error: source "+path+": it is empty; ") || exit != 1 {
			t.Errorf("%q says %s, %d", args, got, exit)
		}
	}
	s.Leads(t, "/docs/a", "302 https://docs.example/a")
}

// The table that a program has emptied by mistake is not to become one of a single rule.
func TestNoRuleIsAddedToASourceThatHasBecomeEmpty(t *testing.T) {
	for name, notice := range map[string]bool{"before that is seen": false, "after that": true} {
		t.Run(name, func(t *testing.T) {
			s, path, _ := testcaddy.Editable(t, "links.json", `{"docs": "https://docs.example"}`)
			testcaddy.Write(t, path, `{}`)
			if notice {
				s.Command("reload")
			}
			for _, args := range [][]string{
				{"add", "new", "https://new.example"}, {"add", "docs", "/new"}, {"remove", "docs"},
			} {
				got, exit := s.Command(args...)
				if want := "Error: source " + path + emptied + "\n"; got != want || exit != 1 {
					t.Errorf("%q says %s, %d", args, got, exit)
				}
			}
			if content, err := os.ReadFile(path); err != nil || string(content) != "{}" {
				t.Errorf("it holds %s, %v", content, err)
			}
			s.Leads(t, "/docs/a", "302 https://docs.example/a")
		})
	}
}

func TestWhoRemovesTheLastRuleIsNotRefusedThenOrLater(t *testing.T) {
	for name, remove := range map[string]func(*testing.T, *testcaddy.Server){
		"by command": func(t *testing.T, s *testcaddy.Server) {
			s.Says(t, "Note: this rule was removed: docs https://docs.example\n", 0, "remove", "docs")
		},
		"by the admin endpoint": func(t *testing.T, s *testcaddy.Server) {
			if got := s.Ask(t, "DELETE", "go/rules/docs", ""); got.Status != 204 {
				t.Errorf("got %d %s", got.Status, got.Body)
			}
		},
		"on the page": func(t *testing.T, s *testcaddy.Server) {
			form := s.FormOf(t, "/.links/key/docs?delete")
			if got := s.Post(t, "/.links/key/docs", form.Encode(), testcaddy.AsHTML); got.Status != 303 {
				t.Errorf("got %d %s", got.Status, got.Body)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := &testcaddy.Follower{Links: filepath.Join(dir, "links.json"), Log: filepath.Join(dir, "caddy.log")}
			testcaddy.Write(t, s.Links, `{"docs": "https://docs.example"}`)
			block := strings.Replace(testcaddy.PageBlock(s.Links, ""), s.Links,
				s.Links+" {\n poll 5ms\n }", 1)
			s.Server = testcaddy.Administer(t, testcaddy.LogTo(s.Log), block)
			remove(t, s.Server)
			s.Leads(t, "/docs", "200")
			reads(t, s.Server)
			testcaddy.Write(t, s.Links, "{\n}\n")
			reads(t, s.Server)
			s.Load(t, strings.Replace(block, "name go", "name go\n status 301", 1))
			s.Says(t, "new https://new.example\n", 0, "add", "new", "https://new.example")
			s.Says(t, "Note: this rule was removed: new https://new.example\n", 0, "remove", "new")
			testcaddy.Write(t, s.Links, `{"docs": "https://docs.example"}`)
			s.Eventually(t, "/docs", "301 https://docs.example/")
			if n := s.TimesLogged(t, testcaddy.Rejected); n > 0 {
				t.Errorf("rules are rejected %d times", n)
			}
		})
	}
}

func TestAReloadOfTheConfigurationKeepsTheRulesOfASourceThatHasBecomeEmpty(t *testing.T) {
	links := filepath.Join(t.TempDir(), "links.json")
	testcaddy.Write(t, links, `{"docs": "https://docs.example"}`)
	from := func(option string) string {
		return "from file " + links + " {\n poll off\n " + option + "\n }"
	}
	s, block := followed(t, from(""))
	testcaddy.Write(t, links, `{}`)
	s.Load(t, block("status 301\n "+from("")))
	s.Leads(t, "/docs", "301 https://docs.example/")
	rejectedAs(t, s.Server, "source "+links+emptied)
	err := s.TryToLoad(t, block(from("format json"))) // which may be what it was emptied by
	if err == nil || !strings.Contains(err.Error(), "source "+links+emptied) {
		t.Errorf("got %v", err)
	}
	s.Load(t, block(from("allow_empty")))
	s.Leads(t, "/docs", "299")
	if got, exit := s.Command("status"); exit != 0 {
		t.Errorf("the status is %s, %d", got, exit)
	}
}

func TestAStartTakesAnEmptySource(t *testing.T) {
	links := filepath.Join(t.TempDir(), "links.json")
	testcaddy.Write(t, links, `{"docs": "https://docs.example"}`)
	s, block := followed(t, "from file "+links)
	testcaddy.Write(t, links, `{}`)
	testcaddy.Must(t, caddy.Stop())
	s.Load(t, block("from file "+links))
	s.Leads(t, "/docs", "299")
	testcaddy.Write(t, links, `{"docs": "https://docs.example"}`)
	reads(t, s.Server)
	s.Leads(t, "/docs", "302 https://docs.example/")
}

// Programs that have no link to write may write nothing at all.
func TestAnEmptyFileOfLinesIsTakenWhereTheBlockAllowsIt(t *testing.T) {
	for _, name := range []string{"links.csv", "_redirects"} {
		path := filepath.Join(t.TempDir(), name)
		testcaddy.Write(t, path, "")
		s, _ := followed(t, "from file "+path+" {\n allow_empty\n }")
		s.Leads(t, "/docs", "299")
		if got, exit := s.Command("status"); exit != 0 {
			t.Errorf("%s: the status is %s, %d", name, got, exit)
		}
	}
}
