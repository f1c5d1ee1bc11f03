package hits

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"
)

// Days are kept beside the totals, in entries of a server's own:
//
//	days/index           a [dayIndex]
//	days/today           a [todayCount]
//	days/<segment>/<n>   a [shard] of keys
//
// Counters hold totals only. When a day is over, what each key has had on it is its total less the
// one that was recorded when the day before was over.

func (s *store) dayEntry(server, name string) string { return s.entry(server, "days/"+name) }

func shardName(seg *segment, n int) string { return fmt.Sprintf("%d/%d", seg.ID, n) }

// ownDayEntry reads an entry of this server. One that cannot be understood is put aside.
func ownDayEntry[T any](ctx context.Context, s *store, name string,
	parse func([]byte) (*T, error),
) (*T, error) {
	value, err := loadEntry(ctx, s.storage, s.dayEntry(s.server, name), parse)
	if unreadable, is := errors.AsType[*unreadableHits](err); is {
		return nil, s.putAside(ctx, unreadable)
	}
	return value, err
}

// noHits are the counts of no keys.
func noHits(func(key string, m Count)) {}

// recordDays records the days that are over, if that has not been done yet. Hits that were counted
// before there were days belong to none of them.
func (s *store) recordDays(ctx context.Context, h *Counters, now time.Time) (err error) {
	if s.index == nil {
		if s.index, err = ownDayEntry(ctx, s, "index", parseDayIndex); err != nil {
			return err
		}
	}
	today, all := dayOf(now), h.total()
	if s.index == nil && all.N == 0 {
		s.before = noHits
		return nil
	}
	isBase := s.index == nil || !s.index.Since.Equal(h.begun()) || s.index.Recorded > today
	if isBase || s.index.Recorded < today-1 {
		if err := s.recordFrom(ctx, h, isBase, now); err != nil {
			return err
		}
	}
	s.before = nil
	return s.saveToday(ctx, all, today)
}

// recordFrom records what was stored before the server started, if it has not counted since, else
// what there is now.
func (s *store) recordFrom(ctx context.Context, h *Counters, isBase bool, now time.Time) error {
	counts := new(shardedCounts)
	switch {
	case isBase && dayOf(h.begun()) == dayOf(now): // so all is of today
	case s.before != nil:
		s.before(counts.add)
	default:
		h.each(false, func(key string, m Count, _ bool) { counts.add(key, m) })
	}
	s.before = nil
	r := newRecording(s, counts, h.begun(), now, isBase)
	if err := r.run(ctx); err != nil {
		return err
	}
	s.index = r.index
	if r.isNew {
		return s.deleteOldDays(ctx)
	}
	return nil
}

// saveToday stores what all keys together have had today.
func (s *store) saveToday(ctx context.Context, all Count, today day) error {
	if s.index == nil || all.N <= s.index.Total {
		return nil
	}
	now := todayCount{dayOfNew(all.day(), s.index.Recorded, today), all.N - s.index.Total}
	if now == s.today {
		return nil
	}
	err := s.storeJSON(ctx, "today", now)
	if err == nil {
		s.today = now
	}
	return err
}

func (s *store) storeJSON(ctx context.Context, name string, value any) error {
	b, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return s.storage.Store(ctx, s.dayEntry(s.server, name), b)
}

// deleteOldDays deletes the segments that are not in the index.
func (s *store) deleteOldDays(ctx context.Context) error {
	days := s.dayEntry(s.server, "")
	entries, err := s.storage.List(ctx, days, true)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name, _, _ := strings.Cut(strings.TrimPrefix(entry, days+"/"), "/")
		id, err := strconv.Atoi(name)
		isKept := func(seg segment) bool { return seg.ID == id }
		if err != nil || slices.ContainsFunc(s.index.Segments, isKept) {
			continue
		}
		if err := s.storage.Delete(ctx, entry); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.logger.Warn("hits of days long ago are not deleted", zap.String("entry", path.Base(entry)),
				zap.Error(err))
		}
	}
	return nil
}

