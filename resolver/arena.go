package resolver

import (
	"slices"
	"sync/atomic"
)

// arena holds the records of a ruleset in a few large chunks without pointers. So the garbage
// collector has nothing to walk in them.
type arena struct {
	chunks [][]byte
	// isBranch tells that other arenas have chunks of this one, too.
	isBranch bool
	// claimed is set when a branch has taken the room behind what this arena holds.
	claimed *atomic.Bool
	// lost is room, in bytes, that was left to branches which this arena does not go on from.
	lost int
	full bool // a record has found no room
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

// add copies a record into the arena. It returns 0 where the arena is full.
func (a *arena) add(encoded []byte) ref {
	chunk := a.chunkFor(len(encoded))
	if chunk < 0 {
		a.full = true
		return 0
	}
	b := a.chunks[chunk]
	at := ref(chunk<<offsetBits | len(b)/recordAlign)
	b = append(b, encoded...)
	for len(b)%recordAlign != 0 {
		b = append(b, 0)
	}
	a.chunks[chunk] = b
	return at
}

// chunkFor returns the number of a chunk with room for n bytes, or -1. A record that is larger than
// a chunk gets one of its own, whose later part no ref can name.
func (a *arena) chunkFor(n int) int {
	last := len(a.chunks) - 1
	room := chunkSize
	if last >= 0 && a.isBranch {
		room = cap(a.chunks[last]) - recordAlign // others have the chunk, too
	}
	if last >= 0 && len(a.chunks[last])+max(n, 1) <= room {
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
	switch {
	case len(a.chunks) == 0:
		return make([]byte, recordAlign, recordAlign+n)
	case a.isBranch: // a change is small, and there may be many
		return make([]byte, 0, max(min(a.size()/64, chunkSize), minBranchChunk, n+2*recordAlign))
	}
	return make([]byte, 0, max(chunkSize, n+recordAlign))
}

// minBranchChunk is how long a chunk is at least that a branch adds.
const minBranchChunk = 4 << 10

// branch returns an arena that holds the same, for records of its own behind that. It may write
// into the last chunk if it is the first that asks.
func (a *arena) branch() arena {
	b := arena{
		chunks: slices.Clone(a.chunks), isBranch: true, claimed: new(atomic.Bool), lost: a.lost,
	}
	if last := len(b.chunks) - 1; last >= 0 && !a.claimed.CompareAndSwap(false, true) {
		used := b.chunks[last]
		b.chunks[last] = slices.Clip(used)
		b.lost += cap(used) - len(used)
	}
	return b
}

// trim frees the memory of the last chunk that is not used. That of a branch has room for the next
// one.
func (a *arena) trim() {
	if a.isBranch {
		return
	}
	if last := len(a.chunks) - 1; last >= 0 {
		used := a.chunks[last]
		a.chunks[last] = append(make([]byte, 0, len(used)), used...)
	}
	a.claimed = new(atomic.Bool)
}

// size returns the bytes that the arena holds.
func (a *arena) size() int {
	n := a.lost
	for _, chunk := range a.chunks {
		n += cap(chunk)
	}
	return n
}
