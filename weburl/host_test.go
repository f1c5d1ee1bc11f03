package weburl

import (
	"strings"
	"testing"
)

func TestAHostIsSpelledAsTheStandardSpellsIt(t *testing.T) {
	for input, want := range map[string]string{
		"Example.ORG":           "example.org",
		"example.org.":          "example.org.",
		"a_b-.-c":               "a_b-.-c",
		"ex%41mple.org":         "example.org",
		"bücher.example":        "xn--bcher-kva.example",
		"BÜCHER.example":        "xn--bcher-kva.example",
		"b%C3%BCcher.example":   "xn--bcher-kva.example",
		"日本語.jp":                "xn--wgv71a119e.jp",
		"faß.de":                "xn--fa-hia.de",
		"GROẞ.example":          "xn--gro-7ka.example",
		"\u180E\u10A0.example":  "xn--rkj.example",
		"☃.net":                 "xn--n3h.net",
		"example。org":           "example.org",
		"xn--a":                 "xn--a", // nobody asks whether it decodes
		"XN--zca":               "xn--zca",
		"127.0.0.1":             "127.0.0.1",
		"127.1":                 "127.0.0.1",
		"0x7f.1.":               "127.0.0.1",
		"017700000001":          "127.0.0.1",
		"4294967295":            "255.255.255.255",
		"0x":                    "0.0.0.0",
		"1.2.3":                 "1.2.0.3",
		"１.２.３.４":               "1.2.3.4",
		"1.2.3.4a":              "1.2.3.4a",
		"1..a":                  "1..a",
		"[::1]":                 "[::1]",
		"[0:0:0:0:0:0:0:0]":     "[::]",
		"[1:0:0:2:0:0:0:3]":     "[1:0:0:2::3]",
		"[1:0:2:0:0:3:0:0]":     "[1:0:2::3:0:0]",
		"[1:0:2:3:4:5:6:7]":     "[1:0:2:3:4:5:6:7]",
		"[2001:DB8::00A:0]":     "[2001:db8::a:0]",
		"[::ffff:192.168.0.1]":  "[::ffff:c0a8:1]",
		"[1:2:3:4:5:6:7::]":     "[1:2:3:4:5:6:7:0]",
		strings.Repeat("a", 99): strings.Repeat("a", 99), // lengths are for resolvers to check
	} {
		got, err := ParseHost(input)
		if err != nil {
			t.Errorf("%q: %v", input, err)
		} else if got != want {
			t.Errorf("%q is %q, want %q", input, got, want)
		}
	}
}

func TestWhatIsNoHostIsRefused(t *testing.T) {
	for _, input := range []string{
		"", "a b", "a\tb", " a", "a/b", `a\b`, "a?b", "a#b", "a@b", "a:80", "a<b", "a|b", "a^b", "a%b", "a%zzb", "a%00b",
		"%2F", "\x7f", "\u00ad", "%ff", "\xff", "\xe2%82%ac", "a]", "::1",
		"256.1", "1.2.3.4.5", "09", "1.2.3.08", "4294967296", "99999999999999999999999", "1.256.3", "0x100.1.1.1", "a.1", "a..1",
		"[", "[]", "[:]", "[::1", "[::1]x", "[1.2.3.4]", "[::1%25eth0]", "[::1%eth0]", "[1:2:3:4:5:6:7:8:9]", "[1::2::3]",
		"[::12345]", "[::1.2.3]", "[::01.2.3.4]", "[%3A:1]", "[ ::1]",
		"\u200d.example", "\u0301a", "ß.xn--a",
		"ß.xn--", "xn--ß-", "ｘn--.a", "\u00adxn--.a", // no Punycode behind the prefix
		"a\u2135b", // maps to a Hebrew letter, which may not stand between Latin ones
	} {
		if host, err := ParseHost(input); err == nil {
			t.Errorf("%q was read as %q", input, host)
		}
	}
}

func TestAHostBeyondASCIIHasALengthLimitAndAnASCIIHostHasNone(t *testing.T) {
	longest := strings.Repeat("é", maxUnicodeDomain/2)
	if _, err := ParseHost(longest); err != nil {
		t.Error(err)
	}
	if _, err := ParseHost(longest + "a"); err == nil {
		t.Error("a host beyond ASCII above the limit was accepted")
	}
	if _, err := ParseHost(strings.Repeat("a", 2*maxUnicodeDomain)); err != nil {
		t.Error(err)
	}
}
