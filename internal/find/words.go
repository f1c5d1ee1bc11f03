package find

import (
	"bytes"
	"hash/maphash"
	"math/bits"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// words find keys by the pieces of their words, which are the key and its last segment. A word that
// may differ by two bytes is cut into three pieces, so that one of them is as it was meant, and at
// most two bytes from where it was:
//
//	release-notes = rele|ase-|notes    relase-notes
//	                      ^^^^ there too, as |ase-| ...
//
// Numbers lie together by the hash of their pieces, which takes 4 bytes for a piece:
//
//	starts | 0 | 2 | 2 | 5 | ...
//	         |       '--------.
//	numbers | 7 | 2 | 9 | 4 | 1 | ...
type words struct {
	ruleset *resolver.Ruleset
	seed    maphash.Seed
	starts  []uint32 // by bucket, of which there is one more
	numbers []uint32
	added   []uint32 // newer than that, in no order
}

// longestWord is the length of the longest keys and paths that count.
const longestWord = 256

// shortestSegment is the length of the shortest segments that say enough without the rest.
const shortestSegment = 3

func (w *words) of() *resolver.Ruleset { return w.ruleset }

func (w *words) follow(ruleset *resolver.Ruleset) (next *words, isWorn bool) {
	followed := *w
	followed.ruleset = ruleset
	// readers see no more of the slice than it had
	followed.added = append(w.added, newNumbers(w.ruleset, ruleset)...)
	return &followed, len(followed.added) > mostAdded
}

// makeWords cuts all keys of a ruleset into pieces, and calls pause all the way.
func makeWords(ruleset *resolver.Ruleset, pause func()) *words {
	w := &words{ruleset: ruleset, seed: maphash.MakeSeed()}
	w.starts = make([]uint32, 1<<bits.Len(uint(ruleset.Len()))+1)
	count := 0
	w.eachPiece(pause, func(_ uint32, bucket int) {
		w.starts[bucket+1]++
		count++
	})
	for i := range w.starts[1:] {
		w.starts[i+1] += w.starts[i]
	}
	w.numbers = make([]uint32, count)
	w.eachPiece(pause, func(number uint32, bucket int) {
		w.numbers[w.starts[bucket]] = number
		w.starts[bucket]++
	})
	copy(w.starts[1:], w.starts) // each has come to where the next one began
	w.starts[0] = 0
	return w
}

// eachPiece calls do with the pieces of all keys.
func (w *words) eachPiece(pause func(), do func(number uint32, bucket int)) {
	var memory [longestWord]byte
	for n := range w.ruleset.Numbers() {
		if n%pauseEvery == 0 {
			pause()
		}
		key, ok := w.wordOf(memory[:0], n)
		if !ok {
			continue
		}
		w.eachOf(key, uint32(n), do)
		if last := lastSegment(key); len(last) < len(key) && len(last) >= shortestSegment {
			w.eachOf(last, uint32(n), do)
		}
	}
}

func (w *words) eachOf(word []byte, number uint32, do func(uint32, int)) {
	most := allowed(len(word))
	for i := range most + 1 {
		start, end := pieceOf(len(word), i, most)
		do(number, w.bucket(len(word), i, word[start:end]))
	}
}

// pieceOf returns where the i-th piece of a word lies that may differ by most bytes.
func pieceOf(length, i, most int) (start, end int) {
	return i * length / (most + 1), (i + 1) * length / (most + 1)
}

// bucket returns the bucket of the i-th piece of words with a length.
func (w *words) bucket(length, i int, piece []byte) int {
	hash := (maphash.Bytes(w.seed, piece) ^ uint64(length<<2|i)) * 0x9E3779B97F4A7C15
	high, _ := bits.Mul64(hash, uint64(len(w.starts)-1))
	return int(high)
}

// in returns the numbers of a bucket.
func (w *words) in(bucket int) []uint32 {
	return w.numbers[w.starts[bucket]:w.starts[bucket+1]]
}

// wordOf appends the form of a number's key to no bytes. ok is false for one that does not count:
// it has variables, or is long.
func (w *words) wordOf(dst []byte, number int) (word []byte, ok bool) {
	key := w.ruleset.KeyOf(number)
	if resolver.IsTemplate(key) {
		return nil, false
	}
	return appendWord(dst, key)
}

// appendWord appends the form of a key or a path to no bytes, without a slash at its end. ok is
// false for what is long or empty.
func appendWord(dst []byte, key string) (word []byte, ok bool) {
	if len(key) > 3*longestWord {
		return nil, false
	}
	for at := 0; at < len(key); {
		if len(dst) == longestWord {
			return nil, false
		}
		var c byte
		c, at = formByte(key, at)
		dst = append(dst, c)
	}
	word = bytes.TrimSuffix(dst, []byte("/"))
	return word, len(word) > 0
}

// lastSegment returns the last segment of a word.
func lastSegment(word []byte) []byte { return word[bytes.LastIndexByte(word, '/')+1:] }
