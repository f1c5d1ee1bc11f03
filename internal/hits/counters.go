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

// Counters count how often the rules of the handlers of one name have redirected, and when last.
// A request takes an atomic operation on one word, and no lock. Everything else may take its time.
type Counters struct {
	past atomic.Pointer[past] // what is in the shards

	mu     sync.Mutex
	minute uint32 // the current one
	// rulesets are those that serve, and those whose counts are being moved, as they serve no more.
	rulesets []*RulesetCounters
	// unserved are the words of keys that no serving ruleset has, by canonical key.
	unserved map[string]uint64
}

// Count is how often a rule has redirected, and in which minute last.
type Count struct {
	N      uint64
	minute uint32
}

// RulesetCounters count the hits of a ruleset, and of those that are derived from it: they share
// the numbers of their rules. Each rule has a word, by its number:
//
//	 63          40 39       38          0
//	+--------------+---------+------------+
//	| last minute  | changed | count      |
//	+--------------+---------+------------+
//	|<------ stamp --------->|
//
// changed is set in words that have changed since shards were written, which are most of what is
// stored: see the package's comment.
type RulesetCounters struct {
	counters *Counters
	words    []atomic.Uint64
	stamp    atomic.Uint64 // of words that are counted up now

	// under the lock of counters
	ruleset *resolver.Ruleset // the newest one
	retired bool              // nothing is added to the words any more
}

const (
	countBits = 39
	countMask = 1<<countBits - 1
	changed   = 1 << countBits
	// moved is the stamp of a word whose count has been moved: a minute that no other word has.
	moved        = endOfMinutes << 1
	endOfMinutes = 1<<24 - 1
)

// epoch is minute 0. There are minutes until 2051.
var epoch = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// minuteOf returns the minute of a time, or the one that is nearest: a clock may be wrong.
func minuteOf(t time.Time) uint32 {
	return uint32(min(max(t.Sub(epoch)/time.Minute, 0), endOfMinutes-1))
}

// Time returns when the rule has redirected last, to the minute.
func (m Count) Time() time.Time { return epoch.Add(time.Duration(m.minute) * time.Minute) }

func stampOf(minute uint32) uint64 { return uint64(minute)<<1 | 1 }

func countOf(word uint64) Count {
	return Count{word & countMask, uint32(word >> (countBits + 1))}
}

// word returns the count as a word that has not changed.
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

// NewCounters returns counters that begin to count now.
func NewCounters(now time.Time) *Counters {
	h := &Counters{minute: minuteOf(now), unserved: map[string]uint64{}}
	now = now.UTC().Truncate(time.Second)
	h.past.Store(newPast(now, now, dayOf(now)))
	return h
}

// restore adds what was stored before.
func (h *Counters) restore(lines []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	eachLine(lines, func(l *line) { h.add(string(l.key), l.word()) })
}

// tick sets the clock. It also forgets keys that have not been served for long, if they are many.
func (h *Counters) tick(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.minute = max(minuteOf(now), h.past.Load().Date.begin()) // as the clock may be wrong
	for _, c := range h.rulesets {
		c.stamp.Store(stampOf(h.minute))
	}
	h.reclaim()
	h.forgetOldest()
}

// Count counts a hit of the rule with a number.
func (c *RulesetCounters) Count(number int) {
	stamp := c.stamp.Load()
	if now := c.words[number].Add(1); now>>countBits != stamp {
		c.restamp(number, now, stamp)
	}
}

// restamp gives a word, whose count is right, its stamp, or moves the hit after those before it.
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
		case moved: // with this hit
			c.counters.countLate(c, number, 0)
			return
		}
	}
}

// add adds a word to the one of the rule with a number.
func (c *RulesetCounters) add(number int, added uint64) {
	word := &c.words[number]
	for {
		old := word.Load()
		if word.CompareAndSwap(old, sumOf(old, added)) {
			return
		}
	}
}

// Begin begins to count the hits of a ruleset, with the counts that its keys have had before.
func (h *Counters) Begin(ruleset *resolver.Ruleset) *RulesetCounters {
	h.mu.Lock()
	defer h.mu.Unlock()
	words := make([]atomic.Uint64, ruleset.Numbers())
	c := &RulesetCounters{counters: h, ruleset: ruleset, words: words}
	c.stamp.Store(stampOf(h.minute))
	h.rulesets = append(h.rulesets, c)
	h.reclaim()
	return c
}

// Next returns what counts the hits of the ruleset that follows the one of c: c itself where they
// share the numbers of their rules, and others where c is to be retired.
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

