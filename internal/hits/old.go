package hits

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"time"

	"go.uber.org/zap"
)

// oldEntries are what versions before this one have stored of a server. They are read as if this
// one had: totals as changes, and days as shards.
//
//	all                  a line for each key, as in today's entry
//	changes              those that have changed since, if it is of the same generation
//	days/index           an [oldIndex]
//	days/today           a date, and what all keys together had on it
//	days/<segment>/<n>   lines of keys, their totals when the last day was recorded, and days
type oldEntries struct {
	*store
	server string
	totals *changes
	index  *oldIndex // nil where days have not been kept
}

// oldIndex lists segments. What keys had on their days is in 1<<Bits shards, by a hash of the key.
type oldIndex struct {
	Since    time.Time `json:"since"`
	Began    time.Time `json:"began"`
	Recorded day       `json:"recorded"` // the last day that is in a segment
	Segments []struct {
		ID   int `json:"id"`
		Bits int `json:"bits"`
	} `json:"segments"` // oldest first
}

// storedByOlder reads what an older version has stored, and returns nil where there is nothing.
func (s *store) storedByOlder(ctx context.Context, server string) (*stored, error) {
	all, errAll := readable(ctx, s, server, "all", parseOldTotals)
	newer, errNewer := readable(ctx, s, server, "changes", parseOldTotals)
	index, errIndex := readable(ctx, s, server, "days/index", parseOldIndex)
	today, errToday := readable(ctx, s, server, "days/today", parseJSON[header])
	if err := errors.Join(errAll, errNewer, errIndex, errToday); err != nil {
		return nil, err
	}
	if all == nil && index == nil {
		return nil, nil
	}
	if all == nil { // the totals that are recorded remain
		all = &oldTotals{since: index.Since}
	}
	if newer != nil && newer.generation == all.generation {
		all.lines = append(all.lines, newer.lines...)
	}
	h := header{Since: all.since, IsBase: true}
	if index != nil {
		h.IsBase, h.Began, h.Date = !index.Since.Equal(all.since), index.Began, index.Recorded+1
	}
	if today != nil {
		h.Date = max(h.Date, today.Date)
	}
	totals := newChanges(h, all.lines)
	return &stored{s, server, totals, &oldEntries{s, server, totals, index}}, nil
}

// shard returns the lines of a shard as this version has them.
func (o *oldEntries) shard(ctx context.Context, n int) ([]byte, error) {
	lines := map[string]*line{}
	for key, m := range o.totals.of(n) {
		lines[key] = &line{key: []byte(key), Count: m}
	}
	if o.index != nil {
		for i := range o.index.Segments {
			if err := o.addSegment(ctx, i, n, lines); err != nil {
				return nil, err
			}
		}
	}
	var text []byte
	for _, key := range slices.Sorted(maps.Keys(lines)) {
		text = lines[key].append(text)
	}
	return text, nil
}

// addSegment adds to lines what the keys of a shard had on the days of a segment. Their totals are
// then those that are recorded in the newest one, where it can be read.
func (o *oldEntries) addSegment(ctx context.Context, i, n int, lines map[string]*line) error {
	seg, isNewest := o.index.Segments[i], i == len(o.index.Segments)-1
	count := 1 << seg.Bits
	for at := n % count; at < count; at += shards {
		name := fmt.Sprintf("days/%d/%d", seg.ID, at)
		sh, err := readable(ctx, o.store, o.server, name, parseOldShard)
		if err != nil {
			return err
		}
		if sh == nil {
			continue
		}
		for _, l := range lines {
			if isNewest && int(hashOf(l.key)%uint64(count)) == at {
				l.N = 0
			}
		}
		for text := range bytes.Lines(sh.lines) {
			if key, total, days, _ := cutOldLine(text); shardOf(key) == n {
				o.addDays(lines, key, sh.first, days)
				if isNewest {
					lines[string(key)].N = total
				}
			}
		}
	}
	return nil
}

// addDays adds what a key had on days in a row.
func (o *oldEntries) addDays(lines map[string]*line, key []byte, first day, days []byte) {
	l := lines[string(key)]
	if l == nil { // it is forgotten, but for its days
		l = &line{key: key, Count: Count{minute: o.index.Recorded.begin()}}
		lines[string(key)] = l
	}
	var counts [mostOldDays]uint64
	parseDays(days, counts[:])
	for i, n := range counts {
		if d := first + day(i); n > 0 && d > l.day()-DaysKept {
			l.add(d.begin(), n)
		}
	}
}

func parseJSON[T any](b []byte) (*T, error) {
	value := new(T)
	return value, json.Unmarshal(b, value)
}

func parseOldIndex(b []byte) (*oldIndex, error) {
	x, err := parseJSON[oldIndex](b)
	for _, seg := range x.Segments {
		if seg.Bits < 0 || seg.Bits > 12 {
			return nil, fmt.Errorf("a segment has 2^%d shards", seg.Bits)
		}
	}
	return x, err
}

// oldTotals are the totals of keys.
type oldTotals struct {
	generation int64
	since      time.Time
	lines      []byte
}

func parseOldTotals(b []byte) (*oldTotals, error) {
	t, since := new(oldTotals), ""
	_, err := fmt.Sscanf(string(firstLine(b)), "shortlink hits 1 %d %s\n", &t.generation, &since)
	if err == nil {
		t.since, err = time.Parse(time.RFC3339, since)
	}
	if err == nil {
		t.lines, err = parseLines(b, new(line).parse)
	}
	return t, err
}

// parseLines returns the lines between the first one and one that says how many they are.
func parseLines(b []byte, isValid func(line []byte) bool) ([]byte, error) {
	b = b[len(firstLine(b)):]
	size, count := 0, 0
	for line := range bytes.Lines(b) {
		if !isValid(line) {
			break
		}
		size, count = size+len(line), count+1
	}
	if end := b[size:]; string(end) != fmt.Sprintf("end %d\n", count) {
		return nil, fmt.Errorf("behind %d keys it goes on with %.100q", count, end)
	}
	return b[:size], nil
}

// oldShard is what keys had on days in a row.
type oldShard struct {
	first day
	lines []byte
}

func parseOldShard(b []byte) (*oldShard, error) {
	sh, first, recorded := new(oldShard), "", ""
	_, err := fmt.Sscanf(string(firstLine(b)), "shortlink days 1 %s %s\n", &first, &recorded)
	if err == nil {
		err = sh.first.UnmarshalText([]byte(first))
	}
	if err == nil {
		sh.lines, err = parseLines(b, func(line []byte) bool {
			_, _, days, ok := cutOldLine(line)
			return ok && parseDays(days, make([]uint64, mostOldDays))
		})
	}
	return sh, err
}

// mostOldDays is how many days there are at most. More are not plausible.
const mostOldDays = 4 * DaysKept

func cutOldLine(line []byte) (key []byte, total uint64, days []byte, ok bool) {
	fields := bytes.Split(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
	if len(fields) != 3 || len(fields[0]) == 0 {
		return nil, 0, nil, false
	}
	total, err := strconv.ParseUint(string(fields[1]), 10, 64)
	return fields[0], total, fields[2], err == nil
}

// deleteOldEntries deletes what older versions have stored of this server.
func (s *store) deleteOldEntries(ctx context.Context) {
	if _, err := s.storage.Load(ctx, s.entry(s.server, "all")); err != nil { // which is deleted last
		return
	}
	for _, name := range []string{"changes", "days", "all"} {
		err := s.storage.Delete(ctx, s.entry(s.server, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.logger.Warn("hits that an older version has stored are not deleted", zap.Error(err))
		}
	}
}
