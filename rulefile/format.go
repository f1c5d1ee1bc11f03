package rulefile

import (
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Format is a way to write rules down.
type Format string

// The formats. A source has one of the first three; the others are those of other programs.
const (
	// JSON is the draft's own form: see [ReadJSON].
	JSON Format = "json"
	// CSV is a table.
	CSV Format = "csv"
	// Redirects is the _redirects file of Netlify and Cloudflare Pages.
	Redirects Format = "redirects"
	// Map has a key and a destination on each line: a map of nginx, Apache or HAProxy, or a list with
	// tabs.
	Map Format = "map"
	// Array is a JSON array of objects, as Vercel, Next.js, Firebase and others have it.
	Array Format = "array"
	// NetlifyTOML is a netlify.toml.
	NetlifyTOML Format = "netlify-toml"
	// Htaccess is what Apache's mod_alias and mod_rewrite take.
	Htaccess Format = "htaccess"
	// YAML is a map of paths and destinations.
	YAML Format = "yaml"
	// Golink is what golink exports: an object on each line.
	Golink Format = "golink"
)

// FromFormats returns the formats that rules can be converted from: those that a source can have,
// and those of other programs.
func FromFormats() []Format {
	return []Format{
		JSON, CSV, Redirects, NetlifyTOML, Array, Htaccess, Map, YAML, Golink,
	}
}

// ToFormats returns the formats that rules can be written in.
func ToFormats() []Format { return []Format{JSON, CSV, Redirects, Map} }

// ParseFormat returns the format that name stands for: json, csv or redirects, which a source of
// rules can have.
func ParseFormat(name string) (Format, error) {
	return parseFormat(name, []Format{JSON, CSV, Redirects})
}

// ParseFrom returns the format that name stands for, of those that rules can be converted from.
func ParseFrom(name string) (Format, error) { return parseFormat(name, FromFormats()) }

// ParseTo returns the format that name stands for, of those that rules can be written in.
func ParseTo(name string) (Format, error) { return parseFormat(name, ToFormats()) }

func parseFormat(name string, formats []Format) (Format, error) {
	if format := Format(name); slices.Contains(formats, format) {
		return format, nil
	}
	return "", fmt.Errorf("the formats are %s, not %q", listOf(formats), name)
}

// listOf lists formats in a sentence.
func listOf(formats []Format) string {
	var b strings.Builder
	for i, format := range formats {
		switch {
		case i > 0 && i == len(formats)-1:
			b.WriteString(" and ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(string(format))
	}
	return b.String()
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

// FromFormatOf returns the format that the name of a file tells, of those that rules can be
// converted from. Beside those of [FormatOf] these are names that other programs give.
func FromFormatOf(path string) (Format, bool) {
	switch strings.ToLower(filepath.Base(path)) {
	case "vercel.json", "firebase.json", "docs.json", "mint.json", "routes-manifest.json":
		return Array, true
	case "netlify.toml":
		return NetlifyTOML, true
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".htaccess":
		return Htaccess, true
	case ".yaml", ".yml":
		return YAML, true
	case ".map":
		return Map, true
	}
	return FormatOf(path)
}

// HasHosts reports whether keys of a format can have hosts, as [Reading.Hosts] names them.
func HasHosts(format Format) bool {
	return slices.Contains([]Format{Redirects, CSV, Array, NetlifyTOML, Htaccess, Map}, format)
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
	case Map:
		return writeMap(w, rules)
	}
	_, err := ParseTo(string(format))
	return err
}