// reclaim moves the counts of keys that are served again to their rules. Until it is called they
// count together.
func (h *Counters) reclaim() {
	for key, word := range h.unserved {
		if h.addServed(key, word) {
			delete(h.unserved, key)
		}
	}
}

// movedAtOnce is how many words are moved before others get the lock.
const movedAtOnce = 256

// Retire moves the counts of a ruleset that serves no more to those that have its keys. Requests
// that still hold it move what they count themselves.
func (h *Counters) Retire(c *RulesetCounters, pause func()) {
	for from := 0; h.move(c, from, from+movedAtOnce); from += movedAtOnce {
		if pause != nil {
			pause()
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rulesets = slices.DeleteFunc(h.rulesets, func(other *RulesetCounters) bool { return other == c })
}

// move moves the counts of the rules with some numbers, and reports whether there are more.
func (h *Counters) move(c *RulesetCounters, from, to int) (more bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.retired = true
	for n := from; n < min(to, len(c.words)); n++ {
		if word := c.words[n].Swap(moved << countBits); word != 0 {
			h.add(c.ruleset.KeyOf(n), word)
		}
	}
	return to < len(c.words)
}

// countLate adds to the count of a rule whose word has been moved, and sets its minute.
func (h *Counters) countLate(c *RulesetCounters, number int, hits uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.add(c.ruleset.KeyOf(number), Count{hits, h.minute}.word()|changed)
}

// add adds a word to the one of a canonical key.
func (h *Counters) add(key string, word uint64) {
	if !h.addServed(key, word) {
		key = strings.Clone(key) // so that no ruleset is kept for it
		h.unserved[key] = sumOf(h.unserved[key], word)
	}
}

// addServed adds a word to the one of a canonical key, if a serving ruleset has it.
func (h *Counters) addServed(key string, word uint64) bool {
	c, n := h.holder(key)
	if c == nil {
		return false
	}
	if c.ruleset.KeyOf(n) != key { // which may be in lower case there
		word |= changed
	}
	c.add(n, word)
	return true
}

// holder returns the counters that hold the counts of a canonical key, and its number there; nil
// where none do.
func (h *Counters) holder(key string) (c *RulesetCounters, number int) {
	for _, c := range h.rulesets {
		if c.retired {
			continue
		}
		if n, ok := c.ruleset.NumberOf(key); ok {
			return c, n
		}
	}
	return nil, 0
}

// mostUnserved is how many keys are remembered that no ruleset has.
const mostUnserved = 100_000

// forgetOldest forgets the keys that no ruleset has and that were hit longest ago, if they are
// many.
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

// has reports whether a canonical key is counted.
func (h *Counters) has(key []byte) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.unserved[string(key)] != 0 || haveKey(h.rulesets, string(key))
}

// total returns how many hits all keys together have had.
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

// header returns what all keys together have had.
func (h *Counters) header() header {
	total, p := h.total(), h.past.Load()
	now := p.header
	now.N = max(total, p.total) - p.total
	return now
}

// top returns the keys that are used most: those that were it before today, with what they had
// today, or those of today if it is the first day.
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

// selection says which keys are passed, and what becomes of them.
type selection struct {
	onlyChanged bool // of all keys, those that have changed
	save        bool // they are unchanged from now on
}

// each passes the counts of keys to yield, by canonical key.
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
		if isLeftOut(word) {
			continue
		}
		if !haveKey(h.rulesets, key) { // which has been passed
			yield(key, countOf(word))
		}
		if which.save {
			h.unserved[key] = word &^ changed
		}
	}
}

// sumUp adds to a word what rulesets have counted for a canonical key, and what was counted before
// they served.
func (h *Counters) sumUp(sum uint64, rulesets []*RulesetCounters, key string, save bool) uint64 {
	for _, c := range rulesets {
		if n, ok := c.number(key); ok {
			sum = sumOf(sum, c.read(n, save))
		}
	}
	return sumOf(sum, h.unserved[key])
}

// read returns the word of a rule, 0 if it has been moved. With save it is unchanged from now on.
func (c *RulesetCounters) read(number int, save bool) uint64 {
	word := c.words[number].Load()
	if word>>countBits == moved {
		return 0
	}
	if save {
		word = c.words[number].And(^uint64(changed)) // which returns what it was
	}
	return word
}

// Hits returns how often the rule with a number has redirected, as far as this server knows.
func (c *RulesetCounters) Hits(number int) uint64 { return countOf(c.read(number, false)).N }

// number returns the number of the rule that has exactly this canonical key: another ruleset of the
// name may fold the case of letters.
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
