package live

import (
	"slices"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/history"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// ChangedSince reports whether the last change of a key is of this kind, and later than a time.
func (rs *Ruleset) ChangedSince(key string, kind resolver.ChangeKind, since time.Time) bool {
	c := rs.LastChange(key)
	return c != nil && c.Kind == kind && c.Time.After(since)
}

// LastChange returns the last change of a key, nil if it is not known without asking the storage.
func (rs *Ruleset) LastChange(key string) *history.Recent {
	isKey, all := rs.isKey(key), rs.shared.totals.history.Recent()
	at := slices.IndexFunc(all, func(c history.Recent) bool { return isKey(c.Key) })
	if at < 0 {
		return nil
	}
	return &all[at]
}

// Changed returns the keys that were added or changed last and are still there, newest first. Of a
// swap that changes many keys, only the first are known.
func (rs *Ruleset) Changed(most int) (found []history.Recent) {
	serving := rs.Serving()
	for _, changed := range rs.shared.totals.history.Recent() {
		if len(found) == most {
			break
		}
		if rule, ok := serving.Written(changed.Key); ok && rule.Key == changed.Key {
			found = append(found, changed)
		}
	}
	return found
}
