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

// Format is a format for rules.
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

// ParseFormat parses the name of a format of sources: json, csv or redirects.
func ParseFormat(name string) (Format, error) {
	switch format := Format(name); format {
	case JSON, CSV, Redirects:
		return format, nil
	}
	return "", fmt.Errorf("the formats are json, csv and redirects, not %q", name)
}

// FormatOf returns the format for a file name: *.json, *.csv, *.tsv, _redirects, *._redirects or
// *.redirects.
func FormatOf(path string) (format Format, ok bool) {
	if strings.ToLower(filepath.Base(path)) == "_redirects" {
		return Redirects, true
	}
	format, ok = map[string]Format{
		".json": JSON, ".csv": CSV, ".tsv": CSV, "._redirects": Redirects, ".redirects": Redirects,
	}[strings.ToLower(filepath.Ext(path))]
	return format, ok
}

// OtherFormatOf returns the format of another program for a file name, by its name in convert. It
// is for messages about files that are not rule files.
func OtherFormatOf(path string) (name Format, ok bool) {
	name, ok = map[string]Format{
		"vercel.json": "array", "firebase.json": "array", "docs.json": "array", "mint.json": "array",
		"routes-manifest.json": "array", "netlify.toml": "netlify-toml", "book.toml": "mdbook",
		"mkdocs.yml": "mkdocs", "s3_website.yml": "s3", "web.config": "iis",
		"staticwebapp.config.json":         "azure",
		".openpublishing.redirection.json": "openpublishing",
	}[strings.ToLower(filepath.Base(path))]
	if ok {
		return name, true
	}
	name, ok = map[string]Format{
		".htaccess": "htaccess", ".yaml": "yaml", ".yml": "yaml", ".map": "map",
		".conf": "map", ".rediraffe": "rediraffe",
	}[strings.ToLower(filepath.Ext(path))]
	return name, ok
}

// Read reads rules in a format, like [Reading.Read] of the zero Reading, without warnings.
func Read(r io.Reader, format Format, source string, add func(resolver.Rule)) error {
	_, err := Reading{}.Read(r, format, source, add)
	return err
}

// Write writes rules in a format. The error is that of w, or an [Errors] that lists the rules left
// out, because the format cannot express them.
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

// checkWritable returns an error for a rule that no format can contain.
func checkWritable(rule resolver.Rule) error {
	switch {
	case !utf8.ValidString(rule.Key) || !utf8.ValidString(rule.Value):
		return errors.New("files contain only UTF-8; write other bytes percent-encoded")
	case !utf8.ValidString(rule.Note):
		return errors.New("files contain only UTF-8; write the note as UTF-8")
	case rule.Status != 0 && !resolver.ValidStatus(rule.Status):
		return errors.New("the status must be " + statusCodes + ", not " + strconv.Itoa(rule.Status))
	}
	return nil
}
