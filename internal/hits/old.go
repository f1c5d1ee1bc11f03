package hits

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"go.uber.org/zap"
)

// oldIndex is days/index, one of the entries of a server that older versions have stored:
//
//	all                  a line for each key, as in today's entry
//	changes              lines that replace some of these, if it has the same generation
//	days/index           when counting and days began, and the segments, the oldest first
//	days/today           not needed here
//	days/<segment>/<n>   lines: a key, its total at the end of the segment, and its days in it
//
// A segment has 1<<Bits entries. That of a key is the last Bits bits of its hash, so the keys of a
// shard are in those entries whose number has the same last 6 bits, or in one.
type oldIndex struct {
	Since    time.Time `json:"since"`
	Began    time.Time `json:"began"`
	Segments []struct {
		ID   int   `json:"id"`
		Bits uint8 `json:"bits"`
	} `json:"segments"`
}

// convert stores what an older version has stored of this server as this one does: all of it in the
// shards, and then today's entry, without changes, which it returns. It returns nil if there is
// nothing.
func (s *store) convert(ctx context.Context, now time.Time) (*content, error) {
	all, errAll := loadOld(ctx, s, "all", parseOldEntry)
	newer, errNewer := loadOld(ctx, s, "changes", parseOldEntry)
	index, errIndex := loadOld(ctx, s, "days/index", parseOldIndex)
	if err := errors.Join(errAll, errNewer, errIndex); err != nil {
		return nil, err
	}
	if all.begin.IsZero() { // the totals of the last segment remain
		all.begin = index.Since
	}
	if all.begin.IsZero() {
		return nil, nil
	}
	if newer.generation == all.generation {
		all.lines = append(all.lines, newer.lines...)
	}
	today := header{Since: all.begin, Began: index.Began, Date: dayOf(now)}
	if today.Began.IsZero() {
		today.Began = now.UTC().Truncate(time.Second)
	}
	totals := newChanges(today, all.lines)
	totals.IsBase = !index.Since.Equal(all.begin) // days were not kept, or totals began anew
	for n := range shards {
		if err := s.convertShard(ctx, n, index, totals); err != nil {
			return nil, err
		}
	}
	text := endEntry(startEntry(today))
	return &content{header: today}, s.storage.Store(ctx, s.entry(s.server, "today"), text)
}

// convertShard stores a shard: the days of all segments, and totals. What has been counted since
// the last segment is of the day of the last hit.
func (s *store) convertShard(ctx context.Context, n int, index *oldIndex, totals *changes) error {
	keys := map[string]*line{}
	for _, seg := range index.Segments {
		count := 1 << min(seg.Bits, 12) // more are not plausible
		for at := n % count; at < count; at += shards {
			e, err := loadOld(ctx, s, fmt.Sprintf("days/%d/%d", seg.ID, at), parseOldEntry)
			if err != nil {
				return err
			}
			if e.begin.IsZero() { // it is lost, and with it what totals were before the last day
				totals.IsBase = true
			}
			e.addDays(keys, n)
		}
	}
	var lines []byte
	for _, l := range keys {
		lines = l.append(lines)
	}
	text := startEntry(header{})
	totals.merge(n, lines, anyKey, func(l *line) { text = l.append(text) })
	return s.storage.Store(ctx, s.entry(s.server, shardName(n)), endEntry(text))
}

// addDays adds the days and sets the totals of the keys that belong to a shard.
func (e *oldEntry) addDays(keys map[string]*line, n int) {
	for text := range bytes.Lines(e.lines) {
		key, numbers, _ := bytes.Cut(text, []byte(" "))
		total, days, _ := bytes.Cut(numbers, []byte(" "))
		added := new(line)
		if shardOf(key) != n || !added.parse(fmt.Appendf(nil, "%s %s 0 %s", key, total, days)) {
			continue
		}
		l := keys[string(key)]
		if l == nil {
			l = &line{key: key}
			keys[string(key)] = l
		}
		for i, hits := range added.days { // the oldest first
			if hits > 0 {
				l.add((dayOf(e.begin) + day(i)).begin(), hits)
			}
		}
		l.N = added.N
	}
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

// parseOldIndex reads days/index.
func parseOldIndex(b []byte) (*oldIndex, error) {
	index := new(oldIndex)
	return index, json.Unmarshal(b, index)
}

// loadOld reads an entry of an older version, or returns an empty one if there is none to read.
func loadOld[T any](ctx context.Context, s *store, name string,
	parse func([]byte) (*T, error),
) (*T, error) {
	value, err := load(ctx, s, s.server, name, parse)
	if err == errUnreadable {
		err = nil
	}
	return cmp.Or(value, new(T)), err
}

// deleteOldEntries deletes what older versions have stored of this server.
func (s *store) deleteOldEntries(ctx context.Context) {
	for _, name := range []string{"changes", "days", "all"} {
		err := s.storage.Delete(ctx, s.entry(s.server, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.logger.Warn("hits that an older version has stored are not deleted", zap.Error(err))
		}
	}
}
