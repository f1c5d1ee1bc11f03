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
	others  *others
	hidden  []bool // by rule number; nil if no rule is hidden
}

// List returns the hits of a ruleset. The error says why those of other servers cannot be read.
func (k *Keeper) List(ctx context.Context, ruleset *resolver.Ruleset) (*List, error) {
	others, err := k.others(ctx, ruleset)
	if err != nil {
		return nil, err
	}
	since, count := k.hits.past.Load().Since, k.hits.counterOf(ruleset)
	list := &List{Since: since, count: count, ruleset: ruleset, others: others}
	if first := others.since; !first.IsZero() && first.Before(since) {
		list.Since = first
	}
	return list, nil
}

// Of returns the hits of the rule with a number.
func (l *List) Of(number int) Count {
	m := l.count(number)
	if number < len(l.others.counts) {
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
	l.hidden[number] = true
	rule, ok := l.ruleset.Numbered(number)
	if !ok || !strings.HasPrefix(rule.Value, "/") {
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
			if l.Has(n) && !yield(rule.Key, l.Of(n)) {
				return
			}
		}
	}
}

// others are the totals of the other servers, added up.
type others struct {
	ruleset *resolver.Ruleset
	counts  []Count   // by the numbers of the ruleset's rules; nil for no servers
	recent  []uint64  // those of the last topDays
	since   time.Time // when the first of them began counting
	read    time.Time
}

// others adds up what the other servers have stored.
func (s *store) others(ctx context.Context, ruleset *resolver.Ruleset) (*others, error) {
	sum := &others{ruleset: ruleset, recent: make([]uint64, ruleset.Numbers()), read: time.Now()}
	err := s.eachOther(ctx, func(server string, c *content) error {
		today := newChanges(c.header, c.lines)
		if sum.counts == nil {
			sum.counts = make([]Count, ruleset.Numbers())
		}
		if sum.since.IsZero() || today.Since.Before(sum.since) {
			sum.since = today.Since
		}
		for n := range shards {
			if err := s.eachKey(ctx, server, today, n, sum.add); err != nil {
				return err
			}
		}
		return nil
	})
	sum.read = time.Now()
	return sum, err
}

// add adds the total of a key on one server.
func (o *others) add(l *line) {
	if number, ok := o.ruleset.NumberOf(string(l.key)); ok {
		o.counts[number] = o.counts[number].plus(l.Count)
		o.recent[number] += l.since(dayOf(o.read) - topDays + 1)
	}
}
