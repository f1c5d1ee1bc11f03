package lint

import (
	"reflect"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Pages are the paths of a site that something besides rules answers.
type Pages interface {
	// Answer reports whether something answers a path in the spelling of URLs.
	Answer(path string) bool
}

// WithPages tells a list that only rules and these pages answer paths of the site, so that it warns
// of dead ends. It returns the list, which must not have rules yet.
func (l *List) WithPages(pages Pages) *List {
	l.pages = pages
	return l
}

// Beside returns the list of the same ruleset beside these pages, and the new warnings. If the
// pages are the same as before, it is the same list.
func (l *List) Beside(pages Pages, rs *resolver.Ruleset) (list *List, fresh []Warning) {
	if reflect.DeepEqual(pages, l.pages) {
		return l, nil
	}
	list = (&List{options: l.options, pages: pages, read: l.read}).anew(rs)
	return list, list.Since(l)
}

// DeadEnd returns the path of the site at which requests for a path end, if no key answers it. The
// root of a site is no dead end, because no key can answer it.
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

// deadEnd is the end of a rule's chain. meant is the key that is one letter away, "" for none.
type deadEnd struct{ path, meant string }

// noteDeadEnd records that a rule leads to a path which no key answers.
func (c *chainWarnings) noteDeadEnd(number int, path string) {
	if pages := c.list.pages; pages != nil && path != "/" && !pages.Answer(path) {
		c.dead[number] = &deadEnd{path: path}
	}
}

// addDeadEnds warns of rules that lead to a path which nothing answers. numbers are those of all
// rules to examine. If a key is below the path, there is a warning already.
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

// message says what is wrong with the value of a rule, and what to write instead.
func (d *deadEnd) message(value string) string {
	instead := "lead the rule to a link"
	if d.meant != "" {
		_, query, fragment := cutParts(value)
		instead = "write /" + d.meant + query + fragment + ", whose key is one letter away"
	}
	return "no link answers " + d.path + ", and nothing else stands on the site, so clients get " +
		"404; " + instead + ", or add the key " + strings.TrimPrefix(d.path, "/")
}
