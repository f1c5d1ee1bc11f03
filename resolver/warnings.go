package resolver

import (
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// warn takes down a warning of a rule of the source that is being read.
func (c *Compiler) warn(kind WarningKind, rule Rule, message string) {
	c.warnAbout(rule, c.rank, Warning{Kind: kind, Message: message})
}

// warnAbout takes down a warning of a rule, of a source of that rank.
func (c *Compiler) warnAbout(rule Rule, rank int, w Warning) {
	w.Position, w.Key = rule.Position, rule.Key
	group := &c.warnings.groups[c.warningGroup]
	*group = append(*group, rankedWarning{rank, w})
}

// Warn adds what the reader of a source warns of to the warnings of the ruleset. It is called
// behind [Compiler.Add] for the rules of that source.
func (c *Compiler) Warn(warnings ...Warning) {
	if len(warnings) == 0 {
		return
	}
	for len(c.warnings.read) <= c.rank {
		c.warnings.read = append(c.warnings.read, nil)
	}
	c.warnings.read[c.rank] = append(c.warnings.read[c.rank], warnings...)
}

// warnOfRule warns of what a rule, taken by itself, does that its author may not expect.
func (c *Compiler) warnOfRule(rule Rule, value parsedValue) {
	c.warnOfHabits(rule, value)
	if rule.Unlisted && value.outcome != "" {
		c.warn(WarnNoEffect, rule, "unlisted has no effect, as a rule that says "+value.outcome+
			" is never advertised; remove it")
	}
	if strings.HasSuffix(rule.Key, "/") && !rule.Exact {
		c.warn(WarnTrailingSlashKey, rule, "the key ends in \"/\" and matches that path, and "+
			"\"//\" below it, only; "+
			"write "+strings.TrimRight(rule.Key, "/")+" to match the path and all below it")
	}
	if weburl.MalformedTriplet(rule.Key) >= 0 {
		c.warn(WarnUnreachable, rule, "no HTTP request matches the key, as it has a \"%\" "+
			"without two hex digits; write %25 for a percent sign")
	}
	if braces := bracesIn(rule.Value); braces != "" && !IsTemplate(rule.Key) {
		c.warn(WarnLiteralBraces, rule, literalBracesMessage(rule.Value, braces))
	}
	if value.url.Username != "" || value.url.Password != "" {
		c.warn(WarnUserinfo, rule, "the user name and password of the destination are dropped, "+
			"as a destination has none; remove them")
	}
	c.warnOfPercent(rule)
	if strings.IndexByte(rule.Value, ' ') >= 0 {
		c.warn(WarnSpace, rule, "the destination has a space, which becomes %20, or + in a query; "+
			"write that if it is meant, or leave out the space and what is behind it")
	}
	if value.path.query == "?" {
		c.warn(WarnBareDelimiter, rule, "the bare \"?\" of the destination counts as its query "+
			"and shuts later ones out; remove it")
	}
	if value.path.fragment == "#" {
		c.warn(WarnBareDelimiter, rule, "the bare \"#\" of the destination counts as its "+
			"fragment and shuts later ones out; remove it")
	}
}

// warnOfPercent warns of a "%" that is no escape. In the query, the modes that take that apart
// write %25 for it.
func (c *Compiler) warnOfPercent(rule Rule) {
	if strings.IndexByte(rule.Value, '%') < 0 {
		return // as most have none
	}
	path, fragment := cutBefore(rule.Value, '#')
	path, query := cutBefore(path, '?')
	if mode := c.opts.queryOf(rule.Query); mode != QueryPreserve && mode != queryOwn {
		query = ""
	}
	if weburl.MalformedTriplet(path+query+fragment) >= 0 {
		c.warn(WarnBarePercent, rule, "the destination has a \"%\" without two hex digits, which "+
			"clients ask for as it stands, and many servers refuse with status 400; write %25 for a "+
			"percent sign")
	}
}

// bracesIn returns what stands in braces first, or "".
func bracesIn(value string) string {
	_, behind, _ := strings.Cut(value, "{")
	if name, _, ok := strings.Cut(behind, "}"); ok {
		return "{" + name + "}"
	}
	return ""
}

// literalBracesMessage says what the first braces of a value mean. For those in a host neither a
// variable nor a percent-encoded brace is a remedy.
func literalBracesMessage(value, braces string) string {
	message := "the destination's " + braces + " stands for itself, "
	if start, _, _ := strings.Cut(value, braces); !reachesPath(start) {
		return message + "and no variable may stand in front of its path; name the host in full"
	}
	return message + "as the key has no variables; " +
		"write it into the key, too, or %7B for { and %7D for }"
}

func starMessage(bare string) string {
	const why = "a \"*\" in a key is a \"*\" in the path, and no wildcard; "
	if bare == "" {
		return why + "what no rule matches goes on to the next handler"
	}
	return why + "write " + bare + ", which matches everything below it, too"
}

// warnShadowed warns of a rule, of a source of that rank, whose key a rule of an earlier one has.
func (c *Compiler) warnShadowed(rule Rule, rank int, by Rule, byRank int) {
	c.warnAbout(rule, rank, Warning{Kind: WarnShadowed, Message: "the rule is never reached, as " +
		placeOf(by, byRank) + " has the key, too, and is asked first; remove one of the two rules"})
}

// placeOf says where a rule stands, as a message about another rule does.
func placeOf(rule Rule, rank int) string {
	if rank == inlineRank && rule.Position.Line == 0 {
		return "an inline rule"
	}
	return rule.Position.String()
}

// warnOfChains warns of what new internal redirects lead to, once all rules are known.
func (c *Compiler) warnOfChains() {
	reported := map[*LoopError]bool{}
	following := c.findFollowingKeys()
	for i, this := range c.newInOrder() {
		switch this.state {
		case endLoop:
			c.warnOfLoop(this, reported)
			continue
		case endTooManyRedirects:
			c.warn(WarnTooManyRedirects, this.rule, tooManyMessage(c.opts.maxRedirects))
			continue
		}
		if other, ok := following[i]; ok {
			c.warn(WarnMeetsKey, this.rule, meetsKeyMessage(c.endOf(this), other.rule.Key))
		}
		c.warnOfDoubleSlash(this)
		c.warnOfExact(this)
	}
}

// warnOfLoop reports a loop once, and every rule that leads into it.
func (c *Compiler) warnOfLoop(this *internalRule, reported map[*LoopError]bool) {
	end := c.endOf(this)
	loop := end.cycle
	if end.inCycle {
		if reported[loop] {
			return
		}
		reported[loop] = true
	}
	c.warnAbout(this.rule, c.rankOfSource(this.source), Warning{
		Kind: WarnLoop, Cycle: loop.Cycle,
		Message: loopMessage(loop, end.inCycle, this.rule, this.remaining),
	})
}

// loopMessage says what becomes of a rule that leads into a loop, or is in it. remaining is what
// remains of its value's path behind the key that it matches.
func loopMessage(loop *LoopError, inCycle bool, rule Rule, remaining string) string {
	switch {
	case !inCycle:
		return "the rule leads into the loop " + loop.path() + ", so its requests are " +
			"answered with an error; break the loop"
	case len(loop.Cycle) == 1:
		return selfLoopMessage(rule, remaining)
	}
	return "loop " + loop.path() + ": its requests are answered with an error; lead one of the " +
		"rules elsewhere"
}

// selfLoopMessage explains the most natural migration rule that the draft never resolves (R18).
func selfLoopMessage(rule Rule, remaining string) string {
	const why = ": the new path is looked up again, matches the same key, and so on for ever, so " +
		"its requests are answered with an error; "
	message := "loop: " + quote(rule.Value) + " lies at or below the key" + why
	if remaining == "" || remaining == "/" { // an exact key has these paths, too
		return message + "lead the rule elsewhere, or remove it"
	}
	return message + "mark the rule exact, so that it takes /" + rule.Key +
		" alone, or lead it to a path outside of /" + rule.Key
}

func tooManyMessage(limit int) string {
	return "the chain takes more than " + internalRedirects(limit) +
		", so its requests are answered with an error; lead the rule to the chain's end"
}

// internalRedirects returns a number of them in words.
func internalRedirects(n int) string {
	if n == 1 {
		return "1 internal redirect"
	}
	return strconv.Itoa(n) + " internal redirects"
}

func meetsKeyMessage(end chainEnd, key string) string {
	return "clients are redirected to " + end.base + end.appended + ", and at or below " +
		"it the key " + quote(key) +
		" redirects them again, perhaps in a circle; lead the rule to where that key leads, or " +
		"mark it exact where nothing below it is meant"
}

// warnOfDoubleSlash warns of a value whose trailing slash stays in front of a path. That is the
// path which is appended to it along the chain.
func (c *Compiler) warnOfDoubleSlash(this *internalRule) {
	if this.rule.Exact || !strings.HasSuffix(this.remaining, "/") {
		return
	}
	path := this.rule.Value[:len(this.rule.Value)-len(this.value.query)-len(this.value.fragment)]
	c.warn(WarnTrailingSlashValue, this.rule, "the destination's path ends in \"/\", and a path "+
		"appended to it will hold \"//\"; "+
		"write "+strings.TrimRight(path, "/")+this.value.query+this.value.fragment)
}

// warnOfExact warns of a rule whose requests for something below its key lead through an exact one.
func (c *Compiler) warnOfExact(this *internalRule) {
	arrives := this.state == endAbsolute || this.state == endUnmatched
	if this.exact == "" || this.rule.Exact || !arrives || !c.takesBelow(this) {
		return
	}
	end := c.endOf(this)
	leads := appendAtSeam([]byte(end.base), end.appended+Below)
	path, _, _ := cutInternal(this.rule.Value)
	template := strings.TrimRight(path, "/") + "/{+rest}" + this.value.query + this.value.fragment
	c.warn(WarnThroughExact, this.rule, "what a request has below the key is appended to the "+
		"destination of the exact key "+quote(this.exact)+": /"+this.rule.Key+Below+" leads to "+
		string(leads)+"; mark the rule exact, and if what is below is meant, too, add the key "+
		this.rule.Key+"/{+rest} with "+template)
}

// takesBelow reports whether a rule answers for something below its key, so that no other one takes
// all of that.
func (c *Compiler) takesBelow(this *internalRule) bool {
	for _, below := range []string{"/" + anySegment, "/" + anySegment + "/" + anySegment} {
		found := lookUp(&c.table, c.templates, "/"+this.key+below)
		if !found.isTemplate() && found.literal.ref&internalRef != 0 &&
			c.internal(found.literal.ref) == this {
			return true
		}
	}
	return false
}
