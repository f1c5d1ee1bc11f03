package page_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// linksToSite are links to paths of the site, of which only those of a, c and d may be nobody's.
const linksToSite = `{"docs": "https://docs.example", "a": "/nowhere", "b": "/docs/x",
	"c": "/robots.txt", "d": "/wiki/Home", "e": "/.links/try", "f": "/", "g": "/docs+",
	"h": "/keep/x", "keep": "pass"}`

func TestDeadEndsAreWarnedOfWhereTheyAreNotFoundForCertain(t *testing.T) {
	const links = "shortlink {\n from file %s\n name go\n }\n"
	const page = "shortlink_page {\n handler go\n misses\n }\n"
	file := filepath.Join(t.TempDir(), "links.json")
	testcaddy.Write(t, file, linksToSite)
	for name, tt := range map[string]struct{ block, dead string }{
		"nothing else":         {links + testcaddy.SignIn + "\n" + page, "a c d"},
		"in a route":           {"route {\n" + links + testcaddy.SignIn + "\n" + page + "}", "a c d"},
		"without misses":       {links + "shortlink_page", ""},
		"what has paths":       {"respond /robots.txt x\nhandle /wiki/* {\n respond x\n}\n", "a"},
		"what has no matcher":  {"header X-Y z\nroute {\n respond /robots.txt x\n}\n", "a d"},
		"a redirect":           {"redir /robots.txt https://x.example\n" + links + page, "a d"},
		"a rewrite before":     {"uri strip_prefix /x\n" + links + page, ""},
		"what stands behind":   {links + page + "handle {\n file_server\n}\n", "a c d"},
		"the page comes first": {"route {\n" + page + links + "}", ""},
		"a condition":          {"@x header X y\nrespond @x x\n", ""},
		"a host of the site":   {"@x host go.example\nrespond @x x\n", ""},
		"an answer to all":     {"respond x\n", ""},
		"another answer":       {"intercept {\n handle_response {\n respond x\n }\n}\n", ""},
		"files":                {"file_server {\n pass_thru\n root /nowhere\n}\n", ""},
		"another handler":      {"shortlink {\n nowhere https://x.example\n name x\n}\n", ""},
		"a rewrite":            {"uri strip_prefix /x\n", ""},
		"a cut path":           {"handle_path /go/* {\n" + links + page + "}", ""},
		"a matcher":            {links + "shortlink_page /x* {\n handler go\n misses\n}", ""},
		"an error route":       {links + "handle_errors {\n" + page + "}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			block := tt.block
			if !strings.Contains(block, "shortlink_page") {
				block = "route {\n" + block + links + page + "}"
			}
			block = fmt.Sprintf(block, file)
			if got := deadInCheck(t, "http://go.example {\n"+block+"\n}\n"+
				"http://other.example {\n @x header X y\n respond @x other\n}\n"); got != tt.dead {
				t.Errorf("check says %q, want %q", got, tt.dead)
			}
			s := &testcaddy.Follower{Log: filepath.Join(t.TempDir(), "caddy.log")}
			s.Server = testcaddy.ServeWith(t, testcaddy.LogTo(s.Log), block)
			s.Logged(t, strings.Count(block, " name "), "rules loaded")
			if got := deadInLog(t, s); got != tt.dead {
				t.Errorf("the log says %q, want %q", got, tt.dead)
			}
		})
	}
}

