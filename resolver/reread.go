package resolver

import (
	"errors"
	"strings"
)

// Rereading compares the rules of sources, as they are read again, with those of a ruleset: what is
// equal takes a lookup, and what differs becomes a change. It is not safe for concurrent use.
type Rereading struct {
	before  *Ruleset
	source  int // that is being read, -1 for none
	changes []RuleChange
	most    int // so many changes are worth deriving
	// seen has a bit for the slot of each rule that is there again.
	seen []uint64
	// changed are the changes, by index, that rules of slots have become. others are the keys that are
	// new, have variables, or another source's rule in their slot, with their change, -1 for none.
	changed map[int]int
	others  map[keyOfSource]int
	moved   moved
	read    map[int][]Warning
	twice   *Compiler // takes down the keys that stand twice
	key     []byte    // scratch memory
}

// ErrMostChanged is the error of a rereading that finds most rules changed: it is cheaper to
// compile them.
var ErrMostChanged = errors.New("most rules have changed")

// Reread begins to read sources of a ruleset again. Those that are not read stay as they are.
func (rs *Ruleset) Reread() *Rereading {
	return &Rereading{
		before: rs, source: -1, most: rs.rules/2 + 1000,
		seen:    make([]uint64, (rs.table.slots.n+63)/64),
		changed: map[int]int{}, others: map[keyOfSource]int{}, read: map[int][]Warning{},
		moved: rs.moved.branch(), twice: newCompiler(rs.opts),
	}
}

// Source begins the n-th source, as [RuleChange] has it: all its rules are passed to Add.
func (r *Rereading) Source(n int) {
	r.end()
	r.source, r.read[n] = n, nil
}

// Add adds the next rule of the source. It keeps nothing of one that is as before.
func (r *Rereading) Add(rule Rule) {
	if IsTemplate(rule.Key) {
		r.addOther(rule, r.before.opts.canonicalKey(rule.Key))
		return
	}
	r.key = r.before.opts.appendKey(r.key[:0], rule.Key)
	entry, at := r.before.find(text(r.key))
	if entry == 0 {
		r.addOther(rule, string(r.key))
		return
	}
	var old record
	old.decode(&r.before.table.arena, r.before.table.arena.bytes(entry.ref()))
	switch from := r.before.sources[old.position.source]; {
	case from.rank != r.source:
		r.addOther(rule, string(r.key))
	case r.isSeen(at):
		r.failDuplicate(r.firstAt(at), rule)
	case old.isOf(&rule) && from.name == rule.Position.Source:
		r.see(at)
		r.move(at, &old, rule.Position)
	default:
		r.see(at)
		r.changed[at] = r.change(rule.Key, &rule)
	}
}

func (r *Rereading) isSeen(at int) bool { return r.seen[at/64]&(1<<(at%64)) != 0 }
func (r *Rereading) see(at int)         { r.seen[at/64] |= 1 << (at % 64) }

// move notes where a rule stands that is otherwise the same.
func (r *Rereading) move(at int, old *record, to Position) {
	if old.position.line == to.Line && old.position.column == to.Column {
		r.moved.set(at, 0)
	} else {
		r.moved.set(at, newPlace(to))
	}
}

// addOther adds a rule that is new, has variables, or has the key of one of another source.
func (r *Rereading) addOther(rule Rule, key string) {
	this := keyOfSource{r.source, key}
	old, is := r.before.ruleOf(this)
	if n, twice := r.others[this]; twice {
		if n >= 0 {
			old = *r.changes[n].Rule
		}
		r.failDuplicate(old, rule)
		return
	}
	r.others[this] = -1
	if !is || old != rule {
		r.others[this] = r.change(rule.Key, &rule)
	}
}

// firstAt returns the rule of a slot that has been seen.
func (r *Rereading) firstAt(at int) Rule {
	if n, is := r.changed[at]; is && n >= 0 {
		return *r.changes[n].Rule
	}
	return r.before.ruleAt(r.before.table.slots.at(at).ref(), &r.moved)
}

// failDuplicate reports that a key stands twice.
func (r *Rereading) failDuplicate(first, second Rule) {
	r.twice.failDuplicate(0, first, cloneRule(second))
}

// change takes down a change, as long as there are few, and returns its index.
func (r *Rereading) change(key string, rule *Rule) int {
	if len(r.changes) > r.most {
		return -1
	}
	change := RuleChange{Source: r.source, Key: key}
	if rule != nil {
		kept := cloneRule(*rule)
		change.Rule, change.Key = &kept, kept.Key
	}
	r.changes = append(r.changes, change)
	return len(r.changes) - 1
}

// cloneRule returns a rule with texts of its own.
func cloneRule(rule Rule) Rule {
	rule.Key, rule.Value = strings.Clone(rule.Key), strings.Clone(rule.Value)
	rule.Note = strings.Clone(rule.Note)
	return rule
}

// Warn adds what the reader of the source warns of.
func (r *Rereading) Warn(warnings ...Warning) {
	r.read[r.source] = append(r.read[r.source], warnings...)
}

// end finds out which rules of the source are not there any more.
func (r *Rereading) end() {
	if r.source < 0 {
		return
	}
	rs := r.before
	for at, s := range rs.table.entries(&rs.opts) {
		if !r.isSeen(at) && rs.rankAt(s.ref()) == r.source {
			r.change(rs.table.key(s.ref()), nil)
		}
	}
	for _, t := range rs.templates.all() {
		r.endOther(keyOfSource{rs.sources[t.source].rank, t.Key()}, t.rule)
	}
	for key, rule := range rs.shadowed {
		r.endOther(key, rule)
	}
}

func (r *Rereading) endOther(key keyOfSource, rule Rule) {
	if _, isThere := r.others[key]; key.rank == r.source && !isThere {
		r.change(rule.Key, nil)
	}
}

// Changes returns how the sources that have been read differ, also in several rules for a key. The
// error is that of Ruleset, as far as it is known without deriving one.
func (r *Rereading) Changes() ([]RuleChange, error) {
	r.end()
	r.source = -1
	switch {
	case len(r.changes) > r.most:
		return nil, ErrMostChanged
	case len(r.twice.errs) > 0:
		return nil, r.twice.ruleErrors()
	}
	return r.changes, nil
}

// Ruleset derives the ruleset of the rules that have been read, as [Ruleset.With] does. The error
// can also be ErrMostChanged.
func (r *Rereading) Ruleset() (*Ruleset, Difference, error) {
	r.end()
	r.source = -1
	if len(r.changes) > r.most {
		return nil, Difference{}, ErrMostChanged
	}
	d := derivation{before: r.before, moved: r.moved, read: r.read, errs: r.twice.errs}
	return d.derive(r.changes)
}
