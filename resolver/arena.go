package resolver

import (
	"slices"
	"sync/atomic"
)

// arena holds the records of a ruleset in a few large chunks without pointers, so that the garbage
// collector need not scan them.
type arena struct {
	chunks [][]byte
	// isBranch is set if other arenas share chunks with this one.
	isBranch bool
	// claimed is set when a branch has taken the free space after the records of this arena.
	claimed *atomic.Bool
	// lost is the free space in bytes, in shared chunks, that other branches have taken.
	lost int
	full bool // a record has found no room
}

// ref is the place of a record: the number of its chunk, and its offset there in units of
// recordAlign bytes. 0 is no record.
type ref uint32

const (
	recordAlign = 4
	chunkSize   = 1 << 20
	offsetBits  = 18 // of chunkSize / recordAlign
	maxChunks   = 1 << (31 - offsetBits)
)

// bytes returns the record at a place, and what follows it in its chunk.
func (a *arena) bytes(at ref) []byte {
	chunk := a.chunks[at>>offsetBits]
	return chunk[(at&(1<<offsetBits-1))*recordAlign:]
}

// add copies a record into the arena. It returns 0 if the arena is full.
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
// a chunk gets one of its own. No ref can name the later part of that.
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

// newChunk returns a new chunk. The first one is small, as most rulesets are, and its first bytes
// are empty, so that no ref is 0.
func (a *arena) newChunk(n int) []byte {
	switch {
	case len(a.chunks) == 0:
		return make([]byte, recordAlign, recordAlign+n)
	case a.isBranch: // a change is small, and there may be many
		return make([]byte, 0, max(min(a.size()/64, chunkSize), minBranchChunk, n+2*recordAlign))
	}
	return make([]byte, 0, max(chunkSize, n+recordAlign))
}

// minBranchChunk is the minimum size of a chunk that a branch adds.
const minBranchChunk = 4 << 10

// branch returns an arena with the same records, to which others can be added. The first branch of
// an arena writes into its last chunk.
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

// trim frees the unused memory of the last chunk. A branch keeps it for the next branch.
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
