// Package printable makes text safe to print, whoever wrote it.
//
// A control character in a key, a URL or a file name can move the cursor, change what is on the
// screen, or make a terminal answer. A character that overrides the direction of text can disguise
// it. Both are written as escapes, \u001b and \u202e, which mean the same in a JSON string. A byte
// that is not UTF-8 is written like \x9b, because some terminals take it for a control character.
//
// [Text] is for one line, [Writer] for output of many. The package imports nothing of this module.
package printable

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns text that can be printed on one line.
func Text(s string) string {
	if isPlain(s) && !strings.ContainsAny(s, "\n\t") {
		return s
	}
	var out []byte
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == '\n' || r == '\t' {
			out = appendEscaped(out, r)
		} else {
			out = appendRune(out, r, s[:size])
		}
		s = s[size:]
	}
	return string(out)
}

// Writer escapes text of many lines and passes it on. Line ends and tabs stay.
type Writer struct {
	w io.Writer
	// begun is the beginning of a character that is incomplete.
	begun []byte
	out   []byte
}

// NewWriter returns a writer to w, or w itself if it is one.
func NewWriter(w io.Writer) *Writer {
	if already, ok := w.(*Writer); ok {
		return already
	}
	return &Writer{w: w}
}

// Unwrap returns the underlying writer.
func (w *Writer) Unwrap() io.Writer { return w.w }

// Write writes text, except for an incomplete character at its end.
func (w *Writer) Write(p []byte) (int, error) {
	if len(w.begun) == 0 && isPlain(p) {
		return w.w.Write(p)
	}
	text := append(w.begun, p...)
	w.out = w.out[:0]
	for len(text) > 0 && utf8.FullRune(text) {
		r, size := utf8.DecodeRune(text)
		w.out = appendRune(w.out, r, text[:size])
		text = text[size:]
	}
	w.begun = append([]byte(nil), text...)
	_, err := w.w.Write(w.out)
	return len(p), err
}

// Close writes the incomplete character, and leaves the underlying writer open.
func (w *Writer) Close() error {
	var out []byte
	for _, b := range w.begun {
		out = appendRune(out, utf8.RuneError, []byte{b})
	}
	w.begun = nil
	if out == nil {
		return nil
	}
	_, err := w.w.Write(out)
	return err
}

// isPlain reports whether a text is ASCII and needs no escapes.
func isPlain[T string | []byte](text T) bool {
	for i := range len(text) {
		if c := text[i]; (c < ' ' || c >= 0x7F) && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// appendRune appends a character in printable form; text is how it was written.
func appendRune[T string | []byte](out []byte, r rune, text T) []byte {
	switch {
	case r == utf8.RuneError && len(text) == 1:
		return fmt.Appendf(out, `\x%02x`, text[0])
	case r == '\n' || r == '\t' || !unicode.IsControl(r) && !overridesDirection(r):
		return append(out, text...)
	}
	return appendEscaped(out, r)
}

func appendEscaped(out []byte, r rune) []byte { return fmt.Appendf(out, `\u%04x`, r) }

// overridesDirection reports whether a character embeds, overrides or isolates the direction of
// text (Unicode Standard Annex 9, 2).
func overridesDirection(r rune) bool {
	return '\u202A' <= r && r <= '\u202E' || '\u2066' <= r && r <= '\u2069'
}
