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

// oldIndex is the content of days/index, one of the entries that older versions stored:
//
//	all                  a line for each key, as in today's entry
//	changes              lines that replace some of these, if it has the same generation
//	days/index           when counting and days began, and the segments, the oldest first
//	days/today           not needed for a conversion
//	days/<segment>/<n>   lines: a key, its total at the end of the segment, its days in the segment
//
// A segment has 1<<Bits entries. The number of a key's entry is the last Bits bits of its hash.
type oldIndex struct {
	Since    time.Time `json:"since"`
	Began    time.Time `json:"began"`
	Segments []struct {
		ID   int   `json:"id"`
		Bits uint8 `json:"bits"`
	} `json:"segments"`
}

// convert rewrites the hits that an older version stored of this server. It stores the shards, and
// then today's entry, which it returns; a zero value if there are no such hits.
func (s *store) convert(ctx context.Context, now time.Time) (*content, error) {
	all, errAll := loadOld(ctx, s, "all", parseOldEntry)
	newer, errNewer := loadOld(ctx, s, "changes", parseOldEntry)
	index, errIndex := loadOld(ctx, s, "days/index", parseOldIndex)
	if err := errors.Join(errAll, errNewer, errIndex); err != nil {
		return new(content), err
	}
	all.begin = cmp.Or(all.begin, index.Since) // if it is lost, segments have totals, too
	if all.begin.IsZero() {
		return new(content), nil
	}
	if newer.generation == all.generation {
		all.lines = append(all.lines, newer.lines...)
	}
	began := cmp.Or(index.Began, now.UTC().Truncate(time.Second))
	today := header{Since: all.begin, Began: began, Date: dayOf(now)}
	totals := newChanges(today, all.lines)
	totals.IsBase = !index.Since.Equal(all.begin) // days were not kept, or totals began anew
	for n := range shards {
		if err := s.convertShard(ctx, n, index, totals); err != nil {
			return new(content), err
		}
	}
	text := endEntry(startEntry(today))
	return &content{header: today}, s.storage.Store(ctx, s.entry(s.server, "today"), text)
}

// convertShard stores a shard with the days of all segments, and totals. Hits since the last
// segment belong to the day of the last hit.
func (s *store) convertShard(ctx context.Context, n int, index *oldIndex, totals *changes) error {
	keys := map[string]*line{}
	for _, seg := range index.Segments {
		count := 1 << min(seg.Bits, 12) // no server has more
		for at := n % count; at < count; at += shards {
			e, err := loadOld(ctx, s, fmt.Sprintf("days/%d/%d", seg.ID, at), parseOldEntry)
			if err != nil {
				return err
			}
			if e.begin.IsZero() { // it is lost: nobody knows how many hits came later
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

// addDays adds the days of the keys of a shard, and sets their totals.
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

// oldEntry is an entry with a line for each key. Its first line is one of these:
//
//	shortlink hits 1 <generation> <when counting began>
//	shortlink days 1 <first day> <last day>
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
		return nil, fmt.Errorf("after %d keys it ends with %.100q", n, end)
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

// loadOld reads an entry of an older version, or returns a zero value if none can be read.
func loadOld[T any](ctx context.Context, s *store, name string,
	parse func([]byte) (*T, error),
) (*T, error) {
	value, err := load(ctx, s, s.server, name, parse)
	if err == errUnreadable {
		err = nil
	}
	return value, err
}

// deleteOldEntries deletes the entries that older versions stored of this server.
func (s *store) deleteOldEntries(ctx context.Context) {
	for _, name := range []string{"changes", "days", "all"} {
		err := s.storage.Delete(ctx, s.entry(s.server, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.logger.Warn("the hits that an older version stored cannot be deleted", zap.Error(err))
		}
	}
}
