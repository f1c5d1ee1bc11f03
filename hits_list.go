package shortlink

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// hitList is a list of hits of the rules of a ruleset, on all servers that share a storage.
type hitList struct {
	since   time.Time // when counting began
	hits    *hitCounters
	ruleset *resolver.Ruleset
	others  *otherHits // nil for none
	// hidden are the numbers of the rules that are left out; nil where none are.
	hidden []bool
}

// list returns the hits of a ruleset, with those that other servers have stored. An error says why
// these cannot be read.
func (k *hitKeeper) list(ctx context.Context, ruleset *resolver.Ruleset) (*hitList, error) {
	others, err := k.others(ctx, ruleset)
	if err != nil {
		return nil, fmt.Errorf("the hits of other servers cannot be read: %w", err)
	}
	list := &hitList{since: k.hits.begun(), hits: k.hits, ruleset: ruleset, others: others}
	if others != nil && others.since.Before(list.since) {
		list.since = others.since
	}
	return list, nil
}

// countOf returns the hits of the rule with a number.
func (l *hitList) countOf(number int) hitCount {
	m := l.hits.of(l.ruleset.KeyOf(number))
	if l.others != nil {
		m = m.plus(l.others.counts[number])
	}
	return m
}

// hideUsed leaves out the rules that have redirected since a time, and those that these lead through.
// It returns a note where hits have been counted for a shorter time, or "".
func (l *hitList) hideUsed(cutoff time.Time) (note string) {
	if l.since.After(cutoff) {
		note = "hits have been counted since " + l.since.Format(time.RFC3339) +
			" only, which is a shorter time"
	}
	l.hidden = make([]bool, l.ruleset.Numbers())
	for n := range l.hidden {
		rule, ok := l.ruleset.Numbered(n)
		if !ok {
			continue
		}
		if m := l.countOf(n); m.count == 0 || m.time().Before(cutoff) {
			continue
		}
		for _, met := range l.ruleset.Chain(rule.Key) {
			if n, ok := l.ruleset.NumberOf(met.Key); ok {
				l.hidden[n] = true
			}
		}
	}
	return note
}

// all returns the keys of the list and their hits, in the order of the keys.
func (l *hitList) all() iter.Seq2[string, hitCount] {
	return func(yield func(string, hitCount) bool) {
		for rule := range l.ruleset.RulesBelow("") {
			n, _ := l.ruleset.NumberOf(rule.Key)
			if l.hidden != nil && l.hidden[n] {
				continue
			}
			if !yield(rule.Key, l.countOf(n)) {
				return
			}
		}
	}
}
