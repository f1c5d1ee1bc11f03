package migrate

import (
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// ErrorAt returns an error that ends the reading of a file.
func ErrorAt(at resolver.Position, message string) error {
	return &rulefile.Error{Position: at, Message: message}
}

// longestText is the maximum length in bytes of a file that is decoded as a whole.
const longestText = 64 << 20

// ReadText reads a file that is decoded as a whole, without its byte order mark.
func (t *Table) ReadText(r io.Reader) (string, error) {
	var text strings.Builder
	n, err := io.Copy(&text, io.LimitReader(r, longestText+1))
	switch {
	case err != nil:
		return "", err
	case n > longestText:
		return "", ErrorAt(t.Position(1, 1),
			"the file is larger than 64 MiB; split it, and convert each part")
	}
	return strings.TrimPrefix(text.String(), "\uFEFF"), nil
}

// Decode reads a file and decodes it by one of the functions of the table, such as DecodeJSON.
func (t *Table) Decode(r io.Reader, decode func(text string) (Node, error)) (Node, error) {
	text, err := t.ReadText(r)
	if err != nil {
		return Node{}, err
	}
	return decode(text)
}

// CheckText refuses a text that neither a path nor a URL can hold. Messages call the text what.
// Libraries decode what is not Unicode as U+FFFD.
func CheckText(what, text string) error {
	switch {
	case !utf8.ValidString(text) || strings.Contains(text, "\uFFFD"):
		return errors.New(what + " is not Unicode text: save the file as UTF-8")
	case strings.ContainsAny(text, "\x00\x01\x02"):
		return errors.New(what + " holds control characters; remove them")
	}
	return nil
}

// mostNames is the maximum number of names in a message.
const mostNames = 20

// QuoteAll quotes and lists at most mostNames texts.
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

// Names are the names of skipped things, such as members without a meaning here.
type Names []string

// Add adds a name, unless it is known in either letter case, or the list is full.
func (n *Names) Add(name string) {
	isSame := func(other string) bool { return strings.EqualFold(other, name) }
	if len(*n) <= mostNames && !slices.ContainsFunc(*n, isSame) {
		*n = append(*n, strings.Clone(name))
	}
}

// RemarkSkipped adds a remark on the skipped names, if there are any.
func (t *Table) RemarkSkipped(what string, names Names) {
	if len(names) > 0 {
		t.Remark("%s ignored: %s", what, QuoteAll(names))
	}
}
