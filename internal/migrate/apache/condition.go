package apache

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// condition is a RewriteCond.
type condition struct {
	test, pattern string // without a "!" in front
	isNegated     bool
	isOr          bool // it is enough, or the next one is
	at            resolver.Position
}

// newCondition takes the words behind a RewriteCond apart.
func newCondition(at resolver.Position, words []migrate.Word) condition {
	c := condition{test: words[0].Text, at: at}
	c.pattern, c.isNegated = strings.CutPrefix(words[1].Text, "!")
	if len(words) > 2 {
		flags, _ := splitFlags(strings.ToLower(words[2].Text))
		c.isOr = slices.Contains(flags, "or") || slices.Contains(flags, "ornext")
	}
	return c
}

// judge says in which ways conditions make a difference, or why a rule with them has no equivalent.
func judge(conditions []condition, hosts []string) (ways []string, err error) {
	isOfFiles := false
	for i := range conditions {
		c := &conditions[i]
		switch {
		case c.isOr && !c.isOfHost():
			return nil, c.refuse("one of several conditions is enough there")
		case c.isOfFile() && c.isNegated:
			isOfFiles = true
		case c.isOfHost():
			how, err := c.judgeHost(hosts)
			if err != nil {
				return nil, err
			}
			ways = append(ways, how...)
		default:
			return nil, c.refuse(c.remedy())
		}
	}
	if isOfFiles {
		ways = append(ways, "files that exist win there; here the rule does, unless shortlink has a "+
			"matcher \"not file\"")
	}
	return ways, nil
}

// isOfFile reports whether a condition asks if the file or the folder of a request exists.
func (c *condition) isOfFile() bool {
	return slices.Contains([]string{"-f", "-d", "-l", "-s"}, c.pattern) &&
		slices.Contains([]string{"%{REQUEST_FILENAME}", "%{SCRIPT_FILENAME}",
			"%{DOCUMENT_ROOT}%{REQUEST_URI}", "%{DOCUMENT_ROOT}/%{REQUEST_URI}"}, c.test)
}

// areOfExistingFiles reports whether all conditions ask that a file or a folder exists.
func areOfExistingFiles(conditions []condition) bool {
	isOther := func(c condition) bool { return !c.isOfFile() || c.isNegated }
	return len(conditions) > 0 && !slices.ContainsFunc(conditions, isOther)
}

func (c *condition) isOfHost() bool {
	return c.test == "%{HTTP_HOST}" || c.test == "%{SERVER_NAME}"
}

func hasHost(conditions []condition) bool {
	return slices.ContainsFunc(conditions, func(c condition) bool { return c.isOfHost() })
}

func (c *condition) refuse(why string) error {
	return fmt.Errorf("the line has a condition at line %d, on %s, and a rule looks at the path "+
		"alone: %s", c.at.Line, printable.Quote(c.test), why)
}

// remedy says what does what a condition does.
func (c *condition) remedy() string {
	isOfScheme := strings.HasPrefix(c.test, "%{HTTPS}") || c.test == "%{SERVER_PORT}" ||
		c.test == "%{REQUEST_SCHEME}" || strings.Contains(c.test, "X-Forwarded-Proto")
	switch {
	case isOfScheme:
		return "leave the line out, as Caddy redirects to HTTPS by itself"
	case c.test == "%{QUERY_STRING}":
		return "use Caddy's redir with a query matcher"
	case strings.HasPrefix(c.test, "%{HTTP_"), strings.HasPrefix(c.test, "%{HTTP:"):
		return "use Caddy's redir with a header matcher"
	case c.test == "%{REMOTE_ADDR}", c.test == "%{REMOTE_HOST}":
		return "use Caddy's redir with a remote_ip matcher"
	}
	return "use Caddy's redir with a matcher"
}

// judgeHost says whether a condition on the host holds for those of the site.
func (c *condition) judgeHost(hosts []string) (ways []string, err error) {
	const remedy = "if it is this site's, name the host with --line-host; else use the rules in the " +
		"block of that host's site"
	pattern := c.pattern
	if exact, is := strings.CutPrefix(pattern, "="); is {
		pattern = "^" + regexp.QuoteMeta(exact) + "$"
	}
	matches, err := regexp.Compile("(?i)" + pattern)
	if err != nil {
		return nil, c.refuse("the pattern has no equivalent; " + remedy)
	}
	n := 0
	for _, host := range hosts {
		if matches.MatchString(host) != c.isNegated {
			n++
		}
	}
	switch n {
	case 0:
		return nil, c.refuse(remedy)
	case len(hosts):
		return nil, nil
	}
	return []string{"the line is for some of the site's hosts there, and here for all"}, nil
}
