package command

import (
	"net"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/show"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// kindNeverReached: what is in front of the handler keeps away all requests for a key.
const kindNeverReached lint.Kind = "never reached"

// arrive sets the path of a question's request to the one that reaches the handler. If none does,
// it says why, and leaves the request as it is. A path without a host may also be meant as the
// handler sees it.
func (c *ConfigHandler) arrive(q *show.Question) (note string) {
	if q.Err != nil || len(c.Ways) == 0 {
		return ""
	}
	asked, host := q.Request.Target, withoutPort(q.Request.Host)
	note = "no site answers the host " + host + " with this handler"
	for _, way := range c.Ways {
		if !q.IsPath() && !way.takesHost(host) {
			continue
		}
		path, keptBy := way.arrive(asked.Pathname)
		if keptBy == nil {
			q.Request.Asked, q.Request.Target.Pathname = asked, path
			return ""
		}
		if q.IsPath() && way.matcherAgainst(requestPaths(asked.Pathname)) == nil {
			return ""
		}
		note = "the request does not reach the handler: " + keptBy.String()
	}
	return note
}

// withoutPort returns a host as in host matchers.
func withoutPort(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// addNeverReached adds warnings about rules that no request reaches, neither for their own keys nor
// through other rules. Some keys have other warnings already.
func (r *checkReport) addNeverReached(
	ruleset *resolver.Ruleset, ways []Way, told map[string]bool,
) {
	isOpen := func(w Way) bool { return len(w.gates) == 0 }
	if len(ways) == 0 || slices.ContainsFunc(ways, isOpen) {
		return
	}
	for _, rule := range neverReached(ruleset, ways) {
		if !told[rule.Key] {
			r.warn(kindNeverReached, rule, neverReachedMessage(rule, ways))
		}
	}
}

// neverReached returns the rules that no request reaches. A rule with an internal destination may
// lead to any key with the same first segment.
func neverReached(ruleset *resolver.Ruleset, ways []Way) (never []resolver.Rule) {
	var reached []resolver.Rule
	others := map[string][]resolver.Rule{} // by the first segment
	for rule := range ruleset.Rules() {
		if isReached(rule, ways) {
			reached = append(reached, rule)
		} else {
			never = append(never, rule)
			segment := firstSegment("/" + rule.Key)
			others[segment] = append(others[segment], rule)
		}
	}
	for len(reached) > 0 && len(others) > 0 {
		value := reached[0].Value
		reached = reached[1:]
		if !strings.HasPrefix(value, "/") {
			continue
		}
		segment := firstSegment(value)
		if segment == "" {
			return nil
		}
		for _, led := range []string{segment, ""} {
			reached = append(reached, others[led]...)
			delete(others, led)
		}
	}
	return slices.DeleteFunc(never, func(rule resolver.Rule) bool {
		return others[firstSegment("/"+rule.Key)] == nil
	})
}

// firstSegment returns the first segment of a path, as keys are compared: "" for any, and "/" for
// the root, which is not a key.
func firstSegment(path string) string {
	u, err := weburl.Parse("http://localhost" + path)
	switch {
	case err != nil:
		return ""
	case u.Path == "/":
		return "/"
	}
	segment, _, _ := strings.Cut(u.Path[1:], "/")
	if strings.Contains(segment, "%7B") { // the brace of a variable
		return ""
	}
	return resolver.CanonicalKey(segment, true)
}

func isReached(rule resolver.Rule, ways []Way) bool {
	isIn := func(w Way) bool { return w.matcherAgainst(rulePaths(rule)) == nil }
	return len(ways) == 0 || slices.ContainsFunc(ways, isIn)
}

// neverReachedMessage says why no request for a rule arrives, and which key to write.
func neverReachedMessage(rule resolver.Rule, ways []Way) string {
	message := "no request for it reaches the handler, because " +
		ways[0].matcherAgainst(rulePaths(rule)).String() + "; "
	key, above := keyThatIsReached(rule, ways)
	if key == rule.Key {
		return message + "let that take /" + key + ", too, or remove the rule"
	}
	return message + "write " + key + ", or handle_path " + above + "/* around the handler, which " +
		"cuts off " + above
}

// keyThatIsReached returns a rule's key, or else the key with the path in front of it that all
// patterns of a matcher begin with.
func keyThatIsReached(rule resolver.Rule, ways []Way) (key, above string) {
	if isReached(rule, ways) {
		return rule.Key, ""
	}
	for _, pattern := range ways[0].matcherAgainst(rulePaths(rule)).patterns {
		above, isAbove := strings.CutSuffix(pattern, "/*")
		longer := rule
		longer.Key = strings.TrimPrefix(above, "/") + "/" + rule.Key
		if isAbove && isReached(longer, ways) {
			return longer.Key, above
		}
	}
	return rule.Key, ""
}
