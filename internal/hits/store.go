package hits

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
)

// store keeps the hits of the handlers of one name in a storage. The package comment shows the
// entries of each server.
//
// When a day is over, its changes are merged into the shards one by one, and then today's entry is
// written without them. Lines have totals, not increments, so merging them twice does no harm:
// whatever a crash leaves undone is done after the next start.
type store struct {
	storage certmagic.Storage
	logger  *zap.Logger
	// prefix begins the entries of all servers, and server is the name of this one.
	prefix, server string

	isRestored bool
	isMoved    bool     // to another storage, where nothing is stored yet
	closing    *changes // to be merged into the shards; nil for none
	written    uint64   // the total of all keys when today's entry was written
}

func newStore(name, server string, storage certmagic.Storage, logger *zap.Logger) *store {
	return &store{
		storage: storage, logger: logger, prefix: "shortlink/hits/" + name, server: server,
	}
}

// use sets the storage. If it is another one, it gets all hits.
func (s *store) use(storage certmagic.Storage, logger *zap.Logger) {
	s.isMoved = s.isMoved || s.isRestored && !reflect.DeepEqual(s.storage, storage)
	s.storage, s.logger = storage, logger
}

// entry returns the full name of a server's entry.
func (s *store) entry(server, name string) string { return path.Join(s.prefix, server, name) }

func shardName(n int) string { return "shards/" + strconv.Itoa(n) }

// save restores the stored hits if that is not done yet. Then it stores the changes.
func (s *store) save(ctx context.Context, h *Counters, now time.Time) error {
	if err := s.restore(ctx, h, now); err != nil { // stored hits must not be overwritten
		return err
	}
	s.endDay(h, now)
	if !s.hasNew(h) {
		return nil
	}
	return s.saveToday(ctx, h, s.closing)
}

// restore adds the stored hits of this server to h, once.
func (s *store) restore(ctx context.Context, h *Counters, now time.Time) error {
	if s.isRestored {
		return nil
	}
	c, err := load(ctx, s, s.server, "today", parseEntry)
	if err == nil && c.Since.IsZero() {
		c, err = s.convert(ctx, now)
	}
	if err != nil && err != errUnreadable {
		return err
	}
	if c.Since.IsZero() {
		c.header = h.header()
	}
	today := newChanges(c.header, c.lines)
	today.Date = min(today.Date, today.dayOf(now)) // the clock may have been wrong
	p := newHeader(today.Since, today.Began, today.Date)
	var lines []byte
	for n := range shards {
		err := s.eachKey(ctx, s.server, today, n, func(l *line) {
			p.addLine(l)
			lines = appendLine(lines, string(l.key), l.Count)
		})
		if err != nil {
			return err
		}
	}
	h.past.Store(p)
	h.restore(lines)
	s.closing, s.written, s.isRestored = today, p.total, true
	s.deleteOldEntries(ctx)
	return nil
}

// hasNew reports whether there are hits to store.
func (s *store) hasNew(h *Counters) bool {
	total := h.total()
	return total > 0 && total != s.written
}

// endDay sets closing to the changes of a day that is over, or after a move to all hits.
func (s *store) endDay(h *Counters, now time.Time) {
	p := h.past.Load()
	today := p.dayOf(now)
	if !s.isMoved && (s.closing != nil || p.Date == today) {
		return
	}
	s.closing = newChanges(header{Date: min(p.Date, today), IsBase: s.isMoved}, nil)
	h.each(selection{onlyChanged: !s.isMoved, save: true}, s.closing.add)
	if s.isMoved {
		s.isMoved, s.written = false, 0
		moved := newHeader(p.Since, now.UTC().Truncate(time.Second), today)
		moved.total = h.total()
		h.past.Store(moved)
	}
}

// saveToday stores all changes that the shards do not have, closing among them.
func (s *store) saveToday(ctx context.Context, h *Counters, closing *changes) error {
	total, today := h.total(), h.header()
	today.IsBase = closing != nil && closing.IsBase
	text := startEntry(today)
	if closing != nil {
		for _, lines := range closing.lines {
			text = append(text, lines...)
		}
	}
	h.each(selection{onlyChanged: true}, func(key string, m Count) { text = appendLine(text, key, m) })
	err := s.storage.Store(ctx, s.entry(s.server, "today"), endEntry(text))
	if err == nil {
		s.written = total
	}
	return err
}

