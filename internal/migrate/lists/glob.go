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
		pattern, err := patternOfGlob(source)
		line.Refused = err
		source, to = pattern, strings.NewReplacer(`\`, `\\`, "$", `\$`).Replace(to)
	}
	p.addPattern(line, source, to)
}

// patternOfGlob converts a glob to a pattern. "*" is a segment, or a part of one. "/**" at the end is
// at least one segment, and "{,/**}" is any number. With an error, it returns the glob.
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
	for i, segment := range strings.Split(front, "/") {
		if i > 0 {
			pattern += "/"
		}
		if segment == "*" || strings.HasPrefix(segment, "*.") { // not a dot alone
			pattern, segment = pattern+"([^/]+)", segment[1:]
		}
		pattern += partOfGlob.ReplaceAllStringFunc(segment, patternOfPart)
	}
	return pattern + end, nil
}

// patternOfPart returns the pattern of a part of a segment.
func patternOfPart(part string) string {
	switch part[0] {
	case '*':
		return "([^/]*)"
	case '{':
		texts := regexp.QuoteMeta(strings.Trim(part, "{}"))
		return "(" + strings.ReplaceAll(texts, ",", "|") + ")"
	}
	return specialInPatterns.ReplaceAllString(part, `\$0`)
}

var (
	// alternatives matches a list of texts, partOfGlob any part of a segment.
	alternatives = regexp.MustCompile(`\{[^*?\[\]{}()|/]*,[^*?\[\]{}()|/]*\}`)
	partOfGlob   = regexp.MustCompile(`[*]|[{][^}]*[}]|[^*{]+`)
	// otherInGlobs matches what has no equivalent.
	otherInGlobs      = regexp.MustCompile(`\*\*|[?\[\]{}()]|[!@+]\(|/:`)
	specialInPatterns = regexp.MustCompile(`[\\:+]`)
)
