package pending

import (
	"context"
	"fmt"
	"hash/maphash"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/internal/turn"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// Grace is how long an outage lasts before it is reported as a rejection. A server that restarts is
// back sooner.
const Grace = 2 * time.Second

// Follower follows a source that says which keys have changed, and adds them to the backlog. When
// the source does not know, all rules are read and compared in the background.
type Follower struct {
	Backlog *Backlog
	From    source.Changing
	Index   int    // of the source
	Tell    func() // called when there is something to read
	// Alone calls a function while nobody loads rules.
	Alone   func(do func())
	Serving func() *schedule.Rules

	doubts turn.Signal // all rules have to be compared
}

// Run follows the source until ctx ends: that of the configuration.
func (f *Follower) Run(ctx context.Context) {
	f.doubts = turn.NewSignal()
	go f.From.WatchKeys(ctx, func(keys ...string) {
		if len(keys) == 0 {
			f.doubts.Raise()
			return
		}
		f.Backlog.Add(f.Index, Keys(keys...))
		f.Tell()
	})
	var again <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.doubts:
		case <-again:
		}
		again = nil
		switch isNew, isOut := f.compare(ctx); {
		case isOut:
			again = time.After(Grace)
		case isNew:
			f.Tell()
		}
	}
}

// compare reads all rules of a source and compares them with those that serve, while edits and
// loads go on. Keys that differ become pending and are read again by key, because they may change
// meanwhile. compare reports whether there is anything new, and whether the source is in an outage
// that is still short.
func (f *Follower) compare(ctx context.Context) (isNew, isOut bool) {
	// else rules that were read before the news could be swapped in
	f.Alone(func() { f.Backlog.beginComparison(f.Index) })
	found, err := f.differing(ctx)
	isOut = err != nil && isShort(source.OutageOf(f.From))
	if isOut || ctx.Err() != nil {
		f.Backlog.dropComparison(f.Index)
		return false, isOut
	}
	return f.Backlog.endComparison(f.Index, found), false
}

// isShort reports whether an outage has only just begun.
func isShort(outage *source.Outage) bool {
	return outage != nil && time.Since(outage.Since) < Grace
}

// ProblemOf returns a text that stays equal while a source cannot be read for the same reason.
func ProblemOf(from source.Source, err error) string {
	if source.OutageOf(from) != nil {
		return "outage" // connection errors name ports, which differ each time
	}
	return err.Error()
}

// differing returns the keys whose rules differ between the source and what serves. The error says
// why the source has to be read as a whole.
func (f *Follower) differing(ctx context.Context) (found Reading, err error) {
	serving := f.Serving()
	r := serving.Reread()
	r.Source(f.Index + 1)
	var sum uint64
	pause, n := pace.New().Pause, 0
	_, err = f.From.Read(ctx, func(rule resolver.Rule) {
		sum += maphash.Comparable(seed, rule)
		r.Add(rule)
		if n++; n%64 == 0 {
			pause()
		}
	})
	whole := Whole()
	if err != nil {
		whole.Found = ProblemOf(f.From, err)
		return whole, err
	}
	changes, err := r.Changes()
	if err != nil {
		whole.Found = fmt.Sprintf("%016x %v", sum, err)
		return whole, err
	}
	for _, change := range changes { // those of keys in another spelling remove what serves
		if rule, ok := serving.RuleOf(change.Source, change.Key); ok && rule.Key != change.Key {
			changes = append(changes, resolver.RuleChange{Source: change.Source, Key: rule.Key})
		}
	}
	changes = OtherThan(f.Serving(), changes) // which may have changed meanwhile
	if len(changes) > 0 {
		found = Keys(KeysOf(changes)...)
	}
	found.Found = DigestOf(changes)
	return found, nil
}

// OtherThan returns the changes that differ from what serves.
func OtherThan(
	serving *schedule.Rules, changes []resolver.RuleChange,
) (other []resolver.RuleChange) {
	for _, change := range changes {
		rule, ok := serving.RuleOf(change.Source, change.Key)
		ok = ok && rule.Key == change.Key // and not another spelling
		if change.Rule != nil {
			rule.Position = change.Rule.Position // what serves has no lines
		}
		if ok != (change.Rule != nil) || ok && rule != *change.Rule {
			other = append(other, change)
		}
	}
	return other
}

// VersionAfter returns the version of rules after changes with a digest.
func VersionAfter(version, digest string) string {
	return fmt.Sprintf("%016x", maphash.String(seed, version+digest))
}

// KeysOf returns the keys of changes.
func KeysOf(changes []resolver.RuleChange) (keys []string) {
	for _, change := range changes {
		keys = append(keys, change.Key)
	}
	return keys
}

// seed keeps authors of rules from choosing rules with equal digests.
var seed = maphash.MakeSeed()

// DigestOf returns a digest that is equal for equal changes, in any order.
func DigestOf(changes []resolver.RuleChange) string {
	var sum uint64
	for _, change := range changes {
		form := struct {
			key   string
			isSet bool
			rule  resolver.Rule
		}{key: change.Key, isSet: change.Rule != nil}
		if form.isSet {
			form.rule = *change.Rule
			form.rule.Position = resolver.Position{}
		}
		sum += maphash.Comparable(seed, form)
	}
	return fmt.Sprintf("%d %016x", len(changes), sum)
}