// recordDays merges closing into the shards.
func (s *store) recordDays(ctx context.Context, h *Counters, now time.Time) error {
	if s.closing == nil {
		return nil
	}
	before := h.past.Load()
	p := newHeader(before.Since, before.Began, before.dayOf(now))
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
	return nil
}

// record merges closing into a shard, and adds the shard to p. An unreadable shard is written anew
// from the counters, without days.
func (s *store) record(ctx context.Context, h *Counters, n int, p *header) error {
	before, err := load(ctx, s, s.server, shardName(n), parseEntry)
	isLost := err == errUnreadable
	if isLost {
		all := new(changes)
		h.each(selection{}, all.add)
		before.lines = all.lines[n]
	} else if err != nil {
		return err
	}
	text := startEntry(header{})
	start := len(text)
	text = slices.Grow(text, len(before.lines)+len(before.lines)/16)
	s.closing.merge(n, before.lines, h.has, func(l *line) {
		if l.day() <= p.Date-DaysKept {
			l.days = [DaysKept]uint64{}
		}
		if l.N > 0 || l.days != [DaysKept]uint64{} {
			p.addLine(l)
			text = l.append(text)
		}
	})
	if !isLost && bytes.Equal(text[start:], before.lines) {
		return nil
	}
	return s.storage.Store(ctx, s.entry(s.server, shardName(n)), endEntry(text))
}

// errUnreadable is the error of an entry that has another format, or is damaged.
var errUnreadable = errors.New("an entry does not contain hits")

// load reads an entry of a server. It returns a zero value if there is none, and with each error,
// which is errUnreadable after logging why. An unreadable entry of this server is going to be
// overwritten, so it is copied. The name of the copy depends on the content, so two attempts make
// one copy.
func load[T any](ctx context.Context, s *store, server, name string,
	parse func([]byte) (*T, error),
) (*T, error) {
	entry := s.entry(server, name)
	b, err := s.storage.Load(ctx, entry)
	if errors.Is(err, fs.ErrNotExist) {
		return new(T), nil
	}
	if err != nil {
		return new(T), err
	}
	value, err := parse(b)
	if err == nil {
		return value, nil
	}
	if server != s.server {
		s.logger.Warn("the hits of a server cannot be read", zap.String("entry", entry), zap.Error(err))
		return new(T), errUnreadable
	}
	aside := s.entry(server, fmt.Sprintf("%s.unreadable-%08x", strings.ReplaceAll(name, "/", "-"),
		crc32.ChecksumIEEE(b)))
	s.logger.Error("stored hits cannot be read and are put aside",
		zap.String("entry", entry), zap.String("aside", aside), zap.Error(err))
	return new(T), cmp.Or(s.storage.Store(ctx, aside, b), errUnreadable)
}

// eachKey passes the lines of a server's shard, with today's changes. If the shard is unreadable,
// only the changes are known, but not their days.
func (s *store) eachKey(ctx context.Context, server string, today *changes, n int,
	yield func(l *line),
) error {
	shard, err := load(ctx, s, server, shardName(n), parseEntry)
	if err == errUnreadable {
		for key, m := range today.totals(n) {
			shard.lines = appendLine(shard.lines, key, m)
		}
	} else if err != nil {
		return err
	}
	today.merge(n, shard.lines, anyKey, yield)
	return nil
}

// lineOf returns the line of a canonical key, with the changes in a server's entry of today.
func (s *store) lineOf(ctx context.Context, server string, today *content, key string) (
	*line, error,
) {
	found := &line{key: []byte(key)}
	changes := newChanges(today.header, today.lines)
	err := s.eachKey(ctx, server, changes, shardOf(found.key), func(l *line) {
		if string(l.key) == key {
			*found = *l
		}
	})
	return found, err
}

// eachOther passes the other servers that share the storage, with today's entry of each.
func (s *store) eachOther(
	ctx context.Context, yield func(server string, today *content) error,
) error {
	entries, err := s.storage.List(ctx, s.prefix, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		server := path.Base(entry)
		if err != nil || server == s.server {
			continue
		}
		var today *content
		if today, err = load(ctx, s, server, "today", parseEntry); err == nil && !today.Since.IsZero() {
			err = yield(server, today)
		} else if err == errUnreadable {
			err = nil
		}
	}
	return err
}
