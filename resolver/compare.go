package resolver

import (
	"cmp"
	"slices"
)

// Difference is the changes between two rulesets, rule by rule as written.
type Difference struct {
	// Added, Removed and Changed count keys.
	Added, Removed, Changed int
	// The first keys of each kind, by position.
	FirstAdded, FirstRemoved, FirstChanged []string

	before, after *Ruleset
	isDerived     bool // after shares with before what did not change
}

// Compare returns the changes from before to after. A nil ruleset before has no rules. most limits
// how many keys of each kind are named.
func Compare(before, after *Ruleset, most int) Difference {
	if before == nil {
		before = &Ruleset{}
	}
	c := newChangedKeys(most)
	after.eachEntry(func(at ref) {
		old := before.entryOf(after.table.key(at))
		rule := after.rule(at)
		switch {
		case old == 0:
			c.added.add(rule)
		case !sameContent(before.rule(old), rule):
			c.changed.add(rule)
		}
	})
	if before.table.rules > after.table.rules-c.added.count { // else there is nothing to look for
		before.eachEntry(func(at ref) {
			if after.entryOf(before.table.key(at)) == 0 {
				c.removed.add(before.rule(at))
			}
		})
	}
	return c.difference(before, after)
}

// changedKeys are the keys without variables that differ between two rulesets.
type changedKeys struct{ added, removed, changed firstKeys }

// newChangedKeys returns an empty list that names at most so many keys of each kind.
func newChangedKeys(most int) *changedKeys {
	return &changedKeys{firstKeys{most: most}, firstKeys{most: most}, firstKeys{most: most}}
}

// difference adds the keys with variables.
func (c *changedKeys) difference(before, after *Ruleset) Difference {
	if before.templates != after.templates {
		c.addTemplates(before, after)
	}
	return Difference{
		Added: c.added.count, Removed: c.removed.count, Changed: c.changed.count,
		FirstAdded: c.added.names(), FirstRemoved: c.removed.names(), FirstChanged: c.changed.names(),
		before: before, after: after,
	}
}

func (c *changedKeys) addTemplates(before, after *Ruleset) {
	eachTemplate(before, after, sameContent, func(kind ChangeKind, old, now int) {
		switch kind {
		case ChangeAdded:
			c.added.add(after.templates.ruleAt(now).rule)
		case ChangeEdited:
			c.changed.add(after.templates.ruleAt(now).rule)
		case ChangeRemoved:
			c.removed.add(before.templates.ruleAt(old).rule)
		}
	})
}

func sameContent(a, b Rule) bool {
	a.Position, b.Position = Position{}, Position{}
	return a == b
}

// sameButForNotes reports whether two rules differ at most in their notes.
func sameButForNotes(a, b Rule) bool {
	a.Note, b.Note = "", ""
	return sameContent(a, b)
}

// firstKeys keeps the first rules by position.
type firstKeys struct {
	most, count int
	rules       []Rule
}

func (f *firstKeys) add(rule Rule) {
	f.count++
	at, _ := slices.BinarySearchFunc(f.rules, rule, byPosition)
	if at == f.most {
		return
	}
	f.rules = slices.Insert(f.rules, at, rule)
	f.rules = f.rules[:min(len(f.rules), f.most)]
}

func byPosition(a, b Rule) int {
	return cmp.Or(a.Position.Compare(b.Position), cmp.Compare(a.Key, b.Key))
}

func (f *firstKeys) names() []string {
	var names []string
	for _, rule := range f.rules {
		names = append(names, rule.Key)
	}
	return names
}
