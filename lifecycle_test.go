package shortlink_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-shortlink/shortlink"
	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

func TestAConfigurationThatCannotServeIsRefused(t *testing.T) {
	tests := map[string]struct{ config, want string }{
		"a bad rule": {`{"rules": {"/gh": "https://github.com"}}`,
			`shortlink: key "/gh": the key begins with "/"; write gh`},
		"the handler's name": {`{"rules": {"a": "b"}, "name": "links"}`,
			`shortlink links: key "a": `},
		"all bad rules": {`{"rules": {"/a": "/b", "c?": "/d"}}`,
			"shortlink: key \"/a\": the key begins with \"/\"; write a\nshortlink: key \"c?\": "},
		"keys that are the same": {`{"rules": {"é": "/a", "%c3%a9": "/b"}}`,
			`shortlink: key "%c3%a9": the key is the same as "é"`},
		"a value of no kind": {`{"rules": {"a": ["/b"]}}`, `rules: the array of "a" has objects`},
		"all that is wrong": {`{"rules": {"/a": "/b", "c": {"to": "/d", "status": 305}}}`,
			"rules: \"status\" in the value of \"c\" takes 301, 302, 303, 307 or 308, not 305\nkey \"/a\": "},
		"options and rules": {`{"query": "x", "fold": "y", "origin": "z", "cache": -1, "name": "a b", "rules": {"/a": "/b"}}`, "query takes merge, preserve or ignore, not \"x\"\nfold takes \"case\", not \"y\"\ncache takes a duration of at least one second, such as \"1h\", not -1ns; a number counts nanoseconds\nname takes letters, digits, \"-\", \"_\" and \".\", not \"a b\"\norigin: \"z\" does not begin with http:// or https://; write scheme and host alone, like https://go.example\nshortlink: key \"/a\": "},
		"a placeholder": {`{"rules": {"a": "/b", "c": "https://{http.request.host}/"}}`,
			`key "c": the placeholder {http.request.host} is not replaced here`},
		"an unknown member": {`{"rule": {"a": "/b"}}`, `unknown field "rule"; it is called "rules" in JSON`},
		"an option by its name in a Caddyfile": {`{"rules": {"a": "/b"}, "status": 301}`,
			`unknown field "status"; it is called "status_code" in JSON`},
		"another unknown member": {`{"rulez": {"a": "/b"}}`, `unknown field "rulez"`},
		"a bad status": {`{"status_code": 200}`,
			"status_code: 200 is not the status of a redirect"},
		"a bad query mode": {`{"query": "append"}`,
			`query takes merge, preserve or ignore, not "append"`},
		"a bad fold":             {`{"fold": "accents"}`, `fold takes "case", not "accents"`},
		"a limit that is raised": {`{"max_redirects": 256}`, "max_redirects: "},
		"a bad origin":           {`{"origin": "go.example"}`, "origin: "},
		"a bad host pattern":     {`{"allow_hosts": ["exa*mple.com"]}`, "allow_hosts: "},
		"too short a time": {`{"cache": "10ms"}`,
			`cache takes a duration of at least one second, such as "1h", not 10ms`},
		"a negative time": {`{"cache": -1000000000}`,
			`cache takes a duration of at least one second, such as "1h", not -1s`},
		"too short a time for permanent ones": {`{"cache_permanent": 1}`,
			`cache_permanent takes a duration of at least one second, such as "1h", not 1ns`},
		"a history without an end": {`{"history": 1001}`,
			"history takes a number from 0 to 1000, not 1001"},
		"a bad name": {`{"name": "a/b"}`,
			`name takes letters, digits, "-", "_" and ".", not "a/b"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := testcaddy.Provision(t, tt.config)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestTheJSONOfAHandlerIsReadAsItWasWritten(t *testing.T) {
	const config = `{"rules":{"a":"/b?c&d","e":{"to":"https://example.com","status":308,"exact":true,"unlisted":true}},` +
		`"origin":"https://go.example","status_code":301,"cache":3600000000000,"query":"preserve","protect":["*"],` +
		`"fold":"case","max_redirects":0,"allow_hosts":["example.com"],"history":0,"name":"links"}`
	if _, err := testcaddy.Provision(t, config); err != nil {
		t.Fatal(err)
	}
	h := new(shortlink.Handler)
	if err := json.Unmarshal([]byte(config), h); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	if plain := strings.ReplaceAll(string(got), `\u0026`, "&"); plain != config {
		t.Errorf("got\n%s\nwant\n%s", plain, config)
	}
}

func TestWhatTheAuthorShouldKnowIsLogged(t *testing.T) {
	logFile := filepath.Join(t.TempDir(), "caddy.log")
	s := testcaddy.ServeWith(t, "log links {\n output file "+logFile+"\n include http.handlers.shortlink\n }", `shortlink {
		team/* https://team.example
		name links
	}`)
	s.Load(t, "respond bye") // closes the log
	content, err := os.ReadFile(logFile)
	if err != nil {
		t.Fatal(err)
	}
	var entry struct{ Level, Msg, Kind, Key, Position string }
	first, _, _ := strings.Cut(string(content), "\n")
	if err := json.Unmarshal([]byte(first), &entry); err != nil {
		t.Fatalf("%v: %s", err, content)
	}
	if entry.Level != "warn" || entry.Kind != "literal *" || entry.Key != "team/*" ||
		entry.Position != "shortlink links" || entry.Msg == "" {
		t.Errorf("the log says %s", first)
	}
}

// A server that shuts down turns away connections from which it has not read a request
// yet: a client sends such a request again. What has reached the site is answered.
func TestAReloadUnderLoadLosesNoRequest(t *testing.T) {
	block := func(generation int) string {
		return fmt.Sprintf(`route {
			test_count
			shortlink {
				gh https://github.com
				generation https://example.com/%d
			}
		}`, generation)
	}
	s := testcaddy.Serve(t, block(0))
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	defer client.CloseIdleConnections()
	ask := func(path string) (location string) {
		for range 5 {
			response, err := client.Get("http://" + s.Addr + path)
			if err != nil {
				continue
			}
			response.Body.Close()
			return response.Header.Get("Location")
		}
		return "turned away five times"
	}

	var stop atomic.Bool
	var asked atomic.Int64
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for !stop.Load() {
				if got := ask("/gh/a"); got != "https://github.com/a" {
					t.Errorf("got %s", got)
					return
				}
				asked.Add(1)
			}
		})
	}
	// While the former server is on its way out, it accepts and answers what comes in.
	deadline := time.Now().Add(time.Minute)
	for generation := 1; generation <= 10 && !t.Failed(); generation++ {
		before := asked.Load()
		s.Reload(t, block(generation))
		want := fmt.Sprintf("https://example.com/%d", generation)
		for got := ask("/generation"); got != want; got = ask("/generation") {
			if time.Now().After(deadline) {
				t.Errorf("after the reload: got %s, want %s", got, want)
				break
			}
		}
		for asked.Load() < before+10 && !t.Failed() {
			ask("/gh")
		}
	}
	stop.Store(true)
	clients.Wait()
	counted := &testcaddy.Counted
	if reached, answered := counted.Reached.Load(), counted.Answered.Load(); reached != answered {
		t.Errorf("of %d requests that reached the site %d were answered", reached, answered)
	}
}

func TestABadConfigurationLeavesTheOldOneServing(t *testing.T) {
	s := testcaddy.Serve(t, "shortlink {\n gh https://github.com\n }")
	if err := s.TryToLoad(t, "shortlink {\n gh github.com\n }"); err == nil {
		t.Error("the bad configuration was accepted")
	}
	if got := s.Get(t, "/gh").Location(); got != "302 https://github.com/" {
		t.Errorf("got %s", got)
	}
}

func TestTwoHandlersAreIndependent(t *testing.T) {
	s := testcaddy.Serve(t, `shortlink {
		a https://example.com/first
		fold case
		status 308
	}
	route {
		shortlink {
			a https://example.com/second
			b https://example.com/second
		}
	}`)
	for target, want := range map[string]string{
		"/A": "308 https://example.com/first",
		"/b": "302 https://example.com/second",
		"/B": "200",
	} {
		if got := s.Get(t, target).Location(); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
}

func TestTwoSitesAreIndependent(t *testing.T) {
	s := testcaddy.Serve(t, `@one host one.example
	handle @one {
		shortlink {
			docs /one
		}
	}
	@two host two.example
	handle @two {
		shortlink {
			docs /two
		}
	}`)
	for host, want := range map[string]string{
		"one.example": "302 http://one.example/one/x",
		"two.example": "302 http://two.example/two/x",
	} {
		got := s.Raw(t, "GET", "GET /docs/x HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n")
		if got.Location() != want {
			t.Errorf("%s: got %s, want %s", host, got.Location(), want)
		}
	}
}

func TestAServerThatStartsWithoutASourceAnswers503InsteadOf404UntilItIsRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "links.json")
	s := testcaddy.Serve(t, `
	header /plain X-Before kept
	shortlink {
		docs https://docs.example
		hole pass
		expect /later https://later.example/
		from file `+file+` {
			poll 5ms
			start without
		}
	}
	respond /there "here" 200
	respond /hole "no such page" 404
	error /failing "no such page" 404
	respond "no such link" 404`)
	s.Leads(t, "/docs/a", "302 https://docs.example/a")
	for _, path := range []string{"/later", "/plain", "/failing"} {
		answer := s.Get(t, path)
		if answer.Status != 503 || answer.Header.Get("Retry-After") == "" || answer.Body != "" ||
			answer.Header.Get("Content-Type") != "" {
			t.Errorf("%s is answered with %d, %v and %q", path, answer.Status, answer.Header, answer.Body)
		}
	}
	if got := s.Get(t, "/plain").Header.Get("X-Before"); got != "kept" {
		t.Errorf("a header from in front of the rules is %q", got)
	}
	for path, want := range map[string]int{"/there": 200, "/hole": 404} {
		if got := s.Get(t, path); got.Status != want || got.Header.Get("Retry-After") != "" {
			t.Errorf("%s is answered with %d", path, got.Status)
		}
	}

	if err := os.WriteFile(file, []byte(`{"later": "https://later.example"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Eventually(t, "/later", "302 https://later.example/")
	if got := s.Get(t, "/unknown"); got.Status != 404 || got.Body != "no such link" {
		t.Errorf("afterwards an unknown path is answered with %d %q", got.Status, got.Body)
	}
}

func TestAStartThatIsRefusedForASourceNamesTheOptionForIt(t *testing.T) {
	s := testcaddy.Serve(t, "respond ok")
	missing := filepath.Join(t.TempDir(), "missing.json")
	err := s.TryToLoad(t, "shortlink {\n from file "+missing+"\n}")
	if err == nil || !strings.Contains(err.Error(), "to start without the rules of "+missing+
		", write start without into its block") {
		t.Errorf("the error is %v", err)
	}
	err = s.TryToLoad(t, "shortlink {\n from file "+missing+" {\n start later\n }\n}")
	if err == nil || !strings.Contains(err.Error(), `start takes refuse or without, not "later"`) {
		t.Errorf("the error is %v", err)
	}
}
