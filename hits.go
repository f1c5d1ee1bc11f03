package shortlink

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// hits are how often the rules of the handlers of one name have redirected, and when last, by key. Counting is free of
// locks: each live ruleset has a word for each of its rules. All else takes its time.
type hits struct {
	// stamp is what the words of rules that are hit now have above their count: see word.
	stamp atomic.Uint64

	mu    sync.Mutex
	since time.Time  // when counting began
	sets  []*counted // of the live rulesets
	late  []*counted // of rulesets that do not serve any more, but that requests may still hold
	// gone are the hits of keys that no live ruleset has, by canonical key.
	gone    map[string]hit
	unsaved bool // whether gone has changed since all were saved
}

// hit is how often a rule has redirected, and in which minute last.
type hit struct {
	count  uint64
	minute uint32
}

// counted are the hits of the rules of one ruleset, by their numbers.
type counted struct {
	ruleset *resolver.Ruleset
	words   []atomic.Uint64
	stamp   *atomic.Uint64
}

// A word holds, from its lowest bits on, a count, whether that has changed since all was saved, and the minute of the last hit.
const (
	countBits = 39
	countMask = 1<<countBits - 1
	changed   = 1 << countBits
)

// epoch is minute 0. There are minutes until 2051.
var epoch = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

func minuteOf(t time.Time) uint32 { return uint32(t.Sub(epoch) / time.Minute) }

func (m hit) time() time.Time { return epoch.Add(time.Duration(m.minute) * time.Minute) }

func stampOf(minute uint32) uint64 { return uint64(minute)<<1 | 1 }

func hitOf(word uint64) hit { return hit{word & countMask, uint32(word >> (countBits + 1))} }

func (m hit) word() uint64 {
	return min(m.count, countMask) | changed | uint64(m.minute)<<(countBits+1)
}

// and returns what two counts of a rule make together.
func (m hit) and(other hit) hit {
	return hit{m.count + other.count, max(m.minute, other.minute)}
}

func newHits(now time.Time) *hits {
	h := &hits{since: now.UTC().Truncate(time.Second), gone: map[string]hit{}}
	h.tick(now)
	return h
}

// begun returns when counting began.
func (h *hits) begun() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.since
}

// tick sets the coarse clock.
func (h *hits) tick(now time.Time) { h.stamp.Store(stampOf(minuteOf(now))) }

// hit counts a hit of the rule with a number.
func (c *counted) hit(number int) {
	word, stamp := &c.words[number], c.stamp.Load()
	for now := word.Add(1); now>>countBits != stamp; now = word.Load() {
		if word.CompareAndSwap(now, now&countMask|stamp<<countBits) {
			return
		}
	}
}

// add adds hits to the rule with a number.
func (c *counted) add(number int, m hit) {
	word := &c.words[number]
	for {
		old := word.Load()
		if word.CompareAndSwap(old, hitOf(old).and(m).word()) {
			return
		}
	}
}

// begin begins to count the hits of a ruleset, with those that its keys had before.
func (h *hits) begin(ruleset *resolver.Ruleset) *counted {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := &counted{ruleset: ruleset, words: make([]atomic.Uint64, ruleset.Numbers()), stamp: &h.stamp}
	h.sets = append(h.sets, c)
	for key, m := range h.gone {
		if n, ok := ruleset.NumberOf(key); ok {
			c.add(n, m)
			delete(h.gone, key)
		}
	}
	return c
}

// lateness is how long a request can hold a ruleset that does not serve any more and still be counted: it holds it for microseconds. Only those that
// wait for something else while their configuration is unloaded are not counted.
const lateness = 200 * time.Millisecond

// end gives the hits of a ruleset, which does not serve any more, to the others: those that it has, and, soon after, those that
// late requests have added.
func (h *hits) end(c *counted, pause func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sets = slices.DeleteFunc(h.sets, func(other *counted) bool { return other == c })
	h.giveOn(c, pause)
	h.late = append(h.late, c)
	time.AfterFunc(lateness, func() { h.settle(c) })
}

// settle gives on what late requests have counted with an old ruleset, or with all of them if none is named, and lets go of it.
func (h *hits) settle(named ...*counted) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.late = slices.DeleteFunc(h.late, func(c *counted) bool {
		if len(named) > 0 && !slices.Contains(named, c) {
			return false
		}
		h.giveOn(c, nil)
		return true
	})
}

// giveOn empties the words of a ruleset into those of others that have the keys, or into gone.
func (h *hits) giveOn(c *counted, pause func()) {
	for n := range c.words {
		if pause != nil && n%256 == 0 {
			pause()
		}
		if c.words[n].Load() == 0 {
			continue
		}
		h.give(c.ruleset.KeyOf(n), hitOf(c.words[n].Swap(0)))
	}
	h.forgetOldest()
}

// give adds hits to those of a canonical key.
func (h *hits) give(key string, m hit) {
	for _, c := range h.sets {
		if n, ok := c.ruleset.NumberOf(key); ok {
			c.add(n, m)
			return
		}
	}
	key = strings.Clone(key) // so that no ruleset is kept for it
	h.gone[key] = h.gone[key].and(m)
	h.unsaved = true
}

// mostGone is how many keys that no ruleset has any more are remembered.
const mostGone = 100_000

// forgetOldest forgets the keys that are gone and were hit long ago, if there are too many.
func (h *hits) forgetOldest() {
	if len(h.gone) <= mostGone {
		return
	}
	oldest := slices.SortedFunc(maps.Keys(h.gone), func(a, b string) int { return cmp.Compare(h.gone[a].minute, h.gone[b].minute) })
	for _, key := range oldest[:len(oldest)-mostGone*9/10] {
		delete(h.gone, key)
	}
}

// of returns the hits of a key.
func (h *hits) of(key string) (m hit) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.sets {
		if n, ok := c.ruleset.NumberOf(key); ok {
			m = m.and(hitOf(c.words[n].Load()))
		}
	}
	return m
}

// each passes the hits of all keys to yield, by canonical key, and whether they have changed since all were saved; with save they
// are being saved now.
func (h *hits) each(save bool, yield func(key string, m hit, changed bool)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.sets) == 1 {
		h.sets[0].each(save, yield)
	} else { // they may have keys in common
		type sum struct {
			hit
			changed bool
		}
		sums := map[string]sum{}
		for _, c := range h.sets {
			c.each(save, func(key string, m hit, changed bool) {
				sums[key] = sum{sums[key].and(m), sums[key].changed || changed}
			})
		}
		for key, s := range sums {
			yield(key, s.hit, s.changed)
		}
	}
	for key, m := range h.gone {
		yield(key, m, h.unsaved)
	}
	h.unsaved = h.unsaved && !save
}

func (c *counted) each(save bool, yield func(key string, m hit, changed bool)) {
	for n := range c.words {
		word := c.words[n].Load()
		if word == 0 {
			continue
		}
		if save {
			word = c.words[n].And(^uint64(changed))
		}
		yield(c.ruleset.KeyOf(n), hitOf(word), word&changed != 0)
	}
}
