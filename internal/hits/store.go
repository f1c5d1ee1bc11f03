package hits

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// store keeps the hits of handlers of one name in a storage. There each server has two entries:
// "all", and "changes", which holds what has changed since. They belong together if they have the
// same generation. Counts are totals, and not what has been added, so that it does no harm to read
// them twice: whenever the server is gone between two writes, what was written last is whole.
type store struct {
	storage certmagic.Storage
	logger  *zap.Logger
	// prefix is what the entries of all servers begin with, server the name of this one.
	prefix, server string

	restored   bool
	generation int64  // of the entry "all", which no other has had; 0 if it is out of date
	written    uint64 // a sum over what the entry "changes" holds

	index *dayIndex  // as it is stored; nil before it has been read, and for none
	today todayCount // as it is stored
	// shardKeys is how many keys shall be in a shard when its segment begins.
	shardKeys int
	// before passes what was stored before this server started, until days are recorded.
	before func(yield func(key string, m Count))
}

func newStore(name, server string, storage certmagic.Storage, logger *zap.Logger) *store {
	return &store{
		storage: storage, logger: logger, prefix: "shortlink/hits/" + name, server: server,
		shardKeys: 4096,
	}
}

// use lets the hits be stored here from now on: all of them, where it is another storage than
// before.
func (s *store) use(storage certmagic.Storage, logger *zap.Logger) {
	if !reflect.DeepEqual(s.storage, storage) {
		s.generation, s.index, s.today = 0, nil, todayCount{}
	}
	s.storage, s.logger = storage, logger
}

func (s *store) entry(server, name string) string { return path.Join(s.prefix, server, name) }

// storedHits are what a server has stored.
type storedHits struct {
	all     *entry
	changes *entry // of the same generation, or nil
}

// each passes the counts of all keys to yield.
func (s *storedHits) each(yield func(key string, m Count)) {
	newer := map[string]bool{}
	if s.changes != nil {
		s.changes.each(func(key string, m Count) {
			newer[key] = true
			yield(key, m)
		})
	}
	s.all.each(func(key string, m Count) {
		if !newer[key] {
			yield(key, m)
		}
	})
}

// countOf returns the count of a key.
func (s *storedHits) countOf(key string) Count {
	for _, e := range []*entry{s.changes, s.all} {
		if e == nil {
			continue
		}
		if m, ok := e.countOf(key); ok {
			return m
		}
	}
	return Count{}
}

// load reads what a server has stored, and returns nil where there is nothing. An entry that cannot
// be understood is an error of type [*unreadableHits].
func (s *store) load(ctx context.Context, server string) (*storedHits, error) {
	all, err := loadEntry(ctx, s.storage, s.entry(server, "all"), parseEntry)
	if err != nil || all == nil {
		return nil, err
	}
	changes, err := loadEntry(ctx, s.storage, s.entry(server, "changes"), parseEntry)
	if err != nil {
		return nil, err
	}
	if changes != nil && changes.generation != all.generation {
		changes = nil
	}
	return &storedHits{all, changes}, nil
}

