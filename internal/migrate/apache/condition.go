package apache

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
)

// condition is a RewriteCond.
type condition struct {
	test, pattern string // without a "!" in front
	isNegated     bool
	isOr          bool // this condition or the next must hold
	line          int
}

// newCondition parses the words after RewriteCond.
func newCondition(line int, words []migrate.Word) condition {
	c := condition{test: words[0].Text, line: line}
	c.pattern, c.isNegated = strings.CutPrefix(words[1].Text, "!")
	c.isOr = len(words) > 2 && orFlag.MatchString(words[2].Text)
	return c
}

var orFlag = regexp.MustCompile(`(?i)[\[,] *or(next)? *[\],]`)

// judgeAll describes the differences that conditions make. The error explains why a rule with these
// conditions has no equivalent.
func judgeAll(conditions []condition, hosts []string) (ways []string, err error) {
	for i := range conditions {
		c := &conditions[i]
		way, why := c.judge(hosts)
		if why != "" {
			return nil, fmt.Errorf("the line has a condition at line %d, on %s, and a rule matches the "+
				"path alone: %s", c.line, printable.Quote(c.test), why)
		}
		if way != "" && !slices.Contains(ways, way) {
			ways = append(ways, way)
		}
	}
	return ways, nil
}

// judge describes the difference that the condition makes, or why a rule with it has no equivalent.
func (c *condition) judge(hosts []string) (way, why string) {
	switch {
	case c.isOfHost():
		return c.judgeHost(hosts)
	case c.isOr:
		return "", "Apache needs only one of several conditions to hold"
	case c.isOfFile() && c.isNegated:
		return "there, files that exist take precedence; here the rule does, unless shortlink has a " +
			"matcher \"not file\"", ""
	case ofScheme.MatchString(c.test):
		return "", "leave the line out, as Caddy redirects to HTTPS by itself"
	case c.test == "%{QUERY_STRING}":
		return "", "use Caddy's redir with a query matcher"
	case strings.HasPrefix(c.test, "%{HTTP"):
		return "", "use Caddy's redir with a header matcher"
	}
	return "", "use Caddy's redir with a matcher"
}

// ofScheme matches tests of the scheme, and ofFile those of the requested file or folder.
var (
	ofScheme = regexp.MustCompile(`^%\{(HTTPS|(SERVER_PORT|REQUEST_SCHEME)\}$)|X-Forwarded-Proto`)
	ofFile   = regexp.MustCompile(
		`^%\{(REQUEST_FILENAME|SCRIPT_FILENAME|DOCUMENT_ROOT\}/?%\{REQUEST_URI)\} -[fdls]$`)
)

// isOfFile reports whether a condition tests that the requested file or folder exists.
func (c *condition) isOfFile() bool { return ofFile.MatchString(c.test + " " + c.pattern) }

func (c *condition) isOfHost() bool {
	return c.test == "%{HTTP_HOST}" || c.test == "%{SERVER_NAME}"
}

// judgeHost judges a condition on the host by the hosts of the site.
func (c *condition) judgeHost(hosts []string) (way, why string) {
	pattern := c.pattern
	if exact, is := strings.CutPrefix(pattern, "="); is {
		pattern = "^" + regexp.QuoteMeta(exact) + "$"
	}
	matches, err := regexp.Compile("(?i)" + pattern)
	isOther := func(host string) bool { return matches.MatchString(host) == c.isNegated }
	switch {
	case err != nil || !slices.ContainsFunc(hosts, func(host string) bool { return !isOther(host) }):
		return "", "if the host is this site's, name it with --line-host; otherwise use the rules " +
			"in the block of that host's site"
	case slices.ContainsFunc(hosts, isOther):
		return "there, the line is for some of the site's hosts; here it is for all", ""
	}
	return "", ""
}
