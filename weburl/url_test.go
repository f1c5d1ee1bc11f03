package weburl

import (
	"errors"
	"strings"
	"testing"
)

func TestAnAbsoluteURLIsSpelledAsTheStandardSpellsIt(t *testing.T) {
	for input, want := range map[string]string{
		"https://Example.ORG":                  "https://example.org/",
		"HTTP://example.org:80/":               "http://example.org/",
		"https://example.org:443/":             "https://example.org/",
		"https://example.org:80/":              "https://example.org:80/",
		"https://example.org:0080/":            "https://example.org:80/",
		"https://example.org:/":                "https://example.org/",
		"https://example.org:00/":              "https://example.org:0/",
		"  https://example.org/ a \n":          "https://example.org/%20a",
		"ht\ntps://exa\tmple.org/a\r\nb":       "https://example.org/ab",
		"https:example.org":                    "https://example.org/",
		"https:/example.org":                   "https://example.org/",
		`https:\\\/example.org\a\b`:            "https://example.org/a/b",
		"https://h/a/./b/../c/%2e%2E/d/.":      "https://h/a/d/",
		"https://h/../../a/..":                 "https://h/",
		"https://h/a//../b":                    "https://h/a/b",
		"https://h/..//x":                      "https://h//x",
		"https://h/%7e%zz%2F%":                 "https://h/%7e%zz%2F%",
		"https://h/^|é\"<>`{}[]'":              "https://h/%5E|%C3%A9%22%3C%3E%60%7B%7D[]'",
		"https://h/?^|é\"<>`{}[]'":             "https://h/?^|%C3%A9%22%3C%3E`{}[]%27",
		"https://h/#^|é\"<>`{}[]'#?":           "https://h/#^|%C3%A9%22%3C%3E%60{}[]'#?",
		"https://h?":                           "https://h/?",
		"https://h#":                           "https://h/#",
		"https://h/?#":                         "https://h/?#",
		"https://h/?a?b":                       "https://h/?a?b",
		"https://u:p@h/":                       "https://u:p@h/",
		"https://u@x:p:@@h/":                   "https://u%40x:p%3A%40@h/",
		"https://:@h/":                         "https://h/",
		"https://:p@h/":                        "https://:p@h/",
		"https://u:@h/":                        "https://u@h/",
		"https://h/\xff\xe2\x82/\xed\xa0\x80x": "https://h/%EF%BF%BD%EF%BF%BD/%EF%BF%BD%EF%BF%BD%EF%BF%BDx",
		"https://h/\xe2\t\x82\xac":             "https://h/%EF%BF%BD%EF%BF%BD%EF%BF%BD",
		"https://user@[::1]:8080/":             "https://user@[::1]:8080/",
	} {
		u, err := Parse(input)
		if err != nil {
			t.Errorf("%q: %v", input, err)
		} else if got := u.Href(); got != want {
			t.Errorf("%q is %q, want %q", input, got, want)
		}
	}
}

func TestWhatIsNoHTTPURLIsRefusedWithAPlainReason(t *testing.T) {
	for input, want := range map[string]string{
		"":                             "it does not begin with http:// or https://",
		"/a":                           "it does not begin with http:// or https://",
		"example.org":                  "it does not begin with http:// or https://",
		"mailto:a@b":                   "it does not begin with http:// or https://",
		"httpſ://h":                    "it does not begin with http:// or https://",
		"https://":                     "the host is missing",
		"https://u@/":                  "the host is missing",
		"https://:80/":                 "the host is missing",
		"https://h:65536/":             "the port is above 65535",
		"https://h:" + sevens:          "the port is above 65535",
		"https://h:8o/":                "the port is not a number",
		"https://h:-1/":                "the port is not a number",
		"https://a b/":                 "the host contains a space",
		"https://a%2Fb/":               `the host contains "/"`,
		"https://1.2.3.256/":           "the host ends in a number and is not a valid IPv4 address",
		"https://[::1/":                "the host is not a valid IPv6 address in brackets",
		"https://\xff/":                "the host is not a valid internationalised domain name",
		"https://xn--a.bücher-\u200d/": "the host is not a valid internationalised domain name",
	} {
		_, err := Parse(input)
		var parseErr *ParseError
		if !errors.As(err, &parseErr) {
			t.Errorf("%q: %v is no *ParseError", input, err)
		} else if parseErr.Reason != want || parseErr.Input != input {
			t.Errorf("%q: %q, want the reason %q", input, err, want)
		}
	}
	if _, err := Parse("https://h:99999"); err.Error() != `"https://h:99999": the port is above 65535` {
		t.Errorf("the message is %s", err)
	}
}

const sevens = "77777777777777777777777777777777"

func TestAReferenceStaysOnItsOriginUnlessItNamesAHost(t *testing.T) {
	base, err := Parse("https://user:pw@h:8443/some/where?q#f")
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{
		"/":             "https://user:pw@h:8443/",
		"/a?b#c":        "https://user:pw@h:8443/a?b#c",
		`\a\..\b`:       "https://user:pw@h:8443/b",
		"/..//x":        "https://user:pw@h:8443//x",
		"/.//evil.test": "https://user:pw@h:8443//evil.test",
		"/%2f/x":        "https://user:pw@h:8443/%2f/x",
		"//evil.test/x": "https://evil.test/x",
		`/\evil.test`:   "https://evil.test/",
		`\/evil.test`:   "https://evil.test/",
		"///evil.test":  "https://evil.test/",
		"/\t/evil.test": "https://evil.test/",
		" /\n\\evil":    "https://evil/",
		"//[::1]:80":    "https://[::1]:80/",
	} {
		u, err := base.Resolve(ref)
		if err != nil {
			t.Errorf("%q: %v", ref, err)
		} else if got := u.Href(); got != want {
			t.Errorf("%q leads to %q, want %q", ref, got, want)
		}
	}
	for _, ref := range []string{"", "a", "?a", "#a", "https://h/", "//", "//a b", "//[", "//h:x"} {
		if u, err := base.Resolve(ref); err == nil {
			t.Errorf("%q was resolved to %q", ref, u.Href())
		}
	}
}

func TestAnEmptyQueryOrFragmentIsInTheHrefOnly(t *testing.T) {
	u, err := Parse("https://h:8443/p?#")
	if err != nil {
		t.Fatal(err)
	}
	if u.Search() != "" || u.Hash() != "" || !u.HasQuery || !u.HasFragment || u.Href() != "https://h:8443/p?#" {
		t.Errorf("%+v", u)
	}
	if u.Origin() != "https://h:8443" {
		t.Errorf("the origin is %q", u.Origin())
	}
}

// FuzzParse holds Parse to being idempotent: what it gives is a URL in its final spelling.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"https://u:p@Example.org:8443/a/../b?c='#d", `http:\\1.2.3/..//x`, "https://[::ffff:1.2.3.4]:080/",
		"https://b\u00FCcher.example/%2e%2e/x", "https:/%2541:1/?#", "https://@@h:/\t", "https://0x7f.1/\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		first, err := Parse(input)
		if err != nil {
			return
		}
		second, err := Parse(first.Href())
		if err != nil {
			t.Fatalf("%q gives %q, which is refused: %v", input, first.Href(), err)
		}
		if second != first {
			t.Fatalf("%q gives %+v, parsed again %+v", input, first, second)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	const short = "https://example.org/docs/guide?lang=en&v=2#install"
	for name, input := range map[string]string{
		"short": short,
		"long":  "https://user:pw@www.example.org:8443/" + strings.Repeat("segment/", 20) + "?a=b&c=d#e",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(input); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
