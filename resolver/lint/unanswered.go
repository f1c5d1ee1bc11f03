package lint

import (
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// Unanswered yields the rules without variables whose own value leads to a path of the site that no
// rule answers, in no particular order. The path is without query and fragment. A path that a rule
// lets pass has an answer, from the next handler. hosts are as in [Check].
func Unanswered(
	rs *resolver.Ruleset, hosts []string, report func(rule resolver.Rule, path string),
) {
	site := SiteOf(rs, hosts)
	for number := range rs.Keys() {
		rule, _ := rs.Numbered(number)
		path, ok := site.pathOf(rule.Value)
		if !ok {
			continue
		}
		if _, _, isAnswered := rs.Match(path); !isAnswered {
			report(rule, path)
		}
	}
}

// pathOf returns the path of the site to which a value itself leads, if it does.
func (s *Site) pathOf(value string) (path string, ok bool) {
	switch {
	case isOutcome(value):
		return "", false
	case isInternal(value):
		return pathOf(value), true
	}
	u, err := weburl.Parse(value)
	if err != nil {
		return "", false
	}
	return s.Path(u.Href())
}
