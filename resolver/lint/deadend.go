package lint

import (
	"reflect"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Pages are what answers paths of a site besides rules.
type Pages interface {
	// Answer reports whether something answers a path, as URLs have it.
	Answer(path string) bool
}

// WithPages tells a list that nothing answers paths of the site but rules and these pages, so that
// it warns of dead ends. It returns the list, which has no rules yet.
func (l *List) WithPages(pages Pages) *List {
	l.pages = pages
	return l
}

// Beside returns the list of a finished one's ruleset where these pages stand beside it, and the
// warnings that are new. It is the same list where they did before.
func (l *List) Beside(pages Pages, rs *resolver.Ruleset) (list *List, fresh []Warning) {
	if reflect.DeepEqual(pages, l.pages) {
		return l, nil
	}
	list = (&List{options: l.options, pages: pages, read: l.read}).anew(rs)
	return list, list.Since(l)
}

// DeadEnd returns the path of the site at which requests for a path end, if no key answers it. The
// root of a site is no dead end, as no key can answer it.
func DeadEnd(rs *resolver.Ruleset, path string) (end string, is bool) {
	result := rs.ResolvePath(path)
	end = strings.TrimPrefix(result.Destination, originOf(rs.Options()))
	if result.Outcome != resolver.Redirect || !isInternal(end) {
		return "", false
	}
	end, _, _ = cutParts(end)
	_, _, isAnswered := rs.Match(end)
	return end, !isAnswered && end != "/"
}

// deadEnd is where the chain of a rule ends. meant is the key that is one letter away, "" for none.
type deadEnd struct{ path, meant string }

// noteDeadEnd notes that a rule leads to a path which no key answers.
func (c *chainWarnings) noteDeadEnd(number int, path string) {
	if pages := c.list.pages; pages != nil && path != "/" && !pages.Answer(path) {
		c.dead[number] = &deadEnd{path: path}
	}
}

// addDeadEnds warns of rules that lead to a path which nothing answers. numbers are those of all
// rules that are looked at. Where a key lies below the path, there is a warning already.
func (c *chainWarnings) addDeadEnds(numbers []int) {
	meetsKey := func(w sourcedWarning) bool { return w.Kind == WarnMeetsKey }
	for place, number := range numbers {
		end := c.dead[number]
		if end == nil || end.meant == "" && slices.ContainsFunc(c.made[place], meetsKey) {
			continue
		}
		this := c.sourced(number)
		c.list.add(ofChains, this.source, about(this.rule, WarnDeadEnd, end.message(this.rule.Value)))
	}
}

// message says what is wrong with the value of a rule, and what to write.
func (d *deadEnd) message(value string) string {
	instead := "lead the rule to a link"
	if d.meant != "" {
		_, query, fragment := cutParts(value)
		instead = "write /" + d.meant + query + fragment + ", whose key is one letter away"
	}
	return "no link answers " + d.path + ", and nothing else stands on the site, so clients get " +
		"404; " + instead + ", or add the key " + strings.TrimPrefix(d.path, "/")
}
