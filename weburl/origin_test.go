package weburl

import (
	"strings"
	"testing"
)

func TestTheOriginOfARequestIsSchemeAndHost(t *testing.T) {
	for _, test := range []struct{ scheme, hostport, want string }{
		{"https", "example.org", "https://example.org"},
		{"http", "Example.ORG:80", "http://example.org"},
		{"https", "example.org:80", "https://example.org:80"},
		{"https", "example.org:443", "https://example.org"},
		{"https", "example.org:08443", "https://example.org:8443"},
		{"https", "example.org:", "https://example.org"},
		{"https", "a_b.example.", "https://a_b.example."},
		{"http", "127.0.0.1:8080", "http://127.0.0.1:8080"},
		{"http", "127.1", "http://127.0.0.1"},
		{"http", "1.example", "http://1.example"},
		{"http", "[::1]:8080", "http://[::1]:8080"},
		{"http", "[0:0::1]", "http://[::1]"},
		{"http", "bücher.example:81", "http://xn--bcher-kva.example:81"},
		{"http", "b%C3%BCcher.example", "http://xn--bcher-kva.example"},
	} {
		got, ok := AppendOrigin([]byte("x"), test.scheme, test.hostport)
		if !ok || string(got) != "x"+test.want {
			t.Errorf("%s and %q: %q (%t), want x%s", test.scheme, test.hostport, got, ok, test.want)
		}
	}
}

func TestAHostHeaderThatIsNoHostGivesNoOrigin(t *testing.T) {
	for _, hostport := range []string{
		"", ":80", "h:x", "h:65536", "h:80:81", "u@h", "u:p@h", "h/", "h/x", `h\x`, "h?x", "h#x", " h", "h ", "h\t", "a b", "h\r\n",
		"h\x00", "h\x7f", "h:80 ", "h%2Fx", "h%40x", "256.256.256.256", "a.1", "[::1", "[::1]x", "::1", "\xff",
		"h／x", "h％2Fx",
	} {
		if got, ok := AppendOrigin([]byte("x"), "https", hostport); ok || string(got) != "x" {
			t.Errorf("%q gave %q (%t)", hostport, got, ok)
		}
	}
	for _, scheme := range []string{"", "ftp", "https:", "javascript"} {
		if got, ok := AppendOrigin(nil, scheme, "h"); ok {
			t.Errorf("scheme %q gave %q", scheme, got)
		}
	}
}

func TestAClientCannotAskForTheConversionOfALongHost(t *testing.T) {
	const label = "%C3%BC" // of the longest host it fills 1,020 bytes
	if _, ok := AppendOrigin(nil, "https", strings.Repeat(label, maxParsedHost/len(label))); !ok {
		t.Error("a host below the limit is refused")
	}
	if _, ok := AppendOrigin(nil, "https", strings.Repeat(label, maxParsedHost/len(label)+1)); ok {
		t.Error("a host above the limit is converted")
	}
	if _, ok := AppendOrigin(nil, "https", strings.Repeat("a", 2*maxParsedHost)); !ok {
		t.Error("a long host that needs no conversion is refused")
	}
}

func TestTheOriginOfAnOrdinaryHostAllocatesNothing(t *testing.T) {
	dst := make([]byte, 0, 128)
	for _, hostport := range []string{"www.Example.org", "a_b.example:8443", "127.0.0.1:8080"} {
		if n := testing.AllocsPerRun(100, func() { AppendOrigin(dst, "https", hostport) }); n != 0 {
			t.Errorf("%q: %v allocations", hostport, n)
		}
	}
}

// FuzzAppendOrigin compares with the parser of whole URLs, asked for a host and a port only.
func FuzzAppendOrigin(f *testing.F) {
	for _, seed := range []string{
		"Example.org:80", "127.1:0443", "0x7f.1", "[::FFFF:1.2.3.4]:1", "b\u00FCcher.example", "%41:", "a.1.", "..", "1..", "a@b", "h\t:1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, hostport string) {
		if len(hostport) > maxParsedHost {
			return
		}
		got, ok := AppendOrigin(nil, "https", hostport)
		if strings.ContainsAny(hostport, `@/\?#`) || strings.ContainsFunc(hostport, func(r rune) bool { return r <= ' ' || r == 0x7F }) {
			if ok {
				t.Fatalf("%q gave %q", hostport, got)
			}
			return
		}
		u, err := Parse("https://" + hostport)
		if ok != (err == nil) {
			t.Fatalf("%q gave %q (%t), as a URL: %v", hostport, got, ok, err)
		}
		if ok && string(got) != u.Origin() {
			t.Fatalf("%q gave %q, as a URL %q", hostport, got, u.Origin())
		}
	})
}

func BenchmarkAppendOrigin(b *testing.B) {
	dst := make([]byte, 0, 128)
	for _, hostport := range []string{"www.example.org", "127.0.0.1:8080", "[::1]:8080"} {
		b.Run(hostport, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				AppendOrigin(dst, "https", hostport)
			}
		})
	}
}
