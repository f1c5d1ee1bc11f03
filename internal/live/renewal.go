package live

import (
	"time"

	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// renewal is that a worn ruleset is compiled anew, beside edits and reloads, which go on meanwhile.
type renewal struct {
	// since are the changes of what serves since the renewal has begun. They are lost where something
	// was swapped in that is more than changes.
	since  []resolver.RuleChange
	isLost bool
}

// noteForRenewal takes down what a swap changes, or begins to compile the new ruleset anew if it is
// worn, for who runs alone.
func (rs *Ruleset) noteForRenewal(old *Loaded, next *candidate) {
	switch r := rs.shared.renewal; {
	case r != nil && next.isByThem:
		r.since = append(r.since, next.changes...)
	case r != nil:
		r.isLost = r.isLost || next.Ruleset != old.Ruleset
	case next.Ruleset.IsWorn():
		rs.shared.renewal = new(renewal)
		go rs.renew(next.Ruleset)
	}
}

// renew compiles a worn ruleset anew until it can serve in the place of that, or of what has been
// derived from it. After a try that came too late it rests: others may go on for a while.
func (rs *Ruleset) renew(worn *resolver.Ruleset) {
	for worn != nil {
		anew, err := worn.Recompile()
		again := false
		_ = rs.alone(func() error { // which never fails
			again = rs.takeOver(anew, err)
			return nil
		})
		if !again {
			return
		}
		select {
		case <-rs.Context.Done():
		case <-time.After(renewalPause):
		}
		_ = rs.alone(func() error {
			worn = rs.beginRenewal()
			return nil
		})
	}
}

// beginRenewal returns what is to be compiled anew, nil once the configuration is unloaded, for who
// runs alone.
func (rs *Ruleset) beginRenewal() *resolver.Ruleset {
	if rs.Context.Err() != nil {
		rs.shared.renewal = nil
		return nil
	}
	rs.shared.renewal = new(renewal)
	return rs.Serving().Ruleset
}

// renewalPause is how long a renewal rests.
const renewalPause = 5 * time.Second

// takeOver lets a ruleset serve that has been compiled anew, with what has changed meanwhile, for
// who runs alone. It reports whether it came too late, and what serves is still worn.
func (rs *Ruleset) takeOver(anew *resolver.Ruleset, err error) (again bool) {
	old, r := rs.Serving(), rs.shared.renewal
	if rs.Context.Err() == nil && r.isLost && old.Ruleset.IsWorn() {
		return true
	}
	rs.shared.renewal = nil
	if rs.Context.Err() != nil {
		return false
	}
	if err == nil && len(r.since) > 0 {
		anew, _, err = anew.With(r.since)
	}
	if r.isLost || err != nil || anew.Digest() != old.Digest {
		rs.logger.Debug("the rules that serve were not compiled anew",
			zap.String("name", rs.Name), zap.Error(err))
		return false
	}
	next := *old
	next.Ruleset = anew
	rs.shared.replace(old, &next)
	return false
}
