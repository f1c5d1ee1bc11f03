package resolver

// ChangeKind says why the result for clients of a key changes.
type ChangeKind string

const (
	// ChangeAdded: the key is new.
	ChangeAdded ChangeKind = "added"
	// ChangeRemoved: the key is gone.
	ChangeRemoved ChangeKind = "removed"
	// ChangeEdited: the key's own rule has changed, and not only its note.
	ChangeEdited ChangeKind = "changed"
	// ChangeAffected: the key's own rule is the same, but its chain leads elsewhere, or a shorter key
	// does.
	ChangeAffected ChangeKind = "affected"
)

// Change is a change for clients of a key.
type Change struct {
	Kind ChangeKind
	// Rule is the key's rule in the new ruleset or, if it is removed, in the old one.
	Rule Rule
	// Before and After are what clients get.
	Before, After KeyResults
	// Query stands for the query of the requests; it is "" for requests without one.
	Query string
}

// CompareResults yields the changes for clients from before to after, in no particular order. It
// yields each key that is added or removed, and each key for which requests, or requests below it,
// have another result. If the result for a URL changes, one of these keys is its longest prefix,
// before or after. If the options for queries or letter case differ, compare the options, too.
//
// It compares the compiled rules. Each request for a key, or below it, has the result of one of
// three samples: the key, the key with a slash, and something below it. A template is sampled with
// values that no other key matches. If other values lead to another key, that key has a change of
// its own. If only the query mode of a rule differs, the samples have a query. Only one change at a
// time is in memory.
func CompareResults(before, after *Ruleset, report func(Change)) {
	c := resultComparison{before: before, after: after, yield: func(change Change) bool {
		report(change)
		return true
	}}
	c.compareAll()
}

// resultComparison compares two rulesets key by key, until yield returns false.
type resultComparison struct {
	before, after *Ruleset
	yield         func(Change) bool
	isDone        bool // yield has returned false
	scratch       []byte
}

func (c *resultComparison) compareAll() {
	c.after.eachEntry(c.compareEntry)
	c.before.eachEntry(c.compareRemoved)
	c.compareTemplates("")
}

// compareKey compares a canonical key without variables.
func (c *resultComparison) compareKey(key string) {
	if at := c.after.entryOf(key); at != 0 {
		c.compareEntry(at)
	} else if at := c.before.entryOf(key); at != 0 {
		c.compareRemoved(at)
	}
}

// compareTemplates compares the rules with variables, or only those for one canonical key.
func (c *resultComparison) compareTemplates(key string) {
	compare := func(kind ChangeKind, old, now int) {
		in, number := c.after.templates, now
		if kind == ChangeRemoved {
			in, number = c.before.templates, old
		}
		if !c.isDone && (key == "" || in.key(number) == key) {
			t := in.template(number)
			c.compare(kind, t.rule, t.sample())
		}
	}
	eachTemplate(c.before, c.after, sameButForNotes, compare)
}

// compareEntry compares an entry of the ruleset after.
func (c *resultComparison) compareEntry(at ref) {
	if c.isDone {
		return
	}
	var now, old record
	now.decode(&c.after.table.arena, c.after.table.arena.bytes(at))
	was := c.counterpart(c.before, &now)
	if was == 0 {
		c.compareLiteral(ChangeAdded, c.after.rule(at))
		return
	}
	old.decode(&c.before.table.arena, c.before.table.arena.bytes(was))
	if c.same(&old, &now) {
		return
	}
	rule := c.after.rule(at)
	if sameButForNotes(rule, c.before.rule(was)) {
		c.compareLiteral(ChangeAffected, rule)
	} else {
		c.compareLiteral(ChangeEdited, rule)
	}
}

// compareRemoved compares an entry of the ruleset before, if the other one lacks it.
func (c *resultComparison) compareRemoved(at ref) {
	if c.isDone {
		return
	}
	var old record
	old.decode(&c.before.table.arena, c.before.table.arena.bytes(at))
	if c.counterpart(c.after, &old) == 0 {
		c.compareLiteral(ChangeRemoved, c.before.rule(at))
	}
}

// counterpart returns the entry of a ruleset for the key of another ruleset's record, or 0. Key and
// record can differ in form, because one ruleset may fold the case of letters.
func (c *resultComparison) counterpart(in *Ruleset, r *record) ref {
	if c.before.opts.foldCase == c.after.opts.foldCase {
		return in.entryOf(r.key)
	}
	c.scratch = in.opts.appendKey(c.scratch[:0], r.spelledKey())
	return in.entryOf(string(c.scratch))
}

// same reports whether two records of one key surely answer all requests in the same way. It is
// false for exact keys, below which another rule answers, and for rules without a destination.
func (c *resultComparison) same(old, now *record) bool {
	const telling = requestOrigin | joined | noDestination | exactKey
	return !old.flags.has(exactKey|noDestination) && old.flags&telling == now.flags&telling &&
		old.base == now.base && old.query == now.query && old.fragment == now.fragment &&
		old.status == now.status && old.mode == now.mode
}

func (c *resultComparison) compareLiteral(kind ChangeKind, rule Rule) {
	c.compare(kind, rule, sampleOf(rule.Key))
}

// compare reports a change of a rule, if it is one for clients.
func (c *resultComparison) compare(kind ChangeKind, rule Rule, s sample) {
	change := Change{
		Kind: kind, Rule: rule, Before: c.before.resultsFor(s, ""), After: c.after.resultsFor(s, ""),
	}
	isOther := kind == ChangeAdded || kind == ChangeRemoved
	if !isOther && change.Before.sameForClients(change.After) && c.otherModes(s) {
		change.Before = c.before.resultsFor(s, anyQuery)
		change.After = c.after.resultsFor(s, anyQuery)
		change.Query = s.named(anyQuery)
	}
	if isOther || !change.Before.sameForClients(change.After) {
		c.isDone = !c.yield(change)
	}
}

// otherModes reports whether the query mode of a rule has changed. Modes of the options are not
// compared.
func (c *resultComparison) otherModes(s sample) bool {
	if !c.before.opts.modes && !c.after.opts.modes {
		return false
	}
	for _, path := range s.paths() {
		old, now := c.before.modeFor(path), c.after.modeFor(path)
		if old != now && c.before.opts.queryOf(old) != c.after.opts.queryOf(now) {
			return true
		}
	}
	return false
}

// eachTemplate calls do with the indexes of the templates in two rulesets; -1 if only the other one
// has it. If both have the same rule, it can only be affected.
func eachTemplate(
	before, after *Ruleset, same func(a, b Rule) bool, do func(kind ChangeKind, old, now int),
) {
	for now, rule := range after.templates.each() {
		old, is := before.templates.find(after.templates.key(now))
		switch {
		case !is:
			do(ChangeAdded, -1, now)
		case same(before.templates.ruleAt(old).rule, rule.rule):
			do(ChangeAffected, old, now)
		default:
			do(ChangeEdited, old, now)
		}
	}
	for old := range before.templates.len() {
		if _, is := after.templates.find(before.templates.key(old)); !is {
			do(ChangeRemoved, old, -1)
		}
	}
}
