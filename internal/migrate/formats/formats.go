// Package formats lists all formats that rules can be converted from, each with its reader.
package formats

import (
	"fmt"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/migrate/apache"
	"github.com/caddy-shortlink/shortlink/internal/migrate/generators"
	"github.com/caddy-shortlink/shortlink/internal/migrate/lists"
	"github.com/caddy-shortlink/shortlink/internal/migrate/nginx"
	"github.com/caddy-shortlink/shortlink/internal/migrate/tables"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// All returns the formats of sources, and those of other programs.
func All() []migrate.Format {
	return []migrate.Format{{
		Name: rulefile.JSON, Read: readJSON, SeveralPerLine: true,
	}, {
		Name: rulefile.CSV, Read: tables.ReadCSV, HasHosts: true, HasLines: true,
	}, {
		Name: rulefile.Redirects, Read: migrate.LinesOf(lists.ReadRedirects),
		HasHosts: true, HasLines: true, SaysStatus: true, SaysExact: true, IsNetlify: true,
	}, {
		Name: "netlify-toml", Read: migrate.LinesOf(lists.ReadNetlifyTOML),
		HasHosts: true, HasLines: true, SaysStatus: true, SaysExact: true, IsNetlify: true,
	}, {
		Name: "array", Read: migrate.LinesOf(lists.ReadArray), HasHosts: true, SeveralPerLine: true,
		HasExpressions: true,
	}, {
		Name: "htaccess", Read: migrate.LinesOf(apache.Read),
		HasHosts: true, HasLines: true, SaysExact: true, HasExpressions: true,
	}, {
		Name: migrate.Map, Read: migrate.LinesOf(nginx.Read),
		HasHosts: true, HasLines: true, SeveralPerLine: true, HasExpressions: true,
	}, {
		Name: "yaml", Read: migrate.LinesOf(lists.ReadYAML), SeveralPerLine: true,
		HasExpressions: true,
	}, {
		Name: "golink", Read: migrate.LinesOf(lists.ReadGolink), SeveralPerLine: true,
	}, {
		Name: "amplify", Read: migrate.LinesOf(lists.ReadAmplify),
		HasHosts: true, SaysExact: true, SeveralPerLine: true, HasExpressions: true,
	}, {
		Name: "azure", Read: migrate.LinesOf(lists.ReadAzure), SaysExact: true, SeveralPerLine: true,
	}, {
		Name: "wordpress", Read: migrate.LinesOf(lists.ReadWordPress), HasHosts: true,
		SeveralPerLine: true, HasExpressions: true,
	}, {
		Name: "openpublishing", Read: migrate.LinesOf(lists.ReadOpenPublishing), SeveralPerLine: true,
	}, {
		Name: "s3", Read: migrate.LinesOf(lists.ReadS3), SaysExact: true, SeveralPerLine: true,
	}, {
		Name: "iis", Read: migrate.LinesOf(lists.ReadIIS), HasHosts: true, HasLines: true,
		SeveralPerLine: true,
	}, {
		Name: "mkdocs", Read: migrate.LinesOf(generators.ReadMkDocs), HasLines: true,
	}, {
		Name: "mdbook", Read: migrate.LinesOf(generators.ReadMdBook), HasLines: true,
	}, {
		Name: "rediraffe", Read: migrate.LinesOf(generators.ReadRediraffe), HasLines: true,
	}}
}

// readJSON reads rules in our own JSON format. Keys of other programs begin with "/", and match
// their paths alone.
func readJSON(in migrate.Input, add func(resolver.Rule)) (found migrate.ReadResult, err error) {
	cut := 0
	found.Warnings, err = in.Reading.Read(in, rulefile.JSON, in.Source, func(rule resolver.Rule) {
		if key, isPath := strings.CutPrefix(rule.Key, "/"); isPath && key != "" && key[0] != '/' {
			cut++
			rule.Key, rule.Exact = key, rule.Exact || in.Reading.Exact == nil
		}
		add(rule)
	})
	if cut > 0 {
		found.Warnings = append(found.Warnings, lint.Warning{Kind: rulefile.WarnWholeTable,
			Message: fmt.Sprintf("%s with a \"/\" in front, which is removed: exact, as nothing says that "+
				"paths below match, too; --exact=false lets them", printable.Count(cut, "key"))})
	}
	return found, err
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

// OfFile returns the format that the name of a file implies.
func OfFile(path string) (format migrate.Format, ok bool) {
	name, ok := rulefile.OtherFormatOf(path)
	if !ok {
		name, ok = rulefile.FormatOf(path)
	}
	if !ok {
		return format, false
	}
	format, err := Parse(string(name))
	return format, err == nil
}
