package hits

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"reflect"
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
		own = &stored{s, s.server, newChanges(h.header(), nil), nil}
	}
	own.today.Date = min(own.today.Date, dayOf(now)) // as the clock may have been wrong
	p := newPastBuilder(own.today.header, dayOf(now))
	var lines []byte
	for n := range shards {
		err := own.each(ctx, n, func(l *line, _ bool) {
			p.add(l)
			lines = appendLine(lines, l.key, l.Count)
		})
		if err != nil {
			return err
		}
	}
	p.since(own.today.header)
	if p.Began.IsZero() { // as days were not kept before
		p.Began = now.UTC().Truncate(time.Second)
	}
	h.restore(p.build(), lines)
	s.written, s.isRestored = p.total, true
	return nil
}

// hasNew reports whether there is something to store.
func (s *store) hasNew(h *Counters) bool {
	total := h.total().N
	return total > 0 && (total != s.written || s.isMoved)
}

// endDay takes what has changed as that of a day, if the day is over; or all, in another storage.
func (s *store) endDay(h *Counters, now time.Time) {
	p, today := *h.recorded(), dayOf(now)
	if !s.isMoved && (s.closing != nil || p.Date == today) {
		return
	}
	over := p.header
	over.IsBase, over.Date = s.isMoved, min(p.Date, today)
	if s.isMoved {
		p = past{header: header{Since: p.Since, Began: now.UTC().Truncate(time.Second), Date: today}}
		s.isMoved, s.isClean, s.written = false, false, 0
	}
	var lines []byte
	h.each(selection{onlyChanged: !over.IsBase, save: true}, func(key string, m Count) {
		lines = appendLine(lines, key, m)
		if over.IsBase {
			p.total += m.N
		}
	})
	s.closing = &stored{s, s.server, newChanges(over, lines), nil}
	h.setRecorded(&p)
}

// saveToday stores what is not in the shards.
func (s *store) saveToday(ctx context.Context, h *Counters, closing *stored) error {
	total := h.total().N
	if total == 0 {
		return nil
	}
	today := entry{header: h.recorded().now(total)}
	if closing != nil {
		today.IsBase, today.lines = closing.today.IsBase, bytes.Clone(closing.today.lines)
	}
	h.each(selection{onlyChanged: true}, func(key string, m Count) {
		today.lines = appendLine(today.lines, key, m)
	})
	err := s.storeEntry(ctx, "today", &today)
	if err == nil {
		s.written = total
	}
	return err
}

func (s *store) storeEntry(ctx context.Context, name string, e *entry) error {
	text, err := e.text()
	if err != nil {
		return err
	}
	return s.storage.Store(ctx, s.entry(s.server, name), text)
}

// recordDays puts a day that is over into the shards, or what a start has found.
func (s *store) recordDays(ctx context.Context, h *Counters, now time.Time) error {
	if s.closing != nil {
		today := h.recorded().header
		today.Date = dayOf(now)
		p := newPastBuilder(today, dayOf(now))
		for n := range shards {
			if err := s.record(ctx, h, n, p); err != nil {
				return err
			}
		}
		h.setRecorded(p.build())
		if err := s.saveToday(ctx, h, nil); err != nil {
			return err
		}
		s.closing = nil
	}
	return s.deleteOldEntries(ctx)
}

// record puts what is new into a shard. If it cannot be understood it is written anew, with all
// that is counted as what it had before.
func (s *store) record(ctx context.Context, h *Counters, n int, p *pastBuilder) error {
	before, err := s.closing.shard(ctx, n)
	unreadable, isNew := errors.AsType[*unreadableHits](err)
	if isNew {
		before, err = &entry{lines: h.linesOf(n)}, s.copyAside(ctx, unreadable)
	}
	if err != nil {
		return err
	}
	after := entry{header: header{Since: p.Since, Began: p.Began}}
	s.closing.today.merge(n, before.lines, func(l *line, isChanged bool) {
		if !isChanged && !h.has(string(l.key)) { // it was forgotten, and counts from 0 if it comes back
			l.N = 0
		}
		if l.day() < p.window.first {
			l.days = [DaysKept]uint64{}
		}
		if l.N > 0 || l.days != [DaysKept]uint64{} {
			p.add(l)
			after.lines = l.append(after.lines)
		}
	})
	isNew = isNew || s.closing.old != nil && len(after.lines) > 0
	if !isNew && bytes.Equal(after.lines, before.lines) {
		return nil
	}
	return s.storeEntry(ctx, shardName(n), &after)
}
