package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/history"
	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// History returns the changes of what served, newest first, without their content. With a key, they
// are those of this key, each with its rule before and after.
func (rs *Ruleset) History(ctx context.Context, key string) ([]history.Entry, error) {
	var isAsked func(string) bool
	if key != "" {
		isAsked = rs.isKey(key)
	}
	all, err := rs.shared.totals.history.List(ctx, isAsked)
	return all, refusedByHistory(err)
}

// isKey returns what accepts the spellings of a key.
func (rs *Ruleset) isKey(key string) func(string) bool {
	fold := rs.Options.FoldCase
	canonical := resolver.CanonicalKey(key, fold)
	return func(k string) bool { return resolver.CanonicalKey(k, fold) == canonical }
}

// AddKeys adds their content to changes of at most so many keys that History has returned.
func (rs *Ruleset) AddKeys(ctx context.Context, changes []history.Entry, most int) error {
	return refusedByHistory(rs.shared.totals.history.Fill(ctx, changes, most))
}

// RuleOf returns the rule that a change has for a key, nil for none.
func RuleOf(key string, value json.RawMessage) (*resolver.Rule, error) {
	text := history.Value(value)
	if text == "" {
		return nil, nil
	}
	rule, err := rulefile.ReadJSONValue(strings.NewReader(text), "", key)
	return &rule, err
}

// ChangeTo returns the last change that led to the rules of a digest, with its content. The
// beginning of a digest is enough.
func (rs *Ruleset) ChangeTo(ctx context.Context, digest string) (*history.Entry, error) {
	entry, err := rs.shared.totals.history.Get(ctx, digest)
	return entry, refusedByHistory(err)
}

// Forget drops the content of the changes that led to the rules of a digest.
func (rs *Ruleset) Forget(ctx context.Context, digest string) error {
	return refusedByHistory(rs.shared.totals.history.Forget(ctx, digest))
}

// Restore makes the rules those of a digest again. by says who does it: its changes are set.
func (rs *Ruleset) Restore(ctx context.Context, digest string, by *Edit) (err error) {
	now := rs.Serving()
	if by.Changes, err = rs.changesTo(ctx, digest, now); err != nil {
		return refusedByHistory(err)
	}
	by.InPlace = true
	by.IfRules = func(serving string) error {
		if serving != now.Digest {
			return errors.New("the rules have just changed; try again")
		}
		return nil
	}
	_, err = rs.Apply(ctx, by)
	return whyNotRestored(err)
}

// whyNotRestored adds to the refusal of an edit what to do instead.
func whyNotRestored(err error) error {
	refusal, is := errors.AsType[*Refusal](err)
	if !is || refusal.Reason != NotEditable {
		return err
	}
	return &Refusal{NotEditable, fmt.Errorf("%w; take the changes back where these rules stand: "+
		"caddy shortlink history --digest shows each", err)}
}

// changesTo returns the changes that lead to the rules of a digest from those that serve now.
func (rs *Ruleset) changesTo(
	ctx context.Context, digest string, now *Loaded,
) (all []Change, err error) {
	at := map[string]int{}
	var wrong error
	digest, err = rs.shared.totals.history.Way(ctx, now.Digest, digest, func(k history.KeyChange) {
		key := resolver.CanonicalKey(k.Key, rs.Options.FoldCase)
		if _, is := at[key]; !is {
			at[key], all = len(all), append(all, Change{Key: k.Key})
		}
		rule, err := RuleOf(k.Key, k.After)
		all[at[key]].Rule, wrong = rule, errors.Join(wrong, err)
	})
	if digest == now.Digest {
		return nil, refuse(Invalid, "the rules are those of %s already", digest)
	}
	all = slices.DeleteFunc(all, func(c Change) bool { // those that lead there and back
		_, value := valueOf(now, c.Key)
		return string(value) == RuleText(c.Rule)
	})
	if err = errors.Join(err, wrong); err == nil && len(all) == 0 {
		return nil, refuse(NotEditable, "the rules of %s serve already: keys are only spelt "+
			"otherwise, or other sources have them, too; change that in the sources", digest)
	}
	return all, err
}

// refusedByHistory returns an error of the history as a refusal.
func refusedByHistory(err error) error {
	switch {
	case err == nil, isRefusal(err):
		return err
	case errors.Is(err, history.ErrUnknown):
		return &Refusal{NoRule, err}
	case errors.Is(err, history.ErrAmbiguous):
		return &Refusal{Invalid, err}
	case errors.Is(err, history.ErrNoWay):
		return refuse(NotEditable,
			"%w; if a file has these rules, write: caddy shortlink apply FILE --replace", err)
	}
	return refuse(Unavailable, "the history in Caddy's storage cannot be read: %w", err)
}

// record records a swap in the history. by is the edit that it comes of, nil for none.
func (rs *Ruleset) record(old *Loaded, next *candidate, by *Edit, now time.Time) {
	d := next.difference
	change := history.Change{
		Time: now.UTC(), Old: old.Digest, New: next.Digest,
		Added: d.Added, Removed: d.Removed, Changed: d.Changed,
	}
	change.AddFirst(resolver.ChangeEdited, d.FirstChanged)
	change.AddFirst(resolver.ChangeAdded, d.FirstAdded)
	change.AddFirst(resolver.ChangeRemoved, d.FirstRemoved)
	if by != nil {
		change.User, change.Remote = by.User, by.Remote
	} else {
		var names []string
		for _, from := range rs.sourcesAt(next.read) {
			names = append(names, from.String())
		}
		change.Source = strings.Join(names, ", ")
	}
	rs.shared.totals.history.Record(change, keyChanges(old, next.Loaded))
}

// keyChanges gives the rules that differ, as they are written.
func keyChanges(old, next *Loaded) iter.Seq[history.KeyChange] {
	return func(yield func(history.KeyChange) bool) {
		pause := pace.New().Pause
		for key := range schedule.Differing(&old.Rules, &next.Rules) {
			pause()
			k := history.KeyChange{Key: key}
			k.Key, k.Before = valueOf(old, k.Key)
			k.Key, k.After = valueOf(next, k.Key)
			if string(k.Before) != string(k.After) && !yield(k) {
				return
			}
		}
	}
}

// valueOf returns the rule of a key as it is written, in JSON, nil for none, and its key.
func valueOf(serving *Loaded, key string) (written string, value json.RawMessage) {
	if rule := serving.written(key); rule != nil {
		return rule.Key, json.RawMessage(RuleText(rule))
	}
	return key, nil
}

// written returns the rule of a key as it is written, nil for none.
func (l *Loaded) written(key string) *resolver.Rule {
	if rule, ok := l.Written(key); ok {
		return &rule
	}
	return nil
}
