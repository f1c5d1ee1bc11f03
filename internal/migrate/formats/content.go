package formats

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// ContentSize is how much of a file [OfContent] wants to see.
const ContentSize = 1 << 16

// mark is what only files of a format have.
type mark struct {
	format  rulefile.Format
	matches *regexp.Regexp
}

// marksOfJSON are for objects and lists in JSON, marksOfText for all other files. The first that
// matches counts.
var (
	marksOfJSON = []mark{
		{"wordpress", regexp.MustCompile(`"action_data"\s*:`)},
		{"s3", regexp.MustCompile(`"(RoutingRules|KeyPrefixEquals|ReplaceKey(Prefix)?With)"\s*:`)},
		{"openpublishing", regexp.MustCompile(`"redirections"\s*:\s*\[`)},
		{"azure", regexp.MustCompile(`"route"\s*:\s*"[^"]*"\s*[,}]`)},
		{"amplify", regexp.MustCompile(`"customRules"\s*:|"target"\s*:[^{}]*"status"\s*:\s*"|` +
			`"status"\s*:\s*"[^{}]*"target"\s*:`)},
		{"golink", regexp.MustCompile(`\A\s*\{\s*"Short"\s*:`)},
		{"array", regexp.MustCompile(`\A\s*\[|"redirects"\s*:\s*[\[{]`)},
		{rulefile.JSON, regexp.MustCompile(`\A`)},
	}
	marksOfText = []mark{
		{"iis", regexp.MustCompile(`<rewriteMaps?\b|<system\.webServer\b`)},
		{"s3", regexp.MustCompile(`<RoutingRules?\b|(?m)^(s3_bucket|routing_rules)\s*:`)},
		{"netlify-toml", regexp.MustCompile(`(?m)^\s*\[\[redirects\]\]`)},
		{"mdbook", regexp.MustCompile(`(?m)^\s*\[output\.html\.redirect\]`)},
		{"mkdocs", regexp.MustCompile(`(?m)^\s+redirect_maps\s*:`)},
		{"htaccess", regexp.MustCompile(`(?mi)^\s*(Redirect(Match|Permanent|Temp)?|` +
			`Rewrite(Rule|Engine|Base|Cond))\s+\S.*[^;{\s]\s*$`)},
		{"yaml", regexp.MustCompile(`\A---\s*\n(?s:.*?)\nredirect_from\s*:`)}, // a page of Jekyll
		{migrate.Map, regexp.MustCompile(`(?m)^\s*(map\s+\S+\s+\$\w+|server|location\s[^{}]*)\s*\{|` +
			`^\s*(["~/][^\s;]*|rewrite|return)\s[^;]*[^\s;];`)},
	}
)

// page is a file of a documentation, perhaps in quotation marks.
const page = `"[^"/][^"]*"|[^\s"/:,;][^\s:,;]*`

// Lines of files that have no mark.
var (
	linesOfYAML = regexp.MustCompile(
		`^(---|\s*(- +)?("[^"]*"|'[^']*'|[^\s"'#][^#]*?)\s*:(\s.*)?|\s+\S.*|- \S.*)$`)
	linesOfRedirects = regexp.MustCompile(
		`^(/|https?://)(\S*[^\s,;])?\s+(\S+=\S+\s+)*(/|https?://)\S*(\s.*)?$`)
	// onlyRedirects matches what a line of _redirects can have, and no line of a map.
	onlyRedirects  = regexp.MustCompile(`\s[1-5]\d\d!?(\s|$)|/\*\s|:splat`)
	linesOfMap     = regexp.MustCompile(`^\S*[^\s,;]\s+(/|https?://)\S*$`)
	linesOfPages   = regexp.MustCompile(`^(` + page + `)\s+(` + page + `)$`)
	linesOfColumns = regexp.MustCompile(`^[^\t]*\t[^\t]*$`)
)

// Find returns the format of a file, by its name or else by its beginning. isGuess reports whether
// the name alone does not tell it.
func Find(path string, begin []byte) (format migrate.Format, isGuess bool, err error) {
	byName, ok := OfFile(path)
	if ok && byName.Name != rulefile.JSON && byName.Name != "yaml" {
		return byName, false, nil
	}
	names := OfContent(begin)
	if len(names) == 1 {
		format, err = Parse(string(names[0]))
		isOther := byName.Name == rulefile.JSON && format.HasLines ||
			byName.Name == "yaml" && !slices.Contains([]rulefile.Format{"mkdocs", "s3"}, names[0])
		if err == nil && !isOther {
			return format, format.Name != byName.Name, nil
		}
	}
	if ok {
		return byName, false, nil
	}
	if len(names) == 0 {
		names = Names()
	}
	return format, false, fmt.Errorf("neither name nor content tells the file's format; write --from "+
		"with one of: %s", migrate.ListOf(names))
}

// OfContent returns the formats that the beginning of a file may have: one in most cases, and none
// if it is not known.
func OfContent(begin []byte) (names []rulefile.Format) {
	text := strings.TrimPrefix(string(begin), "\uFEFF")
	marks := marksOfText
	if first := strings.TrimSpace(text); strings.HasPrefix(first, "{") ||
		strings.HasPrefix(first, "[") && !strings.HasPrefix(first, "[[") && !section.MatchString(first) {
		marks = marksOfJSON
	}
	for _, m := range marks {
		if m.matches.MatchString(text) {
			return []rulefile.Format{m.format}
		}
	}
	lines := linesOf(text, len(begin) == ContentSize)
	switch {
	case len(lines) == 0:
		return nil
	case all(lines, linesOfRedirects) && slices.ContainsFunc(lines, onlyRedirects.MatchString):
		return []rulefile.Format{rulefile.Redirects}
	case all(lines, linesOfYAML):
		return []rulefile.Format{"yaml"}
	case all(lines, linesOfPages):
		return []rulefile.Format{"rediraffe"}
	}
	if all(lines, linesOfRedirects) {
		names = append(names, rulefile.Redirects)
	}
	if all(lines, linesOfMap) {
		names = append(names, migrate.Map)
	}
	if isTable(lines) && (names == nil || all(lines, linesOfColumns)) {
		names = append(names, rulefile.CSV)
	}
	return names
}

// section matches the beginning of a file of TOML.
var section = regexp.MustCompile(`\A\[[\w.-]+\]\s*(\n|$)`)

// linesOf returns the lines that are neither blank nor comments. The last one of a part is left
// out.
func linesOf(text string, isPart bool) (lines []string) {
	for line := range strings.Lines(text) {
		isWhole := strings.HasSuffix(line, "\n") || !isPart
		line = strings.TrimRight(line, " \t\r\n")
		if begin := strings.TrimSpace(line); isWhole && begin != "" && begin[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}

// all reports whether all lines match, but for one in twenty.
func all(lines []string, form *regexp.Regexp) bool {
	others := 0
	for _, line := range lines {
		if !form.MatchString(line) {
			others++
		}
	}
	return others <= len(lines)/20
}

// isTable reports whether all lines have a separator of columns, and as many as the first.
func isTable(lines []string) bool {
	for _, separator := range []string{"\t", ";", ","} {
		n := strings.Count(lines[0], separator)
		lacks := func(line string) bool { return strings.Count(line, separator) < n }
		if n > 0 && !slices.ContainsFunc(lines, lacks) {
			return true
		}
	}
	return false
}
