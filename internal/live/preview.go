package live

import (
	"context"

	"github.com/caddy-shortlink/shortlink/internal/effects"
	"github.com/caddy-shortlink/shortlink/internal/pending"
)

// effects returns what the candidate of an edit changes.
func (e *editing) effects(next *candidate) *effects.Effects {
	serving := e.rs.Serving()
	c := &effects.Comparison{
		Before: &serving.Rules, After: &next.Rules, Digest: serving.Digest,
		Difference: &next.difference, Warnings: e.rs.newWarnings(serving.Ruleset, next),
		IsEdited: func(key string) bool { return e.changeOf(key) != nil },
		DeadEnd:  e.rs.DeadEnd,
	}
	for _, k := range e.keys {
		c.Edited = append(c.Edited, effects.Edited{Key: k.Key, Rule: k.Rule})
	}
	return effects.Of(c)
}

// Preview returns what an edit would do, or why it would be refused. It writes nothing and reads no
// source.
func (rs *Ruleset) Preview(ctx context.Context, edit *Edit) (f *effects.Effects, err error) {
	err = rs.alone(func() error {
		e, err := rs.begin(ctx, edit)
		if err != nil {
			return err
		}
		next, err := e.derive(make([]pending.Reading, len(rs.Sources)))
		if err = e.validate(next, err); err == nil {
			f = e.effects(next)
		}
		return err
	})
	return f, err
}

// WhyNot returns why a change is refused by what stands at its key, or nil.
func (rs *Ruleset) WhyNot(change Change) error {
	e, err := rs.newEditing(context.Background(), new(Edit), []Change{change})
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
