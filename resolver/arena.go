package resolver

// arena holds the records of a ruleset in a few large chunks without pointers. So the garbage
// collector has nothing to walk in them.
type arena struct {
	chunks [][]byte
}

// ref is where a record begins. It holds the chunk's number and the offset in it, in units of
// recordAlign bytes. 0 is no record.
type ref uint32

const (
	recordAlign = 4
	chunkSize   = 1 << 20
	offsetBits  = 18 // of chunkSize / recordAlign
	maxChunks   = 1 << (31 - offsetBits)
)

// bytes returns what begins with the record.
func (a *arena) bytes(at ref) []byte {
	chunk := a.chunks[at>>offsetBits]
	return chunk[(at&(1<<offsetBits-1))*recordAlign:]
}

// add copies a record into the arena. It reports false when the arena is full.
func (a *arena) add(encoded []byte) (ref, bool) {
	chunk := a.chunkFor(len(encoded))
	if chunk < 0 {
		return 0, false
	}
	b := a.chunks[chunk]
	at := ref(chunk<<offsetBits | len(b)/recordAlign)
	b = append(b, encoded...)
	for len(b)%recordAlign != 0 {
		b = append(b, 0)
	}
	a.chunks[chunk] = b
	return at, true
}

// chunkFor returns the number of a chunk with room for n bytes, or -1. A record that is larger than
// a chunk gets one of its own, whose later part no ref can name.
func (a *arena) chunkFor(n int) int {
	last := len(a.chunks) - 1
	if last >= 0 && len(a.chunks[last])+n <= chunkSize {
		return last
	}
	if len(a.chunks) == maxChunks {
		return -1
	}
	a.chunks = append(a.chunks, a.newChunk(n))
	return last + 1
}

// newChunk makes the first chunk small, as most rulesets are. Its first bytes are left empty, so
// that no ref is 0.
func (a *arena) newChunk(n int) []byte {
	if len(a.chunks) == 0 {
		return make([]byte, recordAlign, recordAlign+n)
	}
	return make([]byte, 0, max(chunkSize, n+recordAlign))
}

// trim gives back what the last chunk has not used.
func (a *arena) trim() {
	if last := len(a.chunks) - 1; last >= 0 {
		used := a.chunks[last]
		a.chunks[last] = append(make([]byte, 0, len(used)), used...)
	}
}

// size returns the bytes that the arena holds.
func (a *arena) size() int {
	n := 0
	for _, chunk := range a.chunks {
		n += cap(chunk)
	}
	return n
}
