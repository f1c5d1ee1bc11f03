package resolver

import (
	"errors"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// Answer is what clients get who request a key, or what lies below it, without a query and a
// fragment of their own.
type Answer struct {
	Outcome Outcome
	// Destination is where a redirect leads: a URL, or a path where the origin is the request's own.
	Destination string
	// Status is the redirect's status code.
	Status int
	// Hops is the number of internal redirects taken.
	Hops int
	// Err is set when the outcome is an error.
	Err error
}

// SameFor reports whether clients can tell no difference between two answers. They do not see how many internal
// redirects a destination took, nor which keys a loop has.
func (a Answer) SameFor(b Answer) bool {
	return a.Outcome == b.Outcome && a.Destination == b.Destination && a.Status == b.Status &&
		errors.Is(a.Err, ErrLoop) == errors.Is(b.Err, ErrLoop) &&
		errors.Is(a.Err, ErrUnsafePath) == errors.Is(b.Err, ErrUnsafePath)
}

// answer is what a rule says to a request of which remaining is left behind the key; below, which
// holds nothing that could be unsafe, follows it.
func (rs *Ruleset) answer(r *record, remaining, below string) Answer {
	switch {
	case unsafePath(remaining, nil):
		return Answer{Outcome: Failed, Err: ErrUnsafePath}
	case r.flags.has(failed):
		return Answer{Outcome: Failed, Err: rs.failures[r.failure()]}
	}
	destination := []byte(r.base)
	if remaining += below; r.flags.has(joined) {
		destination = append(destination, remaining...)
	} else {
		destination = appendAtSeam(destination, remaining)
	}
	destination = rs.opts.appendQuery(destination, &rs.merger, r.query, "")
	destination = append(destination, r.fragment...)
	return Answer{Outcome: Redirect, Destination: string(destination), Status: r.status, Hops: int(r.hops)}
}

// ChangeKind says why clients of a key get something else.
type ChangeKind string

const (
	// ChangeAdded: the key is new.
	ChangeAdded ChangeKind = "added"
	// ChangeRemoved: the key is gone.
	ChangeRemoved ChangeKind = "removed"
	// ChangeEdited: the key's own rule says something else.
	ChangeEdited ChangeKind = "changed"
	// ChangeAffected: the key's own rule is the same, but what its chain, or a shorter key, leads to
	// is not.
	ChangeAffected ChangeKind = "affected"
)

// Change is what changes for the clients of a key.
type Change struct {
	Kind ChangeKind
	// Rule is the key's rule in the new ruleset or, where it is removed, in the old one.
	Rule Rule
	// Before and After are what clients get.
	Before, After KeyAnswers
}

// KeyAnswers are what requests for a key and for what lies below it get, where no longer key
// has them: one that is added or removed is a change of its own.
type KeyAnswers struct {
	// Key is for the key itself, Slash for the key with a slash behind it, and Below for
	// everything else below it: its destination ends in [Below], in front of query and fragment.
	Key, Slash, Below Answer
}

// Below stands for any path below a key.
const Below = "/…"

// sameFor reports whether clients can tell no difference.
func (k KeyAnswers) sameFor(other KeyAnswers) bool {
	return k.Key.SameFor(other.Key) && k.Slash.SameFor(other.Slash) && k.Below.SameFor(other.Below)
}

// CompareAnswers reports, in no particular order, what changes for clients from before to after:
// every key that is added or removed, and every other key for which, or below which, requests get
// something else. A URL whose answer changes has one of these keys for its longest prefix, before
// or after; where the options for queries or for the case of letters differ, these tell more.
//
// A template is compared for values that no other key takes; where it leads to another key for some, that key's change is one of its
// own.
//
// It compares the compiled rules, of which no request is needed: every request for a key, or for
// what is below it, gets what one of three stand-ins gets, namely the key, the key with a slash, and
// something below it. Memory is taken for a change only while it is reported. pause, if not
// nil, is called after every few hundred rules, to let others run.
func CompareAnswers(before, after *Ruleset, pause func(), report func(Change)) {
	c := answerComparison{before: before, after: after, report: report}
	after.eachEntry(pause, c.addedOrKept)
	before.eachEntry(pause, c.removed)
	c.compareTemplates()
}

// answerComparison compares two rulesets key by key.
type answerComparison struct {
	before, after *Ruleset
	report        func(Change)
	scratch       []byte
}

// addedOrKept reports what changes for an entry of the ruleset after.
func (c *answerComparison) addedOrKept(at ref) {
	var now, old record
	now.decode(&c.after.table.arena, c.after.table.arena.bytes(at))
	was := c.counterpart(c.before, &now)
	if was == 0 {
		c.settle(ChangeAdded, now.rule(c.after.sources))
		return
	}
	old.decode(&c.before.table.arena, c.before.table.arena.bytes(was))
	if c.same(&old, &now) {
		return
	}
	rule := now.rule(c.after.sources)
	if sameContent(rule, old.rule(c.before.sources)) {
		c.settle(ChangeAffected, rule)
	} else {
		c.settle(ChangeEdited, rule)
	}
}

// removed reports what changes for an entry of the ruleset before that the other one does not have.
func (c *answerComparison) removed(at ref) {
	var old record
	old.decode(&c.before.table.arena, c.before.table.arena.bytes(at))
	if c.counterpart(c.after, &old) == 0 {
		c.settle(ChangeRemoved, old.rule(c.before.sources))
	}
}

// counterpart returns the entry that a ruleset has for the key of another one's record, or 0. Key
// and record need not have the same form, as one of the two may fold the case of letters.
func (c *answerComparison) counterpart(in *Ruleset, r *record) ref {
	if c.before.opts.foldCase == c.after.opts.foldCase {
		return in.entryOf(r.key)
	}
	c.scratch = in.opts.appendKey(c.scratch[:0], r.spelledKey())
	return in.entryOf(string(c.scratch))
}

// same reports whether two records of one key answer every request in the same way. Below an exact
// key another rule answers, so that the records do not tell.
func (c *answerComparison) same(old, now *record) bool {
	const telling = requestOrigin | joined | failed | exactKey
	return !old.flags.has(exactKey|failed) && old.flags&telling == now.flags&telling &&
		old.base == now.base && old.query == now.query && old.fragment == now.fragment && old.status == now.status
}

// settle reports a change, unless it is none for clients.
func (c *answerComparison) settle(kind ChangeKind, rule Rule) {
	change := Change{Kind: kind, Rule: rule, Before: c.before.answersFor(rule.Key), After: c.after.answersFor(rule.Key)}
	if kind == ChangeAdded || kind == ChangeRemoved || !change.Before.sameFor(change.After) {
		c.report(change)
	}
}

// nobody is a segment that no key has.
const nobody = "\x00"

// answersFor returns what a ruleset answers for a key, which it need not have.
func (rs *Ruleset) answersFor(written string) KeyAnswers {
	var answers KeyAnswers
	key := string(weburl.AppendCanonicalPath(nil, written))
	if rs.templates != nil {
		return rs.sampleAnswers("/"+key, &templateRule{})
	}
	at, record := rs.ruleFor("/" + key)
	answers.Key = rs.answerFor(at, record, at.remaining, "")
	own := rs.entryOf(string(rs.opts.appendKey(nil, written)))
	below, record := rs.ruleFor("/" + key + "/" + nobody)
	remaining := strings.TrimSuffix(below.remaining, "/"+nobody)
	answers.Below = rs.answerFor(below, record, remaining, Below)
	answers.Slash = rs.answerFor(below, record, remaining, "/")
	if own != 0 && own != below.ref { // the rule is exact
		answers.Slash = answers.Key
	}
	return answers
}

// ruleFor is the longest-prefix match of a pathname.
func (rs *Ruleset) ruleFor(pathname string) (literalMatch, []byte) {
	if len(rs.table.slots) == 0 {
		return literalMatch{}, nil
	}
	return rs.table.match(pathname)
}

// answerFor is the answer of the rule that was found, if any.
func (rs *Ruleset) answerFor(found literalMatch, encoded []byte, remaining, below string) Answer {
	if found.ref == 0 {
		return Answer{Outcome: Pass}
	}
	var r record
	r.decodeAnswer(&rs.table.arena, encoded)
	return rs.answer(&r, remaining, below)
}