// loadEntry reads an entry, and returns nil where there is none.
func loadEntry[T any](ctx context.Context, from certmagic.Storage, key string,
	parse func([]byte) (*T, error),
) (*T, error) {
	b, err := from.Load(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	value, err := parse(b)
	if err != nil {
		return nil, &unreadableHits{key, b, err}
	}
	return value, nil
}

// unreadableHits is an entry that holds something else than hits.
type unreadableHits struct {
	entry   string
	content []byte
	reason  error
}

// Error returns the entry and the reason.
func (e *unreadableHits) Error() string { return "entry " + e.entry + ": " + e.reason.Error() }

// putAside gives an entry of this server another name, so that it can be written anew.
func (s *store) putAside(ctx context.Context, e *unreadableHits) error {
	aside := fmt.Sprintf("%s.unreadable-%d", e.entry, time.Now().Unix())
	s.logger.Error("hits that are stored cannot be read and are put aside", zap.String("aside", aside),
		zap.Error(e))
	return errors.Join(s.storage.Store(ctx, aside, e.content), s.storage.Delete(ctx, e.entry))
}

// restore adds what this server has stored before to the hits, once.
func (s *store) restore(ctx context.Context, h *Counters) error {
	if s.restored {
		return nil
	}
	stored, err := s.load(ctx, s.server)
	if unreadable, is := errors.AsType[*unreadableHits](err); is {
		stored, err = nil, s.putAside(ctx, unreadable)
	}
	if err != nil {
		return err
	}
	s.restored = true
	if stored == nil {
		s.before = noHits
		return nil
	}
	s.before = stored.each
	s.generation = stored.all.generation
	h.mu.Lock()
	defer h.mu.Unlock()
	h.since, h.isContinued = stored.all.since, true
	stored.each(h.add)
	return nil
}

// hitState says how much of hits there is to store.
type hitState struct {
	keys, changed int
	sum           uint64 // over what has changed since all was stored: another one after each hit
}

func (s *hitState) add(m Count, isChanged bool) {
	s.keys++
	if isChanged {
		s.changed++
		s.sum += m.word()
	}
}

// isStored reports whether there is nothing to store.
func (s *store) isStored(h *Counters) bool { return s.has(stateOfHits(h)) }

func (s *store) has(now hitState) bool {
	return now.keys == 0 || now.sum == s.written && s.generation != 0
}

func stateOfHits(h *Counters) (now hitState) {
	h.each(false, func(_ string, m Count, isChanged bool) { now.add(m, isChanged) })
	return now
}

// save adds what was stored before, if that has not been done yet. Then it stores what has changed
// since all was stored or, if that is much, all.
func (s *store) save(ctx context.Context, h *Counters) error {
	if err := s.restore(ctx, h); err != nil { // which must not be overwritten
		return err
	}
	now := stateOfHits(h)
	if s.has(now) {
		return nil
	}
	if s.generation == 0 || now.changed > now.keys/2 {
		return s.saveAll(ctx, h)
	}
	return s.saveChanges(ctx, h)
}

// saveAll stores all. Changes of another generation do not count any more.
func (s *store) saveAll(ctx context.Context, h *Counters) error {
	s.generation, s.written = 0, 0
	generation := time.Now().UnixNano()
	w := newEntryWriter(generation, h.begun())
	h.each(true, func(key string, m Count, _ bool) { w.add(key, m) })
	if err := s.storage.Store(ctx, s.entry(s.server, "all"), w.end()); err != nil {
		return err
	}
	s.generation = generation
	err := s.storage.Delete(ctx, s.entry(s.server, "changes"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// saveChanges stores what has changed since all was stored.
func (s *store) saveChanges(ctx context.Context, h *Counters) error {
	w := newEntryWriter(s.generation, h.begun())
	var now hitState
	h.each(false, func(key string, m Count, isChanged bool) {
		now.add(m, isChanged)
		if isChanged {
			w.add(key, m)
		}
	})
	err := s.storage.Store(ctx, s.entry(s.server, "changes"), w.end())
	if err == nil {
		s.written = now.sum
	}
	return err
}

// others are those of other servers that share a storage, added up.
type others struct {
	ruleset *resolver.Ruleset
	counts  []Count   // by the numbers of the ruleset's rules
	since   time.Time // when the first of them began
	read    time.Time
}

// others adds up what the other servers have stored. It returns nil where there are none.
func (s *store) others(ctx context.Context, ruleset *resolver.Ruleset) (*others, error) {
	entries, err := s.storage.List(ctx, s.prefix, false)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var sum *others
	for _, entry := range entries {
		stored, err := s.loadOther(ctx, path.Base(entry))
		if err != nil {
			return nil, err
		}
		if stored == nil {
			continue
		}
		if sum == nil {
			counts := make([]Count, ruleset.Numbers())
			sum = &others{ruleset: ruleset, counts: counts, since: stored.all.since}
		}
		sum.add(stored)
	}
	if sum != nil {
		sum.read = time.Now()
	}
	return sum, nil
}

// add adds what one server has stored.
func (o *others) add(stored *storedHits) {
	if stored.all.since.Before(o.since) {
		o.since = stored.all.since
	}
	stored.each(func(key string, m Count) {
		if n, ok := o.ruleset.NumberOf(key); ok {
			o.counts[n] = o.counts[n].plus(m)
		}
	})
}

// loadOther reads what another server has stored. It returns nil for this one, and where there is
// nothing that this version understands.
func (s *store) loadOther(ctx context.Context, server string) (*storedHits, error) {
	if server == s.server {
		return nil, nil
	}
	stored, err := s.load(ctx, server)
	if unreadable, is := errors.AsType[*unreadableHits](err); is {
		s.logger.Warn("the hits of another server cannot be read", zap.Error(unreadable))
		return nil, nil
	}
	return stored, err
}
