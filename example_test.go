package shortlink_test

import (
	"os"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

func readExample(t *testing.T) string {
	t.Helper()
	example, err := os.ReadFile("Caddyfile.example")
	if err != nil {
		t.Fatal(err)
	}
	return string(example)
}

func TestTheExampleIsFormatted(t *testing.T) {
	example := readExample(t)
	if formatted := string(caddyfile.Format([]byte(example))); formatted != example {
		t.Errorf("caddy fmt makes of it\n%s", formatted)
	}
}

func TestTheExampleServesWhatItsCommentsSay(t *testing.T) {
	s := &testcaddy.Server{Addr: testcaddy.FreeAddress(t)}
	const address = "http://localhost:8080 {"
	example := readExample(t)
	if strings.Count(example, address) != 1 {
		t.Fatalf("the example has not one site at %s", address)
	}
	_, port, _ := strings.Cut(s.Addr, ":")
	adapted, err := testcaddy.Adapt(
		"{\n admin off\n persist_config off\n log default {\n output discard\n }\n}\n" +
			strings.Replace(example, address, "http://localhost:"+port+" {", 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := caddy.Load(adapted, true); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { caddy.Stop() })

	for target, want := range map[string]string{
		"/github":                              "302 https://github.com/",
		"/github/caddyserver?tab=repositories": "302 https://github.com/caddyserver?tab=repositories",
		"/source/issues":                       "302 https://github.com/caddyserver/caddy/issues",
		"/docs/caddyfile":                      "302 https://github.com/caddyserver/caddy/caddyfile",
		"/docs/draft":                          "302 https://github.com/EthanThatOneKid/go-protocol",
		"/handbook":                            "301 https://caddyserver.com/docs/",
		"/chat/":                               "302 https://caddy.community/",
		"/chat/c/help":                         "404",
		"/unknown":                             "404",
	} {
		got := s.Raw(t, "GET",
			"GET "+target+" HTTP/1.1\r\nHost: localhost:"+port+"\r\nConnection: close\r\n\r\n")
		if got.Location() != want {
			t.Errorf("%s: got %s, want %s", target, got.Location(), want)
		}
		if got.Status == 404 && !strings.HasPrefix(got.Body, "There is no such link.") {
			t.Errorf("%s: got %q, not the next handler's answer", target, got.Body)
		}
	}
}
