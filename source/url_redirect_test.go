package source_test

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// redirectTo returns a handler that redirects.
func redirectTo(address string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, address, http.StatusTemporaryRedirect)
	}
}

// letBePublic lets the address of one server count as public, and all others as private.
func letBePublic(t *testing.T, o *origin) {
	t.Helper()
	public := netip.MustParseAddrPort(hostOf(t, o.URL))
	private := func(to netip.AddrPort) bool { return to.Port() != public.Port() }
	isPrivate.Store(&private)
	t.Cleanup(func() { isPrivate.Store(nil) })
}

// localhost is a name that leads to a private address, as a name server of anybody can say of any.
func localhost(t *testing.T, o *origin) string {
	t.Helper()
	_, port, _ := strings.Cut(hostOf(t, o.URL), ":")
	return "https://localhost:" + port
}

func TestARedirectFromAPublicServerToAPrivateAddressIsNotFollowed(t *testing.T) {
	inside := startOrigin(t, "/secret.json", newRules)
	for name, address := range map[string]string{
		"an address":                inside.URL,
		"a name of such an address": localhost(t, inside),
	} {
		t.Run(name, func(t *testing.T) {
			o := startOrigin(t, "/links.json", oldRules)
			letBePublic(t, o)
			s := followURL(t, o.URL+"/links.json", "timeout 1m")
			o.fail(redirectTo(address + "/secret.json"))
			s.Logged(t, 1, "a redirect leads here, to a private address, and the URL does not")
			if n := len(inside.requests()); n > 0 {
				t.Errorf("the server inside has got %d requests", n)
			}
			s.Leads(t, "/a", "302 https://old.example/")
		})
	}
}

func TestARedirectFromAPrivateServerIsFollowedAndTakesNoHeaderToAnotherHost(t *testing.T) {
	other := startOrigin(t, "/there.json", newRules)
	o := startOrigin(t)
	o.fail(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/links.json" {
			redirectTo("/next?to=there")(w, r)
			return
		}
		redirectTo(other.URL+"/there.json")(w, r)
	})
	t.Setenv("LINKS_TOKEN", "a-secret")
	s := followURL(t, strings.Replace(o.URL, "https://", "https://ann:a-secret@", 1)+"/links.json?key=a-secret",
		"header Authorization \"Bearer {env.LINKS_TOKEN}\"\n header X-Key {env.LINKS_TOKEN}\n header X-Key two")
	s.Leads(t, "/a", "302 https://new.example/")
	for i, r := range o.requests()[:2] {
		if got := r.Header["X-Key"]; len(got) != 2 || got[0] != "a-secret" || got[1] != "two" ||
			r.Header.Get("Authorization") != "Bearer a-secret" {
			t.Errorf("request %d of the own host has the header %v", i, r.Header)
		}
	}
	for _, r := range other.requests() {
		for name, values := range r.Header {
			if strings.Contains(strings.Join(values, " "), "a-secret") || name == "X-Key" ||
				name == "Authorization" || name == "Referer" {
				t.Errorf("the other host gets %s: %v", name, values)
			}
		}
		if strings.Contains(r.URL.String(), "a-secret") {
			t.Errorf("the other host is asked for %s", r.URL)
		}
	}
}

func TestUserAndPasswordOfTheURLSignIn(t *testing.T) {
	o := startOrigin(t, "/links.json", oldRules)
	u, err := url.Parse(o.URL + "/links.json")
	testcaddy.Must(t, err)
	u.User = url.UserPassword("ann", "secret")
	followURL(t, u.String(), "")
	if user, password, ok := o.requests()[0].BasicAuth(); !ok || user != "ann" ||
		password != "secret" {
		t.Errorf("user %q and password %q are sent", user, password)
	}
}
