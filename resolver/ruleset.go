package resolver

import (
	"iter"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// Ruleset is a compiled ruleset. It is immutable and safe for concurrent use.
type Ruleset struct {
	table    table
	opts     options
	sources  []source
	failures []error
	warnings []Warning
	rules    int
	merger   weburl.Merger
}

// Len returns the number of rules that serve; shadowed ones do not count.
func (rs *Ruleset) Len() int { return rs.rules }

// Warnings returns what the authors of the rules should know: those of single rules in the order in
// which they were added, then those of chains.
func (rs *Ruleset) Warnings() []Warning { return rs.warnings }

// Size returns the bytes of memory that the ruleset's rules take.
func (rs *Ruleset) Size() int {
	return rs.table.arena.size() + 8*len(rs.table.slots)
}

// Rules returns the rules that serve, as they were added, in no particular order.
func (rs *Ruleset) Rules() iter.Seq[Rule] {
	return func(yield func(Rule) bool) {
		for _, s := range rs.table.slots {
			if s != 0 && !yield(rs.rule(s.ref())) {
				return
			}
		}
	}
}

func (rs *Ruleset) rule(at ref) Rule {
	var r record
	r.decode(rs.table.arena.bytes(at))
	return r.rule(rs.sources)
}
