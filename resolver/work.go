package resolver

import (
	"math"
	"strings"
)

// work is what may still be spent on a request. It counts what is looked at, and so comes to the
// same on every machine and in every front end. A unit stands for some third of a nanosecond.
type work struct {
	left int64
	// isLong tells that a chain has come to a path of more than longPath bytes. What is done there
	// counts several times: less of it stays in the processor's fastest memory, and only chains of
	// shorter paths have to pass.
	isLong bool
}

const (
	longPath = 2304 // 2 KiB, and something for what chains add
	longRate = 10
)

// requestWork is the budget of a request whose first rule is a template (R9). It is a round number
// that lets 255 hops of 2 KiB pass, whatever the path is made of.
const requestWork = 2_500_000

// unlimitedWork is for what is worked out when rules are loaded.
func unlimitedWork() *work { return &work{left: math.MaxInt64} }

// do takes n units, and reports whether there were as many.
func (w *work) do(n int) bool {
	if w.isLong {
		n *= longRate
	}
	w.left -= int64(n)
	return w.left >= 0
}

// isSpent reports whether more was asked for than there was.
func (w *work) isSpent() bool { return w.left < 0 }

// What a step takes.
const (
	hopWork     = 800 // beside what grows with paths
	visitWork   = 100 // a node of the tree of templates
	compareWork = 8   // a segment of a key
	numberWork  = 50  // a segment that is looked up among the literal ones of keys
	splitWork   = 10  // a segment of a path that is found
	scanWork    = 2   // a segment of a path at which text behind {+x} could end
)

// textWork is what it takes to read a text octet by octet.
func textWork(n int) int { return 3 * n }

// copyWork is what it takes to copy a text, or to search it for one octet.
func copyWork(n int) int { return n / 8 }

// pathWork is what it takes to see that a path has no escapes, or else to decode them.
func pathWork(path string) int {
	if strings.IndexByte(path, '%') < 0 {
		return copyWork(len(path))
	}
	return 7 * len(path) / 2
}
