package fetch_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/fetch"
)

func TestAURLIsShownWithoutWhatMayBeSecret(t *testing.T) {
	for written, want := range map[string]string{
		"https://example.com/links.json":           "https://example.com/links.json",
		"https://example.com/a@b/links.json":       "https://example.com/a@b/links.json",
		"https://{env.HOST}/a@b/links.json":        "https://{env.HOST}/a@b/links.json",
		"https://example.com?key=a":                "https://example.com?key=***",
		"https://example.com?key=a=b&c=&=d":        "https://example.com?key=***&***&=***",
		"https://ann:pass@example.com/l?a=1&b#c":   "https://***@example.com/l?a=***&***",
		"https://a@b@example.com":                  "https://***@example.com",
		"https://{env.USER}@{env.HOST}/{env.PATH}": "https://***@{env.HOST}/{env.PATH}",
		"https://a:{file./run/a}@{env.HOST}:{x}/":  "https://***@{env.HOST}:{x}/",
		"https://ann:pa/ss@example.com":            "***",
		"https://ann:pa?ss@example.com":            "***",
		"ann:pass@example.com":                     "***@example.com",
		"//ann:pass@example.com":                   "//***@example.com",
		"{env.LINKS_URL}":                          "{env.LINKS_URL}",
		"https://example.com/\n":                   `https://example.com/\u000a`,
		"":                                         "",
	} {
		if got := fetch.Mask(written); got != want {
			t.Errorf("%q is shown as %q, want %q", written, got, want)
		}
	}
}

// What is shown does not depend on what is secret.
func FuzzNoUserPasswordOrValueIsShown(f *testing.F) {
	f.Add("ann", "pass", "a-secret")
	f.Add("", "a@b:c", "a=b;c#d?e/f")
	f.Add("ann", "pa/ss", "")
	f.Add("a?nn", "#", "a@b")
	f.Add("ann/", "%zz", "\n")
	f.Fuzz(func(t *testing.T, user, password, value string) {
		const shown = "https://***@links.example/links.json?token=***"
		encoded := "https://" + url.UserPassword(user, password).String() +
			"@links.example/links.json?token=" + url.QueryEscape(value) + "a"
		if got := fetch.Mask(encoded); got != shown {
			t.Errorf("%q is shown as %q", encoded, got)
		}
		written := "https://" + user + ":" + password + "@links.example/links.json?token=a" + value
		u, err := url.Parse(written)
		isOther := err == nil && (u.User == nil || u.Host != "links.example")
		if isOther || strings.ContainsAny(user+password+value, "{}&") {
			return // a valid URL of another host, or with placeholders or more parameters
		}
		if got := fetch.Mask(written); got != shown && (err == nil || got != "***") {
			t.Errorf("%q is shown as %q", written, got)
		}
	})
}
