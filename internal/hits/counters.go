package hits

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

// Counters count how often the rules of all handlers of one name have answered, and when last.
// A request needs one atomic read-modify-write of one word, and no lock. Everything else may be
// slow.
type Counters struct {
	past atomic.Pointer[header] // of the shards, without new hits; never written to

	mu       sync.Mutex
	minute   uint32             // the current one
	rulesets []*RulesetCounters // that serve, or are being retired
	unserved map[string]uint64  // words of canonical keys that no serving ruleset has
}

// Count is how often a rule has answered, and the minute of the last time.
type Count struct {
	N      uint64
	minute uint32
}

// RulesetCounters count the hits of a ruleset, and of derived rulesets with the same rule numbers.
// Each rule has a word, by its number:
//
//	 63          40 39       38          0
//	+--------------+---------+------------+
//	| last minute  | changed | count      |
//	+--------------+---------+------------+
//	|<------ stamp --------->|
//
// changed marks the words that have changed since the shards were written.
type RulesetCounters struct {
	counters *Counters
	words    []atomic.Uint64
	stamp    atomic.Uint64 // of a word whose rule is hit now

	// under the lock of counters
	ruleset *resolver.Ruleset // the newest one
	retired bool              // words are moved to other rulesets
}

const (
	countBits = 39
	countMask = 1<<countBits - 1
	changed   = 1 << countBits
	// moved is the stamp of a word whose count has been moved: no minute is so late.
	moved        = endOfMinutes << 1
	endOfMinutes = 1<<24 - 1
)

// epoch is minute 0. There are minutes until 2051.
var epoch = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// minuteOf returns the minute of a time, or the nearest one, because a clock may be wrong.
func minuteOf(t time.Time) uint32 {
	return uint32(min(max(t.Sub(epoch)/time.Minute, 0), endOfMinutes-1))
}

// Time returns when the rule last redirected, to the minute.
func (m Count) Time() time.Time { return epoch.Add(time.Duration(m.minute) * time.Minute) }

func stampOf(minute uint32) uint64 { return uint64(minute)<<1 | 1 }

func countOf(word uint64) Count {
	return Count{word & countMask, uint32(word >> (countBits + 1))}
}

// word returns the count as a word that is not marked as changed.
func (m Count) word() uint64 {
	return min(m.N, countMask) | uint64(m.minute)<<(countBits+1)
}

// plus adds up two counts of a rule.
func (m Count) plus(other Count) Count {
	return Count{m.N + other.N, max(m.minute, other.minute)}
}

// sumOf adds up two words of a rule.
func sumOf(word, other uint64) uint64 {
	return countOf(word).plus(countOf(other)).word() | (word|other)&changed
}

// NewCounters returns counters that start now.
func NewCounters(now time.Time) *Counters {
	h := &Counters{minute: minuteOf(now), unserved: map[string]uint64{}}
	now = now.UTC().Truncate(time.Second)
	h.past.Store(newHeader(now, now, dayOf(now)))
	return h
}

// restore adds the counts that were stored before.
func (h *Counters) restore(lines []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	eachLine(lines, func(l *line) { h.add(string(l.key), l.word()) })
}

// tick sets the clock. If there are too many unserved keys, it forgets the oldest.
func (h *Counters) tick(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.minute = max(minuteOf(now), h.past.Load().Date.begin()) // the clock may be wrong
	for _, c := range h.rulesets {
		c.stamp.Store(stampOf(h.minute))
	}
	h.reclaim()
	h.forgetOldest()
}

// Count counts a hit of a rule, by its number.
func (c *RulesetCounters) Count(number int) {
	stamp := c.stamp.Load()
	if now := c.words[number].Add(1); now>>countBits != stamp {
		c.restamp(number, now, stamp)
	}
}

// restamp sets the stamp of a word that has just been counted up. If the word has been moved, it
// moves the hit, too.
func (c *RulesetCounters) restamp(number int, now, stamp uint64) {
	if now>>countBits == moved {
		c.counters.countLate(c, number, 1)
		return
	}
	for word := &c.words[number]; !word.CompareAndSwap(now, now&countMask|stamp<<countBits); {
		now = word.Load()
		switch now >> countBits {
		case stamp:
			return
		case moved: // and this hit with it
			c.counters.countLate(c, number, 0)
			return
		}
	}
}

