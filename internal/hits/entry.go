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

// content is the content of an entry, without its end.
type content struct {
	header
	lines []byte
}

// header is the first line of an entry. That of a shard is empty.
type header struct {
	Since  time.Time `json:"since,omitzero"` // when counting began
	Began  time.Time `json:"began,omitzero"` // when days began to be kept
	Date   day       `json:"date,omitzero"`  // of the changes
	IsBase bool      `json:"base,omitempty"` // the changes belong to no day
	N      uint64    `json:"n,omitempty"`    // hits of all keys that the shards do not have yet
	Days   []uint64  `json:"days,omitempty"` // hits in the shards: on the date, the day before, ...
	Top    []Used    `json:"top,omitempty"`  // the most used keys, by the shards
	total  uint64    // hits in the shards
}

// newHeader returns a header to which the lines of the shards are to be added.
func newHeader(since, began time.Time, date day) *header {
	return &header{Since: since, Began: began, Date: date, Days: make([]uint64, DaysKept)}
}

// dayOf returns the day of a time, or Date if the clock must be wrong: counting began later.
func (h *header) dayOf(now time.Time) day {
	if now.Before(h.Since) {
		return h.Date
	}
	return dayOf(now)
}

// addLine adds a line of a shard.
func (h *header) addLine(l *line) {
	h.total += l.N
	if recent := h.addDays(l.day(), l.days[:]); recent > 0 {
		h.Top = addTop(h.Top, l.key, recent, l.N)
	}
}

// addDays adds hits: on the day last, the day before, and so on. It returns those of the last
// topDays. Other days than those of the header are left out.
func (h *header) addDays(last day, hits []uint64) (recent uint64) {
	for i, n := range hits {
		if ago := int(h.Date-last) + i; ago >= 0 && ago < len(h.Days) {
			h.Days[ago] += n
			if ago < topDays {
				recent += n
			}
		}
	}
	return recent
}

// list returns the days, the oldest first.
func (h *header) list() (days []Day) {
	for ago, n := range slices.Backward(h.Days) {
		days = append(days, Day{(h.Date - day(ago)).date(), n})
	}
	return days
}

const (
	entryStart = "shortlink hits 2 "
	entryEnd   = "end %08x\n" // the CRC-32 of the text before
)

// startEntry returns the start of an entry. Lines follow, and endEntry.
func startEntry(h header) []byte {
	first, _ := json.Marshal(h) // which fails for times after the year 9999 only
	return append(append([]byte(entryStart), first...), '\n')
}

// endEntry appends the end to an entry.
func endEntry(text []byte) []byte {
	return fmt.Appendf(text, entryEnd, crc32.ChecksumIEEE(text))
}

// parseEntry reads an entry. It returns an error unless the entry is complete.
func parseEntry(b []byte) (*content, error) {
	first, c := firstLine(b), new(content)
	head, isHits := bytes.CutPrefix(first, []byte(entryStart))
	if !isHits {
		return nil, fmt.Errorf("its first line is %q", first)
	}
	if err := json.Unmarshal(head, &c.header); err != nil {
		return nil, err
	}
	text, last := cutLastLine(b)
	if end := fmt.Sprintf(entryEnd, crc32.ChecksumIEEE(text)); string(last) != end {
		return nil, fmt.Errorf("its last line is %.100q, not %q", last, end)
	}
	c.lines = text[len(first):]
	return c, nil
}

// firstLine returns the first line, with its newline.
func firstLine(b []byte) []byte { return b[:bytes.IndexByte(b, '\n')+1] }

// cutLastLine cuts off the last line, whose newline may be missing.
func cutLastLine(b []byte) (before, last []byte) {
	size := bytes.LastIndexByte(bytes.TrimSuffix(b, []byte("\n")), '\n') + 1
	return b[:size], b[size:]
}

// shards is the number of shards of a server.
const shards = 64

// shardOf returns the number of the shard that a canonical key belongs to.
func shardOf(key []byte) int {
	h := fnv.New64a()
	_, _ = h.Write(key) // which never fails
	return int(h.Sum64() % shards)
}

// changes are counts that the shards do not have yet: lines without days, by shard.
type changes struct {
	header
	lines [shards][]byte
}

// newChanges sorts lines into shards.
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

// totals returns the counts of a shard's keys. The last line of a key counts.
func (c *changes) totals(n int) map[string]Count {
	counts := map[string]Count{}
	eachLine(c.lines[n], func(l *line) { counts[string(l.key)] = l.Count })
	return counts
}

// merge adds the changes to the lines of a shard, and passes the result. A key that is not known
// starts again at 0 if it comes back.
func (c *changes) merge(n int, lines []byte, isKnown func(key []byte) bool, yield func(l *line)) {
	changed := c.totals(n)
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
