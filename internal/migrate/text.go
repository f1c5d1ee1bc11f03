package migrate

import (
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/internal/printable"
)

// longestText is how many bytes a file has at most that is decoded as a whole.
const longestText = 64 << 20

// ReadText reads a file that is decoded as a whole, without the mark in front of UTF-8.
func (t *Table) ReadText(r io.Reader) (string, error) {
	var text strings.Builder
	n, err := io.Copy(&text, io.LimitReader(r, longestText+1))
	switch {
	case err != nil:
		return "", err
	case n > longestText:
		return "", ErrorAt(t.Position(1, 1),
			"the file has more than 64 MiB; write it as several, and convert each")
	}
	return strings.TrimPrefix(text.String(), "\uFEFF"), nil
}

// notUnicode is what a text is that is no UTF-8.
const notUnicode = "is no Unicode text: save the file as UTF-8"

// CheckText refuses a text that no path and no URL holds. Messages call it what.
func CheckText(what, text string) error {
	switch {
	case !utf8.ValidString(text):
		return errors.New(what + " " + notUnicode)
	case strings.ContainsAny(text, "\x00\x01\x02"):
		return errors.New(what + " holds control characters; remove them")
	}
	return nil
}

// mostNames is how many names a person reads.
const mostNames = 20

// QuoteAll lists texts, as many as a person reads.
func QuoteAll(texts []string) string {
	var quoted []string
	for _, text := range texts[:min(len(texts), mostNames)] {
		quoted = append(quoted, printable.Quote(text))
	}
	if len(texts) > mostNames {
		quoted = append(quoted, "…")
	}
	return strings.Join(quoted, ", ")
}

// Names are those of what a reader passes over, such as members that say nothing here.
type Names []string

// Add adds a name, unless it is there in either case, or there are more than a person reads.
func (n *Names) Add(name string) {
	isSame := func(other string) bool { return strings.EqualFold(other, name) }
	if len(*n) <= mostNames && !slices.ContainsFunc(*n, isSame) {
		*n = append(*n, strings.Clone(name))
	}
}

// RemarkPassed says of the file that what is passed over, if there is such.
func (t *Table) RemarkPassed(what string, names Names) {
	if len(names) > 0 {
		t.Remark("%s passed over: %s", what, QuoteAll(names))
	}
}
