package printable_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/internal/printable"
)

func TestTextOfOneLineHasNothingThatATerminalObeys(t *testing.T) {
	for text, want := range map[string]string{
		"docs/café -> 日本 👍":   "docs/café -> 日本 👍",
		"\x1b[2J\a\x7f":       `\u001b[2J\u0007\u007f`,
		"a\r\nb\tc\x00":       `a\u000d\u000ab\u0009c\u0000`,
		"\u009b31m\u0085":     `\u009b31m\u0085`,
		"a\u202etxt.exe":      `a\u202etxt.exe`,
		"\u2066a\u2069\u200f": "\\u2066a\\u2069\u200f",
		"\x9b31m\xe2\x80":     `\x9b31m\xe2\x80`,
		"\uFFFD":              "\uFFFD",
	} {
		if got := printable.Text(text); got != want {
			t.Errorf("%q is printed as %s, not as %s", text, got, want)
		}
	}
}

func TestAWriterKeepsLinesAndEscapesTheRest(t *testing.T) {
	var out strings.Builder
	w := printable.NewWriter(&out)
	io.WriteString(w, "{\n\t\"a\": \"\u009b\x1b\u202e\"\n}\n")
	if want := "{\n\t\"a\": \"\\u009b\\u001b\\u202e\"\n}\n"; out.String() != want {
		t.Errorf("got %q", out.String())
	}
	if printable.NewWriter(w) != w {
		t.Error("a writer is wrapped twice")
	}
}

func TestAWriterTellsThatTheOtherOneFails(t *testing.T) {
	full := errors.New("disk full")
	r, broken := io.Pipe()
	r.CloseWithError(full)
	for _, text := range []string{"plain", "\x1b"} {
		if _, err := io.WriteString(printable.NewWriter(broken), text); !errors.Is(err, full) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Whatever is written, in whatever pieces, comes out as the same text without anything dangerous.
func FuzzWriter(f *testing.F) {
	f.Add("plain\n")
	f.Add("caf\u00e9 \u009b\u202e\x1b[2J\x80\xe2\x80")
	f.Add("\xc2")
	f.Fuzz(func(t *testing.T, text string) {
		var whole, pieces strings.Builder
		for out, r := range map[*strings.Builder]io.Reader{
			&whole: strings.NewReader(text), &pieces: iotest.OneByteReader(strings.NewReader(text)),
		} {
			w := printable.NewWriter(out)
			if _, err := io.Copy(struct{ io.Writer }{w}, struct{ io.Reader }{r}); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if whole.String() != pieces.String() {
			t.Fatalf("%q at once and %q in pieces", whole.String(), pieces.String())
		}
		for _, r := range whole.String() {
			if unicode.IsControl(r) && r != '\n' && r != '\t' || r == '\u202e' {
				t.Fatalf("%q holds %q", whole.String(), r)
			}
		}
		if utf8.ValidString(text) && strings.IndexByte(text, '\\') < 0 {
			checkMeaning(t, text, whole.String())
		}
		if line := printable.Text(text); strings.ContainsAny(line, "\n\t") {
			t.Fatalf("%q is more than a line", line)
		}
	})
}

// checkMeaning checks that escaped text means in a JSON string what it was.
func checkMeaning(t *testing.T, text, escaped string) {
	inString := strings.NewReplacer(`"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(escaped)
	var got string
	if err := json.Unmarshal([]byte(`"`+inString+`"`), &got); err != nil || got != text {
		t.Fatalf("%q is printed as %q, which is %q in JSON, %v", text, escaped, got, err)
	}
}
