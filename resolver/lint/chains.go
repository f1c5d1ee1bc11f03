package lint

import (
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// chainWarnings collects the warnings about what internal redirects lead to.
type chainWarnings struct {
	*survey
	list *List
	// made are the warnings, by the index of their rule.
	made     map[int][]sourcedWarning
	reported map[string]bool // loops, by the key that they are told with
	// waiting are the paths to which clients are redirected, in the form of keys. unanswered are those
	// that no key answers.
	waiting    map[string]*keysBelow
	unanswered unansweredPaths
	dead       map[int]*deadEnd // by the number of the rule
}

// addChains adds warnings about where the internal redirects with these numbers lead.
func (s *survey) addChains(list *List, numbers []int) {
	c := chainWarnings{
		survey: s, list: list, made: map[int][]sourcedWarning{}, reported: map[string]bool{},
		waiting: map[string]*keysBelow{}, unanswered: newUnansweredPaths(), dead: map[int]*deadEnd{},
	}
	for place, number := range numbers {
		c.look(place, s.internalRule(number))
	}
	c.lookAtKeys(numbers)
	for place := range numbers {
		list.groups[ofChains] = append(list.groups[ofChains], c.made[place]...)
	}
	c.addMisspelt()
	c.addDeadEnds(numbers)
}

// warn adds a warning about a rule. A warning about another key that clients meet comes first.
func (c *chainWarnings) warn(place int, this *internalRule, w Warning) {
	at := len(c.made[place])
	if w.Kind == WarnMeetsKey {
		at = 0
	}
	c.made[place] = slices.Insert(c.made[place], at, sourcedWarning{this.source, w})
}

// look examines what a rule leads to.
func (c *chainWarnings) look(place int, this *internalRule) {
	if this.end.kind == endFailed {
		c.lookAtFailure(place, this)
		return
	}
	if this.end.kind.isAtSite() {
		c.lookAtPath(place, this)
	}
	if message := doubleSlashMessage(this); message != "" {
		c.warn(place, this, about(this.rule, WarnTrailingSlashValue, message))
	}
	if message := c.exactMessage(this); message != "" {
		c.warn(place, this, about(this.rule, WarnThroughExact, message))
	}
}

// lookAtFailure warns of a rule whose requests get an error: of a loop once, and of every rule that
// leads into it.
func (c *chainWarnings) lookAtFailure(place int, this *internalRule) {
	failure := c.failures[this.number]
	w := about(this.rule, FailureKind(failure), failureMessage(c.Ruleset, this.rule, failure))
	if loop, is := failure.(*resolver.LoopError); is {
		if slices.Contains(loop.Cycle, this.rule.Key) {
			if c.reported[loop.Cycle[0]] {
				return
			}
			c.reported[loop.Cycle[0]] = true
		}
		w.Cycle = loop.Cycle
	}
	c.warn(place, this, w)
}

// doubleSlashMessage says that the slash at the end of a value is followed by a path that the chain
// appends. It is "" if that is not so.
func doubleSlashMessage(this *internalRule) string {
	rule, next := &this.rule, &this.next
	isAppended := this.isMatched && !isOutcome(next.Rule.Value) && !resolver.IsTemplate(next.Rule.Key)
	if rule.Exact || !isAppended || !strings.HasSuffix(next.Remaining, "/") {
		return ""
	}
	path, query, fragment := cutParts(rule.Value)
	return "the destination's path ends in \"/\", and a path appended to it will hold \"//\"; write " +
		strings.TrimRight(path, "/") + query + fragment
}

// exactMessage says that requests for paths below a rule's key lead through an exact rule. It is ""
// if that is not so.
func (c *chainWarnings) exactMessage(this *internalRule) string {
	key := this.rule.Key
	if this.end.exact == "" || this.rule.Exact || this.end.kind == endGone {
		return ""
	}
	leads := c.destinationBelow(this)
	if leads == "" {
		return ""
	}
	path, query, fragment := cutParts(this.rule.Value)
	return "what a request has below the key is appended to the destination of the exact key " +
		quote(this.end.exact) + ": /" + key + resolver.Below + " leads to " + leads +
		"; mark the rule exact, and if what is below is meant, too, add the key " + key +
		"/{+rest} with " + strings.TrimRight(path, "/") + "/{+rest}" + query + fragment
}

// destinationBelow returns where requests for paths below a rule's key lead, if the rule answers
// any: another rule may match all of them.
func (s *survey) destinationBelow(this *internalRule) string {
	for _, below := range []string{
		"/" + resolver.AnySegment, "/" + resolver.AnySegment + "/" + resolver.AnySegment,
	} {
		path := "/" + s.KeyOf(this.number) + below
		if _, number, ok := s.Match(path); !ok || number != this.number {
			continue
		}
		leads := s.ResolvePath(path).Destination
		if this.end.kind.isAtSite() {
			leads = behindHost(leads)
		}
		leads, _, _ = cutParts(leads)
		return strings.TrimSuffix(leads, below) + resolver.Below
	}
	return ""
}

// addTemplateFailures warns of rules with variables whose chain has no end, whatever values the
// variables have. Values for which another key matches do not count.
func (s *survey) addTemplateFailures(list *List, isMeant func(number int) bool) {
	for number := range s.Failures() {
		this := s.sourced(number)
		if resolver.IsTemplate(this.rule.Key) && isMeant(number) {
			failure := s.failures[number]
			message := failureMessage(s.Ruleset, this.rule, failure)
			list.add(ofChains, this.source, about(this.rule, FailureKind(failure), message))
		}
	}
}
