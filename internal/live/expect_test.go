package live_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

func TestExpectationsAreHeldToWhatTheRulesAnswer(t *testing.T) {
	const rules = `{"docs": "https://docs.example/a?x=1", "home": "/welcome", "loop": "/loop", "up": "https://up.example/a/"}`
	for name, tt := range map[string]struct{ path, want, origin, problem string }{
		"a destination": {path: "/docs/b?y=2",
			want: "https://docs.example/a/b?x=1&y=2"},
		"a destination in another spelling": {path: "/docs", want: "https://Docs.Example:443/a?x=1"},
		"a path of the site":                {path: "/home/x", want: "/welcome/x"},
		"a path of the site with its origin": {path: "/home", want: "https://go.example/welcome",
			origin: "https://go.example"},
		"a path of the site behind an origin": {path: "/home", want: "/welcome",
			origin: "https://go.example/"},
		"a request that passes": {path: "/other", want: "pass"},
		"a loop":                {path: "/loop", want: "error"},
		"an unsafe path":        {path: "/up/..%2f..%2fadmin", want: "error"},
		"another destination": {
			path: "/docs", want: "https://docs.example/b",
			problem: `expect /docs https://docs.example/b: it is https://docs.example/a?x=1, by the key "docs"`,
		},
		"a redirect that should pass": {
			path: "/home", want: "pass",
			problem: `expect /home pass: it is http://localhost/welcome, by the key "home"`,
		},
		"a request that should be redirected": {
			path: "/other", want: "/welcome", problem: "expect /other /welcome: it is pass",
		},
		"an error that should be none": {
			path: "/loop", want: "pass", problem: "expect /loop pass: it is the error ",
		},
		"no path": {path: "docs", want: "pass",
			problem: "expect docs: the first word must be the path of a request; write /docs"},
		"no destination": {path: "/docs", want: "PASS", problem: `not "PASS"`},
	} {
		t.Run(name, func(t *testing.T) {
			expect, err := json.Marshal(map[string]string{tt.path: tt.want})
			testcaddy.Must(t, err)
			_, err = testcaddy.Provision(t,
				fmt.Sprintf(`{"rules": %s, "origin": %q, "expect": %s}`, rules, tt.origin, expect))
			switch {
			case tt.problem == "" && err != nil:
				t.Error(err)
			case tt.problem != "" && (err == nil || !strings.Contains(err.Error(), tt.problem)):
				t.Errorf("got %v, want %s", err, tt.problem)
			}
		})
	}
}

func TestAllExpectationsThatFailAreTold(t *testing.T) {
	_, err := testcaddy.Provision(t,
		`{"rules": {"a": "/b"}, "expect": {"/a": "pass", "/c": "error", "/d": "pass"}}`)
	for _, want := range []string{"expect /a pass: ", "expect /c error: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err != nil && strings.Contains(err.Error(), "/d") {
		t.Errorf("an expectation that is met is told: %v", err)
	}
}

func TestAFileOfExpectationsThatIsNoneIsAnErrorThatSaysWhy(t *testing.T) {
	for name, tt := range map[string]struct{ content, want string }{
		"no JSON": {`/a pass`, "1:1: "},
		"a path twice": {`{"/a": "pass", "/a": "error"}`,
			`1:16: the request path "/a" is given twice`},
		"no path of a request": {`{"a": "pass"}`,
			"1:2: expect a: the first word must be the path of a request; write /a"},
		"no word that is known": {`{"/a": "200"}`, `1:2: expect /a: `},
		"no text": {`{"/a": 200}`,
			`1:8: the value of "/a" is 200: write a destination, "pass", "gone" or "error" as a string`},
		"an array": {`[]`, "1:1: expectations are an object from request path to destination, " +
			"pass, gone or error, not an array"},
		"more than an object": {`{} x`, "1:4: "},
		"an object and more":  {`{} {}`, "1:4: nothing may follow the object of expectations"},
		"a query mode": {`{"/a": {"to": "/b", "query": "merge"}}`,
			`1:2: the request path "/a" has more than one word`},
		"more than is compared": {`{"/a": {"to": "/b", "status": 301}}`,
			`1:2: the request path "/a" has more than one word`},
		"it is empty": {``, "1:1: "},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			testcaddy.Write(t, filepath.Join(dir, "links.json"), `{}`)
			testcaddy.Write(t, filepath.Join(dir, "expect.json"), tt.content)
			_, err := testcaddy.Provision(t,
				fmt.Sprintf(
					`{"sources": [{"source": "file", "path": "%s/links.json", "expect": "%s/expect.json"}]}`, dir,
					dir))
			want := "its expectations: " + dir + "/expect.json:" + tt.want
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

func TestAnExpectationOfAFileThatFailsIsNamedWithItsPlace(t *testing.T) {
	dir := t.TempDir()
	testcaddy.Write(t, filepath.Join(dir, "links.json"), `{"a": "/b"}`)
	expect := filepath.Join(dir, "expect.json")
	testcaddy.Write(t, expect, "{\n  \"/a\": \"/b\",\n  \"/c\": \"/a\"\n}\n")
	caddyfile := filepath.Join(dir, "Caddyfile")
	testcaddy.Write(t, caddyfile, "http://localhost {\n shortlink {\n  from file "+dir+"/links.json {\n"+
		"   expect "+expect+"\n  }\n }\n}")
	for format, want := range map[string]string{
		"text": "error: failed expectation (1)\n  " + expect + ":3:3: expect /c /a: it is pass\n",
		"json": `"position": "` + expect + `:3:3"`,
	} {
		args := []string{"shortlink", "check", "--config", caddyfile, "--format", format}
		got, status := testcaddy.Run(args, "")
		if status != 1 || !strings.Contains(got, want) {
			t.Errorf("%s: got %d, %s", format, status, got)
		}
	}
}
