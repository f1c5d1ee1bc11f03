package command_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/history"
	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// digestOf returns the digest that a server's rules have.
func digestOf(t *testing.T, s *testcaddy.Server) string {
	t.Helper()
	var status struct{ Digest string }
	reply := s.Ask(t, "GET", "links", "")
	testcaddy.Must(t, json.Unmarshal([]byte(reply.Body), &status))
	return status.Digest
}

// withNames replaces times, addresses and digests in what a command says by names.
func withNames(said string, digests ...string) string {
	said = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]*Z`).ReplaceAllString(said, "TIME")
	said = regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(said, "ADDRESS")
	for i, digest := range digests {
		name := string(rune('A' + i))
		said = strings.NewReplacer(digest, name, digest[:12], name).Replace(said)
	}
	return said
}

func TestChangesAreListedLookedAtAndTakenBack(t *testing.T) {
	s, path, _ := testcaddy.Editable(t, "links.json", `{"docs": "https://docs.example"}`)
	a := digestOf(t, s)
	s.Command("add", "docs", "https://new.example", "--status", "301")
	b := digestOf(t, s)
	s.Command("add", "sale", "https://sale.example")
	testcaddy.Write(t, path, `{"docs": "https://new.example", "more": "/docs"}`)
	s.Command("reload")
	c := digestOf(t, s)
	says := func(want string, status int, args ...string) {
		t.Helper()
		got, exit := s.Command(args...)
		got = withNames(got, a, b, c)
		if exit != status || !regexp.MustCompile("^"+want+"$").MatchString(got) {
			t.Errorf("%q says %d\n%swant %d\n%s", args, exit, got, status, want)
		}
	}
	says("TIME  .* -> C  from "+regexp.QuoteMeta(path)+`: 1 added, 1 removed, 1 changed
TIME  B -> .*  by ADDRESS: 1 added sale
TIME  A -> B  by ADDRESS: 1 changed docs
`, 0, "history")
	says(`TIME  .* -> C  from .*
  sale: was https://sale.example, now no rule
TIME  B -> .*  by ADDRESS: 1 added sale
  sale: was no rule, now https://sale.example
`, 0, "history", "sale")
	says(`TIME  .* -> C  from .*
  docs: was {"to":"https://new.example","status":301}, now https://new.example
  more: was no rule, now /docs
  sale: was https://sale.example, now no rule
`, 0, "history", "--digest", c[:8])
	says(`1 removed
  more .*: was 302 https://new.example/, now pass
1 changed
  docs .*: was 302 https://new.example/, now 301 https://new.example/
2 rules changed back, digest B
`, 0, "restore", b)
	says("docs https://new.example 301\nhome https://home.example\n", 0, "list")
	says("(?s).*\n2 rules changed back, digest C\n", 0, "restore", c[:12])
	says("(?s).*\n2 rules changed back, digest A\n", 0, "restore", a[:8])
	if got, err := os.ReadFile(path); err != nil || !strings.Contains(string(got), "docs.example") {
		t.Errorf("the file holds %q, %v", got, err)
	}
	says("Error: the rules are those of A already\n", 1, "restore", a)
	says("Error: write more digits of the digest than \"1234567\", at least 8\n", 1,
		"restore", "1234567")
	says("Error: the history does not know it: of what is kept, no change has led to 123456789, or "+
		"away from it\n", 1, "history", "--digest", "123456789")
	says("Error: history takes one key at most, or --digest, or forget and a digest\n", 2,
		"history", "one", "other")
	says("Error: restore takes one digest; caddy shortlink history lists them\n", 2, "restore")
	says(`No changes of the key "nothing" are kept.
`, 0, "history", "nothing")
	var all []history.Entry
	said, _ := s.Command("history", "--format", "json")
	if err := json.Unmarshal([]byte(said), &all); err != nil || len(all) != 6 || all[0].New != a {
		t.Errorf("%v, %v", all, err)
	}
}

func TestAForgottenChangeIsNotTakenBack(t *testing.T) {
	s, _, _ := testcaddy.Editable(t, "links.json", `{}`)
	a := digestOf(t, s)
	s.Command("add", "secret", "https://secret.example")
	b := digestOf(t, s)
	s.Says(t, "", 0, "history", "forget", b[:8])
	got, _ := s.Command("history")
	const line = "TIME  A -> B  by ADDRESS: 1 added; its content is missing: it was forgotten\n"
	if withNames(got, a, b) != line {
		t.Errorf("it says %s", got)
	}
	got, exit := s.Command("restore", a)
	if want := "Error: the history does not lead there: the change from A to B lies in between, and " +
		"has no content: it was forgotten; if a file has these rules, write: caddy shortlink apply " +
		"FILE --replace\n"; withNames(got, a, b) != want || exit != 1 {
		t.Errorf("it says %s", got)
	}
}

func TestAStorageThatTakesNoHistoryIsToldInTheStatus(t *testing.T) {
	s := &testcaddy.Server{Admin: testcaddy.FreeAddress(t), Storage: testcaddy.StorageDir(t)}
	t.Cleanup(func() { testcaddy.Must(t, caddy.Stop()) })
	links, inTheWay := filepath.Join(t.TempDir(), "links.json"), filepath.Join(s.Storage, "shortlink")
	testcaddy.Write(t, links, `{}`)
	testcaddy.Must(t, os.Mkdir(inTheWay, 0o700))
	testcaddy.Write(t, filepath.Join(inTheWay, "history"), "")
	s.Load(t, "shortlink {\n from file "+links+"\n name links\n }")
	s.Says(t, "docs https://docs.example\n", 0, "add", "docs", "https://docs.example")
	const want = "  changes are not stored in the history since "
	for got, exit := "", 0; !strings.Contains(got, want); got, exit = s.Command("status") {
		if exit != 0 {
			t.Fatal(got)
		}
	}
	got, exit := s.Command("history")
	const unread = "Error: the history in Caddy's storage cannot be read: "
	if !strings.HasPrefix(got, unread) || exit != 1 {
		t.Errorf("it says %s", got)
	}
}

func TestTheHistorySurvivesReloadsAndRestarts(t *testing.T) {
	s := &testcaddy.Server{Admin: testcaddy.FreeAddress(t), Storage: testcaddy.StorageDir(t)}
	t.Cleanup(func() { testcaddy.Must(t, caddy.Stop()) })
	links := filepath.Join(t.TempDir(), "links.json")
	testcaddy.Write(t, links, `{}`)
	block := "shortlink {\n from file " + links + "\n name links\n history 3\n }"
	s.Load(t, block)
	for i, key := range []string{"a", "b", "c", "d"} {
		s.Says(t, key+" https://new.example\n", 0, "add", key, "https://new.example")
		if i%2 == 0 {
			testcaddy.Must(t, caddy.Stop())
		}
		s.Reload(t, block)
	}
	got, _ := s.Command("history")
	keys := regexp.MustCompile(`1 added (.)\n`).FindAllStringSubmatch(got, -1)
	if len(keys) != 3 || keys[0][1] != "d" || keys[1][1] != "c" || keys[2][1] != "b" {
		t.Errorf("it says\n%s", got)
	}
}
