package shortlink_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate/formats"
	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// These tests hold tables of the pages against the code that they list.

func TestTheTableOfFindingsNamesEveryKind(t *testing.T) {
	constants := regexp.MustCompile(`\bKind += "([^"]+)"`)
	var inCode []string
	for pattern, kinds := range map[string]*regexp.Regexp{
		"resolver/lint/*.go":        constants,
		"rulefile/*.go":             constants,
		"internal/ahead/*.go":       constants,
		"internal/live/*.go":        constants,
		"internal/command/*.go":     constants,
		"internal/command/check.go": regexp.MustCompile(`(?:addErrors\(.*,|f\.Kind, .* =) "([^"]+)"`),
		"resolver/problem.go":       regexp.MustCompile(`errors\.New\("([^"]+)"\)`),
	} {
		names, err := filepath.Glob(pattern)
		testcaddy.Must(t, err)
		for _, name := range names {
			inCode = append(inCode, foundIn(t, name, kinds)...)
		}
	}
	var onPage []string
	for _, row := range tableOf(t, "docs/operating.md", "finding") {
		onPage = append(onPage, strings.Split(row[0], ", ")...)
	}
	checkSame(t, "docs/operating.md", onPage, inCode)
}

func TestTheTableOfFuzzingNamesEveryTarget(t *testing.T) {
	targets := regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)
	var inCode []string
	testcaddy.Must(t, filepath.WalkDir(".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		for _, target := range foundIn(t, name, targets) {
			inCode = append(inCode, path.Join(filepath.ToSlash(filepath.Dir(name)), target))
		}
		return nil
	}))
	var onPage []string
	for _, row := range tableOf(t, "CONTRIBUTING.md", "package") {
		where := strings.Trim(strings.TrimSpace(row[0]), "`")
		if where == "root" {
			where = "."
		}
		for target := range strings.SplitSeq(row[1], ", ") {
			onPage = append(onPage, path.Join(where, strings.Trim(target, " `")))
		}
	}
	checkSame(t, "CONTRIBUTING.md", onPage, inCode)
}

func TestTheTableOfMovingNamesEveryFormatOfConvert(t *testing.T) {
	var inCode, onPage []string
	for _, name := range formats.Names() {
		inCode = append(inCode, string(name))
	}
	for _, row := range tableOf(t, "docs/moving.md", "you have") {
		if name := codeOf(row[1]); name != "" {
			onPage = append(onPage, name)
		}
	}
	checkSame(t, "docs/moving.md", onPage, inCode)
}

// foundIn returns what the group of a pattern finds in a file of code.
func foundIn(t *testing.T, name string, pattern *regexp.Regexp) (all []string) {
	t.Helper()
	text, err := os.ReadFile(name)
	testcaddy.Must(t, err)
	for _, found := range pattern.FindAllSubmatch(text, -1) {
		all = append(all, string(found[1]))
	}
	return all
}

// tableOf returns the rows of the table of a page whose header begins with a word.
func tableOf(t *testing.T, page, first string) [][]string {
	t.Helper()
	for _, part := range readDocument(t, page).parts {
		if len(part.rows) > 2 && strings.TrimSpace(part.rows[0][0]) == first {
			rows := part.rows[2:]
			for _, row := range rows {
				row[0] = strings.TrimSpace(row[0])
			}
			return rows
		}
	}
	t.Fatalf("%s has no table of each %s", page, first)
	return nil
}

// checkSame checks that a page names what the code has, and nothing else.
func checkSame(t *testing.T, page string, onPage, inCode []string) {
	t.Helper()
	for _, name := range inCode {
		if !slices.Contains(onPage, name) {
			t.Errorf("%s does not name %q", page, name)
		}
	}
	for _, name := range onPage {
		if !slices.Contains(inCode, name) {
			t.Errorf("%s names %q, which the code does not have", page, name)
		}
	}
}
