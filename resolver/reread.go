package resolver

import "errors"

// Rereading compares the rules of sources, as they are read again, with those of a ruleset. An
// equal rule costs a lookup; a different one becomes a change. A Rereading is not safe for
// concurrent use.
type Rereading struct {
	before  *Ruleset
	source  int // that is being read, -1 for none
	changes []RuleChange
	most    int // so many changes are worth deriving
	// seen has a bit for the slot of each rule that has been read again.
	seen []uint64
	// others are keys that were read and are new, have variables, or have another source's rule in
	// their slot.
	others  map[keyOfSource]bool
	isTwice bool   // a key stands twice
	key     []byte // scratch memory
}

// ErrMostChanged is the error of a rereading in which most rules differ. Compiling them is cheaper.
var ErrMostChanged = errors.New("most rules have changed")

// Reread starts reading sources of a ruleset again. The rules of other sources do not change.
func (rs *Ruleset) Reread() *Rereading {
	return &Rereading{
		before: rs, source: -1, most: rs.Len()/2 + 1000,
		seen:   make([]uint64, (rs.table.slots.n+63)/64),
		others: map[keyOfSource]bool{},
	}
}

// Source begins the n-th source, numbered as in [RuleChange]. All its rules are then passed to Add.
func (r *Rereading) Source(n int) {
	r.end()
	r.source = n
}

// Add adds the next rule of the source. It keeps nothing of an unchanged rule, even if the rule's
// position has changed.
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
	from := r.before.sources.all[old.position.source]
	if from.rank != r.source {
		r.addOther(rule, string(r.key))
		return
	}
	r.isTwice = r.isTwice || r.isSeen(at)
	r.see(at)
	if !old.isOf(&rule) || from.name != rule.Position.Source {
		r.change(rule.Key, &rule)
	}
}

func (r *Rereading) isSeen(at int) bool { return r.seen[at/64]&(1<<(at%64)) != 0 }
func (r *Rereading) see(at int)         { r.seen[at/64] |= 1 << (at % 64) }

// addOther adds a rule that is new, has variables, or has the key of another source's rule.
func (r *Rereading) addOther(rule Rule, key string) {
	this := keyOfSource{r.source, key}
	r.isTwice = r.isTwice || r.others[this]
	r.others[this] = true
	old, is := r.before.ruleOf(this)
	if !is || old.Position.Source != rule.Position.Source || !sameContent(old, rule) {
		r.change(rule.Key, &rule)
	}
}

// change records a change, as long as there are few.
func (r *Rereading) change(key string, rule *Rule) {
	if len(r.changes) > r.most {
		return
	}
	change := RuleChange{Source: r.source, Key: key}
	if rule != nil {
		kept := rule.Clone()
		change.Rule, change.Key = &kept, kept.Key
	}
	r.changes = append(r.changes, change)
}

// end finds the rules of the source that have gone.
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
	for i, t := range rs.templates.each() {
		r.endOther(keyOfSource{t.rank, rs.templates.key(i)}, t.rule)
	}
	for key, rule := range rs.shadowed.all {
		r.endOther(key, rule)
	}
}

func (r *Rereading) endOther(key keyOfSource, rule Rule) {
	if key.rank == r.source && !r.others[key] {
		r.change(rule.Key, nil)
	}
}

// Changes returns the changes of the sources that were read, also if a key has several rules. The
// error is ErrMostChanged or ErrDuplicateKey. The latter names no rules: compile the sources to
// find their places.
func (r *Rereading) Changes() ([]RuleChange, error) {
	r.end()
	r.source = -1
	switch {
	case r.isTwice:
		return nil, ErrDuplicateKey
	case len(r.changes) > r.most:
		return nil, ErrMostChanged
	}
	return r.changes, nil
}
