package schedule

import "github.com/caddy-shortlink/shortlink/resolver"

// Rereading is a [resolver.Rereading] of rules as they are written.
type Rereading struct {
	*resolver.Rereading
	of      *Rules
	source  int
	seen    map[place]bool // those that have windows, or had them
	changes []resolver.RuleChange
	isTwice bool // one of these keys has two rules
}

// Reread begins to read sources of the rules again.
func (r *Rules) Reread() *Rereading {
	return &Rereading{Rereading: r.Ruleset.Reread(), of: r, source: -1, seen: map[place]bool{}}
}

// Source begins a source, like [resolver.Rereading.Source].
func (r *Rereading) Source(n int) {
	r.end()
	r.Rereading.Source(n)
	r.source = n
}

// end finds the rules with windows that are not there any more.
func (r *Rereading) end() {
	r.of.table.from("", func(w written) bool {
		if w.source == r.source && !r.seen[w.place] {
			r.changes = append(r.changes, resolver.RuleChange{Source: w.source, Key: w.rule.Key})
		}
		return true
	})
}

// Add adds the next rule of the source.
func (r *Rereading) Add(rule resolver.Rule) {
	if rule.Windows == "" && r.of.table == nil {
		r.Rereading.Add(rule)
		return
	}
	at := r.of.place(r.source, rule.Key)
	old, is := r.of.table.get(at)
	if rule.Windows == "" && !is {
		r.Rereading.Add(rule)
		return
	}
	r.isTwice = r.isTwice || r.seen[at]
	r.seen[at] = true
	now := stored(rule, true)
	if !is || old != *now {
		now.Position = rule.Position
		r.changes = append(r.changes, resolver.RuleChange{Source: r.source, Key: rule.Key, Rule: now})
	}
	if active, is := r.of.Ruleset.RuleOf(r.source, at.key); is {
		r.Rereading.Add(active) // which is no change of its own
	}
}

// Changes returns how the rules differ, as they are written, like [resolver.Rereading.Changes].
func (r *Rereading) Changes() ([]resolver.RuleChange, error) {
	r.end()
	changes, err := r.Rereading.Changes()
	for _, c := range changes {
		r.isTwice = r.isTwice || c.Rule != nil && r.seen[r.of.place(c.Source, c.Key)]
	}
	switch {
	case err != nil:
		return nil, err
	case r.isTwice:
		return nil, resolver.ErrDuplicateKey
	case len(r.changes) > r.of.table.len()/2+1000:
		return nil, resolver.ErrMostChanged
	}
	return append(changes, r.changes...), nil
}
