package rulefile

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Format is a way to write rules down.
type Format string

// The formats of a source.
const (
	// JSON is the draft's own form: see [ReadJSON].
	JSON Format = "json"
	// CSV is a table.
	CSV Format = "csv"
	// Redirects is the _redirects file of Netlify and Cloudflare Pages.
	Redirects Format = "redirects"
)

// ParseFormat returns the format that name stands for: json, csv or redirects, which a source of
// rules can have.
func ParseFormat(name string) (Format, error) {
	switch format := Format(name); format {
	case JSON, CSV, Redirects:
		return format, nil
	}
	return "", fmt.Errorf("the formats are json, csv and redirects, not %q", name)
}

// FormatOf returns the format that the name of a file tells. The names are *.json, *.csv and *.tsv,
// and _redirects, *._redirects and *.redirects.
func FormatOf(path string) (format Format, ok bool) {
	if strings.ToLower(filepath.Base(path)) == "_redirects" {
		return Redirects, true
	}
	format, ok = map[string]Format{
		".json": JSON, ".csv": CSV, ".tsv": CSV, "._redirects": Redirects, ".redirects": Redirects,
	}[strings.ToLower(filepath.Ext(path))]
	return format, ok
}

// OtherFormatOf returns the format of another program that the name of a file tells, as convert
// calls it: with its name a file is converted, where somebody takes it for one of rules.
func OtherFormatOf(path string) (name Format, ok bool) {
	switch strings.ToLower(filepath.Base(path)) {
	case "vercel.json", "firebase.json", "docs.json", "mint.json", "routes-manifest.json":
		return "array", true
	case "netlify.toml":
		return "netlify-toml", true
	}
	name, ok = map[string]Format{
		".htaccess": "htaccess", ".yaml": "yaml", ".yml": "yaml", ".map": "map",
	}[strings.ToLower(filepath.Ext(path))]
	return name, ok
}

// Read reads rules in a format, like [Reading.Read] with the zero Reading and without its warnings.
func Read(r io.Reader, format Format, source string, add func(resolver.Rule)) error {
	_, err := Reading{}.Read(r, format, source, add)
	return err
}

// Write writes rules in a format. The error is w's own, or of type [Errors] and lists the rules
// that are left out, as the format has no words for them.
func Write(w io.Writer, format Format, rules iter.Seq[resolver.Rule]) error {
	switch format {
	case JSON:
		return WriteJSON(w, rules)
	case CSV:
		return writeCSV(w, rules)
	case Redirects:
		return writeRedirects(w, rules)
	}
	_, err := ParseFormat(string(format))
	return err
}

// checkWritable refuses a rule that no format can hold.
func checkWritable(rule resolver.Rule) error {
	switch {
	case !utf8.ValidString(rule.Key) || !utf8.ValidString(rule.Value):
		return errors.New("files hold Unicode text only; write bytes that are none percent-encoded")
	case !utf8.ValidString(rule.Note):
		return errors.New("files hold Unicode text only; write the note as UTF-8")
	case rule.Status != 0 && !resolver.ValidStatus(rule.Status):
		return errors.New("the status is " + statusCodes + ", not " + strconv.Itoa(rule.Status))
	}
	return nil
}
