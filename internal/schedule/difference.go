package schedule

import (
	"iter"
	"slices"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Compare returns what changes from one to the other like [resolver.Compare], but counts and names
// rules as they are written.
func Compare(before, after *Rules, most int) resolver.Difference {
	d := resolver.Compare(before.Ruleset, after.Ruleset, most)
	countWritten(&d, before, after, scheduledIn(before, after))
	return d
}

// Differing gives the keys whose rules as they are written may differ, once each. They are those
// that have changed if one ruleset is derived from the other, and else all.
func Differing(before, after *Rules) iter.Seq[string] {
	if !before.Ruleset.SharesNumbers(after.Ruleset) {
		return either(before, after)
	}
	return func(yield func(string) bool) {
		isSame := before.table == after.table
		for number := range after.Ruleset.Differing(before.Ruleset) {
			key := after.Ruleset.KeyOf(number)
			if (isSame || !before.hasWindow(key) && !after.hasWindow(key)) && !yield(key) {
				return
			}
		}
		scheduledIn(before, after)(yield)
	}
}

// either gives the keys of all rules.
func either(before, after *Rules) iter.Seq[string] {
	return func(yield func(string) bool) {
		for rule := range after.RulesBelow("") {
			if !yield(rule.Key) {
				return
			}
		}
		for rule := range before.RulesBelow("") {
			if _, has := after.Written(rule.Key); !has && !yield(rule.Key) {
				return
			}
		}
	}
}

// scheduledIn gives the keys whose windows may differ: those that have changed if one table is made
// of the other, and else all that have windows in one or both.
func scheduledIn(before, after *Rules) iter.Seq[string] {
	return func(yield func(string) bool) {
		if before.table == after.table {
			return
		}
		if before.table != nil && after.table != nil && after.table.madeOf == before.table.self {
			for key := range keysOf(slices.Values(after.table.changed)) {
				if (before.hasWindow(key) || after.hasWindow(key)) && !yield(key) {
					return
				}
			}
			return
		}
		for _, rule := range after.Scheduled("") {
			if !yield(rule.Key) {
				return
			}
		}
		for _, rule := range before.Scheduled("") {
			if !after.hasWindow(rule.Key) && !yield(rule.Key) {
				return
			}
		}
	}
}

// hasWindow reports whether the rule for a key has windows.
func (r *Rules) hasWindow(key string) bool {
	rule, _ := r.Written(key)
	return rule.Windows != ""
}

// countWritten makes a difference count keys by their rules as they are written.
func countWritten(d *resolver.Difference, before, after *Rules, keys iter.Seq[string]) {
	for key := range keys {
		_, was, had := before.Active(key)
		_, is, has := after.Active(key)
		active := kindOf(was, is, had, has)
		was, had = before.Written(key)
		is, has = after.Written(key)
		written := kindOf(was, is, had, has)
		if active == written {
			continue
		}
		if n, first := partOf(d, active); n != nil {
			*n--
			*first = slices.DeleteFunc(*first, func(k string) bool { return k == was.Key || k == is.Key })
		}
		if n, first := partOf(d, written); n != nil {
			*n++
			if len(*first) < namedKeys {
				*first = append(*first, map[bool]string{true: is.Key, false: was.Key}[has])
			}
		}
	}
}

// namedKeys is how many keys of each kind are named, as [resolver.Ruleset.With] does.
const namedKeys = 10

// kindOf returns what has become of a rule, "" for nothing.
func kindOf(was, is resolver.Rule, had, has bool) resolver.ChangeKind {
	was.Position, is.Position = resolver.Position{}, resolver.Position{}
	switch {
	case had && !has:
		return resolver.ChangeRemoved
	case has && !had:
		return resolver.ChangeAdded
	case was != is:
		return resolver.ChangeEdited
	}
	return ""
}

// partOf returns the count and the names of a kind of change, nil for none.
func partOf(d *resolver.Difference, kind resolver.ChangeKind) (n *int, first *[]string) {
	switch kind {
	case resolver.ChangeAdded:
		return &d.Added, &d.FirstAdded
	case resolver.ChangeRemoved:
		return &d.Removed, &d.FirstRemoved
	case resolver.ChangeEdited:
		return &d.Changed, &d.FirstChanged
	}
	return nil, nil
}
