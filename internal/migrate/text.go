package migrate

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// longestText is how many bytes a file has at most that is decoded as a whole.
const longestText = 64 << 20

// ReadText reads a file that is decoded as a whole, without the mark in front of UTF-8.
func ReadText(r io.Reader, source string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, longestText+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > longestText:
		return nil, &rulefile.Error{Position: resolver.Position{Source: source, Line: 1, Column: 1},
			Message: "the file has more than 64 MiB; write it as several, and convert each"}
	}
	return bytes.TrimPrefix(text, []byte("\uFEFF")), nil
}

// NotUnicode is what a text is that is no UTF-8.
const NotUnicode = "is no Unicode text: save the file as UTF-8"

// CheckText refuses a text that no path and no URL holds. Messages call it what.
func CheckText(what, text string) error {
	switch {
	case !utf8.ValidString(text):
		return errors.New(what + " " + NotUnicode)
	case strings.ContainsAny(text, "\x00\x01\x02"):
		return errors.New(what + " holds control characters; remove them")
	}
	return nil
}

// QuoteAll lists texts, as many as a person reads.
func QuoteAll(texts []string) string {
	const most = 20
	var quoted []string
	for _, text := range texts[:min(len(texts), most)] {
		quoted = append(quoted, printable.Quote(text))
	}
	if len(texts) > most {
		quoted = append(quoted, "…")
	}
	return strings.Join(quoted, ", ")
}
