package shortlink_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const modulePath = "github.com/caddy-shortlink/shortlink"

// mayImport says which packages of the module each one may import: all of its own row.
var mayImport = map[string][]string{
	"weburl":             nil,
	"uritemplate":        nil,
	"internal/fetch":     {"internal/printable"},
	"internal/near":      nil,
	"internal/pace":      nil,
	"internal/printable": nil,
	"internal/webroot":   {"weburl"},
	"resolver/pattern":   nil,
	"resolver":           {"resolver/pattern", "weburl", "uritemplate"},
	"resolver/lint": {
		"resolver", "resolver/pattern", "weburl", "uritemplate", "internal/near", "internal/printable",
	},
	"internal/redirects": {"resolver", "resolver/pattern", "weburl"},
	"internal/schedule":  {"resolver", "internal/printable"},

	"internal/redirects/pathexpr": {"internal/redirects", "internal/printable"},

	"rulefile": {
		"internal/redirects", "internal/redirects/pathexpr", "internal/schedule", "resolver",
		"resolver/lint", "resolver/pattern", "weburl", "internal/printable",
	},
	"source": {
		"internal/fetch", "rulefile", "resolver", "resolver/lint", "weburl", "internal/pace",
		"internal/printable", "internal/turn",
	},
	"redis":             {"source", "rulefile", "resolver"},
	"internal/find":     {"resolver", "internal/near"},
	"internal/storage":  nil,
	"internal/hits":     {"resolver", "internal/storage"},
	"internal/history":  {"resolver", "internal/storage", "internal/printable"},
	"internal/reverse":  {"resolver", "resolver/pattern", "weburl"},
	"internal/coverage": {"resolver", "weburl", "internal/find", "internal/near", "internal/webroot"},
	"internal/turn":     nil,
	"internal/refusal":  {"internal/printable"},
	"internal/place":    {"source", "resolver", "resolver/lint"},
	"internal/report":   {"internal/place", "source", "resolver", "resolver/lint"},
	"internal/metrics":  {"source", "resolver"},
	"internal/ahead":    {"internal/schedule", "resolver", "resolver/lint"},
	"internal/effects":  {"internal/schedule", "resolver", "resolver/lint"},
	"internal/past": {
		"internal/history", "internal/schedule", "internal/refusal", "rulefile", "resolver",
		"internal/pace",
	},
	"internal/pending": {"source", "internal/schedule", "resolver", "internal/pace", "internal/turn"},
	"internal/copies":  {"source", "rulefile", "resolver", "internal/pace", "internal/turn"},
	"internal/live": {
		"source", "internal/find", "internal/hits", "internal/history", "internal/reverse",
		"internal/schedule", "internal/ahead", "internal/copies", "internal/effects",
		"internal/metrics", "internal/past", "internal/pending", "internal/place", "internal/report",
		"internal/refusal", "rulefile", "resolver", "resolver/lint", "internal/pace",
		"internal/printable", "internal/turn",
	},
	"internal/client": {"internal/refusal", "resolver"},
	"internal/show": {
		"internal/live", "internal/effects", "internal/past", "internal/history", "source",
		"internal/find", "internal/reverse", "resolver", "resolver/lint", "weburl",
		"internal/printable",
	},
	"internal/admin": {
		"internal/show", "internal/client", "internal/live", "internal/effects", "internal/past",
		"internal/history", "internal/hits", "rulefile", "resolver", "internal/printable",
	},
	"internal/migrate": {
		"rulefile", "internal/redirects", "internal/redirects/pathexpr", "internal/schedule", "resolver",
		"resolver/lint", "weburl", "internal/printable",
	},
	"internal/migrate/apache":     readers,
	"internal/migrate/nginx":      readers,
	"internal/migrate/lists":      readers,
	"internal/migrate/generators": readers,
	"internal/migrate/tables":     readers,
	"internal/migrate/formats": {
		"internal/migrate/apache", "internal/migrate/nginx", "internal/migrate/lists",
		"internal/migrate/generators", "internal/migrate/tables", "internal/migrate", "rulefile",
		"resolver",
	},
	"internal/migrate/migratetest": {"internal/migrate", "rulefile", "resolver"},
	"internal/command": {
		"internal/migrate/formats", "internal/migrate", "internal/admin", "internal/coverage",
		"internal/history", "internal/schedule", "internal/show", "internal/live", "internal/report",
		"internal/find", "internal/near", "internal/webroot", "source", "rulefile", "resolver", "resolver/lint", "weburl",
		"internal/printable",
	},
	".": {
		"internal/command", "internal/admin", "internal/client", "internal/live", "internal/report",
		"internal/history",
		"internal/schedule", "source", "rulefile", "resolver", "resolver/lint", "weburl",
		"internal/directives", "internal/near", "internal/printable",
	},
	"internal/directives": nil,
	"page": {
		"internal/show", "internal/client", "internal/live", "internal/effects", "internal/past",
		"internal/report", "internal/find", "internal/history", "internal/hits", "internal/schedule",
		"rulefile", "resolver", "resolver/lint", "weburl",
		"internal/printable", "internal/directives", "source", "uritemplate", "internal/near",
	},
	"cmd/caddy": {".", "page", "redis"},

	// No row but those of measurements names what only tests import.
	"internal/testcaddy":          {".", "page", "internal/testcaddy/freeport", "resolver"},
	"internal/testcaddy/freeport": nil,

	"internal/vectors": nil,

	// A module of its own.
	"bench":          nil,
	"bench/fleet":    nil,
	"bench/scale":    {"internal/testcaddy/freeport"},
	"bench/generate": {"internal/vectors"},
}

