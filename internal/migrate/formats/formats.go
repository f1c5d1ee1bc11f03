// Package formats lists all formats that rules can be converted from, each with its reader.
package formats

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/migrate/apache"
	"github.com/caddy-shortlink/shortlink/internal/migrate/generators"
	"github.com/caddy-shortlink/shortlink/internal/migrate/lists"
	"github.com/caddy-shortlink/shortlink/internal/migrate/nginx"
	"github.com/caddy-shortlink/shortlink/internal/migrate/tables"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// All returns the formats of sources, and those of other programs.
func All() []migrate.Format {
	return []migrate.Format{
		{Name: rulefile.JSON, Read: migrate.ReadJSON, SeveralPerLine: true},
		{Name: rulefile.CSV, Read: tables.ReadCSV, HasHosts: true, HasLines: true},
		{Name: rulefile.Redirects, Read: migrate.LinesOf(lists.ReadRedirects),
			HasHosts: true, HasLines: true, SaysStatus: true, SaysExact: true, IsNetlify: true},
		{Name: "netlify-toml", Read: migrate.LinesOf(lists.ReadNetlifyTOML),
			HasHosts: true, HasLines: true, SaysStatus: true, SaysExact: true, IsNetlify: true,
			Files: []string{"netlify.toml"}},
		{Name: "array", Read: migrate.LinesOf(lists.ReadArray),
			HasHosts: true, HasKeys: true, SeveralPerLine: true, HasExpressions: true,
			Files: []string{"vercel.json", "firebase.json", "docs.json", "mint.json",
				"routes-manifest.json"}},
		{Name: "htaccess", Read: migrate.LinesOf(apache.Read), Files: []string{".htaccess"},
			HasHosts: true, HasLines: true, SaysExact: true, HasExpressions: true},
		{Name: migrate.Map, Read: migrate.LinesOf(nginx.Read), Files: []string{".map", ".conf"},
			HasHosts: true, HasLines: true, SeveralPerLine: true, HasExpressions: true},
		{Name: "yaml", Read: migrate.LinesOf(lists.ReadYAML), Files: []string{".yaml", ".yml"},
			HasHosts: true, HasKeys: true, SeveralPerLine: true, HasExpressions: true},
		{Name: "golink", Read: migrate.LinesOf(lists.ReadGolink), SeveralPerLine: true},
		{Name: "amplify", Read: migrate.LinesOf(lists.ReadAmplify),
			HasHosts: true, SaysExact: true, SeveralPerLine: true, HasExpressions: true},
		{Name: "azure", Read: migrate.LinesOf(lists.ReadAzure), SaysExact: true, SeveralPerLine: true,
			Files: []string{"staticwebapp.config.json"}},
		{Name: "wordpress", Read: migrate.LinesOf(lists.ReadWordPress),
			HasHosts: true, SeveralPerLine: true, HasExpressions: true},
		{Name: "openpublishing", Read: migrate.LinesOf(lists.ReadOpenPublishing), SeveralPerLine: true,
			Files: []string{".openpublishing.redirection.json"}},
		{Name: "s3", Read: migrate.LinesOf(lists.ReadS3), SaysExact: true, SeveralPerLine: true,
			Files: []string{"s3_website.yml"}},
		{Name: "iis", Read: migrate.LinesOf(lists.ReadIIS), Files: []string{"web.config"},
			HasHosts: true, HasLines: true, SeveralPerLine: true},
		{Name: "mkdocs", Read: migrate.LinesOf(generators.ReadMkDocs), HasLines: true,
			Files: []string{"mkdocs.yml"}},
		{Name: "mdbook", Read: migrate.LinesOf(generators.ReadMdBook), HasLines: true,
			Files: []string{"book.toml"}},
		{Name: "rediraffe", Read: migrate.LinesOf(generators.ReadRediraffe), HasLines: true,
			Files: []string{".rediraffe"}},
	}
}

// Names returns the names of all formats.
func Names() (names []rulefile.Format) {
	for _, f := range All() {
		names = append(names, f.Name)
	}
	return names
}

// Parse returns the format with the given name.
func Parse(name string) (migrate.Format, error) {
	for _, f := range All() {
		if string(f.Name) == name {
			return f, nil
		}
	}
	return migrate.Format{}, fmt.Errorf("the formats are %s, not %q", migrate.ListOf(Names()), name)
}

// OfFile returns the format that the name of a file implies, or else its extension.
func OfFile(path string) (format migrate.Format, ok bool) {
	name := strings.ToLower(filepath.Base(path))
	for _, end := range []string{name, filepath.Ext(name)} {
		for _, f := range All() {
			if slices.Contains(f.Files, end) {
				return f, true
			}
		}
	}
	own, ok := rulefile.FormatOf(path)
	format, _ = Parse(string(own))
	return format, ok
}