// add adds to the word of a rule.
func (c *RulesetCounters) add(number int, added uint64) {
	word := &c.words[number]
	for isAdded := false; !isAdded; {
		old := word.Load()
		isAdded = word.CompareAndSwap(old, sumOf(old, added))
	}
}

// Begin starts counting the hits of a ruleset. The next reclaim adds earlier counts of its keys.
func (h *Counters) Begin(ruleset *resolver.Ruleset) *RulesetCounters {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := &RulesetCounters{counters: h, ruleset: ruleset}
	c.words = make([]atomic.Uint64, ruleset.Numbers())
	c.stamp.Store(stampOf(h.minute))
	h.rulesets = append(h.rulesets, c)
	return c
}

// Next returns the counters of the ruleset that replaces that of c. They are c itself if both have
// the same rule numbers. Otherwise c must be retired.
func (h *Counters) Next(c *RulesetCounters, ruleset *resolver.Ruleset) *RulesetCounters {
	h.mu.Lock()
	goesOn := c.ruleset.SharesNumbers(ruleset)
	if goesOn {
		c.ruleset = ruleset
	}
	h.mu.Unlock()
	if !goesOn {
		return h.Begin(ruleset)
	}
	return c
}

// reclaim moves the unserved counts of keys that are served again to their rules. Before that, the
// sum of both is read.
func (h *Counters) reclaim() {
	maps.DeleteFunc(h.unserved, h.addServed)
}

// movedAtOnce is how many words Retire moves before it releases the lock.
const movedAtOnce = 256

