package near

import (
	"cmp"
	"math/bits"
	"slices"
)

// Index finds texts by their pieces, and by those of their last segments. A text that may differ in
// two bytes is cut into three pieces. So at least one of them is unchanged, and at most two bytes
// from its place:
//
//	release-notes = rele|ase-|notes    relase-notes
//	                     ^^^^             ^^^^ there too, a byte earlier
//
// Numbers lie together by the hash of their pieces, which takes 4 bytes for a piece:
//
//	starts  | 0 | 2 | 2 | 5 | ...
//	          |   '---.
//	numbers | 7 | 2 | 9 | 4 | 1 | ...
type Index struct {
	starts  []uint32 // by bucket, of which there is one more
	numbers []uint32
	added   []uint32 // newer than that, in no order
}

// pauseEvery is the number of texts between two pauses.
const pauseEvery = 64

// NewIndex makes an index of texts. It calls pause now and then, to let others run.
func NewIndex(texts Texts, pause func()) *Index {
	x := &Index{starts: make([]uint32, 1<<bits.Len(uint(count(texts)))+1)}
	pieces := 0
	x.eachPiece(texts, pause, func(_ uint32, bucket int) {
		x.starts[bucket+1]++
		pieces++
	})
	for i := range x.starts[1:] {
		x.starts[i+1] += x.starts[i]
	}
	x.numbers = make([]uint32, pieces)
	x.eachPiece(texts, pause, func(number uint32, bucket int) {
		x.numbers[x.starts[bucket]] = number
		x.starts[bucket]++
	})
	copy(x.starts[1:], x.starts) // each has come to where the next one began
	x.starts[0] = 0
	return x
}

func count(texts Texts) (n int) {
	for i := range texts.Numbers() {
		if texts.KeyOf(i) != "" {
			n++
		}
	}
	return n
}

// With returns the index with more numbers. It may be called only once, because both share memory.
// Searches of x do not see what is new.
func (x *Index) With(numbers []uint32) *Index {
	next := *x
	next.added = append(x.added, numbers...)
	return &next
}

// Added is how many numbers have been added. Searching among them takes longer.
func (x *Index) Added() int { return len(x.added) }

// kind says which text a piece was cut from.
type kind int

const (
	ofWhole kind = iota // from a whole text
	ofLast              // from the last of several segments
)

// eachPiece calls do with the pieces of all texts.
func (x *Index) eachPiece(texts Texts, pause func(), do func(number uint32, bucket int)) {
	var memory [longestText]byte
	for n := range texts.Numbers() {
		if n%pauseEvery == 0 {
			pause()
		}
		text, ok := appendText(memory[:0], texts.KeyOf(n))
		if !ok {
			continue
		}
		x.eachPieceOf(text, ofWhole, func(bucket int) { do(uint32(n), bucket) })
		if last := lastSegment(text); len(last) < len(text) && len(last) >= shortestSegment {
			x.eachPieceOf(last, ofLast, func(bucket int) { do(uint32(n), bucket) })
		}
	}
}

func (x *Index) eachPieceOf(text []byte, k kind, do func(bucket int)) {
	most := allowed(len(text))
	for i := range most + 1 {
		start, end := pieceOf(len(text), i, most)
		do(x.bucket(k, len(text), i, text[start:end]))
	}
}

// pieceOf returns the place of the i-th piece of a text that may differ by most bytes.
func pieceOf(length, i, most int) (start, end int) {
	return i * length / (most + 1), (i + 1) * length / (most + 1)
}

// bucket returns the bucket of the i-th piece of texts with a length. The hash (FNV-1a) is the same
// everywhere. So results are, too, even if not all texts are compared.
func (x *Index) bucket(k kind, length, i int, piece []byte) int {
	hash := uint64(14695981039346656037)
	for _, c := range piece {
		hash = (hash ^ uint64(c)) * 1099511628211
	}
	hash ^= uint64(length<<3 | i<<1 | int(k))
	high, _ := bits.Mul64(hash*0x9E3779B97F4A7C15, uint64(len(x.starts)-1))
	return int(high)
}

// Search is [Search] among the texts of the index. Anybody can ask for it, so its work is limited:
// it compares some 1,500 texts that have a piece in common with the path, those with the rarest
// pieces first.
func (x *Index) Search(texts Texts, path string, most int) []Found {
	var memory [longestText]byte
	s := indexSearch{search: search{texts: texts, most: most}, Index: x}
	if most <= 0 || !s.setPath(memory[:0], path) {
		return nil
	}
	s.collect(s.path, ofWhole)
	s.tryCollected(mostTries / 2)
	if len(s.last) >= shortestSegment {
		s.collect(s.last, ofLast)
		if len(s.last) < len(s.path) {
			s.collect(s.last, ofWhole)
		}
		s.tryCollected(mostTries)
	}
	s.tries = 0
	s.tryThese(x.added, mostTries)
	return s.best
}

// indexSearch is a search that uses an index.
type indexSearch struct {
	search
	*Index
	tries int
	// lists are the candidates, by what they have in common with the path.
	lists [mostLists][]uint32
	count int
}

// mostLists is for the last segment, among whole texts and among last segments: five lengths with
// three pieces, each at five places, two of them with swapped neighbours.
const mostLists = 2 * 5 * (3 + 2) * 5

// mostTries is how many candidates are compared, besides as many that were added.
const mostTries = 1500

// collect collects the candidates for a part of the path.
func (s *indexSearch) collect(part []byte, k kind) {
	for length := max(1, len(part)-2); length <= len(part)+2; length++ {
		most := allowed(length)
		if max(length-len(part), len(part)-length) > most {
			continue
		}
		for i := range most + 1 {
			from, to := pieceOf(length, i, most)
			for shift := max(-most, -from); shift <= most && to+shift <= len(part); shift++ {
				list := func() { s.list(s.bucket(k, length, i, part[from+shift:to+shift])) }
				list()
				if i == 0 {
					withSwapped(part, to+shift, list)
				}
				if i == most {
					withSwapped(part, from+shift, list)
				}
			}
		}
	}
}

// withSwapped calls do with the two bytes around a border between pieces swapped. If they are
// swapped in the path, perhaps none of its pieces is unchanged.
func withSwapped(part []byte, border int, do func()) {
	if border == 0 || border == len(part) {
		return
	}
	part[border-1], part[border] = part[border], part[border-1]
	do()
	part[border-1], part[border] = part[border], part[border-1]
}

// list adds the numbers of a bucket to the candidates.
func (s *indexSearch) list(bucket int) {
	if numbers := s.numbers[s.starts[bucket]:s.starts[bucket+1]]; len(numbers) > 0 {
		s.lists[s.count] = numbers
		s.count++
	}
}

// tryCollected compares the candidates, the shortest lists first, up to the limit.
func (s *indexSearch) tryCollected(most int) {
	lists := s.lists[:s.count]
	slices.SortFunc(lists, func(a, b []uint32) int { return cmp.Compare(len(a), len(b)) })
	s.count = 0
	for _, numbers := range lists {
		s.tryThese(numbers, most)
	}
}

func (s *indexSearch) tryThese(numbers []uint32, most int) {
	for _, n := range numbers[:min(len(numbers), most-s.tries)] {
		s.offer(int(n))
		s.tries++
	}
}
