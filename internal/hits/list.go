package hits

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// List lists the hits of the rules of a ruleset, on all servers that share a storage.
type List struct {
	Since   time.Time // when counting began
	count   func(number int) Count
	ruleset *resolver.Ruleset
	others  *others // nil for none
	hidden  []bool  // by rule number; nil if no rule is hidden
}

// List returns the hits of a ruleset. The error says why those of other servers cannot be read.
func (k *Keeper) List(ctx context.Context, ruleset *resolver.Ruleset) (*List, error) {
	others, err := k.others(ctx, ruleset)
	if err != nil {
		return nil, err
	}
	since, count := k.hits.past.Load().Since, k.hits.counterOf(ruleset)
	list := &List{Since: since, count: count, ruleset: ruleset, others: others}
	if others != nil && others.since.Before(list.Since) {
		list.Since = others.since
	}
	return list, nil
}

// Of returns the hits of the rule with a number.
func (l *List) Of(number int) Count {
	m := l.count(number)
	if l.others != nil && number < len(l.others.counts) {
		m = m.plus(l.others.counts[number])
	}
	return m
}

// HideUsed hides the rules that have redirected since cutoff, and the rules in their chains. It
// returns a note if counting began later than that, or "".
func (l *List) HideUsed(cutoff time.Time) (note string) {
	if l.Since.After(cutoff) {
		note = "hits have been counted since " + l.Since.Format(time.RFC3339) +
			" only, which is a shorter time"
	}
	l.hidden = make([]bool, l.ruleset.Numbers())
	for n := range l.hidden {
		if m := l.Of(n); m.N > 0 && !m.Time().Before(cutoff) && !l.hidden[n] {
			l.hideChain(n)
		}
	}
	return note
}

// hideChain hides a rule, by its number, and the other rules of its chain.
func (l *List) hideChain(number int) {
	rule, ok := l.ruleset.Numbered(number)
	if !ok {
		return
	}
	l.hidden[number] = true
	if !strings.HasPrefix(rule.Value, "/") {
		return
	}
	for _, met := range l.ruleset.Chain(rule.Key) {
		if n, ok := l.ruleset.NumberOf(met.Key); ok {
			l.hidden[n] = true
		}
	}
}

// Has reports whether the rule with a number is in the list.
func (l *List) Has(number int) bool {
	return l.hidden == nil || number < len(l.hidden) && !l.hidden[number]
}

// All yields the keys of the list and their hits, in the order of the keys.
func (l *List) All() iter.Seq2[string, Count] {
	return func(yield func(string, Count) bool) {
		for rule := range l.ruleset.RulesBelow("") {
			n, _ := l.ruleset.NumberOf(rule.Key)
			if !l.Has(n) {
				continue
			}
			if !yield(rule.Key, l.Of(n)) {
				return
			}
		}
	}
}
