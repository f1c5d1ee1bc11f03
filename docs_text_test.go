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
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/internal/migrate/formats"
	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// These tests hold the text of the pages, and its tables, against what they name.

// namedCode is a name in the code that a page gives with its file, namedFile a file or a link.
var (
	namedCode = regexp.MustCompile("`(?:\\w+\\.)?(\\w+)`\\s+\\(([\\w/]+\\.go)\\)")
	namedFile = regexp.MustCompile("`([\\w/]+\\.go)`|\\]\\(([^)#:]+)[)#]")
)

func TestPagesHaveShortLinesAndNameWhatExists(t *testing.T) {
	names, err := filepath.Glob("*.md")
	testcaddy.Must(t, err)
	pages, err := filepath.Glob("docs/*.md")
	testcaddy.Must(t, err)
	for _, name := range append(names, pages...) {
		text, err := os.ReadFile(name)
		testcaddy.Must(t, err)
		checkLines(t, name, string(text))
		for _, found := range namedCode.FindAllSubmatch(text, -1) {
			code, err := os.ReadFile(string(found[2]))
			declared := regexp.MustCompile(`(?m)^(func|type) (\(.*\) )?` + string(found[1]) + `\b`)
			if err != nil || !declared.Match(code) {
				t.Errorf("%s: there is no %s in %s", name, found[1], found[2])
			}
		}
		for _, found := range namedFile.FindAllSubmatch(text, -1) {
			path := string(found[1])
			if path == "" {
				path = filepath.Join(filepath.Dir(name), string(found[2]))
			}
			if _, err := os.Stat(path); err != nil && path != "main.go" {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestLinksToSectionsLeadToHeadings(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]*)#([^)]+)\)`)
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		names, err := filepath.Glob(pattern)
		testcaddy.Must(t, err)
		for _, name := range names {
			text, err := os.ReadFile(name)
			testcaddy.Must(t, err)
			for _, found := range link.FindAllStringSubmatch(string(text), -1) {
				page := name
				if found[1] != "" {
					page = filepath.Join(filepath.Dir(name), found[1])
				}
				if !slices.Contains(anchorsOf(t, page), found[2]) {
					t.Errorf("%s: %s has no heading #%s", name, page, found[2])
				}
			}
		}
	}
}

// anchorsOf returns the names that GitHub gives to the headings of a page.
func anchorsOf(t *testing.T, page string) (anchors []string) {
	t.Helper()
	dropped := regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	for _, heading := range foundIn(t, page, regexp.MustCompile(`(?m)^#+ (.*)$`)) {
		anchor := dropped.ReplaceAllString(strings.ToLower(heading), "")
		anchors = append(anchors, strings.ReplaceAll(anchor, " ", "-"))
	}
	return anchors
}

func TestPagesNameNoVersionThatIsNotReleased(t *testing.T) {
	changes, err := os.ReadFile("CHANGELOG.md")
	testcaddy.Must(t, err)
	version := regexp.MustCompile(regexp.QuoteMeta(modulePath) + `\S*?@v(\d[\w.-]*)`)
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		names, err := filepath.Glob(pattern)
		testcaddy.Must(t, err)
		for _, name := range names {
			text, err := os.ReadFile(name)
			testcaddy.Must(t, err)
			for _, found := range version.FindAllSubmatch(text, -1) {
				if !strings.Contains(string(changes), "\n## "+string(found[1])) {
					t.Errorf("%s: CHANGELOG.md has no release %s", name, found[1])
				}
			}
		}
	}
}

// checkLines checks the length of lines, but for tables and code.
func checkLines(t *testing.T, name, text string) {
	t.Helper()
	lines, isCode := strings.Split(text, "\n"), false
	if name == "README.md" && len(lines) > 201 {
		t.Errorf("README.md has %d lines", len(lines))
	}
	for i, line := range lines {
		if strings.HasPrefix(line, "```") {
			isCode = !isCode
		}
		if !isCode && !strings.HasPrefix(line, "|") && utf8.RuneCountInString(line) > 120 {
			t.Errorf("%s:%d: more than 120 columns", name, i+1)
		}
	}
}

func TestTheTableOfFindingsNamesEveryKind(t *testing.T) {
	constants := regexp.MustCompile(`\bKind += "([^"]+)"`)
	var inCode []string
	for pattern, kinds := range map[string]*regexp.Regexp{
		"resolver/lint/*.go":        constants,
		"rulefile/*.go":             constants,
		"rulefile/reports.go":       regexp.MustCompile(`Kind: "([^"]+)"`),
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
