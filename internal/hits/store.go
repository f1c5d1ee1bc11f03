package hits

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
)

// store keeps the hits of handlers of one name in a storage. The package's comment shows which
// entries each server has there.
//
// What is not in the shards is put there one by one, and then today's entry is written without it.
// As lines have totals, not what is to be added, it does no harm to do that twice: whenever the
// server is gone between two writes, what is left is done after the next start.
type store struct {
	storage certmagic.Storage
	logger  *zap.Logger
	// prefix is what the entries of all servers begin with, server the name of this one.
	prefix, server string
	isReader       bool // nothing is written

	isRestored bool
	isMoved    bool    // to a storage that has nothing yet
	isClean    bool    // there is nothing of an older version
	closing    *stored // what is put into the shards now; nil for nothing
	written    uint64  // the total of all keys when today's entry was written
}

func newStore(name, server string, storage certmagic.Storage, logger *zap.Logger) *store {
	return &store{
		storage: storage, logger: logger, prefix: "shortlink/hits/" + name, server: server,
	}
}

// use lets the hits be stored here from now on: all of them, where it is another storage than
// before.
func (s *store) use(storage certmagic.Storage, logger *zap.Logger) {
	s.isMoved = s.isMoved || s.isRestored && !reflect.DeepEqual(s.storage, storage)
	s.storage, s.logger = storage, logger
}

func (s *store) entry(server, name string) string { return path.Join(s.prefix, server, name) }

func shardName(n int) string { return fmt.Sprintf("shards/%d", n) }

// save adds what was stored before, if that has not been done yet. Then it stores what has changed.
func (s *store) save(ctx context.Context, h *Counters, now time.Time) error {
	if err := s.restore(ctx, h, now); err != nil { // which must not be overwritten
		return err
	}
	s.endDay(h, now)
	if !s.hasNew(h) || s.closing != nil && s.closing.old != nil { // which is converted before
		return nil
	}
	return s.saveToday(ctx, h, s.closing)
}

// restore adds what this server has stored before to the hits, once.
func (s *store) restore(ctx context.Context, h *Counters, now time.Time) error {
	if s.isRestored {
		return nil
	}
	own, err := s.stored(ctx, s.server)
	if err != nil {
		return err
	}
	s.closing = own
	if own == nil {
		own = &stored{store: s, server: s.server, today: newChanges(h.header(), nil)}
		own.today.Date = dayOf(now)
	}
	own.today.Date = min(own.today.Date, own.today.dayOf(now)) // as the clock may have been wrong
	p := newPast(own.today.Since, own.today.Began, own.today.Date)
	if p.Began.IsZero() { // as days were not kept before
		p.Began = now.UTC().Truncate(time.Second)
	}
	var lines []byte
	for n := range shards {
		err := own.each(ctx, n, func(l *line) {
			p.add(l)
			lines = appendLine(lines, l.key, l.Count)
		})
		if err != nil {
			return err
		}
	}
	h.past.Store(p)
	h.restore(lines)
	s.written, s.isRestored = p.total, true
	return nil
}

// hasNew reports whether there is something to store.
func (s *store) hasNew(h *Counters) bool {
	total := h.total()
	return total > 0 && (total != s.written || s.isMoved)
}

// endDay takes what has changed as that of a day, if the day is over; or all, in another storage.
func (s *store) endDay(h *Counters, now time.Time) {
	p := h.past.Load()
	today := p.dayOf(now)
	if !s.isMoved && (s.closing != nil || p.Date == today) {
		return
	}
	over := newChanges(header{Date: min(p.Date, today), IsBase: s.isMoved}, nil)
	h.each(selection{onlyChanged: !s.isMoved, save: true}, over.add)
	s.closing = &stored{store: s, server: s.server, today: over}
	if s.isMoved {
		s.isMoved, s.isClean, s.written = false, false, 0
		moved := newPast(p.Since, now.UTC().Truncate(time.Second), today)
		moved.total = h.total()
		h.past.Store(moved)
	}
}

// saveToday stores what is not in the shards, with what is being put there.
func (s *store) saveToday(ctx context.Context, h *Counters, closing *stored) error {
	total := h.total()
	today := h.header()
	today.IsBase = closing != nil && closing.today.IsBase
	text, err := startEntry(today)
	if err != nil {
		return err
	}
	if closing != nil {
		for _, lines := range closing.today.lines {
			text = append(text, lines...)
		}
	}
	h.each(selection{onlyChanged: true}, func(key string, m Count) { text = appendLine(text, key, m) })
	err = s.storage.Store(ctx, s.entry(s.server, "today"), endEntry(text))
	if err == nil {
		s.written = total
	}
	return err
}

// recordDays puts into the shards what is of a day that is over, or what a start has found.
func (s *store) recordDays(ctx context.Context, h *Counters, now time.Time) error {
	if s.closing != nil {
		before := h.past.Load()
		p := newPast(before.Since, before.Began, before.dayOf(now))
		for n := range shards {
			if err := s.record(ctx, h, n, p); err != nil {
				return err
			}
		}
		h.past.Store(p)
		if h.total() > 0 || s.written > 0 {
			if err := s.saveToday(ctx, h, nil); err != nil {
				return err
			}
		}
		s.closing = nil
	}
	if !s.isClean {
		s.deleteOldEntries(ctx)
		s.isClean = true
	}
	return nil
}

// record puts what is new into a shard. If it cannot be understood it is written anew, with all
// that is counted as what it had before.
func (s *store) record(ctx context.Context, h *Counters, n int, p *past) error {
	before, err := s.closing.shard(ctx, n)
	unreadable, isNew := errors.AsType[*unreadableHits](err)
	if isNew {
		all := new(changes)
		h.each(selection{}, all.add)
		before, err = all.lines[n], s.putAside(ctx, unreadable)
	}
	text, errStart := startEntry(header{})
	if err := errors.Join(err, errStart); err != nil {
		return err
	}
	start := len(text)
	text = slices.Grow(text, len(before)+len(before)/16)
	s.closing.today.merge(n, before, h.has, func(l *line) {
		if l.day() <= p.Date-DaysKept {
			l.days = [DaysKept]uint64{}
		}
		if l.N > 0 || l.days != [DaysKept]uint64{} {
			p.add(l)
			text = l.append(text)
		}
	})
	isNew = isNew || s.closing.old != nil && len(text) > start
	if !isNew && bytes.Equal(text[start:], before) {
		return nil
	}
	return s.storage.Store(ctx, s.entry(s.server, shardName(n)), endEntry(text))
}
