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
	"time"

	"go.uber.org/zap"
)

// oldIndex is an entry of versions before this one. What they have stored of a server is read as if
// this one had: totals as changes, and days as shards.
//
//	all                  a line for each key, as in today's entry
//	changes              those that have changed since, if it is of the same generation
//	days/index           an oldIndex
//	days/today           a date, and what all keys together had on it
//	days/<segment>/<n>   lines of keys, their totals when the last day was recorded, and days
//
// What keys had on the days of a segment is in 1<<Bits shards, by a hash of the key.
type oldIndex struct {
	Since    time.Time `json:"since"`
	Began    time.Time `json:"began"`
	Recorded day       `json:"recorded"` // the last day that is in a segment
	Segments []struct {
		ID   int   `json:"id"`
		Bits uint8 `json:"bits"`
	} `json:"segments"` // oldest first
}

// storedByOlder reads what an older version has stored, and returns nil where there is nothing.
func (s *store) storedByOlder(ctx context.Context, server string) (*stored, error) {
	all, errAll := readable(ctx, s, server, "all", parseOldEntry)
	newer, errNewer := readable(ctx, s, server, "changes", parseOldEntry)
	index, errIndex := readable(ctx, s, server, "days/index", parseJSON[oldIndex])
	today, errToday := readable(ctx, s, server, "days/today", parseJSON[header])
	if err := errors.Join(errAll, errNewer, errIndex, errToday); err != nil {
		return nil, err
	}
	if all == nil && index == nil {
		return nil, nil
	}
	if all == nil { // the totals that are recorded remain
		all = &oldEntry{begin: index.Since}
	}
	if newer != nil && newer.generation == all.generation {
		all.lines = append(all.lines, newer.lines...)
	}
	h := header{Since: all.begin, IsBase: true}
	if index == nil { // days have not been kept
		index = new(oldIndex)
	} else {
		h.IsBase, h.Began, h.Date = !index.Since.Equal(all.begin), index.Began, index.Recorded+1
	}
	if today != nil {
		h.Date = max(h.Date, today.Date)
	}
	return &stored{s, server, newChanges(h, all.lines), index}, nil
}

// oldShard returns the lines of a shard as this version has them.
func (s *stored) oldShard(ctx context.Context, n int) ([]byte, error) {
	lines := map[string]*line{}
	for key, m := range s.today.of(n) {
		lines[key] = &line{key: []byte(key), Count: m}
	}
	for i := range s.old.Segments {
		if err := s.addSegment(ctx, i, n, lines); err != nil {
			return nil, err
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
func (s *stored) addSegment(ctx context.Context, i, n int, lines map[string]*line) error {
	seg, isNewest := s.old.Segments[i], i == len(s.old.Segments)-1
	count := 1 << min(seg.Bits, 12) // more are not plausible
	for at := n % count; at < count; at += shards {
		name := fmt.Sprintf("days/%d/%d", seg.ID, at)
		sh, err := readable(ctx, s.store, s.server, name, parseOldEntry)
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
			if of := cutOldLine(text); of != nil && shardOf(of.key) == n {
				s.addOldLine(lines, of, dayOf(sh.begin), isNewest)
			}
		}
	}
	return nil
}

// cutOldLine reads a line with a total and days, the oldest first, and returns nil if it is none.
func cutOldLine(text []byte) *line {
	key, numbers, _ := bytes.Cut(text, []byte(" "))
	total, days, _ := bytes.Cut(numbers, []byte(" "))
	l := new(line)
	if !l.parse(fmt.Appendf(nil, "%s %s 0 %s", key, total, days)) {
		return nil
	}
	return l
}

// addOldLine adds to lines what a key had since a day. If it is the newest line its total counts.
func (s *stored) addOldLine(lines map[string]*line, of *line, first day, isNewest bool) {
	l := lines[string(of.key)]
	if l == nil { // it is forgotten, but for its days
		l = &line{key: of.key, Count: Count{minute: s.old.Recorded.begin()}}
		lines[string(of.key)] = l
	}
	for i, n := range of.days {
		if d := first + day(i); n > 0 && d > l.day()-DaysKept {
			l.add(d.begin(), n)
		}
	}
	if isNewest {
		l.N = of.N
	}
}

func parseJSON[T any](b []byte) (*T, error) {
	value := new(T)
	return value, json.Unmarshal(b, value)
}

// oldEntry is an entry with lines of keys. Its first line is one of these:
//
//	shortlink hits 1 <generation> <when counting began>
//	shortlink days 1 <first day> <day that was recorded>
type oldEntry struct {
	generation string
	begin      time.Time // when counting began, or the first day
	lines      []byte
}

func parseOldEntry(b []byte) (*oldEntry, error) {
	e, head := new(oldEntry), firstLine(b)
	var end []byte
	e.lines, end = cutLastLine(b[len(head):])
	if n := bytes.Count(e.lines, []byte("\n")); string(end) != fmt.Sprintf("end %d\n", n) {
		return nil, fmt.Errorf("behind %d keys it goes on with %.100q", n, end)
	}
	what, begin, layout := "", "", time.RFC3339
	_, err := fmt.Sscanf(string(head), "shortlink %s 1 %s %s\n", &what, &e.generation, &begin)
	if what == "days" {
		begin, layout = e.generation, time.DateOnly
	}
	if err == nil {
		e.begin, err = time.Parse(layout, begin)
	}
	return e, err
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
