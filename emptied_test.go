package shortlink_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

// emptied is what is said of a source that has lost all its rules.
const emptied = ": it had rules and has none any more; put rules back or, if that is meant, " +
	"write allow_empty into its block"

// rejectedAs checks that the status says of which source nothing is served, and why.
func (s *server) rejectedAs(t *testing.T, reason string) {
	t.Helper()
	got, exit := s.command("status")
	if exit != 1 || !strings.Contains(got, "\n  rejected at ") || !strings.Contains(got, reason) {
		t.Errorf("the status is %s, %d; want %s", got, exit, reason)
	}
}

// reads reads the sources, which have to be good.
func (s *server) reads(t *testing.T) {
	t.Helper()
	if got, exit := s.command("reload"); exit != 0 {
		t.Errorf("a reload says %s, %d", got, exit)
	}
}

// leads checks where a request leads.
func (s *server) leads(t *testing.T, target, want string) {
	t.Helper()
	if got := s.get(t, target).location(); got != want {
		t.Errorf("%s: got %s, want %s", target, got, want)
	}
}

// followed starts a Caddy that has its rules from files of a directory, which an admin endpoint
// edits; sources are the lines from the first from on.
func followed(t *testing.T, sources string) (s *liveServer, block func(sources string) string) {
	t.Helper()
	block = func(sources string) string {
		return "shortlink {\n name links\n " + sources + "\n }\n respond next 299"
	}
	s = &liveServer{log: filepath.Join(t.TempDir(), "caddy.log")}
	s.server = administer(t, logTo(s.log), block(sources))
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
			write(t, path, tt.rules)
			s, whole := followed(t, strings.Replace(block, "OPTION", "", 1))
			write(t, path, tt.empty)
			entry := s.logged(t, 1, rejected)
			want := "source " + strings.Replace(tt.source, "DIR", dir, 1) + emptied
			if got := entry["error"]; got != want {
				t.Errorf("the log says %v, want %s", got, want)
			}
			s.leads(t, "/docs/a", "302 https://docs.example/a")
			s.rejectedAs(t, want)
			if got, exit := s.command("reload"); exit != 1 || !strings.Contains(got, want) {
				t.Errorf("a reload says %s, %d", got, exit)
			}
			write(t, path, tt.rules)
			s.reads(t)
			s.load(t, whole(strings.Replace(block, "OPTION", "allow_empty", 1)))
			s.leads(t, "/docs/a", "302 https://docs.example/a")
			write(t, path, tt.empty)
			s.eventually(t, "/docs/a", "299")
		})
	}
}

func TestOneOfTwoSourcesThatBecomesEmptyIsRefused(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/a.json", `{"a": "https://a.example"}`)
	write(t, dir+"/b.json", `{"b": "https://b.example"}`)
	s, _ := followed(t, "from file "+dir+"/a.json\n from file "+dir+"/b.json {\n allow_empty\n }")
	write(t, dir+"/a.json", `{}`)
	write(t, dir+"/b.json", `{}`)
	got, exit := s.command("reload")
	if exit != 1 || strings.Count(got, "source ") != 1 || !strings.Contains(got, "a.json"+emptied) {
		t.Errorf("got %s, %d", got, exit)
	}
	s.leads(t, "/a", "302 https://a.example/")
	write(t, dir+"/a.json", `{"a": "https://a.example/2"}`)
	s.reads(t)
	s.leads(t, "/a", "302 https://a.example/2")
	s.leads(t, "/b", "299")
}

// A shell's > leaves such a file.
func TestAnEditOfAFileWithoutContentSaysThatItHasNone(t *testing.T) {
	s, path, _ := editable(t, "links.json", `{"docs": "https://docs.example"}`)
	write(t, path, "")
	for _, args := range [][]string{{"add", "new", "https://new.example"}, {"remove", "docs"}} {
		got, exit := s.command(args...)
		if !strings.HasPrefix(got, "Error: source "+path+": it is empty; ") || exit != 1 {
			t.Errorf("%q says %s, %d", args, got, exit)
		}
	}
	s.leads(t, "/docs/a", "302 https://docs.example/a")
}

