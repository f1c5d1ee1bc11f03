package hits

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
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

// oldIndex lists days in segments. What keys had on them is in 1<<Bits shards, by a hash of the key.
type oldIndex struct {
	header
	Recorded day `json:"recorded"` // the last day that is in a segment
	Segments []struct {
		ID   int `json:"id"`
		Bits int `json:"bits"`
	} `json:"segments"` // oldest first
}

// storedByOlder reads what an older version has stored, and returns nil where there is nothing.
func (s *store) storedByOlder(ctx context.Context, server string) (*stored, error) {
	all, err := readable(ctx, s, server, "all", parseOldTotals)
	if err != nil || all == nil {
		return nil, err
	}
	newer, err := readable(ctx, s, server, "changes", parseOldTotals)
	if err != nil {
		return nil, err
	}
	if newer != nil && newer.generation == all.generation {
		all.lines = append(all.lines, newer.lines...)
	}
	index, err := s.oldIndex(ctx, server)
	if err != nil {
		return nil, err
	}
	h := header{IsBase: true}
	if index != nil {
		h = index.header
		h.IsBase = !h.Since.Equal(all.since)
	}
	h.Since = all.since
	totals := newChanges(h, all.lines)
	return &stored{s, server, totals, &oldEntries{s, server, totals, index}}, nil
}

// oldIndex reads the index of days, and today; nil where there is none.
func (s *store) oldIndex(ctx context.Context, server string) (*oldIndex, error) {
	x, err := readable(ctx, s, server, "days/index", parseOldIndex)
	if err != nil || x == nil {
		return nil, err
	}
	today, err := readable(ctx, s, server, "days/today", parseJSON[header])
	x.Date = x.Recorded + 1
	if today != nil && today.Date > x.Recorded {
		x.Date, x.N = today.Date, today.N
	}
	return x, err
}

// shard returns a shard as this version has it.
func (o *oldEntries) shard(ctx context.Context, n int) (*entry, error) {
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
	sh := &entry{header: header{Since: o.totals.Since, Began: o.totals.Began}}
	for _, key := range slices.Sorted(maps.Keys(lines)) {
		sh.lines = lines[key].append(sh.lines)
	}
	return sh, nil
}

// addSegment adds to lines what the keys of a shard had on the days of a segment. Their totals are
// then those that are recorded in the newest one, where it can be read.
func (o *oldEntries) addSegment(ctx context.Context, i, n int, lines map[string]*line) error {
	seg := o.index.Segments[i]
	isNewest := i == len(o.index.Segments)-1
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
		sh.each(func(key []byte, total uint64, days []byte) {
			if shardOf(key) == n {
				l := o.lineOf(lines, key)
				l.addOldDays(sh.first, days)
				if isNewest {
					l.N = total
				}
			}
		})
	}
	return nil
}

// lineOf returns the line of a key. One that is forgotten has only days.
func (o *oldEntries) lineOf(lines map[string]*line, key []byte) *line {
	l := lines[string(key)]
	if l == nil {
		l = &line{key: key, Count: Count{minute: o.index.Recorded.begin()}}
		lines[string(key)] = l
	}
	return l
}

// addOldDays adds days in a row.
func (l *line) addOldDays(first day, days []byte) {
	parseCounts(days, mostOldDays, func(i int, n uint64) {
		if d := first + day(i); d > l.day()-DaysKept {
			l.add(d.begin(), n)
		}
	})
}

func parseJSON[T any](b []byte) (*T, error) {
	value := new(T)
	return value, json.Unmarshal(b, value)
}

func parseOldIndex(b []byte) (*oldIndex, error) {
	x, err := parseJSON[oldIndex](b)
	if err == nil && len(x.Segments) == 0 {
		return nil, errors.New("it has no segment")
	}
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
	if _, err := fmt.Sscanf(string(firstLine(b)), "shortlink hits 1 %d %s\n", &t.generation, &since); err != nil {
		return nil, fmt.Errorf("its first line is %q", firstLine(b))
	}
	var noTime, noLines error
	t.since, noTime = time.Parse(time.RFC3339, since)
	t.lines, noLines = parseLines(b, new(line).parse)
	return t, errors.Join(noTime, noLines)
}

// oldShard is what keys had on days in a row.
type oldShard struct {
	first day
	lines []byte
}

// mostOldDays is how many days there are at most. More are not plausible.
const mostOldDays = 4 * DaysKept

func parseOldShard(b []byte) (*oldShard, error) {
	sh, first, recorded := new(oldShard), "", ""
	_, err := fmt.Sscanf(string(firstLine(b)), "shortlink days 1 %s %s\n", &first, &recorded)
	if err != nil {
		return nil, fmt.Errorf("its first line is %q", firstLine(b))
	}
	var noLines error
	sh.lines, noLines = parseLines(b, func(line []byte) bool {
		_, _, days, ok := cutOldLine(line)
		return ok && parseCounts(days, mostOldDays, func(int, uint64) {})
	})
	return sh, errors.Join(sh.first.UnmarshalText([]byte(first)), noLines)
}

func (s *oldShard) each(yield func(key []byte, total uint64, days []byte)) {
	for line := range bytes.Lines(s.lines) {
		key, total, days, _ := cutOldLine(line)
		yield(key, total, days)
	}
}

func cutOldLine(line []byte) (key []byte, total uint64, days []byte, ok bool) {
	fields := bytes.Split(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
	if len(fields) != 3 || len(fields[0]) == 0 {
		return nil, 0, nil, false
	}
	total, err := strconv.ParseUint(string(fields[1]), 10, 64)
	return fields[0], total, fields[2], err == nil
}

var (
	oldEntry     = regexp.MustCompile(`^(all|changes|days/(index|today|\d+/\d+))$`)
	oldDirectory = regexp.MustCompile(`^days(/\d+)?$`)
)

// deleteOldEntries deletes what older versions have stored of this server, once.
func (s *store) deleteOldEntries(ctx context.Context) error {
	if s.isClean {
		return nil
	}
	own := s.entry(s.server, "")
	entries, err := s.storage.List(ctx, own, true)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	isAside := func(entry string) bool { return strings.Contains(entry, ".unreadable-") }
	hasAside := slices.ContainsFunc(entries, isAside)
	for _, entry := range entries {
		name := strings.TrimPrefix(entry, own+"/")
		if oldEntry.MatchString(name) || oldDirectory.MatchString(name) && !hasAside {
			if err := s.delete(ctx, entry); err != nil {
				return err
			}
		}
	}
	s.isClean = true
	return nil
}