// shardedCounts are the counts of all keys at a time, as text, by the shards of the most bits.
type shardedCounts struct {
	shards [1 << maxBits]entryWriter
	keys   int
}

func (c *shardedCounts) add(key string, m Count) {
	c.shards[shardOf(key, maxBits)].add(key, m)
	c.keys++
}

// each passes the counts of the keys of one of 1<<bits shards.
func (c *shardedCounts) each(n, bits int, yield func(key string, m Count)) {
	for ; n < len(c.shards); n += 1 << bits {
		(&entry{lines: c.shards[n].text}).each(yield)
	}
}

// recording records the days that are over.
//
// Each shard says up to which day it is recorded, and the index is written last. So whenever the
// server is gone, what is left to do is done later, and nothing twice.
type recording struct {
	*store
	counts  *shardedCounts
	today   day
	isBase  bool      // counts belong to no day
	before  *dayIndex // nil for none
	index   *dayIndex // what it will be
	segment *segment  // in which is recorded
	isNew   bool      // it begins
}

func newRecording(s *store, counts *shardedCounts, since, now time.Time, isBase bool) *recording {
	r := &recording{store: s, counts: counts, today: dayOf(now), isBase: isBase, before: s.index}
	r.index = &dayIndex{Since: since, Began: now.UTC().Truncate(time.Second), Recorded: r.today - 1,
		Days: map[day]uint64{}}
	if counts.keys == 0 {
		r.index.Began = since
	}
	if r.before != nil {
		r.continueIndex()
	}
	if r.segment == nil {
		r.beginSegment()
	}
	return r
}

// continueIndex takes over what there is of the last days.
func (r *recording) continueIndex() {
	r.index.Began = r.before.Began
	for d, n := range r.before.Days {
		if d > r.today-DaysKept && d < r.today {
			r.index.Days[d] = n
		}
	}
	for _, seg := range r.before.Segments {
		if seg.Last > r.today-DaysKept {
			r.index.Segments = append(r.index.Segments, seg)
		}
	}
	newest := r.before.newest()
	isFull := r.today-1-newest.First >= segmentDays
	needsShards := newest.Bits < maxBits && r.counts.keys > 2*r.shardKeys<<newest.Bits
	if !r.isBase && !isFull && !needsShards {
		r.segment = r.index.newest()
		r.segment.Last = r.today - 1
	}
}

// beginSegment begins a segment, which has as many shards as it needs, and no less than before.
func (r *recording) beginSegment() {
	next := segment{ID: 1, First: r.today, Last: r.today - 1}
	if r.before != nil {
		next.ID = r.before.newest().ID + 1
	}
	if !r.isBase {
		next.First = max(r.before.Recorded+1, r.today-DaysKept+1)
		next.Bits = r.before.newest().Bits
	}
	for next.Bits < maxBits && r.counts.keys > r.shardKeys<<next.Bits {
		next.Bits++
	}
	r.index.Segments, r.isNew = append(r.index.Segments, next), true
	r.segment = r.index.newest()
}

// run records shard by shard, and the index in the end.
func (r *recording) run(ctx context.Context) error {
	for n := range 1 << r.segment.Bits {
		if err := r.recordShard(ctx, n); err != nil {
			return err
		}
	}
	return r.storeJSON(ctx, "index", r.index)
}

// recordShard records what the keys of a shard have had since they were recorded before.
func (r *recording) recordShard(ctx context.Context, n int) error {
	var base *shard // nil if what was recorded is not known
	if !r.isBase {
		var err error
		seg := r.before.newest()
		if base, err = r.load(ctx, seg, n&(1<<seg.Bits-1)); err != nil {
			return err
		}
	}
	next, isChanged := r.advance(base, n)
	recent, err := r.sumUp(ctx, next, n)
	if err != nil {
		return err
	}
	r.addTop(recent, next)
	if !isChanged {
		return nil
	}
	return r.storage.Store(ctx, r.dayEntry(r.server, shardName(r.segment, n)), next.text())
}

