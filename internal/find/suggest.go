package find

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Suggest returns the keys that a path which has no rule was perhaps meant to be, the best first.
// They differ from it in at most two bytes (see distance), or their last segment does from its
// last segment, and in fewer where that is short. Keys with variables, unlisted ones, and those
// that are gone or pass are not among them. It takes at most 1 ms, and what it has found until then
// is what it returns. Anybody can make it work: it waits for nobody, and takes 256 bytes besides
// what it returns.
func (x *Index) Suggest(ruleset *resolver.Ruleset, path string, most int) []string {
	var memory [longestWord]byte
	word, ok := appendWord(memory[:0], strings.TrimPrefix(path, "/"))
	if !ok || most <= 0 {
		return nil
	}
	w, ok := x.words.get(ruleset)
	if !ok {
		return nil
	}
	s := suggesting{words: w, path: word, most: most, end: time.Now().Add(x.suggestTime)}
	s.suggest()
	var keys []string
	for _, found := range s.best {
		keys = append(keys, found.key)
	}
	return keys
}

// suggest finds the best keys.
func (s *suggesting) suggest() {
	s.collect(s.path)
	if last := lastSegment(s.path); len(last) < len(s.path) && len(last) >= shortestSegment {
		s.collect(last)
	}
	s.tryAll()
}

// suggesting is the search for what a path was meant to be.
type suggesting struct {
	*words
	path []byte
	most int
	// It ends at a time, or after so many tries.
	end       time.Time
	mostTries int
	tries     int
	isLate    bool
	// lists are the candidates, by what they have in common with the path.
	lists [mostLists][]uint32
	count int
	best  []suggestion
}

// mostLists is for the path and its last segment: five lengths with three pieces, each at five
// places, and four pairs of neighbours in a short word.
const mostLists = 2 * (5*3*5 + 4)

// suggestion is a key that was perhaps meant.
type suggestion struct {
	distance int
	key      string // as its rule has it
	number   uint32
}

func (s suggestion) compare(other suggestion) int {
	return cmp.Or(cmp.Compare(s.distance, other.distance), strings.Compare(s.key, other.key))
}

// collect collects the candidates for a word of the path.
func (s *suggesting) collect(word []byte) {
	for length := max(1, len(word)-2); length <= len(word)+2; length++ {
		most := allowed(length)
		if max(length-len(word), len(word)-length) > most {
			continue
		}
		for i := range most + 1 {
			from, to := pieceOf(length, i, most)
			for shift := max(-most, -from); shift <= most && to+shift <= len(word); shift++ {
				s.list(s.bucket(length, i, word[from+shift:to+shift]))
			}
		}
	}
	if allowed(len(word)) == 1 { // else two bytes that have changed places are two that differ
		s.collectSwapped(word)
	}
}

// collectSwapped collects those for a short word in which two neighbours have changed places.
func (s *suggesting) collectSwapped(word []byte) {
	for i := range len(word) - 1 {
		word[i], word[i+1] = word[i+1], word[i]
		from, to := pieceOf(len(word), 1, 1)
		s.list(s.bucket(len(word), 1, word[from:to]))
		word[i], word[i+1] = word[i+1], word[i]
	}
}

func (s *suggesting) list(bucket int) {
	if numbers := s.in(bucket); len(numbers) > 0 {
		s.lists[s.count] = numbers
		s.count++
	}
}

// tryAll tries the candidates: first those of which there are few.
func (s *suggesting) tryAll() {
	lists := s.lists[:s.count]
	slices.SortFunc(lists, func(a, b []uint32) int { return cmp.Compare(len(a), len(b)) })
	for _, numbers := range lists {
		s.tryThese(numbers)
	}
	s.tryThese(s.added)
}

// tryThese tries candidates as long as there is time.
func (s *suggesting) tryThese(numbers []uint32) {
	for _, n := range numbers {
		if s.tries++; s.mostTries > 0 {
			s.isLate = s.tries > s.mostTries
		} else if s.tries%16 == 0 {
			s.isLate = !time.Now().Before(s.end)
		}
		if s.isLate {
			return
		}
		s.try(n)
	}
}

// try adds the key of a number to the best ones, if it is one of them.
func (s *suggesting) try(number uint32) {
	var memory [longestWord]byte
	key, ok := s.wordOf(memory[:0], int(number))
	if !ok {
		return
	}
	found := suggestion{distance: s.distanceTo(key), number: number}
	if found.distance > 2 || s.isKnown(number) ||
		len(s.best) == s.most && found.distance > s.best[s.most-1].distance {
		return
	}
	rule, ok := s.ruleset.Numbered(int(number))
	if !ok || rule.Unlisted || rule.Value == resolver.GoneValue || rule.Value == resolver.PassValue {
		return
	}
	found.key = rule.Key
	at, _ := slices.BinarySearchFunc(s.best, found, suggestion.compare)
	if at < s.most {
		s.best = slices.Insert(s.best, at, found)
		s.best = s.best[:min(len(s.best), s.most)]
	}
}

// isKnown reports whether a number is among the best ones already.
func (s *suggesting) isKnown(number uint32) bool {
	return slices.ContainsFunc(s.best, func(b suggestion) bool { return b.number == number })
}

// distanceTo returns by how much a key differs from the path, more than 2 for too much.
func (s *suggesting) distanceTo(key []byte) int {
	whole := nearness(s.path, key)
	path, last := lastSegment(s.path), lastSegment(key)
	if min(len(path), len(last)) < shortestSegment {
		return whole
	}
	return min(whole, nearness(path, last))
}

// nearness is the distance from a word to one that was perhaps meant, more than 2 for too much.
func nearness(word, meant []byte) int {
	most := allowed(len(meant))
	if n := distance(word, meant, most); n <= most {
		return n
	}
	return 3
}
