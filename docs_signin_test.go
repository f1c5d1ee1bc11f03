package shortlink_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// exampleOf returns the whole Caddyfile of a page that has a text.
func exampleOf(t *testing.T, page, text string) string {
	t.Helper()
	for _, part := range readDocument(t, page).parts {
		if strings.Join(part.info, " ") == "caddyfile" && strings.Contains(part.text, text) {
			return part.text
		}
	}
	t.Fatalf("%s has no Caddyfile with %s", page, text)
	return ""
}

// serveExample serves a Caddyfile of a page in a new folder, where there is a link.
func serveExample(t *testing.T, page, config string) *exampleRunner {
	t.Helper()
	t.Chdir(t.TempDir())
	testcaddy.Write(t, "links.json", `{"docs": "https://docs.example"}`)
	r := new(exampleRunner)
	r.load(t, page, config)
	return r
}

// gateway answers as oauth2-proxy does: whom a cookie names is signed in.
func gateway(w http.ResponseWriter, r *http.Request) {
	name := r.Header.Get("Cookie")
	switch {
	case r.URL.Path != "/oauth2/auth":
		fmt.Fprint(w, "sign in")
	case name == "":
		w.WriteHeader(http.StatusUnauthorized)
	default:
		if name != "nameless" {
			w.Header().Set("X-Auth-Request-Email", name+"@example.com")
		}
		w.WriteHeader(http.StatusAccepted)
	}
}

func TestTheExampleOfAGatewayBelievesNobodyElse(t *testing.T) {
	const page, address = "docs/go-links.md", "127.0.0.1:4180"
	provider := httptest.NewServer(http.HandlerFunc(gateway))
	t.Cleanup(provider.Close)
	config := exampleOf(t, page, "forward_auth")
	r := serveExample(t, page,
		strings.ReplaceAll(config, address, provider.Listener.Addr().String()))
	const site = "https://go.example.com"
	const forged = "X-Auth-Request-Email: eve@example.com"

	if got := r.ask(t, site+"/docs"); got.Location() != "302 https://docs.example/" {
		t.Errorf("a link needs a sign-in: %s", got.Location())
	}
	signIn := "302 /oauth2/sign_in?rd=https://go.example.com"
	for _, header := range [][]string{nil, {forged}} {
		got := r.ask(t, site+"/.links/new?key=a&to=b", header...)
		if want := signIn + "%2F.links%2Fnew%3Fkey%3Da%26to%3Db"; got.Location() != want {
			t.Errorf("with %q: got %s, want %s", header, got.Location(), want)
		}
	}
	r.ask(t, site+"/oauth2/sign_in").Wants(t, 200, "sign in")
	for _, header := range [][]string{{"Cookie: ann"}, {"Cookie: ann", forged}} {
		got := r.ask(t, site+"/.links/", append(header, testcaddy.AsHTML)...)
		got.Wants(t, 200, "ann@example.com")
	}
	r.ask(t, site+"/.links/", "Cookie: nameless", forged).Wants(t, 403)
}

func TestTheExampleOfReadersLetsOnlyEditorsEdit(t *testing.T) {
	const page = "docs/go-links.md"
	r := serveExample(t, page, exampleOf(t, page, "@readers"))
	post := func(key, user string) testcaddy.Reply {
		form := "key=" + key + "&to=https://new.example"
		request := httptest.NewRequest("POST", "/", nil)
		request.SetBasicAuth(user, "secret")
		header := testcaddy.HeaderLines([]string{
			"Host: localhost",
			"Authorization: " + request.Header.Get("Authorization"),
			"Content-Type: application/x-www-form-urlencoded",
			fmt.Sprint("Content-Length: ", len(form)),
			"Connection: close",
		})
		return r.server.Raw(t, "POST", "POST /.links/new HTTP/1.1\r\n"+header+"\r\n"+form)
	}
	post("a", "ann").Wants(t, 201)
	post("b", "bob").Wants(t, 403)
	if got := testcaddy.ReadFile(t, "links.json"); !strings.Contains(got, `"a"`) ||
		strings.Contains(got, `"b"`) {
		t.Errorf("the file holds %s", got)
	}
}
