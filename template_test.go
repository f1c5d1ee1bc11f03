package shortlink_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// blockOf returns the block of the directive in a site of a Caddyfile.
func blockOf(t *testing.T, text string) string {
	t.Helper()
	_, caddyfile, _ := strings.Cut(text, "```caddyfile\nhttp://localhost:8080 {\n")
	block, _, found := strings.Cut(caddyfile, "\n}\n```")
	if !found {
		t.Fatal("there is no example")
	}
	return block
}

func TestTheTemplateThatMatchesBestAnswers(t *testing.T) {
	s := testcaddy.Serve(t, `shortlink {
		{name} https://name.example/{name}
		v{name} https://v.example/{name}
		version https://version.example
		{+page} https://page.example/{+page}
	}`)
	for target, want := range map[string]string{
		"/version": "302 https://version.example/",
		"/v2":      "302 https://v.example/2",
		"/x":       "302 https://name.example/x",
		"/x/y":     "302 https://name.example/x/y",
	} {
		if got := s.Get(t, target).Location(); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
}

func TestVariablesThatAreNamedLikeShorthandsOfCaddyAreVariables(t *testing.T) {
	s := testcaddy.Serve(t, `shortlink {
		docs/{path} https://docs.example/{+path}{?path}
		{host}/{query} https://search.example/{host}{?query}
	}`)
	for target, want := range map[string]string{
		"/docs/a:b": "302 https://docs.example/a:b?path=a%3Ab",
		"/x/y?z=1":  "302 https://search.example/x?query=y&z=1",
	} {
		if got := s.Get(t, target).Location(); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
}

func TestWhatATemplateCapturesIsRefusedWhereItWouldClimb(t *testing.T) {
	s := testcaddy.Serve(t, `shortlink {
		f/{+path} https://x.example/files/{+path}
		in/{+path} /{+path}
		g/{name} https://x.example/.{name}/x
	}
	handle_errors {
		respond {http.error.status_code}
	}`)
	for target, want := range map[string]string{
		"/f/a%2f..%2fb":           "400",
		"/f/%252e%252e/b":         "400",
		"/f/a%00":                 "400",
		"/g/%252e":                "400",
		"/g/a":                    "302 https://x.example/.a/x",
		"/in//evil.example/x":     "302 http://go.example//evil.example/x",
		"/in/%2Fevil.example/x":   "302 http://go.example/%2Fevil.example/x",
		"/in/@evil.example":       "302 http://go.example/@evil.example",
		"/f/a;b,c/d!e?f=%2e%2e/g": "302 https://x.example/files/a;b,c/d!e?f=..%2Fg",
	} {
		if got := s.Get(t, target).Location(); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
}

func TestTemplatesOfAFileAreEditedListedCountedAndExplained(t *testing.T) {
	for file, content := range map[string]string{"links.json": "{}",
		"links.csv": "docs,https://docs.example", "_redirects": "/docs https://docs.example 302"} {
		t.Run(file, func(t *testing.T) {
			s, path, _ := testcaddy.Editable(t, file, content)
			s.Says(t, "gh/{owner}/{repo} https://github.com/{owner}/{repo} 301\n", 0, "add",
				"gh/{owner}/{repo}", "https://github.com/{owner}/{repo}", "--status", "301")
			s.Says(t, "gh/{owner} https://github.com/{owner} 302\n", 0, "add", "gh/{owner}",
				"https://github.com/{owner}", "--status", "302")
			if got := s.Get(t, "/gh/caddyserver/caddy/issues").Location(); got != "301 https://github.com/caddyserver/caddy/issues" {
				t.Errorf("got %s", got)
			}
			if got := s.Get(t, "/gh/caddyserver").Location(); got != "302 https://github.com/caddyserver" {
				t.Errorf("got %s", got)
			}
			got, _ := s.Command("list", "gh")
			got = strings.ReplaceAll(got, "{+", "{") // a line of _redirects copies what it captures
			if !strings.HasSuffix(got, "gh/{owner}/{repo} https://github.com/{owner}/{repo} 301\n") ||
				!strings.HasPrefix(got, "gh") {
				t.Errorf("the rules are\n%s", got)
			}
			if got := s.Ask(t, "GET", "links/rules/gh/{owner}/{repo}", "").Body; !strings.Contains(got, `"gh/{owner}/{repo}"`) || strings.Contains(got, `"gh/{owner}"`) {
				t.Errorf("below the key there are %s", got)
			}
			if got, _ := s.Command("hits"); !regexp.MustCompile(` 1  \S+  gh/{owner}\n +1  \S+  gh/{owner}/{repo}\n`).MatchString(got) {
				t.Errorf("the hits are\n%s", got)
			}
			if got := s.Ask(t, "GET", "links/resolve?url=/gh/a/b", "").Body; !strings.Contains(got, `"captures":{"owner":"a","repo":"b"}`) {
				t.Errorf("the explanation is %s", got)
			}
			if got, exit := s.Command("add", "gh/{user}/{repo}", "/x/{user}"); exit != 1 ||
				!strings.Contains(got, "the key has no variable user; it has owner, repo") {
				t.Errorf("the same key with another name: %d %s", exit, got)
			}
			if got, exit := s.Command("add", "gh/{user", "/x"); exit != 1 ||
				!strings.Contains(got, `unmatched "{"`) {
				t.Errorf("a malformed key: %d %s", exit, got)
			}
			if got, exit := s.Command("remove", "gh/{owner}", "gh/{owner}/{repo}"); exit != 0 {
				t.Errorf("they are not removed: %s", got)
			}
			after, err := os.ReadFile(path)
			testcaddy.Must(t, err)
			if got := strings.TrimSpace(string(after)); got != content {
				t.Errorf("the file holds %q", got)
			}
		})
	}
}

func TestAKeyWithEscapedBracesIsNotTakenForATemplate(t *testing.T) {
	s, _, _ := testcaddy.Editable(t, "links.json",
		`{"a/%7Bx%7D": "https://literal.example", "a/{x}": "https://template.example/{x}", "{+x}/end": "https://end.example"}`)
	if got := s.Ask(t, "GET", "links/rules/a/%257Bx%257D", "").Body; got != "{\n\t\"a/%7Bx%7D\": \"https://literal.example\"\n}\n" {
		t.Errorf("got %s", got)
	}
	s.Says(t, "Note: this rule was removed: a/%7Bx%7D https://literal.example\n", 0,
		"remove", "a/%7Bx%7D")
	s.Says(t, "a/{x} https://template.example/{x}\n", 0, "list", "a")
	s.Says(t, "b%7Bx%7D https://b.example\n", 0, "add", "b%7Bx%7D", "https://b.example")
	if got := s.Get(t, "/b%7Bx%7D").Location(); got != "302 https://b.example/" {
		t.Errorf("got %s", got)
	}
	if got := s.Ask(t, "DELETE", "links/rules/%7B%2Bx%7D/end", ""); got.Status != 204 {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	if got := s.Put(t, "a/%7By", `"https://y.example"`); got.Status != 422 ||
		!strings.Contains(got.Body, "unmatched") {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
}

func TestPlaceholdersAndTheAccessLogHaveTheKeyOfATemplate(t *testing.T) {
	s := testcaddy.Serve(t, `shortlink {
		e/{x} /e/{x}
		go/{x} https://go.example/{x}
	}
	header X-Key {http.shortlink.key}
	handle_errors {
		respond "{http.shortlink.outcome} {http.shortlink.key}" {http.error.status_code}
	}`)
	if got := s.Get(t, "/e/1"); got.Status != 508 || got.Body != "error e/{x}" {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
}

func TestAPathThatIsTooLongForTemplatesIsAnErrorWithStatus414(t *testing.T) {
	s := testcaddy.Serve(t, `shortlink {
		go/{+x} https://go.example/{+x}
		docs https://docs.example
	}
	handle_errors {
		respond "{http.shortlink.outcome} {http.error.status_code} {http.error.message}"
	}`)
	long := strings.Repeat("x", 8192)
	if got := s.Get(t, "/go/"+long); got.Status != 414 || got.Body != "error 414 the path is too long" {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	if got := s.Get(t, "/go/"+long[len("/go/"):]).Status; got != 302 {
		t.Errorf("a path of 8 KiB gets %d", got)
	}
	if got := s.Get(t, "/docs/"+long).Status; got != 302 {
		t.Errorf("a longer path that begins as no template does gets %d", got)
	}
}

func TestTemplatesInJSONAreThoseOfTheCaddyfile(t *testing.T) {
	adapted, err := testcaddy.Adapt("http://localhost:8080 {\n shortlink {\n gh/{owner}/{path} " +
		"https://github.com/{owner}/{+path} 301\n }\n}")
	testcaddy.Must(t, err)
	if want := `"rules":{"gh/{owner}/{path}":{"status":301,"to":"https://github.com/{owner}/{+path}"}}`; !strings.Contains(string(adapted), want) {
		t.Errorf("got %s", adapted)
	}
}