// The table that a program has emptied by mistake is not to become one of a single rule.
func TestNoRuleIsAddedToASourceThatHasBecomeEmpty(t *testing.T) {
	for name, notice := range map[string]bool{"before that is seen": false, "after that": true} {
		t.Run(name, func(t *testing.T) {
			s, path, _ := editable(t, "links.json", `{"docs": "https://docs.example"}`)
			write(t, path, `{}`)
			if notice {
				s.command("reload")
			}
			for _, args := range [][]string{
				{"add", "new", "https://new.example"}, {"add", "docs", "/new"}, {"remove", "docs"},
			} {
				got, exit := s.command(args...)
				if want := "Error: source " + path + emptied + "\n"; got != want || exit != 1 {
					t.Errorf("%q says %s, %d", args, got, exit)
				}
			}
			if content, err := os.ReadFile(path); err != nil || string(content) != "{}" {
				t.Errorf("it holds %s, %v", content, err)
			}
			s.leads(t, "/docs/a", "302 https://docs.example/a")
		})
	}
}

func TestWhoRemovesTheLastRuleIsNotRefusedThenOrLater(t *testing.T) {
	for name, remove := range map[string]func(*testing.T, *server){
		"by command": func(t *testing.T, s *server) { s.says(t, "", 0, "remove", "docs") },
		"by the admin endpoint": func(t *testing.T, s *server) {
			if got := s.ask(t, "DELETE", "go/rules/docs", ""); got.status != 204 {
				t.Errorf("got %d %s", got.status, got.body)
			}
		},
		"on the page": func(t *testing.T, s *server) {
			form := s.formOf(t, "/.links/key/docs?delete")
			if got := s.post(t, "/.links/key/docs", form.Encode(), asHTML); got.status != 303 {
				t.Errorf("got %d %s", got.status, got.body)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := &liveServer{links: filepath.Join(dir, "links.json"), log: filepath.Join(dir, "caddy.log")}
			write(t, s.links, `{"docs": "https://docs.example"}`)
			block := strings.Replace(pageBlock(s.links, ""), s.links, s.links+" {\n poll 5ms\n }", 1)
			s.server = administer(t, logTo(s.log), block)
			remove(t, s.server)
			s.leads(t, "/docs", "200")
			s.reads(t)
			write(t, s.links, "{\n}\n")
			s.reads(t)
			s.load(t, strings.Replace(block, "name go", "name go\n status 301", 1))
			s.says(t, "new https://new.example\n", 0, "add", "new", "https://new.example")
			s.says(t, "", 0, "remove", "new")
			write(t, s.links, `{"docs": "https://docs.example"}`)
			s.eventually(t, "/docs", "301 https://docs.example/")
			if n := s.timesLogged(t, rejected); n > 0 {
				t.Errorf("rules are rejected %d times", n)
			}
		})
	}
}

func TestAReloadOfTheConfigurationKeepsTheRulesOfASourceThatHasBecomeEmpty(t *testing.T) {
	links := filepath.Join(t.TempDir(), "links.json")
	write(t, links, `{"docs": "https://docs.example"}`)
	from := func(option string) string {
		return "from file " + links + " {\n poll off\n " + option + "\n }"
	}
	s, block := followed(t, from(""))
	write(t, links, `{}`)
	s.load(t, block("status 301\n "+from("")))
	s.leads(t, "/docs", "301 https://docs.example/")
	s.rejectedAs(t, "source "+links+emptied)
	err := s.tryToLoad(t, block(from("format json"))) // which may be what it was emptied by
	if err == nil || !strings.Contains(err.Error(), "source "+links+emptied) {
		t.Errorf("got %v", err)
	}
	s.load(t, block(from("allow_empty")))
	s.leads(t, "/docs", "299")
	if got, exit := s.command("status"); exit != 0 {
		t.Errorf("the status is %s, %d", got, exit)
	}
}

func TestAStartTakesAnEmptySource(t *testing.T) {
	links := filepath.Join(t.TempDir(), "links.json")
	write(t, links, `{"docs": "https://docs.example"}`)
	s, block := followed(t, "from file "+links)
	write(t, links, `{}`)
	mustDo(t, caddy.Stop())
	s.load(t, block("from file "+links))
	s.leads(t, "/docs", "299")
	write(t, links, `{"docs": "https://docs.example"}`)
	s.reads(t)
	s.leads(t, "/docs", "302 https://docs.example/")
}

// Programs that have no link to write may write nothing at all.
func TestAnEmptyFileOfLinesIsTakenWhereTheBlockAllowsIt(t *testing.T) {
	for _, name := range []string{"links.csv", "_redirects"} {
		path := filepath.Join(t.TempDir(), name)
		write(t, path, "")
		s, _ := followed(t, "from file "+path+" {\n allow_empty\n }")
		s.leads(t, "/docs", "299")
		if got, exit := s.command("status"); exit != 0 {
			t.Errorf("%s: the status is %s, %d", name, got, exit)
		}
	}
}
