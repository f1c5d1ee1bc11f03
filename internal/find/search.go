package find

import (
	"bytes"
	"context"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/near"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Query is what a search looks for, and in which order.
type Query struct {
	// Text has words. A rule that is found has each of them in its key, destination or note, without
	// regard to case and accents. First come the rules whose key begins with the whole text, then
	// the others, each in the order of keys. A text with a brace is never at the beginning of a key,
	// because names of variables do not count in the order.
	Text string
	// Only says which rules may be found, by their numbers; nil for all.
	Only func(number int) bool
	// Uses says how often a rule was used, by its number, 0 if none has it. Rules used most come
	// first, and equal ones are in the order of keys. It is nil for the order of keys alone.
	Uses func(number int) uint64
	// Most is how many rules are returned at most.
	Most int
	// Behind is where to go on; the zero value is the beginning.
	Behind Place
}

// Place is a place in the order of a search.
type Place struct {
	Key  string // of the rule before it, "" for none
	Uses uint64 // of this rule, in the order of uses
	// Stored is where this rule is stored, from 1, if the keys were not sorted yet when the search
	// began: rules are in the order in which they are stored then.
	Stored int
}

// Found has the rules that a search has found, in their order.
type Found struct {
	Rules []resolver.Rule
	More  bool  // there may be more after the last one
	Late  bool  // the time was up before all rules were examined, and there are fewer than Most
	Next  Place // where to go on, if there is More or it was Late
	// Total is how many were found from the place on, and AtLeast says that not all were counted.
	Total   int
	AtLeast bool
}

// countTime is until when a search goes on counting if it has found enough.
const countTime = 50 * time.Millisecond

// Search finds rules. It stops after 250 ms. The next search goes on from there: nothing is found
// twice, and nothing is left out.
func (x *Index) Search(ctx context.Context, ruleset *resolver.Ruleset, query Query) Found {
	s := newSearch(query)
	s.ctx, s.pause, s.start, s.time = ctx, x.pause, time.Now(), x.searchTime
	if query.Text != "" || query.Only != nil {
		s.countTime = countTime
	}
	k, isSorted := x.keys.get(ruleset)
	if !isSorted && ruleset.Len() <= x.sortedAtOnce {
		k, isSorted = makeKeys(ruleset, func() {}), true
	}
	if isSorted {
		ruleset = k.ruleset
	}
	s.ruleset = ruleset
	if query.Behind.Key != "" {
		s.after = canonicalOf(ruleset, query.Behind.Key)
	}
	s.found.Next = query.Behind
	switch {
	case query.Behind.Stored > 0 || !isSorted && query.Behind.Key == "":
		s.unsorted()
	case isSorted:
		s.sorted(k)
	default: // the rules have been loaded anew since the last page
		s.found.Late, s.found.AtLeast = true, true
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

// search is a search that is under way.
type search struct {
	Query
	ctx     context.Context
	pause   func()
	start   time.Time
	time    time.Duration // for the search
	steps   int
	ruleset *resolver.Ruleset

	words    [][]byte // folded
	form     string   // of the text as a part of a key
	hasBrace bool
	after    string // canonical key
	found    Found
	// countTime is until when it goes on if it has found enough; 0 if all rules are found.
	countTime time.Duration
	isStored  bool // rules are in the order in which they are stored
	// inRun says that only rules are looked for that were used as often as run.
	inRun bool
	run   uint64
	folder
	scratch []byte
}

func newSearch(query Query) *search {
	inKey := strings.TrimPrefix(query.Text, "/")
	s := &search{
		Query: query, form: string(near.AppendForm(nil, inKey)),
		hasBrace: strings.ContainsAny(inKey, "{}"), folder: newFolder(),
	}
	for word := range strings.FieldsSeq(query.Text) {
		s.words = append(s.words, s.append(nil, word))
	}
	return s
}

// isFirst reports whether a canonical key begins with the text.
func (s *search) isFirst(key string) bool { return !s.hasBrace && hasPrefix(key, s.form) }

// has reports whether a rule has all words.
func (s *search) has(rule *resolver.Rule) bool {
	key := s.append(append(s.scratch[:0], '/'), rule.Key)
	value := s.append(key, rule.Value)
	note := s.append(value, rule.Note)
	s.scratch = note
	for _, word := range s.words {
		if !bytes.Contains(note[:len(key)], word) && !bytes.Contains(note[len(key):len(value)], word) &&
			!bytes.Contains(note[len(value):], word) {
			return false
		}
	}
	return true
}

// sorted searches sorted keys.
func (s *search) sorted(k *keys) {
	numbers := k.all()
	from := func(isBehind func(key string) bool) int {
		return sort.Search(len(numbers), func(i int) bool { return isBehind(k.key(numbers[i])) })
	}
	at := 0
	if s.after != "" {
		at = from(func(key string) bool { return compareKeys(key, s.after) > 0 })
	}
	if s.Uses != nil {
		s.inOrderOfUses(numbers, at)
		return
	}
	first, rest := 0, 0 // where the keys that begin with the text begin, and the others behind them
	if !s.hasBrace {
		first = from(func(key string) bool { return compareForm(key, s.form) >= 0 })
		rest = from(func(key string) bool {
			return compareForm(key, s.form) > 0 && !hasPrefix(key, s.form)
		})
	}
	if s.after == "" || s.isFirst(s.after) {
		s.examine(numbers[max(first, at):max(rest, at)])
		at = 0
	}
	s.examine(numbers[min(at, first):first])
	s.examine(numbers[max(at, rest):])
}

// unsorted searches rules as they are stored. Those that it finds are sorted among themselves.
func (s *search) unsorted() {
	numbers := make([]uint32, s.ruleset.Numbers())
	for n := range numbers {
		numbers[n] = uint32(n)
	}
	at := s.Behind.Stored
	if at > len(numbers) || at > 0 && s.ruleset.KeyOf(at-1) != s.after {
		at = 0 // the rules have been loaded anew since the last page
	}
	s.isStored = true
	if s.Uses != nil {
		s.inOrderOfUses(numbers, at)
		return
	}
	s.examine(numbers[at:])
	slices.SortFunc(s.found.Rules, func(a, b resolver.Rule) int {
		first, second := canonicalOf(s.ruleset, a.Key), canonicalOf(s.ruleset, b.Key)
		if isFirst := s.isFirst(first); isFirst == s.isFirst(second) {
			return compareKeys(first, second)
		} else if isFirst {
			return -1
		}
		return 1
	})
}

// examine looks for the text in rules, unless the time is up.
func (s *search) examine(numbers []uint32) {
	for i, n := range numbers {
		if s.isLate() {
			numbers = numbers[:i]
			break
		}
		rule, ok := s.find(int(n))
		if !ok {
			continue
		}
		if s.found.Total++; s.isFull() {
			s.found.More = true
			continue
		}
		if s.found.Rules = append(s.found.Rules, rule); s.isFull() {
			s.found.Next = s.placeOf(int(n))
		}
	}
	if len(numbers) > 0 && !s.isFull() {
		s.found.Next = s.placeOf(int(numbers[len(numbers)-1]))
	}
}

// find returns the rule of a number if it is looked for.
func (s *search) find(number int) (rule resolver.Rule, ok bool) {
	if s.Only != nil && !s.Only(number) || s.inRun && s.Uses(number) != s.run {
		return rule, false
	}
	rule, ok = s.ruleset.Numbered(number)
	return rule, ok && (s.isFirst(s.ruleset.KeyOf(number)) || s.has(&rule))
}

// isFull reports whether enough is found for a page.
func (s *search) isFull() bool { return len(s.found.Rules) == s.Most }

// placeOf returns the place behind a rule.
func (s *search) placeOf(number int) (p Place) {
	p.Key = s.ruleset.KeyOf(number)
	switch {
	case s.inRun:
		p.Uses = s.run
	case s.Uses != nil:
		p.Uses = s.Uses(number)
	}
	if s.isStored {
		p.Stored = number + 1
	}
	return p
}

// isLate reports whether the time is up. It is called for each rule.
func (s *search) isLate() bool {
	if s.steps++; s.steps%pauseEvery != 0 || s.found.AtLeast {
		return s.found.AtLeast
	}
	s.pause()
	passed := time.Since(s.start)
	s.found.AtLeast = passed >= s.time || s.isFull() && passed >= s.countTime || s.ctx.Err() != nil
	s.found.Late = s.found.AtLeast && !s.isFull()
	s.found.More = s.found.More || s.found.AtLeast && s.isFull()
	return s.found.AtLeast
}
