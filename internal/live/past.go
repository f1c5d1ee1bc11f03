package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/history"
	"github.com/caddy-shortlink/shortlink/internal/past"
	"github.com/caddy-shortlink/shortlink/internal/refusal"
)

// Past tells of the changes of what served.
func (rs *Ruleset) Past() past.Past {
	return past.Of(rs.shared.totals.history, rs.Options.FoldCase)
}

// Restore makes the rules those of a digest again. by says who does it, and what
// confirms it.
func (rs *Ruleset) Restore(ctx context.Context, digest string, by *Edit) error {
	now := rs.Serving()
	changes, err := rs.Past().ChangesTo(ctx, digest, &now.Rules, now.Digest)
	if err != nil {
		return err
	}
	edit := *by
	edit.Changes, edit.InPlace = nil, true
	for _, c := range changes {
		edit.Changes = append(edit.Changes, Change{Key: c.Key, Rule: c.Rule})
	}
	edit.IfRules = func(serving string) error {
		if serving != now.Digest {
			return errors.New("the rules have just changed; try again")
		}
		return nil
	}
	_, err = rs.Apply(ctx, &edit)
	if r, is := errors.AsType[*refusal.Refusal](err); is && r.Reason == refusal.NotEditable {
		err = refusal.Of(r.Reason, fmt.Errorf("%w; take the changes back where these rules stand: "+
			"caddy shortlink history --digest shows each", err))
	}
	return err
}

// record records a swap in the history. by is who has edited it.
func (rs *Ruleset) record(old *Loaded, next *candidate, by author, now time.Time) {
	change := history.Change{Time: now.UTC(), Old: old.Digest, New: next.Digest}
	if by.isEdit {
		change.User, change.Remote = by.user, by.remote
	} else {
		var names []string
		for _, from := range rs.sourcesAt(next.read) {
			names = append(names, from.String())
		}
		change.Source = strings.Join(names, ", ")
	}
	rs.Past().Record(change, &next.difference, &old.Rules, &next.Rules)
}
