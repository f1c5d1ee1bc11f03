package rulefile

import (
	"bytes"
	"io"
)

// tracker is a reader that can say at which line and column an offset of what was
// read stands. It holds no more than what was read and not yet passed.
type tracker struct {
	r         io.Reader
	ahead     []byte // what was read and not yet passed
	passed    int64  // offset of ahead[0]
	line      int    // of ahead[0], from 1
	lineStart int64  // offset of the first byte of that line
}

func newTracker(r io.Reader) *tracker {
	return &tracker{r: r, line: 1}
}

// Read implements io.Reader.
func (t *tracker) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.ahead = append(t.ahead, p[:n]...)
	return n, err
}

// pass moves on to offset.
func (t *tracker) pass(offset int64) {
	n := min(max(offset-t.passed, 0), int64(len(t.ahead)))
	skipped := t.ahead[:n]
	if last := bytes.LastIndexByte(skipped, '\n'); last >= 0 {
		t.line += bytes.Count(skipped, []byte{'\n'})
		t.lineStart = t.passed + int64(last) + 1
	}
	t.ahead = t.ahead[n:]
	t.passed += n
}

// passAny moves on as long as one of the bytes in set follows.
func (t *tracker) passAny(set string) {
	rest := bytes.TrimLeft(t.ahead, set)
	t.pass(t.passed + int64(len(t.ahead)-len(rest)))
}

// column returns the column in bytes, from 1.
func (t *tracker) column() int {
	return int(t.passed-t.lineStart) + 1
}

// until returns what stands between here and offset.
func (t *tracker) until(offset int64) []byte {
	return t.ahead[:min(max(offset-t.passed, 0), int64(len(t.ahead)))]
}
