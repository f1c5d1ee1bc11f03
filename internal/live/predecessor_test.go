package live_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

func TestAReloadThatBreaksAKeyIsRefused(t *testing.T) {
	loops := filepath.Join(t.TempDir(), "loops.json")
	testcaddy.Write(t, loops, `{"more": "/more/x"}`)
	const rules = "docs https://docs.example\n a /b\n b /c\n c https://c.example\n t/{x} " +
		"https://t.example/{x}\n"
	const old = "shortlink {\n" + rules + "}"
	for name, tt := range map[string]struct{ before, after, want string }{
		"by an inline rule": {
			old, "shortlink {\n docs /docs/v2\n }",
			`key "docs": loop: "/docs/v2" lies at or below the key`,
		},
		"beside keys that were broken before": {
			"shortlink {\n docs https://docs.example\n ping /pong\n pong /ping\n }",
			"shortlink {\n docs /ping\n ping /pong\n pong /ping\n }",
			"1 working key would fail\nshortlink: key \"docs\": the rule " +
				"leads into the loop ping -> pong",
		},
		"by an option": {
			old, "shortlink {\n" + rules + "max_redirects 1\n }",
			`key "a": the chain takes more than 1 `,
		},
		"by a template": {
			old, "shortlink {\n docs https://docs.example\n t/{x} /t/{x}\n }",
			`key "t/{x}": loop t/{x} -> t/{x}`,
		},
		"by another source": {
			old, "shortlink {\n" + rules + "from file " + loops + "\n }",
			`loops.json:1:2: key "more": loop: `,
		},
		"of a handler that moves": {
			"handle /x/* {\n shortlink {\n name links\n a https://a.example\n }\n }\n" + old,
			"@host host other.example\n handle @host {\n shortlink {\n name links\n a /a/x\n }\n }",
			`shortlink links: key "a": loop`,
		},
		"of a handler that gets a name": {
			old, "shortlink {\n name links\n docs /docs/v2\n }",
			`shortlink links: key "docs": loop`,
		},
		"of one of two handlers of one name": {
			twoNamed("https://docs.example"), twoNamed("/docs/v2"),
			`shortlink links: key "docs": loop: "/docs/v2"`,
		},
		"of the second handler of a site": {
			"handle /x/* {\n shortlink {\n loop /loop\n }\n }\n" + old,
			"handle /x/* {\n shortlink {\n loop /loop\n }\n }\n shortlink {\n docs /docs/v2\n loop /loop\n }",
			"1 working key would fail\nshortlink: key \"docs\": loop",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := testcaddy.Serve(t, tt.before)
			if err := s.TryToLoad(t, tt.after); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if got := s.Get(t, "/docs/x").Location(); got != "302 https://docs.example/x" {
				t.Errorf("got %s", got)
			}
			testcaddy.Must(t, caddy.Stop())
			s.Load(t, tt.after) // nothing serves then
		})
	}
}

// twoNamed are two handlers of one name at two hosts, of which one has a broken key.
func twoNamed(docs string) string {
	const broken = "@other host other.example\n handle @other {\n shortlink {\n name links\n docs " +
		"/docs/x\n }\n }\n"
	return broken + "shortlink {\n name links\n docs " + docs + "\n }"
}

func TestAReloadMayRemoveKeysAndKeepBrokenOnes(t *testing.T) {
	s := testcaddy.Serve(t, "shortlink {\n name links\n docs https://docs.example\n loop /loop\n }")
	s.Load(t, "shortlink {\n name links\n loop /loop\n }")
	s.Load(t, "shortlink {\n name links\n loop /loop\n fold case\n }\n respond next 299")
	if got := s.Get(t, "/docs").Status; got != 299 {
		t.Errorf("got %d", got)
	}
}

// A host or an address that nothing served at before is a site that starts.
func TestASiteThatIsNewServesWhatItCanInAReload(t *testing.T) {
	site := func(host, rule string) string {
		return "@" + host + " host " + host + ".example\n handle @" + host +
			" {\n shortlink {\n a https://a.example\n " + rule + "\n }\n }\n"
	}
	s := testcaddy.Serve(t, site("one", "b https://b.example"))
	s.Reload(t, site("one", "b https://b.example")+site("two", "b /b"))
	if err := s.TryToLoad(t, site("one", "b /b")+site("two", "b /b")); err == nil ||
		!strings.Contains(err.Error(), `key "b": loop`) {
		t.Errorf("got %v", err)
	}
	s.Load(t, site("one", "b /b"))
}

