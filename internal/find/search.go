package find

import (
	"bytes"
	"context"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/near"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Query is a search for rules, and their order.
type Query struct {
	// Text has words. A rule is found if each word is in its key, destination or note, without regard
	// to case and accents. Rules whose key begins with the whole text come first, then the others,
	// each in the order of keys. A text with a brace is never at the beginning of a key, because names
	// of variables do not count in the order.
	Text string
	// Only says which rules may be found, by number; nil for all.
	Only func(number int) bool
	// Rank orders rules by their numbers, for example by their uses: the highest rank comes first, and
	// equal ranks are in the order of keys. Ranks from 2^32 on are equal. nil is the order of keys.
	Rank func(number int) uint64
	Most int // how many rules are returned at most
	// Behind is where to continue; the zero value is the beginning.
	Behind Place
}

// Place is a place in the order of a search: after a key, whose rule has this rank.
type Place struct {
	Key  string
	Rank uint64
}

// Found is the result of a search: rules in their order.
type Found struct {
	Rules []resolver.Rule
	More  bool  // there may be more after the last one
	Late  bool  // the time was up before enough were found
	Next  Place // where to go on if there is More or it was Late
	// Total counts the rules that were found from the place on. AtLeast is set if not all were
	// counted.
	Total   int
	AtLeast bool
}

// countTime is how long a search counts after it has found enough.
const countTime = 50 * time.Millisecond

// Search finds rules. It stops after 250 ms, and the next search continues there: nothing is found
// twice, and nothing is left out.
func (x *Index) Search(ctx context.Context, ruleset *resolver.Ruleset, query Query) Found {
	s := newSearch(query)
	s.ctx, s.pause, s.begun, s.time = ctx, x.pause, time.Now(), x.searchTime
	k, ok := x.keys.get(ruleset)
	if !ok && ruleset.Len() <= x.sortedAtOnce {
		k, ok = makeKeys(ruleset, func() {}), true
	}
	for !ok && !s.isLate() {
		time.Sleep(time.Millisecond)
		k, ok = x.keys.get(ruleset)
	}
	if ok {
		s.ruleset = k.ruleset
		s.inOrder(k)
	}
	return s.found
}

// canonicalOf returns the canonical form of a key, even if its rule has been removed.
func canonicalOf(ruleset *resolver.Ruleset, key string) string {
	if n, ok := ruleset.NumberOf(key); ok {
		return ruleset.KeyOf(n)
	}
	return resolver.CanonicalKey(key, false)
}

// search is a search in progress.
type search struct {
	Query
	ctx     context.Context
	pause   func()
	begun   time.Time
	time    time.Duration // for the search
	steps   int
	ruleset *resolver.Ruleset

	words    [][]byte // folded
	form     string   // of the text as a part of a key
	hasBrace bool
	found    Found
	folder
	scratch []byte
}

func newSearch(query Query) *search {
	inKey := strings.TrimPrefix(query.Text, "/")
	s := &search{
		Query: query, form: string(near.AppendForm(nil, inKey)),
		hasBrace: strings.ContainsAny(inKey, "{}"), folder: newFolder(),
	}
	s.found.Next = query.Behind
	for word := range strings.FieldsSeq(query.Text) {
		s.words = append(s.words, s.append(nil, word))
	}
	return s
}

// isFirst reports whether a canonical key begins with the text.
func (s *search) isFirst(key string) bool { return !s.hasBrace && compareStart(key, s.form) == 0 }

// has reports whether a rule has all words.
func (s *search) has(rule *resolver.Rule) bool {
	key := s.append(append(s.scratch[:0], '/'), rule.Key)
	value := s.append(key, rule.Value)
	s.scratch = s.append(value, rule.Note)
	parts := [][]byte{key, s.scratch[len(key):len(value)], s.scratch[len(value):]}
	for _, word := range s.words {
		has := func(part []byte) bool { return bytes.Contains(part, word) }
		if !slices.ContainsFunc(parts, has) {
			return false
		}
	}
	return true
}

// isLate reports whether the time is up. It is called for each rule.
func (s *search) isLate() bool {
	if s.steps++; s.steps%pauseEvery == 0 && !s.found.AtLeast {
		s.pause()
		took := time.Since(s.begun)
		s.found.AtLeast = took >= s.time || s.isFull() && took >= countTime || s.ctx.Err() != nil
		s.found.Late = s.found.AtLeast && !s.isFull()
		s.found.More = s.found.More || s.found.AtLeast && s.isFull()
	}
	return s.found.AtLeast
}

// isFull reports whether enough is found.
func (s *search) isFull() bool { return len(s.found.Rules) == s.Most }

// inOrder searches sorted keys from the place on.
func (s *search) inOrder(k *keys) {
	numbers, after := k.all(), canonicalOf(k.ruleset, s.Behind.Key)
	from := func(isBehind func(key string) bool) int {
		return sort.Search(len(numbers), func(i int) bool { return isBehind(k.key(numbers[i])) })
	}
	at := from(func(key string) bool { return compareKeys(key, after) > 0 })
	if s.Rank != nil {
		s.examine(s.byRank(numbers, at))
		return
	}
	first, rest := 0, 0 // the keys that begin with the text are in between
	if !s.hasBrace {
		first = from(func(key string) bool { return compareStart(key, s.form) >= 0 })
		rest = from(func(key string) bool { return compareStart(key, s.form) > 0 })
	}
	if after == "" || s.isFirst(after) {
		s.examine(numbers[max(first, at):max(rest, at)])
		at = 0
	}
	s.examine(numbers[min(at, first):first])
	s.examine(numbers[max(at, rest):])
}

// byRank returns the numbers after the place in the order of ranks. The numbers are given in the
// order of keys, in which those after the place begin at an index. Most rules have rank 0.
func (s *search) byRank(numbers []uint32, at int) (sorted []uint32) {
	var used []uint64 // 32 bits that are the lower the more uses there are, and the index
	unused := make([]uint32, 0, len(numbers))
	for i, n := range numbers {
		uses := s.Rank(int(n))
		switch {
		case s.Behind.Key != "" && (uses > s.Behind.Rank || uses == s.Behind.Rank && i < at):
		case uses == 0:
			unused = append(unused, n)
		default:
			used = append(used, (math.MaxUint32-min(uses, math.MaxUint32))<<32|uint64(i))
		}
	}
	slices.Sort(used)
	sorted = make([]uint32, 0, len(used)+len(unused))
	for _, u := range used {
		sorted = append(sorted, numbers[uint32(u)])
	}
	s.time = max(s.time, time.Since(s.begun)+s.time/2) // at least so long for the search itself
	return append(sorted, unused...)
}

// examine searches rules for the text, until the time is up.
func (s *search) examine(numbers []uint32) {
	for i, n := range numbers {
		if s.isLate() {
			numbers = numbers[:i]
			break
		}
		if s.Only != nil && !s.Only(int(n)) {
			continue
		}
		rule, ok := s.ruleset.Numbered(int(n))
		switch {
		case !ok:
			continue
		case !s.isFirst(s.ruleset.KeyOf(int(n))) && !s.has(&rule):
			continue
		case s.isFull():
			s.found.More = true
		default:
			s.found.Rules = append(s.found.Rules, rule)
			s.found.Next = s.placeOf(n)
		}
		s.found.Total++
	}
	if len(numbers) > 0 && !s.isFull() {
		s.found.Next = s.placeOf(numbers[len(numbers)-1])
	}
}

// placeOf returns the place after a rule.
func (s *search) placeOf(number uint32) (p Place) {
	p.Key = s.ruleset.KeyOf(int(number))
	if s.Rank != nil {
		p.Rank = s.Rank(int(number))
	}
	return p
}
