package source_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// siteTable is a _redirects file of which one line has no equivalent, and one is never reached.
const siteTable = `/paper https://example.com/paper.pdf
/de/* /german/:splat 302 Language=de
/paper /elsewhere
https://old.example.com/hello https://www.example.com/welcome
`

// followTable starts a Caddy that follows a _redirects file with these options.
func followTable(t *testing.T, options string) *testcaddy.Follower {
	t.Helper()
	dir := t.TempDir()
	s := &testcaddy.Follower{
		Links: filepath.Join(dir, "_redirects"), Log: filepath.Join(dir, "caddy.log"),
	}
	testcaddy.Write(t, s.Links, siteTable)
	s.Server = testcaddy.Administer(t, testcaddy.LogTo(s.Log), s.Block(options, "name links"))
	return s
}

func TestATableWithUnsupportedLinesServesWhereTheyAreSkipped(t *testing.T) {
	s := followTable(t, "unsupported skip")
	for place, kind := range map[string]string{
		"_redirects:2:": "line left out", "_redirects:3:": "line never reached",
		"_redirects:4:": "line left out",
	} {
		if entry := s.Logged(t, 1, place); entry["level"] != "warn" || entry["kind"] != kind {
			t.Errorf("%s: the entry is %v", place, entry)
		}
	}
	for target, want := range map[string]string{
		"/paper": "301 https://example.com/paper.pdf", "/de/x": "299", "/hello": "299",
	} {
		if got := s.Get(t, target).Location(); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
	testcaddy.Write(t, s.Links, siteTable+"/more https://more.example\n/fr /french 302 Country=fr\n")
	s.Eventually(t, "/more", "301 https://more.example/")
	if entry := s.Logged(t, 1, "_redirects:6:"); entry["kind"] != "line left out" {
		t.Errorf("the entry is %v", entry)
	}
	if n := s.TimesLogged(t, "_redirects:2:"); n != 1 {
		t.Errorf("line 2 is told %d times", n)
	}
}

func TestAnUnsupportedLineIsAnErrorThatNamesTheOption(t *testing.T) {
	for _, options := range []string{"", "unsupported error"} {
		s := followTable(t, "unsupported skip")
		err := s.TryToLoad(t, s.Block(options, "name other"))
		if err == nil || !strings.Contains(err.Error(), "_redirects:2:") ||
			!strings.Contains(err.Error(), "unsupported skip in the source's block") ||
			strings.Contains(err.Error(), "_redirects:3:") {
			t.Errorf("%q: got %v", options, err)
		}
	}
}

func TestTheLinesOfTheHostsOfABlockAreRules(t *testing.T) {
	s := followTable(t, "unsupported skip\n host old.example.com www.example.com")
	if got := s.Get(t, "/hello").Location(); got != "301 https://www.example.com/welcome" {
		t.Errorf("got %s", got)
	}
}

func TestTheDialectOfABlockIsThatOfItsTable(t *testing.T) {
	s := followTable(t, "unsupported skip\n dialect cloudflare")
	if got := s.Get(t, "/paper").Location(); got != "302 https://example.com/paper.pdf" {
		t.Errorf("got %s", got)
	}
}

// The options are part of what a source is: a reload that changes one reads anew.
func TestAReloadThatChangesHowATableIsReadReadsItAnew(t *testing.T) {
	s := followTable(t, "unsupported skip")
	s.Load(t, s.Block("unsupported skip\n dialect cloudflare", "name links"))
	s.Eventually(t, "/paper", "302 https://example.com/paper.pdf")
	s.Load(t, s.Block("unsupported skip\n host old.example.com", "name links"))
	s.Eventually(t, "/hello", "301 https://www.example.com/welcome")
}

func TestATableWithSkippedLinesCanBeEdited(t *testing.T) {
	s := followTable(t, "unsupported skip")
	if out, status := s.Command("add", "new", "https://new.example", "--exact"); status != 0 {
		t.Fatalf("status %d: %s", status, out)
	}
	s.Eventually(t, "/new", "302 https://new.example/")
	content, err := os.ReadFile(s.Links)
	testcaddy.Must(t, err)
	if !strings.HasPrefix(string(content), siteTable) {
		t.Errorf("the file is now\n%s", content)
	}
}

func TestCommandsReadTablesAsABlockWould(t *testing.T) {
	table := filepath.Join(t.TempDir(), "_redirects")
	testcaddy.Write(t, table, siteTable)
	flags := []string{
		"--unsupported", "skip", "--dialect", "cloudflare", "--line-host", "OLD.example.com",
	}
	for _, tt := range []struct {
		words []string
		want  string
	}{
		{[]string{"resolve", "/paper", "/hello", "/de/x", "--rules", table},
			"/paper -> 302 https://example.com/paper.pdf\n" +
				"/hello -> 302 https://www.example.com/welcome\n/de/x -> pass\n"},
		{[]string{"check", "--rules", table}, "warning: line left out (1)\n  " + table + ":2:"},
		{[]string{"reverse", "https://www.example.com/welcome", "--rules", table}, "hello"},
		{[]string{"diff", table, table}, "Nothing changes for clients.\n"},
		{[]string{"convert", "--to", "csv", table},
			"hello,https://www.example.com/welcome,302,exact"},
	} {
		words := append(append([]string{"shortlink"}, tt.words...), flags...)
		if got, _ := testcaddy.Run(words, ""); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got\n%s", fmt.Sprint(tt.words[0]), got)
		}
		got, status := testcaddy.Run(append([]string{"shortlink"}, tt.words...), "")
		if isConvert := tt.words[0] == "convert"; !isConvert && status == 0 {
			t.Errorf("%s without flags: got\n%s", tt.words[0], got)
		}
	}
}

func TestConvertRefusesFlagsThatSayNothingOfAFormat(t *testing.T) {
	dir := t.TempDir()
	table, links := filepath.Join(dir, "_redirects"), filepath.Join(dir, "links.json")
	testcaddy.Write(t, table, "/a /b\n")
	testcaddy.Write(t, links, `{"a": "/b"}`)
	for _, tt := range []struct{ flag, file, want string }{
		{"--status=301", table, "--status is for rules without a status, and redirects sets one"},
		{"--exact", table, "--exact is for rules that do not say what they take"},
		{"--status=200", links, `--status is 301, 302, 303, 307, 308, permanent or temporary, not "200"`},
		{"--query=keep", links, `--query is merge, preserve or ignore, not "keep"`},
		{"--line-host=a.example", links, "--line-host is for formats with hosts, and json has none"},
		{"--status=permanent", links, `"a": {"to":"/b","status":301}`},
		{"--query=preserve", table, `"query":"preserve"`},
	} {
		got, _ := testcaddy.Run([]string{"shortlink", "convert", "--to", "json", tt.flag, tt.file}, "")
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: got\n%s", tt.flag, got)
		}
	}
}
