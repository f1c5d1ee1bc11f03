package hits

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// entry is an entry of a storage that holds hits, and that is whole:
//
//	shortlink hits 1 <generation> <when counting began>
//	<canonical key> <count> <minute>
//	...
//	end <number of keys>
type entry struct {
	generation int64
	since      time.Time
	lines      []byte // one for each key
}

const (
	hitEntryHeader = "shortlink hits 1 %d %s\n"
	hitEntryEnd    = "end %d"
)

// entryWriter puts an entry together.
type entryWriter struct {
	text []byte
	keys int
}

func newEntryWriter(generation int64, since time.Time) *entryWriter {
	header := fmt.Appendf(nil, hitEntryHeader, generation, since.Format(time.RFC3339))
	return &entryWriter{text: header}
}

func (w *entryWriter) add(key string, m Count) {
	w.text = append(append(w.text, key...), ' ')
	w.text = append(strconv.AppendUint(w.text, m.N, 10), ' ')
	w.text = append(strconv.AppendUint(w.text, uint64(m.minute), 10), '\n')
	w.keys++
}

// end returns the whole entry.
func (w *entryWriter) end() []byte { return fmt.Appendf(w.text, hitEntryEnd+"\n", w.keys) }

// parseEntry reads an entry, and finds out whether it is whole.
func parseEntry(b []byte) (*entry, error) {
	header, lines, _ := bytes.Cut(b, []byte("\n"))
	e := new(entry)
	var since string
	_, err := fmt.Sscanf(string(header)+"\n", hitEntryHeader, &e.generation, &since)
	if err != nil {
		return nil, fmt.Errorf("its first line is %q", header)
	}
	if e.since, err = time.Parse(time.RFC3339, since); err != nil {
		return nil, err
	}
	keys := 0
	for rest := lines; ; keys++ {
		line, next, whole := bytes.Cut(rest, []byte("\n"))
		if !whole {
			return nil, errors.New("it ends too early")
		}
		if _, _, ok := parseHitLine(line); !ok {
			e.lines = lines[:len(lines)-len(rest)]
			return e, checkHitEntryEnd(string(line), keys)
		}
		rest = next
	}
}

// checkHitEntryEnd reports whether a line is the last one of an entry with so many keys.
func checkHitEntryEnd(line string, keys int) error {
	if line != fmt.Sprintf(hitEntryEnd, keys) {
		return fmt.Errorf("behind %d keys it goes on with %q", keys, line)
	}
	return nil
}

// each passes the counts of all keys to yield.
func (e *entry) each(yield func(key string, m Count)) {
	for line := range bytes.Lines(e.lines) {
		key, m, _ := parseHitLine(bytes.TrimSuffix(line, []byte("\n")))
		yield(key, m)
	}
}

// countOf returns the count of a key.
func (e *entry) countOf(key string) (m Count, ok bool) {
	start := []byte(key + " ")
	for line := range bytes.Lines(e.lines) {
		if bytes.HasPrefix(line, start) {
			_, m, ok = parseHitLine(bytes.TrimSuffix(line, []byte("\n")))
			return m, ok
		}
	}
	return m, false
}

func parseHitLine(line []byte) (key string, m Count, ok bool) {
	key, numbers, _ := strings.Cut(string(line), " ")
	count, minute, _ := strings.Cut(numbers, " ")
	var inCount, inMinute error
	m.N, inCount = strconv.ParseUint(count, 10, 64)
	at, inMinute := strconv.ParseUint(minute, 10, 32)
	m.minute = uint32(at)
	return key, m, inCount == nil && inMinute == nil && key != ""
}
