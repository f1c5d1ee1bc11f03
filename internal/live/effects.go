package live

import (
	"context"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// Effects are what an edit changes for clients.
type Effects struct {
	// Own is what changes for clients of the edited keys, sorted by key.
	Own []resolver.Change
	// Others are the first changes for clients of other keys, sorted by key; Count is how many
	// there are.
	Others []resolver.Change
	Count  int
	// Warnings are the new warnings.
	Warnings []lint.Warning
	// Digest is the digest of the resulting rules.
	Digest string
}

// namedEffects is how many other keys effects name.
const namedEffects = 100

// add adds what changes for the clients of a key.
func (f *Effects) add(change resolver.Change, isOwn bool) {
	if isOwn {
		f.Own = append(f.Own, change)
		return
	}
	f.Count++
	at, _ := slices.BinarySearchFunc(f.Others, change.Rule.Key,
		func(other resolver.Change, key string) int { return strings.Compare(other.Rule.Key, key) })
	if at < namedEffects {
		f.Others = slices.Insert(f.Others, at, change)
		f.Others = f.Others[:min(len(f.Others), namedEffects)]
	}
}

// effects returns what the candidate of an edit changes.
func (e *editing) effects(next *candidate) *Effects {
	before := e.rs.Serving().Ruleset
	f := &Effects{Warnings: e.rs.newWarnings(before, next), Digest: next.digest()}
	add := func(change resolver.Change) { f.add(change, e.changeOf(change.Rule.Key) != nil) }
	if next.isByThem {
		next.difference.Results(add)
	} else { // it was not derived in one step
		resolver.CompareResults(before, next.Ruleset, add)
	}
	slices.SortFunc(f.Own, func(a, b resolver.Change) int {
		return strings.Compare(a.Rule.Key, b.Rule.Key)
	})
	return f
}

// Preview returns what an edit would do, or why it would be refused. It writes nothing and reads no
// source.
func (rs *Ruleset) Preview(ctx context.Context, edit *Edit) (f *Effects, err error) {
	err = rs.alone(func() error {
		e, err := rs.begin(ctx, edit)
		if err != nil {
			return err
		}
		next, err := e.derive(make([]pending, len(rs.Sources)))
		if err = e.validate(next, err); err == nil {
			f = e.effects(next)
		}
		return err
	})
	return f, err
}

// WhyNotEditable returns why every edit of a key's rule is refused as it serves, or nil.
func (rs *Ruleset) WhyNotEditable(key string) error {
	edit := &Edit{Changes: []Change{{Key: key, Rule: new(resolver.Rule)}}}
	e, err := rs.newEditing(context.Background(), edit)
	if err != nil {
		return err
	}
	e.findIn(rs.Serving(), nil)
	return e.inPlace()
}

// confirm asks whether to make the edit.
func (e *editing) confirm(next *candidate) error {
	if e.Confirm == nil {
		return nil
	}
	if err := e.Confirm(e.effects(next)); err != nil {
		return &unconfirmed{err}
	}
	return nil
}

// unconfirmed reports that Confirm refused the edit. It does not unwrap its reason, which must not
// be taken for an error of a source.
type unconfirmed struct{ reason error }

func (u *unconfirmed) Error() string { return u.reason.Error() }
