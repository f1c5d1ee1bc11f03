package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/history"
	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// History returns the changes of what served, newest first, without their content. With a key, they
// are those of this key, each with its rule before and after.
func (rs *Ruleset) History(ctx context.Context, key string) ([]history.Entry, error) {
	return rs.Changes(ctx, key, history.Query{Most: math.MaxInt})
}

// Changes returns changes of what served, newest first. With a key, they are those of this key, each
// with its rule before and after.
func (rs *Ruleset) Changes(
	ctx context.Context, key string, q history.Query,
) ([]history.Entry, error) {
	if key != "" {
		q.IsAsked = rs.isKey(key)
	}
	all, err := rs.shared.totals.history.List(ctx, q)
	return all, refusedByHistory(err)
}

// isKey returns what accepts a key in all of its spellings.
func (rs *Ruleset) isKey(key string) func(string) bool {
	fold := rs.Options.FoldCase
	canonical := resolver.CanonicalKey(key, fold)
	return func(k string) bool { return resolver.CanonicalKey(k, fold) == canonical }
}

// ChangeBetween returns the last change that made the rules of one digest those of another, with
// its content.
func (rs *Ruleset) ChangeBetween(ctx context.Context, old, now string) (*history.Entry, error) {
	entry, err := rs.shared.totals.history.Between(ctx, old, now)
	return entry, refusedByHistory(err)
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
func (rs *Ruleset) Restore(ctx context.Context, digest string, by *Edit) error {
	if err := rs.WhyNotWritable(); err != nil {
		return whyNotRestored(err)
	}
	now := rs.Serving().Digest
	var err error
	if by.Changes, err = rs.changesTo(ctx, digest, now); err != nil {
		return refusedByHistory(err)
	}
	by.InPlace = true
	by.IfRules = func(serving string) error {
		if serving != now {
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
	return &Refusal{NotEditable, fmt.Errorf("%w; take the changes back where these rules stand: caddy "+
		"shortlink history --digest shows each", err)}
}

// changesTo returns the changes that lead to the rules of a digest from those that have another one.
func (rs *Ruleset) changesTo(ctx context.Context, digest, now string) (all []Change, err error) {
	at := map[string]int{}
	var first []string // the value of each key before its first change
	var wrong error
	digest, err = rs.shared.totals.history.Way(ctx, now, digest, func(k history.KeyChange) {
		key := resolver.CanonicalKey(k.Key, rs.Options.FoldCase)
		n, is := at[key]
		if !is {
			n, at[key] = len(all), len(all)
			all, first = append(all, Change{Key: k.Key}), append(first, history.Value(k.Before))
		}
		rule, err := RuleOf(k.Key, k.After)
		all[n].Rule, wrong = rule, errors.Join(wrong, err)
	})
	if digest == now {
		return nil, refuse(Invalid, "the rules are those of %s already", digest)
	}
	n := -1
	all = slices.DeleteFunc(all, func(c Change) bool {
		n++
		return RuleText(c.Rule) == first[n]
	})
	return all, errors.Join(err, wrong)
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
	rs.shared.totals.history.Record(change, keyChanges(old.Ruleset, next.Ruleset))
}

// keyChanges gives the rules that differ between two rulesets, as they are written.
func keyChanges(old, next *resolver.Ruleset) iter.Seq[history.KeyChange] {
	return func(yield func(history.KeyChange) bool) {
		for was, is := range differingRules(old, next) {
			k := history.KeyChange{Before: valueOf(was), After: valueOf(is)}
			if is == nil {
				is = was
			}
			k.Key = is.Key
			if string(k.Before) != string(k.After) && !yield(k) {
				return
			}
		}
	}
}

// valueOf returns a rule as JSON, nil for none.
func valueOf(rule *resolver.Rule) json.RawMessage {
	if rule == nil {
		return nil
	}
	return json.RawMessage(RuleText(rule))
}

// differingRules gives the rules of keys that may differ between two rulesets, nil for none. It
// costs what has changed if one ruleset is derived from the other.
func differingRules(old, next *resolver.Ruleset) iter.Seq2[*resolver.Rule, *resolver.Rule] {
	return func(yield func(was, is *resolver.Rule) bool) {
		if old.SharesNumbers(next) {
			for number := range next.Differing(old) {
				if !yield(numbered(old, number), numbered(next, number)) {
					return
				}
			}
			return
		}
		f := feed{pause: pace.New().Pause, to: func(resolver.Rule) {}}
		for rule := range next.Rules() {
			f.passOn(rule)
			var was *resolver.Rule
			if _, before, ok := ruleOf(old, rule.Key); ok {
				was = &before
			}
			if !yield(was, &rule) {
				return
			}
		}
		for rule := range old.Rules() {
			f.passOn(rule)
			if _, _, ok := ruleOf(next, rule.Key); !ok && !yield(&rule, nil) {
				return
			}
		}
	}
}

// numbered returns the rule of a number, nil for none.
func numbered(ruleset *resolver.Ruleset, number int) *resolver.Rule {
	if rule, ok := ruleset.Numbered(number); ok {
		return &rule
	}
	return nil
}
