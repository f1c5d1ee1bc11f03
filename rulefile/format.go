package rulefile

import (
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Format is a way to write rules down.
type Format string

// The formats.
const (
	// JSON is the draft's own form: see [ReadJSON].
	JSON Format = "json"
	// CSV is a table: see [ReadCSV].
	CSV Format = "csv"
	// Redirects is the _redirects file of Netlify and Cloudflare Pages: see [ReadRedirects].
	Redirects Format = "redirects"
)

// ParseFormat returns the format that name stands for: json, csv or redirects.
func ParseFormat(name string) (Format, error) {
	switch f := Format(name); f {
	case JSON, CSV, Redirects:
		return f, nil
	}
	return "", fmt.Errorf("the formats are json, csv and redirects, not %q", name)
}

// FormatOf returns the format that the name of a file tells: *.json, *.csv and *.tsv, and
// _redirects, *._redirects and *.redirects.
func FormatOf(path string) (Format, bool) {
	name := strings.ToLower(filepath.Base(path))
	switch extension := filepath.Ext(name); {
	case extension == ".json":
		return JSON, true
	case extension == ".csv" || extension == ".tsv":
		return CSV, true
	case name == "_redirects" || extension == "._redirects" || extension == ".redirects":
		return Redirects, true
	}
	return "", false
}

// Read reads rules in a format, as [ReadJSON], [ReadCSV] and [ReadRedirects] do.
func Read(r io.Reader, format Format, source string, add func(resolver.Rule)) error {
	switch format {
	case JSON:
		return ReadJSON(r, source, add)
	case CSV:
		return ReadCSV(r, source, add)
	case Redirects:
		return ReadRedirects(r, source, add)
	}
	_, err := ParseFormat(string(format))
	return err
}

// Write writes rules in a format, as [WriteJSON], [WriteCSV] and [WriteRedirects] do.
func Write(w io.Writer, format Format, rules iter.Seq[resolver.Rule]) error {
	switch format {
	case JSON:
		return WriteJSON(w, rules)
	case CSV:
		return WriteCSV(w, rules)
	case Redirects:
		return WriteRedirects(w, rules)
	}
	_, err := ParseFormat(string(format))
	return err
}
