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

// OtherFormatOf returns the format of another program that the name of a file tells, as convert
// calls it: with its name a file is converted, where somebody takes it for one of rules.
func OtherFormatOf(path string) (name Format, ok bool) {
	switch strings.ToLower(filepath.Base(path)) {
	case "vercel.json", "firebase.json", "docs.json", "mint.json", "routes-manifest.json":
		return "array", true
	case "netlify.toml":
		return "netlify-toml", true
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".htaccess":
		return "htaccess", true
	case ".yaml", ".yml":
		return "yaml", true
	case ".map":
		return "map", true
	}
	return "", false
}