func TestAConfigurationThatBreaksKeysIsValidWhereNothingServes(t *testing.T) {
	const block = "shortlink {\n docs /docs/v2\n }"
	adapted, err := testcaddy.Adapt("http://127.0.0.1:1 {\n" + block + "\n}")
	testcaddy.Must(t, err)
	var config caddy.Config
	testcaddy.Must(t, json.Unmarshal(adapted, &config))
	testcaddy.Must(t, caddy.Validate(&config))
	s := testcaddy.Serve(t, block)
	if got := s.Get(t, "/docs").Status; got != 508 {
		t.Errorf("got %d", got)
	}
}

func TestAFaultySourceKeepsNoReloadBackAndItsLastGoodRulesServe(t *testing.T) {
	for name, fault := range map[string]string{
		"no JSON":                `{"a": `,
		"a bad rule":             `{"a": "b", "docs": "https://new.example"}`,
		"a loop":                 `{"a": "/a/x", "docs": "https://new.example"}`,
		"a failed expectation":   `{"a": "https://wrong.example"}`,
		"a loop of another rule": `{"a": "https://a.example", "docs": "/inline", "new": "/new"}`,
		"nothing at all":         ``,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			expect := filepath.Join(dir, "expect.json")
			testcaddy.Write(t, expect, `{"/a": "https://a.example/"}`)
			links, more := filepath.Join(dir, "links.json"), filepath.Join(dir, "more.json")
			const good = `{"docs": "https://docs.example", "a": "https://a.example", "both": "https://both.example", "t/{x}": "https://t.example/{x}"}`
			testcaddy.Write(t, links, good)
			testcaddy.Write(t, more, `{"docs": "https://more.example", "m": "https://m.example"}`)
			log := filepath.Join(dir, "caddy.log")
			block := func(inline string) string {
				return "shortlink {\n " + inline + "\n name links\n" +
					"from file " + links + " {\n poll 5ms\n expect " + expect + "\n }\n from file " + more +
					" {\n poll 5ms\n }\n }\n respond next 299"
			}
			s := testcaddy.Administer(t, testcaddy.LogTo(log), block("both /docs"))
			logged := (&testcaddy.Follower{Log: log}).Logged
			testcaddy.Write(t, links, fault)
			logged(t, 1, testcaddy.Rejected)
			testcaddy.Write(t, more, `{"docs": "https://more.example", "m": "https://m2.example"}`)
			logged(t, 2, testcaddy.Rejected)
			s.Load(t, block("inline https://inline.example"))
			for target, want := range map[string]string{
				"/docs": "302 https://docs.example/", "/a": "302 https://a.example/",
				"/t/x":  "302 https://t.example/x",
				"/both": "302 https://both.example/", "/inline": "302 https://inline.example/",
				"/m": "302 https://m.example/",
			} {
				if got := s.Get(t, target).Location(); got != want {
					t.Errorf("%s: got %s, want %s", target, got, want)
				}
			}
			entry := logged(t, 3, testcaddy.Rejected)
			if entry["level"] != "error" || !strings.Contains(fmt.Sprint(entry["error"]), "links.json") &&
				!strings.Contains(fmt.Sprint(entry["error"]), "expect /a") {
				t.Errorf("the entry is %v", entry)
			}
			if got, exit := s.Command("status"); exit != 1 || !strings.Contains(got, "\n  rejected at ") {
				t.Errorf("the status is %s, %d", got, exit)
			}
			testcaddy.Write(t, links, good)
			if got, exit := s.Command("reload"); exit != 0 {
				t.Errorf("got %s, %d", got, exit)
			}
			if got := s.Get(t, "/m").Location(); got != "302 https://m2.example/" {
				t.Errorf("got %s", got)
			}
			if got, exit := s.Command("status"); exit != 0 {
				t.Errorf("the status is %s, %d", got, exit)
			}
		})
	}
}

