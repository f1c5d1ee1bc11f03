package lists

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
)

// addGlob adds the lines of a path of Firebase: of a pattern if the destination has variables, else
// of a glob.
func (p *pairs) addGlob(line redirects.Line, source, to string) {
	if !strings.Contains(to, "/:") && line.Refused == nil {
		pattern, err := patternOfGlob("/" + strings.TrimPrefix(source, "/"))
		line.Refused = err
		source, to = pattern, strings.NewReplacer(`\`, `\\`, "$", `\$`).Replace(to)
	}
	p.addPattern(line, source, to)
}

// patternOfGlob converts a glob to a pattern. "*" is a segment, or the end of a part of one. "/**"
// at the end is at least one segment, and "{,/**}" any number. With an error, it returns the glob.
func patternOfGlob(glob string) (pattern string, err error) {
	front, end := glob, ""
	if text, is := strings.CutSuffix(glob, "{,/**}"); is {
		front, end = strings.TrimSuffix(text, "/"), "/:rest*"
	} else if text, is := strings.CutSuffix(glob, "/**"); is {
		front, end = text, "/(.+)"
	}
	if other := otherInGlobs.FindString(alternatives.ReplaceAllString(front, "")); other != "" {
		return glob, fmt.Errorf("a rule has no %q, which is a part of a glob, or of a variable that "+
			"the destination lacks; %s", other, pathexpr.Remedy)
	}
	return partOfGlob.ReplaceAllStringFunc(front, patternOfPart) + end, nil
}

// patternOfPart returns the pattern of a part of a glob.
func patternOfPart(part string) string {
	switch {
	case part == "/*": // not a dot alone
		return "/([^/]+)"
	case part == "*":
		return "([^/]*)"
	case part[0] == '{':
		texts := regexp.QuoteMeta(strings.Trim(part, "{}"))
		return "(" + strings.ReplaceAll(texts, ",", "|") + ")"
	}
	return specialInPatterns.ReplaceAllString(part, `\$0`)
}

var (
	// alternatives matches a list of texts, and partOfGlob any part of a glob.
	alternatives = regexp.MustCompile(`\{[^*?\[\]{}()|/]*,[^*?\[\]{}()|/]*\}`)
	partOfGlob   = regexp.MustCompile(`/?\*|\{[^}]*\}|[^*{/]+|/`)
	// otherInGlobs matches what has no equivalent.
	otherInGlobs      = regexp.MustCompile(`\*\*|[?\[\]{}()]|[!@+]\(|/:|/\*[^/.]`)
	specialInPatterns = regexp.MustCompile(`[\\:+]`)
)
