package live

import (
	"context"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Effects are what an edit does to clients.
type Effects struct {
	// Own is what changes for the clients of the edited key, nil for nothing.
	Own *resolver.Change
	// Others are the first changes for clients of other keys, by key, and Count is how many there are.
	Others []resolver.Change
	Count  int
	// Warnings are those that there were not before.
	Warnings []resolver.Warning
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
func (rs *Ruleset) effects(e *Edit, next *candidate) *Effects {
	before := rs.Serving().Ruleset
	f := &Effects{Warnings: rs.newWarnings(before, next), Digest: next.Ruleset.Digest()}
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
func (rs *Ruleset) Preview(ctx context.Context, e *Edit) (f *Effects, err error) {
	err = rs.alone(func() error {
		if ctx.Err() != nil {
			return ErrGone
		}
		if e.into, _, err = rs.firstWritable(); err != nil {
			return err
		}
		e.same = rs.sameAs(e.Key)
		next, err := rs.derive(rs.Context, make([]unread, len(rs.Sources)), e)
		if err = rs.validate(e, next, err); err == nil {
			f = rs.effects(e, next)
		}
		return err
	})
	return f, err
}

// WhyNotEditable returns the refusal of every edit of a key's rule as it serves, nil where there is
// none.
func (rs *Ruleset) WhyNotEditable(key string) error {
	at, _, err := rs.firstWritable()
	if err != nil {
		return err
	}
	e := &Edit{Key: key, Rule: new(resolver.Rule), into: at, same: rs.sameAs(key)}
	e.findIn(rs.Serving().Ruleset, len(rs.Sources), nil)
	return rs.placeProblem(e)
}

// confirm asks whether an edit is to be made.
func (rs *Ruleset) confirm(e *Edit, next *candidate) error {
	if e.Confirm == nil {
		return nil
	}
	if err := e.Confirm(rs.effects(e, next)); err != nil {
		return &unconfirmed{err}
	}
	return nil
}

// unconfirmed is that an edit is not to be made. The reason is not unwrapped, as it says nothing of
// the sources, whatever it is.
type unconfirmed struct{ reason error }

func (u *unconfirmed) Error() string { return u.reason.Error() }

// check checks what the edit requires of the key's rule.
func (e *Edit) check() error {
	if e.If == nil {
		return nil
	}
	if err := e.If(e.serving()); err != nil {
		return &Refusal{Changed, err}
	}
	return nil
}

// serving returns the rule that serves for the key, nil for none.
func (e *Edit) serving() *resolver.Rule {
	if at := slices.IndexFunc(e.stands, isRule); at >= 0 {
		return e.stands[at]
	}
	return nil
}

func isRule(rule *resolver.Rule) bool { return rule != nil }