func (r *recording) load(ctx context.Context, seg *segment, n int) (*shard, error) {
	return ownDayEntry(ctx, r.store, shardName(seg, n), seg.parseShard)
}

// advance returns a shard of the segment, with what its keys have had since base. isChanged tells
// that it is not the one that is stored.
func (r *recording) advance(base *shard, n int) (next *shard, isChanged bool) {
	next = &shard{first: r.segment.First, recorded: r.today - 1}
	if base == nil {
		next.lines = map[string]dayLine{}
		r.counts.each(n, r.segment.Bits, func(key string, m Count) {
			next.lines[key] = dayLine{total: m.N}
		})
		return next, true
	}
	isDone := base.recorded >= next.recorded // before the server was gone
	if isDone && !r.isNew {
		return base, false
	}
	next.lines = make(map[string]dayLine, len(base.lines))
	if !r.isNew {
		next.continueDays(base)
	}
	isChanged = r.isNew
	recorded := max(base.recorded, r.before.Recorded)
	r.counts.each(n, r.segment.Bits, func(key string, m Count) {
		line, before := next.lines[key], base.lines[key].total
		line.total = m.N
		if isDone {
			line.total = before
		} else if m.N > before {
			line.add(dayOfNew(m.day(), recorded, r.today)-next.first, m.N-before)
		}
		next.lines[key] = line
		isChanged = isChanged || line.total != before
	})
	return next, isChanged
}

// continueDays takes over what keys have had on the days before. Those that no counter has any more
// begin anew if they come back.
func (s *shard) continueDays(base *shard) {
	for key, line := range base.lines {
		if len(line.days) > 0 {
			s.lines[key] = dayLine{days: line.days}
		}
	}
}

// sumUp adds what keys of a shard had to the days of the index, and returns what they had recently.
func (r *recording) sumUp(ctx context.Context, next *shard, n int) (recent map[string]uint64,
	err error) {
	recent = make(map[string]uint64, len(next.lines))
	r.note(next, recent)
	for line := range next.lines {
		r.index.Total += next.lines[line].total
	}
	older := r.index.Segments[:len(r.index.Segments)-1]
	for i := range older {
		seg := &older[i]
		isBase := r.isNew && i == len(older)-1
		if seg.Last <= r.today-topDays && !isBase {
			continue
		}
		for at := n & (1<<seg.Bits - 1); at < 1<<seg.Bits; at += 1 << r.segment.Bits {
			sh, err := r.load(ctx, seg, at)
			if err != nil {
				return nil, err
			}
			if sh == nil {
				continue
			}
			if seg.Bits < r.segment.Bits {
				isOther := func(key string, _ dayLine) bool { return shardOf(key, r.segment.Bits) != n }
				maps.DeleteFunc(sh.lines, isOther)
			}
			r.note(sh, recent)
		}
	}
	return recent, nil
}

// note adds what keys had to the days that the index does not have yet, and to recent.
func (r *recording) note(sh *shard, recent map[string]uint64) {
	recorded := r.today - 1
	if r.before != nil {
		recorded = r.before.Recorded
	}
	for key, line := range sh.lines {
		sum := uint64(0)
		for i, hits := range line.days {
			d := sh.first + day(i)
			if hits == 0 || d >= r.today {
				continue
			}
			if d > recorded && d > r.today-DaysKept {
				r.index.Days[d] += hits
			}
			if d > r.today-topDays {
				sum += hits
			}
		}
		if sum > 0 {
			recent[key] += sum
		}
	}
}

// addTop adds those of the keys of a shard that are among those used most.
func (r *recording) addTop(recent map[string]uint64, sh *shard) {
	for key, n := range recent {
		r.index.Top = addTop(r.index.Top, topKey{key, n, sh.lines[key].total})
	}
	r.index.Top = cutTop(r.index.Top)
}
