package live

import (
	"slices"
	"sync"
	"time"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// ChangedKey is a key whose rule was added, changed or removed while this server ran.
type ChangedKey struct {
	Key  string
	Time time.Time
	Kind resolver.ChangeKind
}

// ChangedSince reports whether the last change of a key is of this kind, and later than a time.
func (rs *Ruleset) ChangedSince(key string, kind resolver.ChangeKind, since time.Time) bool {
	return slices.ContainsFunc(rs.shared.changed.list(), func(c ChangedKey) bool {
		return c.Key == key && c.Kind == kind && c.Time.After(since)
	})
}

// Changed returns the keys that were added or changed last and still serve, newest first. Of a swap
// that changes many keys, only the first are kept.
func (rs *Ruleset) Changed(most int) []ChangedKey {
	var found []ChangedKey
	serving := rs.Serving()
	for _, changed := range rs.shared.changed.list() {
		if len(found) == most {
			break
		}
		if _, rule, ok := serving.Active(changed.Key); ok && rule.Key == changed.Key {
			found = append(found, changed)
		}
	}
	return found
}

// changedKeys are the keys that swaps changed last, newest first.
type changedKeys struct {
	mu  sync.Mutex
	all []ChangedKey
}

// keptChanges is how many keys are kept.
const keptChanges = 50

// note adds the changes of a swap.
func (c *changedKeys) note(now time.Time, d resolver.Difference) {
	var fresh []ChangedKey
	for _, key := range d.FirstChanged {
		fresh = append(fresh, ChangedKey{key, now, resolver.ChangeEdited})
	}
	for _, key := range d.FirstAdded {
		fresh = append(fresh, ChangedKey{key, now, resolver.ChangeAdded})
	}
	for _, key := range d.FirstRemoved {
		fresh = append(fresh, ChangedKey{key, now, resolver.ChangeRemoved})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, old := range c.all {
		if !slices.ContainsFunc(fresh, func(f ChangedKey) bool { return f.Key == old.Key }) {
			fresh = append(fresh, old)
		}
	}
	c.all = fresh[:min(len(fresh), keptChanges)]
}

// list returns the keys.
func (c *changedKeys) list() []ChangedKey {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all
}