// readers is what a reader of other programs' tables may import.
var readers = []string{
	"internal/migrate", "rulefile", "internal/redirects", "internal/redirects/pathexpr", "resolver",
	"resolver/lint", "weburl", "internal/printable",
}

func TestImportsRunOneWay(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") ||
			strings.HasSuffix(path, "_test.go") ||
			strings.Contains(path, "testdata") {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		allowed, known := mayImport[dir]
		if !known {
			t.Errorf("%s: the package %s has no row in this test", path, dir)
		}
		seen[dir] = true
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			below, ours := strings.CutPrefix(imported, modulePath)
			below = strings.TrimPrefix(below, "/")
			if below == "" {
				below = "."
			}
			if ours && !slices.Contains(allowed, below) {
				t.Errorf("%s imports %s, which is not below it", path, imported)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir := range mayImport {
		if !seen[dir] {
			t.Errorf("there is no package %s", dir)
		}
	}
}

func TestTheRulesThatServeKnowNoHTTP(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, "./internal/live").Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.Lines(string(out)) {
		if strings.Contains(path, "http") {
			t.Errorf("internal/live imports %s", path)
		}
	}
}

// A server reads rules in our own formats. What converts those of others is for the command alone.
func TestServersLinkNothingThatReadsOtherPrograms(t *testing.T) {
	packages := []string{"./source", "./redis", "./internal/live", "./rulefile", "./page"}
	args := []string{"list", "-deps", "-f", `{{.ImportPath}} {{join .Imports " "}}`}
	args = append(args, packages...)
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if strings.HasPrefix(words[0], modulePath+"/internal/migrate") {
			t.Errorf("%s is linked by one of %q", words[0], packages)
		}
		isParser := func(path string) bool {
			return strings.Contains(path, "/toml") || strings.Contains(path, "yaml")
		}
		isOurs := words[0] == modulePath || strings.HasPrefix(words[0], modulePath+"/")
		if isOurs && slices.ContainsFunc(words[1:], isParser) {
			t.Errorf("%s reads TOML or YAML: %q", words[0], words[1:])
		}
	}
}
