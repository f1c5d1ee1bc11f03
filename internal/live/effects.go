package live

import (
	"context"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// Effects are what an edit does to clients.
type Effects struct {
	// Own is what changes for the clients of the edited key, nil for nothing.
	Own *resolver.Change
	// Others are the first changes for clients of other keys, by key, and Count is how many there are.
	Others []resolver.Change
	Count  int
	// Warnings are those that there were not before.
	Warnings []lint.Warning
	// Digest is that of the rules as they would be.
	Digest string
}

// namedEffects is how many other keys effects name.
const namedEffects = 100

// add takes in what changes for the clients of a key.
func (f *Effects) add(change resolver.Change, isOwn bool) {
	if isOwn {
		f.Own = &change
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

// effects works out what a candidate changes that has been made for an edit.
func (e *editing) effects(next *candidate) *Effects {
	before := e.rs.Serving().Ruleset
	f := &Effects{Warnings: e.rs.newWarnings(before, next), Digest: next.Ruleset.Digest()}
	add := func(change resolver.Change) { f.add(change, e.same(change.Rule.Key)) }
	if next.isByThem {
		next.difference.Results(add)
	} else { // it is not derived in one step, or not at all
		resolver.CompareResults(before, next.Ruleset, add)
	}
	return f
}

// Preview returns what an edit would do, or why it would be refused. It writes nothing, and reads
// no source.
func (rs *Ruleset) Preview(ctx context.Context, edit *Edit) (f *Effects, err error) {
	err = rs.alone(func() error {
		e, err := rs.begin(ctx, edit)
		if err != nil {
			return err
		}
		next, err := e.derive(make([]unread, len(rs.Sources)))
		if err = e.validate(next, err); err == nil {
			f = e.effects(next)
		}
		return err
	})
	return f, err
}

// WhyNotEditable returns the refusal of every edit of a key's rule as it serves, nil where there is
// none.
func (rs *Ruleset) WhyNotEditable(key string) error {
	e, err := rs.newEditing(context.Background(), &Edit{Key: key, Rule: new(resolver.Rule)})
	if err != nil {
		return err
	}
	e.findIn(rs.Serving().Ruleset, nil)
	return e.placeProblem()
}

// confirm asks whether an edit is to be made.
func (e *editing) confirm(next *candidate) error {
	if e.Confirm == nil {
		return nil
	}
	if err := e.Confirm(e.effects(next)); err != nil {
		return &unconfirmed{err}
	}
	return nil
}

// unconfirmed is that an edit is not to be made. The reason is not unwrapped, as it says nothing of
// the sources, whatever it is.
type unconfirmed struct{ reason error }

func (u *unconfirmed) Error() string { return u.reason.Error() }

// check checks what the edit requires of the key's rule.
func (e *editing) check() error {
	if e.If == nil {
		return nil
	}
	if err := e.If(e.serving()); err != nil {
		return &Refusal{Changed, err}
	}
	return nil
}

// serving returns the rule that serves for the key, nil for none.
func (e *editing) serving() *resolver.Rule {
	if at := slices.IndexFunc(e.stands, isRule); at >= 0 {
		return e.stands[at]
	}
	return nil
}

func isRule(rule *resolver.Rule) bool { return rule != nil }
