package hits

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"maps"
	"slices"
	"time"
)

// entry is an entry of a storage: a header, lines, and an end that says that it is whole.
type entry struct {
	header
	lines []byte
}

// header is the first line of an entry. Nothing is in that of a shard.
type header struct {
	Since  time.Time `json:"since,omitzero"` // when counting began
	Began  time.Time `json:"began,omitzero"` // when days began to be kept
	Date   day       `json:"date,omitzero"`  // of which lines are
	IsBase bool      `json:"base,omitempty"` // they are of no day
	N      uint64    `json:"n,omitempty"`    // what all keys had on the date, but in shards
	Days   []uint64  `json:"days,omitempty"` // in shards: on the date, on the day before, ...
	Top    []Used    `json:"top,omitempty"`  // those used most by shards
}

// dayOf returns the day of a time, or the date where the clock is surely wrong, as counting has
// begun later.
func (h *header) dayOf(now time.Time) day {
	if now.Before(h.Since) {
		return h.Date
	}
	return dayOf(now)
}

const (
	entryStart = "shortlink hits 2 "
	entryEnd   = "end %08x\n" // with the CRC-32 of what is before
)

// startEntry returns the start of an entry. Lines are to follow, and endEntry.
func startEntry(h header) ([]byte, error) {
	first, err := json.Marshal(h)
	return append(append([]byte(entryStart), first...), '\n'), err
}

func endEntry(text []byte) []byte {
	return fmt.Appendf(text, entryEnd, crc32.ChecksumIEEE(text))
}

// parseEntry reads an entry, and finds out whether it is whole.
func parseEntry(b []byte) (*entry, error) {
	h, err := parseHeader(b)
	if err != nil {
		return nil, err
	}
	text, last := cutLastLine(b)
	if end := fmt.Sprintf(entryEnd, crc32.ChecksumIEEE(text)); string(last) != end {
		return nil, fmt.Errorf("its last line is %.100q, not %q", last, end)
	}
	return &entry{*h, text[len(firstLine(b)):]}, nil
}

func parseHeader(b []byte) (*header, error) {
	text, ok := bytes.CutPrefix(firstLine(b), []byte(entryStart))
	if !ok {
		return nil, fmt.Errorf("its first line is %q", firstLine(b))
	}
	return parseJSON[header](text)
}

// firstLine returns the first line, with its end.
func firstLine(b []byte) []byte { return b[:bytes.IndexByte(b, '\n')+1] }

// cutLastLine cuts off the last line, which may be without an end.
func cutLastLine(b []byte) (before, last []byte) {
	size := bytes.LastIndexByte(bytes.TrimSuffix(b, []byte("\n")), '\n') + 1
	return b[:size], b[size:]
}

// shards is how many shards a server has.
const shards = 64

// hashOf returns the FNV-1a hash of a canonical key.
func hashOf(key []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(key) // which never fails
	return h.Sum64()
}

// shardOf returns in which shard a canonical key is.
func shardOf(key []byte) int { return int(hashOf(key) % shards) }

// changes are what is not in the shards: lines without days, by shards.
type changes struct {
	header
	lines [shards][]byte
}

func newChanges(h header, lines []byte) *changes {
	c := &changes{header: h}
	for text := range bytes.Lines(lines) {
		key, _, _ := bytes.Cut(text, []byte(" "))
		n := shardOf(key)
		c.lines[n] = append(c.lines[n], text...)
	}
	return c
}

func (c *changes) add(key string, m Count) {
	n := shardOf([]byte(key))
	c.lines[n] = appendLine(c.lines[n], key, m)
}

// of returns the totals of the keys of a shard. Of two of a key the later one counts.
func (c *changes) of(n int) map[string]Count {
	counts := map[string]Count{}
	eachLine(c.lines[n], func(l *line) { counts[string(l.key)] = l.Count })
	return counts
}

// merge passes the lines of a shard with its changes. Keys that are not known are counted from 0 if
// they come back.
func (c *changes) merge(n int, lines []byte, isKnown func(key []byte) bool, yield func(l *line)) {
	changed := c.of(n)
	eachLine(lines, func(l *line) {
		if m, isChanged := changed[string(l.key)]; !isKnown(l.key) {
			l.N = 0
		} else if isChanged {
			l.advance(m, c.header)
		}
		delete(changed, string(l.key))
		yield(l)
	})
	l := new(line) // a line for each would take 750 bytes
	for _, key := range slices.Sorted(maps.Keys(changed)) {
		if *l = (line{key: append(l.key[:0], key...)}); isKnown(l.key) {
			l.advance(changed[key], c.header)
			yield(l)
		}
	}
}

func anyKey([]byte) bool { return true }