func TestAFaultySourceExcusesNoFaultOfTheConfiguration(t *testing.T) {
	s := testcaddy.Follow(t, `{"a": "https://a.example"}`, "", "")
	testcaddy.Write(t, s.Links, `{`)
	const key = "minisign RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
	for _, tt := range []struct{ options, more, want string }{
		{"", "inline /inline/x", `shortlink: key "inline": loop: `},
		{"", "allow_hosts example.com", `links.json: key "a": the host "a.example" is not`},
		{"", "expect /a pass", "expect /a pass: it is https://a.example/"},
		{"", "from file " + s.Links + ".none", ".none: no such file"},
		{"format json", "", "it ends too early"}, // not the same source
		{key, "", "its signature: "},
	} {
		if err := s.TryToLoad(t, s.Block(tt.options, tt.more)); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

func TestFailuresLastOverAReload(t *testing.T) {
	s := testcaddy.Follow(t, `{"a": "https://a.example"}`, "", "name links")
	testcaddy.Write(t, s.Links, `{`)
	before := s.Logged(t, 1, testcaddy.Rejected)
	s.Load(t, s.Block("", "name links\n status 301"))
	if after := s.Logged(t, 2, testcaddy.Rejected); after["failing_since"] != before["failing_since"] {
		t.Errorf("failing since %v, then since %v", before["failing_since"], after["failing_since"])
	}
	if got := s.Get(t, "/a").Location(); got != "301 https://a.example/" {
		t.Errorf("got %s", got)
	}
}

func TestAColdStartServesWhatItCanAndNamesTheRest(t *testing.T) {
	dir := t.TempDir()
	links, log := filepath.Join(dir, "links.json"), filepath.Join(dir, "caddy.log")
	testcaddy.Write(t, links, "{\"a\": \"https://a.example\",\n\"j\": \"/j/x\", \"ping\": \"/pong\", "+
		"\"pong\": \"/ping\",\n\"long\": \"/b\", \"b\": \"/a\", \"x/\": \"https://x.example\",\n"+
		"\"up\": \"/t/..%2Fx\", \"t/{x}\": \"https://t.example/{x}\"}")
	s := testcaddy.Administer(t, testcaddy.LogTo(log),
		"shortlink {\n from file "+links+"\n max_redirects 1\n name links\n }")
	if got := s.Get(t, "/a/b").Location(); got != "302 https://a.example/b" {
		t.Errorf("got %s", got)
	}
	want := []struct{ kind, key, position, reason string }{
		{"loop", "j", ":2:1", `loop: "/j/x" lies at or below the key`},
		{"loop", "ping", ":2:14", "loop ping -> pong -> ping: "},
		{"loop", "pong", ":2:31", "loop ping -> pong -> ping: "},
		{"too many redirects", "long", ":3:1", "the chain takes more than 1 "},
		{"unsafe path", "up", ":4:1", "the chain comes to a path with an encoded "},
	}
	var answer struct {
		Broken []struct{ Kind, Key, Position, Reason string }
		Count  int `json:"broken_rules"`
	}
	testcaddy.Must(t, json.Unmarshal([]byte(s.Ask(t, "GET", "links", "").Body), &answer))
	status, exit := s.Command("status")
	if exit != 1 || !strings.Contains(status, "  loaded at ") ||
		!strings.Contains(status,
			"\n  answered with an error: 5 rules\n    loop: "+links+":2:1: key \"j\": loop: ") {
		t.Errorf("the status is %s, %d", status, exit)
	}
	content, err := os.ReadFile(log)
	testcaddy.Must(t, err)
	if len(answer.Broken) != len(want) || answer.Count != len(want) {
		t.Fatalf("broken are %v", answer)
	}
	for i, w := range want {
		got := answer.Broken[i]
		if got.Kind != w.kind || got.Key != w.key || got.Position != links+w.position ||
			!strings.HasPrefix(got.Reason, w.reason) {
			t.Errorf("got %v, want %v", got, w)
		}
		if !strings.Contains(status,
			fmt.Sprintf("    %s: %s: key %q: %s\n", w.kind, got.Position, w.key, got.Reason)) {
			t.Errorf("%s is not in the status %s", w.key, status)
		}
		entry := (&testcaddy.Follower{Log: log}).Logged(t, 1,
			fmt.Sprintf(`"key":%q,"position":%q`, w.key, got.Position))
		if entry["level"] != "error" || entry["msg"] != got.Reason || entry["kind"] != w.kind ||
			entry["name"] != "links" {
			t.Errorf("the entry is %v", entry)
		}
	}
	if n := strings.Count(string(content), `"level":"error"`); n != len(want) ||
		strings.Count(string(content), `"level":"warn"`) != 1 {
		t.Errorf("the log is %s", content)
	}
	if got := s.Scrape(t)[`caddy_shortlink_broken_rules{name="links"}`]; got != "5" {
		t.Errorf("the gauge is %s", got)
	}
	testcaddy.Write(t, links, `{"a": "https://a.example"}`)
	s.Command("reload")
	if got, exit := s.Command("status"); exit != 0 {
		t.Errorf("the status is %s, %d", got, exit)
	}
}

func TestALoopThatWasRefusedIsNamedAfterARestart(t *testing.T) {
	dir := t.TempDir()
	links := filepath.Join(dir, "links.json")
	testcaddy.Write(t, links, `{"a": "https://a.example"}`)
	const loop = `{"a": "https://a.example", "j": "/j/x"}`
	block := "shortlink {\n from file " + links + "\n }"
	s := testcaddy.Administer(t, "", block)
	testcaddy.Write(t, links, loop)
	if got, exit := s.Command("reload"); exit != 1 ||
		!strings.Contains(got, `key "j": loop: "/j/x" lies at or below the key`) {
		t.Errorf("got %s, %d", got, exit)
	}
	testcaddy.Must(t, caddy.Stop())
	s.Load(t, block)
	if got, exit := s.Command("status"); exit != 1 ||
		!strings.Contains(got, `key "j": loop: "/j/x" lies at or below the key`) {
		t.Errorf("the status is %s, %d", got, exit)
	}
}

func TestLogLinesOfAHandlerWithoutANameNameItsSite(t *testing.T) {
	log := filepath.Join(t.TempDir(), "caddy.log")
	s := testcaddy.ServeWith(t, testcaddy.LogTo(log),
		"@host host go.example www.example\n handle @host {\n shortlink {\n loop /loop\n }\n }")
	port := s.Addr[strings.LastIndex(s.Addr, ":"):]
	for _, text := range []string{"rules loaded", `"kind":"loop"`} {
		if got, want := (&testcaddy.Follower{Log: log}).Logged(t, 1, text)["site"],
			"go.example"+port+" www.example"+port; got != want {
			t.Errorf("the site is %v, want %s", got, want)
		}
	}
}

func TestEveryLineOfAnErrorInTheStatusIsIndented(t *testing.T) {
	s, path, _ := testcaddy.Editable(t, "links.json", `{}`)
	testcaddy.Write(t, path, "{\"/a\": \"/b\",\n\"/c\": \"/d\"}")
	s.Command("reload")
	got, _ := s.Command("status")
	for line := range strings.Lines(got) {
		if !strings.HasPrefix(line, "links: ") && !strings.HasPrefix(line, "  ") {
			t.Errorf("%q is not indented in %s", line, got)
		}
	}
	if !strings.Contains(got, "\n    "+path+`:2:1: key "/c": `) {
		t.Errorf("the status is %s", got)
	}
}

func TestARefusedReloadNamesTheHandlerOrItsSiteAndTheKey(t *testing.T) {
	const host = "@host host go.example\n handle @host {\n shortlink {\n "
	s := testcaddy.Serve(t, host+"a https://a.example\n }\n }")
	site := "site go.example" + s.Addr[strings.LastIndex(s.Addr, ":"):] + ": "
	for block, want := range map[string]string{
		"a /a/x": site + "1 working key would fail\n" +
			"shortlink: key \"a\": loop",
		"from file none.json": site + "source none.json: ",
		"name n\n a /a/x":     "shortlink n: key \"a\": loop",
	} {
		err := s.TryToLoad(t, host+block+"\n }\n }")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if named := strings.Contains(fmt.Sprint(err), site); named != strings.Contains(want, site) {
			t.Errorf("the site is named in %v", err)
		}
	}
}
