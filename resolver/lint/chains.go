package lint

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// chainWarnings are those of what internal redirects lead to.
type chainWarnings struct {
	*survey
	list     *List
	made     []placedWarning
	reported map[string]bool // loops, by the key that they are told with
	// waiting are the paths that clients are redirected to, in the form of keys, and unanswered
	// those that no key answers.
	waiting    map[string]*keysBelow
	unanswered unansweredPaths
}

// placedWarning is a warning of the rule that has a place among those that are looked at.
type placedWarning struct {
	place int
	sourcedWarning
}

// compare puts warnings in the order of their rules. What a rule meets comes first.
func (w placedWarning) compare(other placedWarning) int {
	meets := func(w placedWarning) int {
		if w.Kind == WarnMeetsKey {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(w.place, other.place), cmp.Compare(meets(w), meets(other)))
}

// addChains warns of what internal redirects lead to that have some numbers.
func (s *survey) addChains(list *List, numbers []int) {
	c := chainWarnings{
		survey: s, list: list, reported: map[string]bool{}, waiting: map[string]*keysBelow{},
		unanswered: newUnansweredPaths(),
	}
	for place, number := range numbers {
		c.look(place, s.internalRule(number))
	}
	c.lookAtKeys(numbers)
	slices.SortStableFunc(c.made, placedWarning.compare)
	for _, w := range c.made {
		list.groups[ofChains] = append(list.groups[ofChains], w.sourcedWarning)
	}
	c.addMisspelt()
}

func (c *chainWarnings) warn(place int, this *internalRule, w Warning) {
	c.made = append(c.made, placedWarning{place, sourcedWarning{this.source, w}})
}

// look looks at what a rule leads to.
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

// lookAtFailure warns of a rule that is answered with an error: of a loop once, and of every rule
// that leads into it.
func (c *chainWarnings) lookAtFailure(place int, this *internalRule) {
	failure := c.failures[this.number]
	w := about(this.rule, WarnTooManyRedirects, tooManyMessage(&c.options))
	if loop, is := failure.(*resolver.LoopError); is {
		if slices.Contains(loop.Cycle, this.rule.Key) {
			if c.reported[loop.Cycle[0]] {
				return
			}
			c.reported[loop.Cycle[0]] = true
		}
		w.Kind, w.Cycle = WarnLoop, loop.Cycle
		w.Message = loopMessage(loop, this.rule, this.next.Remaining)
	} else if failure != resolver.ErrTooManyRedirects {
		return
	}
	c.warn(place, this, w)
}

// loopMessage says what becomes of a rule that leads into a loop, or is in it. remaining is what
// remains of its value's path behind the key that it matches.
func loopMessage(loop *resolver.LoopError, rule resolver.Rule, remaining string) string {
	switch {
	case !slices.Contains(loop.Cycle, rule.Key):
		return "the rule leads into the loop " + loop.Path() + ", so its requests are " +
			"answered with an error; break the loop"
	case len(loop.Cycle) == 1:
		return selfLoopMessage(rule, remaining)
	}
	return "loop " + loop.Path() + ": its requests are answered with an error; change the " +
		"destination of one of the rules"
}

// selfLoopMessage explains the most natural migration rule that the draft never resolves (R18).
func selfLoopMessage(rule resolver.Rule, remaining string) string {
	message := "loop: " + quote(rule.Value) + " lies at or below the key: the rule redirects to " +
		"itself forever, so its requests are answered with an error; "
	if remaining == "" || remaining == "/" { // an exact key has these paths, too
		return message + "change its destination, or remove it"
	}
	return message + "mark the rule exact, so that it takes /" + rule.Key +
		" alone, or lead it to a path outside of /" + rule.Key
}

func tooManyMessage(options *resolver.Options) string {
	return "the chain takes more than " + internalRedirects(mostRedirects(options)) +
		", so its requests are answered with an error; lead the rule to the chain's end"
}

// mostRedirects is how many internal redirects pass.
func mostRedirects(options *resolver.Options) int {
	if options.MaxRedirects != nil {
		return *options.MaxRedirects
	}
	return resolver.MaxRedirects
}

// internalRedirects returns a number of them in words.
func internalRedirects(n int) string {
	if n == 1 {
		return "1 internal redirect"
	}
	return strconv.Itoa(n) + " internal redirects"
}

// doubleSlashMessage says that a value's trailing slash stays in front of the path that is appended
// to it along the chain. It is "" where it does not.
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

// exactMessage says that requests for something below a rule's key lead through an exact one. It is
// "" where they do not.
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

// destinationBelow returns where requests for something below a rule's key lead, if the rule
// answers any: another one may take all of that.
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

// addTemplateFailures warns of rules with variables whose chain does not arrive, whatever these
// stand for. Values that another key takes do not count.
func (s *survey) addTemplateFailures(list *List, isMeant func(number int) bool) {
	for number := range s.Failures() {
		this := s.sourced(number)
		if resolver.IsTemplate(this.rule.Key) && isMeant(number) {
			kind, message := templateFailure(s.failures[number], &s.options)
			list.add(ofChains, this.source, about(this.rule, kind, message))
		}
	}
}

// templateFailure says what becomes of a rule with variables whose chain does not arrive.
func templateFailure(failure error, options *resolver.Options) (Kind, string) {
	const forAll = "for every value that no other key takes: its requests are answered with an " +
		"error; change its destination"
	if loop, is := failure.(*resolver.LoopError); is {
		return WarnLoop, "loop " + loop.Path() + " " + forAll
	}
	if failure == resolver.ErrPathTooLong {
		return WarnTooManyRedirects, "the chain comes to a path of more than 8 KiB that begins as a " +
			"template does, " + forAll
	}
	most := min(mostRedirects(options), resolver.MaxTemplateRedirects)
	return WarnTooManyRedirects, "the chain never ends, or takes more than " +
		internalRedirects(most) + ", " + forAll
}
