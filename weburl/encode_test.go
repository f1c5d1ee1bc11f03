package weburl

import "testing"

func TestEachSetEncodesExactlyItsASCII(t *testing.T) {
	for _, test := range []struct {
		name    string
		set     EncodeSet
		members string // between space and DEL
	}{
		{"path", PathSet, "\"#<>?^`{}"},
		{"query", QuerySet, "\"#'<>"},
		{"fragment", FragmentSet, "\"<>`"},
		{"userinfo", UserinfoSet, "\"#/:;<=>?@[\\]^`{|}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			members := ""
			for b := range 0x80 {
				encoded := len(AppendEncoded(nil, string(rune(b)), test.set)) == 3
				if b <= ' ' || b == 0x7F {
					if !encoded {
						t.Errorf("%#x is not encoded", b)
					}
				} else if encoded {
					members += string(rune(b))
				}
			}
			if members != test.members {
				t.Errorf("encodes %s, want %s", members, test.members)
			}
		})
	}
}

func TestEncodingWritesUTF8InUpperCaseAndLeavesPercentAlone(t *testing.T) {
	for input, want := range map[string]string{
		"é":          "%C3%A9",
		"日本/𝄞":       "%E6%97%A5%E6%9C%AC/%F0%9D%84%9E",
		"%c3%a9%zz%": "%c3%a9%zz%",
		"a\tb\n":     "a%09b%0A",
		"\uFFFD":     "%EF%BF%BD",
		"":           "",
	} {
		if got := string(AppendEncoded([]byte("x"), input, PathSet)); got != "x"+want {
			t.Errorf("%q is %q, want x%q", input, got, want)
		}
	}
}

// The examples are those of the Encoding Standard's decoder. There one U+FFFD stands for the
// longest beginning of a sequence that could have become a character.
func TestEachMaximalIllFormedSubpartIsOneReplacementCharacter(t *testing.T) {
	for input, want := range map[string]int{
		"\xff":                 1,
		"\x80":                 1,
		"\xc3":                 1,
		"\xc0\x80":             2,
		"\xe2\x82":             1,
		"\xe0\x80\x80":         3,
		"\xed\xa0\x80":         3,
		"\xef\xbf":             1,
		"\xf0\x9f\x92":         1,
		"\xf0\x80\x80\x80":     4,
		"\xf4\x90\x80\x80":     4,
		"\xf5\x80":             2,
		"\xf1\x80\x80\xe2\x82": 2,
	} {
		got := string(AppendEncoded(nil, input+"A", PathSet))
		replaced := ""
		for range want {
			replaced += "%EF%BF%BD"
		}
		if got != replaced+"A" {
			t.Errorf("%q is %q, want %q", input, got, replaced+"A")
		}
	}
}
