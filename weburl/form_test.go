package weburl

import (
	"strings"
	"testing"
)

func TestAHalfIsRespelledAsToStringSpellsIt(t *testing.T) {
	for half, want := range map[string]string{
		"":                   "",
		"abc*-._":            "abc*-._",
		"a+b%20c d":          "a+b+c+d",
		"%61%2B%2b~":         "a%2B%2B%7E",
		"%":                  "%25",
		"%2":                 "%252",
		"%zz%%2a":            "%25zz%25*",
		"é%c3%A9%C3é":        "%C3%A9%C3%A9%EF%BF%BD%C3%A9",
		"%F0%9D%84%9Ex":      "%F0%9D%84%9Ex",
		"%F0%9D%84x%9E":      "%EF%BF%BDx%EF%BF%BD",
		"%E2%82%E2%82%AC":    "%EF%BF%BD%E2%82%AC",
		"\xe2%82%ac%e2\x82%": "%EF%BF%BD%EF%BF%BD%EF%BF%BD%EF%BF%BD%EF%BF%BD%25",
	} {
		if got := string(AppendForm([]byte("x"), half)); got != "x"+want {
			t.Errorf("%q is %q, want x%q", half, got, want)
		}
	}
}

func TestPiecesAreCutAsTheyAreWritten(t *testing.T) {
	type piece struct{ name, value string }
	var got []piece
	for query := "&?a=b=c&&%61+&=&"; ; {
		name, value, rest, ok := NextPiece(query)
		if !ok {
			break
		}
		got, query = append(got, piece{name, value}), rest
	}
	want := []piece{{"?a", "b=c"}, {"%61+", ""}, {"", ""}}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%+q, want %+q", got, want)
	}
}

func TestRespellingAHalfAllocatesNothing(t *testing.T) {
	dst := make([]byte, 0, 256)
	for _, half := range []string{"abc", "a+b%20c d%2C~", "é%c3%A9%C3é\xff%F0%9D%84%9E"} {
		if n := testing.AllocsPerRun(100, func() { AppendForm(dst, half) }); n != 0 {
			t.Errorf("%q: %v allocations", half, n)
		}
	}
}

// FuzzAppendForm compares the stream with the list of parameters.
func FuzzAppendForm(f *testing.F) {
	for _, seed := range []string{"a=b&c", "&&=&", "+%2B=%zz", "%E2%82=\xe2%82%ac", "é=%F0%9F%92%a9", "a=%ed%a0%80+"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		query = strings.TrimPrefix(query, "?")
		var streamed []byte
		for rest := query; ; {
			name, value, next, ok := NextPiece(rest)
			if !ok {
				break
			}
			if streamed != nil {
				streamed = append(streamed, '&')
			}
			streamed = append(AppendForm(streamed, name), '=')
			streamed = AppendForm(streamed, value)
			rest = next
		}
		if strings.HasPrefix(query, "?") {
			query = "?" + query // ParseParams drops one
		}
		if list := ParseParams(query).String(); string(streamed) != list {
			t.Fatalf("%q is %q, as a list %q", query, streamed, list)
		}
	})
}

func BenchmarkAppendForm(b *testing.B) {
	dst := make([]byte, 0, 256)
	for name, half := range map[string]string{
		"plain":   "utm_campaign_spring",
		"escaped": "caf%C3%A9+and%20cr%C3%A8me",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				AppendForm(dst, half)
			}
		})
	}
}