// Retire moves the counts of a ruleset that no longer serves to those that have its keys. Requests
// that still hold it move their own hits.
func (h *Counters) Retire(c *RulesetCounters, pause func()) {
	for from := 0; from < len(c.words); from += movedAtOnce {
		h.move(c, from, min(from+movedAtOnce, len(c.words)))
		if pause != nil {
			pause()
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rulesets = slices.DeleteFunc(h.rulesets, func(other *RulesetCounters) bool { return other == c })
}

// move moves the counts of the rules with the numbers from...to-1.
func (h *Counters) move(c *RulesetCounters, from, to int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.retired = true
	for n := from; n < to; n++ {
		if word := c.words[n].Swap(moved << countBits); word != 0 {
			h.add(c.ruleset.KeyOf(n), word)
		}
	}
}

// countLate counts hits of a rule whose word has been moved.
func (h *Counters) countLate(c *RulesetCounters, number int, hits uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.add(c.ruleset.KeyOf(number), Count{hits, h.minute}.word()|changed)
}

// add adds to the word of a canonical key.
func (h *Counters) add(key string, word uint64) {
	if !h.addServed(key, word) {
		key = strings.Clone(key) // which would keep the ruleset in memory
		h.unserved[key] = sumOf(h.unserved[key], word)
	}
}

// addServed adds to the word of a canonical key if a serving ruleset has the key.
func (h *Counters) addServed(key string, word uint64) bool {
	for _, c := range h.rulesets {
		n, hasKey := c.ruleset.NumberOf(key)
		if !hasKey || c.retired {
			continue
		}
		if c.ruleset.KeyOf(n) != key { // it may be in lower case there
			word |= changed
		}
		c.add(n, word)
		return true
	}
	return false
}

// mostUnserved is how many unserved keys are remembered.
const mostUnserved = 100_000

// forgetOldest forgets the unserved keys whose last hit is oldest, if there are too many.
func (h *Counters) forgetOldest() {
	if len(h.unserved) <= mostUnserved {
		return
	}
	oldest := slices.SortedFunc(maps.Keys(h.unserved), func(a, b string) int {
		return cmp.Compare(countOf(h.unserved[a]).minute, countOf(h.unserved[b]).minute)
	})
	for _, key := range oldest[:len(oldest)-mostUnserved*9/10] {
		delete(h.unserved, key)
	}
}

// countOfKey returns the count of a canonical key.
func (h *Counters) countOfKey(key string) Count {
	h.mu.Lock()
	defer h.mu.Unlock()
	return countOf(h.sumUp(0, h.rulesets, key, false))
}

// counterOf returns a function that returns the count of a rule by its number in a ruleset. It is
// faster than [Counters.countOfKey] if no other ruleset has the keys.
func (h *Counters) counterOf(ruleset *resolver.Ruleset) func(number int) Count {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reclaim()
	if len(h.rulesets) == 1 && h.rulesets[0].ruleset.SharesNumbers(ruleset) {
		return h.rulesets[0].count
	}
	return func(number int) Count { return h.countOfKey(ruleset.KeyOf(number)) }
}

// has reports whether a canonical key is counted.
func (h *Counters) has(key []byte) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.unserved[string(key)] != 0 || haveKey(h.rulesets, string(key))
}

// total returns the hits of all keys together.
func (h *Counters) total() (sum uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.rulesets {
		for n := range c.words {
			sum += countOf(c.read(n, false)).N
		}
	}
	for _, word := range h.unserved {
		sum += countOf(word).N
	}
	return sum
}

// header returns the header of today's entry, with the hits of all keys.
func (h *Counters) header() header {
	now := *h.past.Load()
	now.N = max(h.total(), now.total) - now.total
	return now
}

// top returns the most used keys: those of the shards, with today's hits. On the first day they are
// those of today.
func (h *Counters) top() []Used {
	p := h.past.Load()
	top := slices.Clone(p.Top)
	for i, t := range top {
		top[i].N += max(h.countOfKey(t.Key).N, t.total) - t.total
	}
	if p.total == 0 {
		h.each(selection{}, func(key string, m Count) { top = addTop(top, key, m.N, 0) })
	}
	return cutTop(top)
}

// selection says which keys each passes.
type selection struct {
	onlyChanged bool // since the shards were written
	save        bool // mark the passed keys as unchanged
}

// each passes the counts of canonical keys.
func (h *Counters) each(which selection, yield func(key string, m Count)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reclaim()
	isLeftOut := func(word uint64) bool {
		return word&countMask == 0 || which.onlyChanged && word&changed == 0
	}
	for i, c := range h.rulesets {
		others := h.rulesets[i+1:]
		for n := range c.words {
			if len(others) == 0 && isLeftOut(c.words[n].Load()) {
				continue
			}
			key := c.ruleset.KeyOf(n)
			if key == "" || haveKey(h.rulesets[:i], key) {
				continue
			}
			sum := h.sumUp(c.read(n, which.save), others, key, which.save)
			if !isLeftOut(sum) {
				yield(key, countOf(sum))
			}
		}
	}
	for key, word := range h.unserved {
		if !isLeftOut(word) && !haveKey(h.rulesets, key) { // else it has been passed
			yield(key, countOf(word))
		}
		if which.save {
			h.unserved[key] = word &^ changed
		}
	}
}

// sumUp adds to a word those of a canonical key in rulesets and in unserved.
func (h *Counters) sumUp(sum uint64, rulesets []*RulesetCounters, key string, save bool) uint64 {
	for _, c := range rulesets {
		if n, ok := c.number(key); ok {
			sum = sumOf(sum, c.read(n, save))
		}
	}
	return sumOf(sum, h.unserved[key])
}

// read returns the word of a rule, or 0 if it has been moved. save marks it as unchanged.
func (c *RulesetCounters) read(number int, save bool) uint64 {
	word := c.words[number].Load()
	if word>>countBits == moved {
		return 0
	}
	if save {
		word = c.words[number].And(^uint64(changed)) // And returns the old value
	}
	return word
}

// Hits returns how often the rule with a number has redirected, as far as this server knows.
func (c *RulesetCounters) Hits(number int) uint64 { return c.count(number).N }

// count returns the count of the rule with a number, or 0 if it was loaded later.
func (c *RulesetCounters) count(number int) Count {
	if number >= len(c.words) {
		return Count{}
	}
	return countOf(c.read(number, false))
}

// number returns the number of the rule with exactly this canonical key. NumberOf may fold the case
// of letters.
func (c *RulesetCounters) number(key string) (number int, ok bool) {
	number, ok = c.ruleset.NumberOf(key)
	return number, ok && c.ruleset.KeyOf(number) == key
}

// haveKey reports whether one of the rulesets has a canonical key.
func haveKey(rulesets []*RulesetCounters, key string) bool {
	return slices.ContainsFunc(rulesets, func(c *RulesetCounters) bool {
		_, ok := c.number(key)
		return ok
	})
}
