package command

import (
	"net"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// kindNeverReached: no request for a key comes to the handler, by what stands in front of it.
const kindNeverReached resolver.WarningKind = "never reached"

// arrive gives a question's request the path with which it comes to the handler. Where no way leads
// it there, it says why, and leaves the request as it is. A path without a host can also be meant
// as the handler sees it.
func (c *Found) arrive(q *live.Question) (note string) {
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

// withoutPort returns a host as matchers have it.
func withoutPort(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// addNeverReached adds warnings of the rules that no request comes to: none for their own keys, and
// none on the way of another rule. Of some keys others have been told.
func (r *checkReport) addNeverReached(
	ruleset *resolver.Ruleset, ways []Way, told map[string]bool,
) {
	isOpen := func(w Way) bool { return len(w.gates) == 0 }
	if len(ways) == 0 || slices.ContainsFunc(ways, isOpen) {
		return
	}
	var unreached []resolver.Rule
	led := ledTo{ruleset: ruleset, keys: map[string]bool{}, segments: map[string]bool{}}
	for rule := range ruleset.Rules() {
		if isReached(rule, ways) {
			led.addFrom(rule)
		} else {
			unreached = append(unreached, rule)
		}
	}
	for _, rule := range led.withoutThem(unreached) {
		if !told[rule.Key] {
			r.warn(kindNeverReached, rule, neverReachedMessage(rule, ways))
		}
	}
}

func isReached(rule resolver.Rule, ways []Way) bool {
	isIn := func(w Way) bool { return w.matcherAgainst(rulePaths(rule)) == nil }
	return len(ways) == 0 || slices.ContainsFunc(ways, isIn)
}

// neverReachedMessage says why no request for a rule comes, and which key to write.
func neverReachedMessage(rule resolver.Rule, ways []Way) string {
	message := "no request for it reaches the handler, as " +
		ways[0].matcherAgainst(rulePaths(rule)).String() + "; "
	key, above := keyThatIsReached(rule, ways)
	if key == rule.Key {
		return message + "let that take /" + key + ", too, or remove the rule"
	}
	return message + "write " + key + ", or handle_path " + above + "/* around the handler, which " +
		"cuts off " + above
}

// keyThatIsReached returns a rule's key, or else the key with the path in front of it that is above
// all that a matcher takes.
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

// ledTo are the keys that internal destinations lead to.
type ledTo struct {
	ruleset  *resolver.Ruleset
	keys     map[string]bool
	segments map[string]bool // the first ones of what templates lead to
}

// addFrom adds the keys that a rule leads to.
func (l *ledTo) addFrom(rule resolver.Rule) {
	if !strings.HasPrefix(rule.Value, "/") {
		return
	}
	for _, next := range l.ruleset.Chain(rule.Key) {
		l.keys[next.Key] = true
	}
	if resolver.IsTemplate(rule.Key) {
		l.segments[firstSegment(rule.Value[1:])] = true
	}
}

// withoutThem returns the rules to which none of the others leads. It adds the keys that the rest
// lead to in turn.
func (l *ledTo) withoutThem(rules []resolver.Rule) []resolver.Rule {
	before := -1
	for before != len(rules) {
		before = len(rules)
		rules = slices.DeleteFunc(rules, func(rule resolver.Rule) bool {
			isLedTo := l.has(rule.Key)
			if isLedTo {
				l.addFrom(rule)
			}
			return isLedTo
		})
	}
	return rules
}

// has reports whether one of the rules may lead to a key.
func (l *ledTo) has(key string) bool {
	segment := firstSegment(key)
	return l.keys[key] || l.segments[""] || l.segments[segment] || segment == "" && len(l.segments) > 0
}

// firstSegment returns the first segment of a key or a path as they are compared, "" for any.
func firstSegment(key string) string {
	segment, _, _ := strings.Cut(key, "/")
	segment, _, _ = strings.Cut(segment, "?")
	if strings.Contains(segment, "{") {
		return ""
	}
	return resolver.CanonicalKey(segment, true)
}
