package past

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/history"
	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/internal/refusal"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Past tells of the changes of what served.
type Past struct {
	store *history.Store
	fold  bool // see [resolver.Options.FoldCase]
}

// Of returns the past that a store has. fold tells whether keys match without regard to case.
func Of(store *history.Store, fold bool) Past { return Past{store, fold} }

// List returns the changes, newest first, without their content. With a key, they are those of this
// key, each with its rule before and after.
func (p Past) List(ctx context.Context, key string) ([]history.Entry, error) {
	var isAsked func(string) bool
	if key != "" {
		isAsked = p.isKey(key)
	}
	all, err := p.store.List(ctx, isAsked)
	return all, refused(err)
}

// isKey returns what accepts the spellings of a key.
func (p Past) isKey(key string) func(string) bool {
	canonical := resolver.CanonicalKey(key, p.fold)
	return func(k string) bool { return resolver.CanonicalKey(k, p.fold) == canonical }
}

// AddKeys adds their content to changes of at most so many keys that List has returned.
func (p Past) AddKeys(ctx context.Context, changes []history.Entry, most int) error {
	return refused(p.store.Fill(ctx, changes, most))
}

// ChangeTo returns the last change that led to the rules of a digest, with its content. The
// beginning of a digest is enough.
func (p Past) ChangeTo(ctx context.Context, digest string) (*history.Entry, error) {
	entry, err := p.store.Get(ctx, digest)
	return entry, refused(err)
}

// Forget drops the content of the changes that led to the rules of a digest.
func (p Past) Forget(ctx context.Context, digest string) error {
	return refused(p.store.Forget(ctx, digest))
}

// Outage says since when changes cannot be stored; nil if they can.
func (p Past) Outage() *history.Outage { return p.store.Outage() }

// IsChangedSince reports whether the last change of a key is of this kind, and later than a time.
func (p Past) IsChangedSince(key string, kind resolver.ChangeKind, since time.Time) bool {
	c := p.LastChange(key)
	return c != nil && c.Kind == kind && c.Time.After(since)
}

// LastChange returns the last change of a key, nil if it is not known without asking the storage.
func (p Past) LastChange(key string) *history.Recent {
	isKey, all := p.isKey(key), p.store.Recent()
	at := slices.IndexFunc(all, func(c history.Recent) bool { return isKey(c.Key) })
	if at < 0 {
		return nil
	}
	return &all[at]
}

// Changed returns the keys that were added or changed last and are among the rules of now, newest
// first. Of a swap that changes many keys, only the first are known.
func (p Past) Changed(now *schedule.Rules, most int) (found []history.Recent) {
	for _, changed := range p.store.Recent() {
		if len(found) == most {
			break
		}
		if rule, ok := now.Written(changed.Key); ok && rule.Key == changed.Key {
			found = append(found, changed)
		}
	}
	return found
}

// Change leads to the rule that a key had, nil for none.
type Change struct {
	Key  string
	Rule *resolver.Rule
}

// ChangesTo returns the changes that lead to the rules of a digest from those of now, whose digest
// is current.
func (p Past) ChangesTo(
	ctx context.Context, digest string, now *schedule.Rules, current string,
) (all []Change, err error) {
	at := map[string]int{}
	var wrong error
	digest, err = p.store.Way(ctx, current, digest, func(k history.KeyChange) {
		key := resolver.CanonicalKey(k.Key, p.fold)
		if _, is := at[key]; !is {
			at[key], all = len(all), append(all, Change{Key: k.Key})
		}
		rule, err := RuleOf(k.Key, k.After)
		all[at[key]].Rule, wrong = rule, errors.Join(wrong, err)
	})
	if digest == current {
		return nil, refusal.Errorf(refusal.Invalid, "the rules are those of %s already", digest)
	}
	all = slices.DeleteFunc(all, func(c Change) bool { // those that lead there and back
		_, value := valueOf(now, c.Key)
		return string(value) == Text(c.Rule)
	})
	if err = errors.Join(err, wrong); err == nil && len(all) == 0 {
		return nil, refusal.Errorf(refusal.NotEditable, "the rules of %s serve already: keys are only "+
			"spelt otherwise, or other sources have them, too; change that in the sources", digest)
	}
	return all, refused(err)
}

// refused returns an error of the history as a refusal.
func refused(err error) error {
	switch {
	case err == nil, refusal.Is(err):
		return err
	case errors.Is(err, history.ErrUnknown):
		return refusal.Of(refusal.NoRule, err)
	case errors.Is(err, history.ErrAmbiguous):
		return refusal.Of(refusal.Invalid, err)
	case errors.Is(err, history.ErrNoWay):
		return refusal.Errorf(refusal.NotEditable,
			"%w; if a file has these rules, write: caddy shortlink apply FILE --replace", err)
	}
	return refusal.Errorf(refusal.Unavailable, "the history in Caddy's storage cannot be read: %w",
		err)
}

// Record records a swap: c says when and by whom, and d how the rules differ.
func (p Past) Record(c history.Change, d *resolver.Difference, before, after *schedule.Rules) {
	c.Added, c.Removed, c.Changed = d.Added, d.Removed, d.Changed
	c.AddFirst(resolver.ChangeEdited, d.FirstChanged)
	c.AddFirst(resolver.ChangeAdded, d.FirstAdded)
	c.AddFirst(resolver.ChangeRemoved, d.FirstRemoved)
	p.store.Record(c, KeyChanges(before, after))
}

// KeyChanges gives the rules that differ, as they are written.
func KeyChanges(before, after *schedule.Rules) iter.Seq[history.KeyChange] {
	return func(yield func(history.KeyChange) bool) {
		pause := pace.New().Pause
		for key := range schedule.Differing(before, after) {
			pause()
			k := history.KeyChange{Key: key}
			k.Key, k.Before = valueOf(before, k.Key)
			k.Key, k.After = valueOf(after, k.Key)
			if string(k.Before) != string(k.After) && !yield(k) {
				return
			}
		}
	}
}
