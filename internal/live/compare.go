package live

import (
	"fmt"
	"hash/maphash"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// grace is how long an outage lasts before it is reported as a rejection. A server that restarts is
// back sooner.
const grace = 2 * time.Second

// keysWatch follows a source that says which keys have changed, and adds them to the backlog. When
// the source does not know, all rules are read and compared in the background.
type keysWatch struct {
	rs     *Ruleset
	from   source.Changing
	i      int           // its index among the sources
	tell   func()        // called when there is something to read
	doubts chan struct{} // holds a value when all rules have to be compared
}

// run follows the source until the configuration is unloaded.
func (w *keysWatch) run() {
	go w.from.WatchKeys(w.rs.Context, func(keys ...string) {
		if len(keys) == 0 {
			raise(w.doubts)
			return
		}
		w.rs.shared.backlog.add(w.i, pendingKeys(keys...))
		w.tell()
	})
	var again <-chan time.Time
	for {
		select {
		case <-w.rs.Context.Done():
			return
		case <-w.doubts:
		case <-again:
		}
		again = nil
		switch isNew, isOut := w.compare(); {
		case isOut:
			again = time.After(grace)
		case isNew:
			w.tell()
		}
	}
}

// raise signals on a channel that holds one signal.
func raise(happened chan<- struct{}) {
	select {
	case happened <- struct{}{}:
	default: // a signal is waiting already
	}
}

// compare reads all rules of a source and compares them with those that serve, while edits and
// loads go on. Keys that differ become pending and are read again by key, because they may change
// meanwhile. compare reports whether there is anything new, and whether the source is in an outage
// that is still short.
func (w *keysWatch) compare() (isNew, isOut bool) {
	backlog := &w.rs.shared.backlog
	_ = w.rs.alone(func() error { // else rules that were read before the news could be swapped in
		backlog.beginComparison(w.i)
		return nil
	})
	found, err := w.differing()
	isOut = err != nil && isShort(source.OutageOf(w.from))
	if isOut || w.rs.Context.Err() != nil {
		backlog.dropComparison(w.i)
		return false, isOut
	}
	return backlog.endComparison(w.i, found), false
}

// isShort reports whether an outage has only just begun.
func isShort(outage *source.Outage) bool {
	return outage != nil && time.Since(outage.Since) < grace
}

// problemOf returns a text that stays equal while a source cannot be read for the same reason.
func problemOf(from source.Source, err error) string {
	if source.OutageOf(from) != nil {
		return "outage" // connection errors name ports, which differ each time
	}
	return err.Error()
}

// differing returns the keys whose rules differ between a source and what serves. The error says
// why the source has to be read as a whole.
func (w *keysWatch) differing() (found pending, err error) {
	serving := w.rs.Serving()
	r := serving.Reread()
	r.Source(w.i + 1)
	var sum uint64
	f := feed{pause: pace.New().Pause, to: func(rule resolver.Rule) {
		sum += maphash.Comparable(seed, rule)
		r.Add(rule)
	}}
	whole := pending{isStale: true, isWhole: true}
	if _, err = w.from.Read(w.rs.Context, f.passOn); err != nil {
		whole.found = problemOf(w.from, err)
		return whole, err
	}
	changes, err := r.Changes()
	if err != nil {
		whole.found = fmt.Sprintf("%016x %v", sum, err)
		return whole, err
	}
	for _, change := range changes { // those of keys in another spelling remove what serves
		if rule, ok := serving.RuleOf(change.Source, change.Key); ok && rule.Key != change.Key {
			changes = append(changes, resolver.RuleChange{Source: change.Source, Key: rule.Key})
		}
	}
	changes = otherThan(w.rs.Serving(), changes) // which may have changed meanwhile
	if len(changes) > 0 {
		found = pendingKeys(keysOf(changes)...)
	}
	found.found = digestOf(changes)
	return found, nil
}

// otherThan returns the changes that differ from what serves.
func otherThan(
	serving *Loaded, changes []resolver.RuleChange,
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

// versionAfter returns the version of rules after changes with a digest.
func versionAfter(version, digest string) string {
	return fmt.Sprintf("%016x", maphash.String(seed, version+digest))
}

func keysOf(changes []resolver.RuleChange) (keys []string) {
	for _, change := range changes {
		keys = append(keys, change.Key)
	}
	return keys
}

// seed keeps authors of rules from choosing rules with equal digests.
var seed = maphash.MakeSeed()

// digestOf returns a digest that is equal for equal changes, in any order.
func digestOf(changes []resolver.RuleChange) string {
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