// deadInCheck returns the keys that check finds to be dead ends in a Caddyfile.
func deadInCheck(t *testing.T, caddyfile string) string {
	t.Helper()
	config := filepath.Join(t.TempDir(), "Caddyfile")
	testcaddy.Write(t, config, caddyfile)
	args := []string{"shortlink", "check", "--config", config, "--format", "json"}
	out, _ := testcaddy.Run(args, "")
	var report struct {
		Handlers []struct {
			Findings []struct{ Kind, Key, Severity string }
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || report.Handlers == nil {
		t.Fatal(err, out)
	}
	var dead []string
	for _, h := range report.Handlers {
		for _, f := range h.Findings {
			if f.Kind == "dead-end" && f.Severity == "warning" {
				dead = append(dead, f.Key)
			}
		}
	}
	slices.Sort(dead)
	return strings.Join(dead, " ")
}

// deadInLog returns the keys that the log says are dead ends.
func deadInLog(t *testing.T, s *testcaddy.Follower) string {
	t.Helper()
	var dead []string
	for line := range strings.Lines(testcaddy.ReadFile(t, s.Log)) {
		var entry struct{ Kind, Key string }
		testcaddy.Must(t, json.Unmarshal([]byte(line), &entry))
		if entry.Kind == "dead-end" {
			dead = append(dead, entry.Key)
		}
	}
	slices.Sort(dead)
	return strings.Join(dead, " ")
}

func TestDeadEndsAreToldWhenAPageBeginsToAnswerMisses(t *testing.T) {
	dir := t.TempDir()
	s := &testcaddy.Follower{
		Links: filepath.Join(dir, "links.json"), Log: filepath.Join(dir, "caddy.log"),
	}
	testcaddy.Write(t, s.Links, linksToSite)
	block := strings.Replace(testcaddy.PageBlock(s.Links, ""), "from file "+s.Links,
		"from file "+s.Links+" {\npoll 5ms\n}", 1)
	s.Server = testcaddy.ServeWith(t, testcaddy.LogTo(s.Log), block)
	s.Logged(t, 1, "rules loaded")
	if got := deadInLog(t, s); got != "" {
		t.Errorf("at first these are dead ends: %s", got)
	}
	s.Reload(t, strings.Replace(block, "handler go", "handler go\nmisses", 1))
	s.Logged(t, 3, "dead-end")
	testcaddy.Write(t, s.Links, strings.Replace(linksToSite, "/docs/x", "/dogs/x", 1))
	s.Logged(t, 4, "dead-end")
	if got := deadInLog(t, s); got != "a b c d" {
		t.Errorf("then these are: %s", got)
	}
}

func TestThePageTellsOfDeadEndsWhereverItShowsADestination(t *testing.T) {
	file := filepath.Join(t.TempDir(), "links.json")
	testcaddy.Write(t, file, linksToSite)
	for options, want := range map[string]string{
		"misses": "Dead end: no link answers /nowhere",
		"":       "No link answers /nowhere; the site itself must",
	} {
		s := testcaddy.Serve(t, testcaddy.PageBlock(file, options))
		for _, path := range []string{
			"key/a", "try?url=/a?x", "try?url=https://go.example/a", "try?url=http://" + s.Addr + "/a",
		} {
			s.Get(t, "/.links/"+path, testcaddy.AsAnn, testcaddy.AsHTML).
				Wants(t, 200, `<b class="warn"><bdi>`+want+`</bdi></b>`)
			s.Get(t, "/.links/"+path, testcaddy.AsAnn).Wants(t, 200, "\n  "+want+"\n")
			s.Get(t, "/.links/"+path, testcaddy.AsAnn, testcaddy.AsJSON).
				Wants(t, 200, `"dead_end":"`+want+`"`)
		}
		for _, path := range []string{
			"?q=keep", "key/b", "key/e", "key/f", "key/h", "key/keep", "key/docs",
			"try?url=/nowhere", "try?url=:",
		} {
			got := s.Get(t, "/.links/"+path, testcaddy.AsAnn, testcaddy.AsHTML)
			if strings.Contains(got.Body, "o link answers") {
				t.Errorf("%s is told to be a dead end:\n%s", path, got.Body)
			}
		}
		s.Get(t, "/.links/?q=nowhere", testcaddy.AsAnn, testcaddy.AsHTML).
			Wants(t, 200, `<p class="note warn"><bdi>`+want+`</bdi></p>`)
		s.Get(t, "/.links/?q=nowhere", testcaddy.AsAnn, testcaddy.AsJSON).
			Wants(t, 200, `"dead_end":"`+want+`"`)
		s.Get(t, "/.links/key/docs?delete", testcaddy.AsAnn, testcaddy.AsHTML).
			Wants(t, 200, `<b>dead-end:</b> <code><bdi>b</bdi></code>: <bdi class="lines">no link`)
	}
}

func TestADeadEndIsConfirmedOnlyWhereNothingElseCanAnswerIt(t *testing.T) {
	for options, want := range map[string]int{"misses": 428, "": 201} {
		s, _ := servePage(t, someRules, options)
		s.Post(t, "/.links/new", "key=x&to=/pages/about").Wants(t, want)
		s.Post(t, "/.links/new", "action=check&key=y&to=/pages/about").
			Wants(t, 200, "no link answers /pages/about")
		s.Post(t, "/.links/new", "key=doc&to=/pages/about").Wants(t, 428, "nearly taken", "no link answers")
	}
}

func TestAListTellsOfDeadEndsWithTheNamesOfVariables(t *testing.T) {
	s, _ := servePage(t, `{"a/{id}": "/nowhere/{id}"}`, "misses")
	s.Get(t, "/.links/?q=", testcaddy.AsAnn, testcaddy.AsHTML).
		Wants(t, 200, "Dead end: no link answers /nowhere/{id}<")
}

func TestAddTellsThatARuleHidesThePage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "links.json")
	testcaddy.Write(t, file, "{}")
	s := testcaddy.Administer(t, "", testcaddy.PageBlock(file, ""))
	s.Says(t, "Warning: "+file+`: key "{x}": the rule answers /.links, so the links page does not `+
		"get it; put a rule \".links pass\" beside it\n{x} https://search.test/?q={x}\n", 0,
		"add", "{x}", "https://search.test/?q={x}")
}
