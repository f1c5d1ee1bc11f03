package shortlink

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"
)

// hitStore keeps the hits of handlers of one name in Caddy's storage. There each server has two entries: "all", and "changes", which holds what
// has changed since. They belong together if they have the same generation. Counts are totals, and not
// what has been added, so that it does no harm to read them twice: whenever the server is gone between two writes, what was
// written last is whole.
type hitStore struct {
	*shelf
	// prefix is what the entries of all servers begin with, server the name of this one.
	prefix, server string

	restored   bool
	generation int64  // of the entry "all", which no other has had; 0 if it is not there or not up to date
	written    uint64 // a sum over what the entry "changes" holds
}

func newHitStore(name, server string) *hitStore {
	return &hitStore{prefix: "shortlink/hits/" + name, server: server}
}

// use lets the hits be stored here from now on: all of them, where it is another storage than before.
func (s *hitStore) use(where *shelf) {
	if s.shelf != nil && !reflect.DeepEqual(s.storage, where.storage) {
		s.generation = 0
	}
	s.shelf = where
}

func (s *hitStore) entry(server, name string) string { return path.Join(s.prefix, server, name) }

// hitFile is what an entry holds.
type hitFile struct {
	generation int64
	since      time.Time
	hits       map[string]hit
}

// The first line of an entry has its generation and since when hits are counted, the last one the number of the keys, each of which has
// a line between them.
const (
	hitFileHeader = "shortlink hits 1 %d %s\n"
	hitFileEnd    = "end %d\n"
)

// hitFileWriter puts an entry together.
type hitFileWriter struct {
	text []byte
	keys int
}

func newHitFileWriter(generation int64, since time.Time) *hitFileWriter {
	return &hitFileWriter{text: fmt.Appendf(nil, hitFileHeader, generation, since.Format(time.RFC3339))}
}

func (w *hitFileWriter) add(key string, m hit) {
	w.text = append(append(w.text, key...), ' ')
	w.text = append(strconv.AppendUint(w.text, m.count, 10), ' ')
	w.text = append(strconv.AppendUint(w.text, uint64(m.minute), 10), '\n')
	w.keys++
}

// end returns the whole entry.
func (w *hitFileWriter) end() []byte { return fmt.Appendf(w.text, hitFileEnd, w.keys) }

// decodeHitFile reads the form of an entry.
func decodeHitFile(b []byte) (*hitFile, error) {
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, 1<<20)
	f := &hitFile{hits: map[string]hit{}}
	var since string
	lines.Scan()
	if _, err := fmt.Sscanf(lines.Text()+"\n", hitFileHeader, &f.generation, &since); err != nil {
		return nil, fmt.Errorf("its first line is %q", lines.Text())
	}
	var err error
	if f.since, err = time.Parse(time.RFC3339, since); err != nil {
		return nil, err
	}
	for lines.Scan() {
		key, m, ok := parseHitLine(lines.Text())
		if !ok {
			return f, checkHitFileEnd(lines.Text(), len(f.hits))
		}
		f.hits[key] = m
	}
	return nil, errors.New("it ends too early")
}

// checkHitFileEnd reports whether a line is the last one of an entry with so many keys.
func checkHitFileEnd(line string, keys int) error {
	if line != strings.TrimSuffix(fmt.Sprintf(hitFileEnd, keys), "\n") {
		return fmt.Errorf("behind %d keys it goes on with %q", keys, line)
	}
	return nil
}

func parseHitLine(line string) (key string, m hit, ok bool) {
	key, numbers, _ := strings.Cut(line, " ")
	count, minute, _ := strings.Cut(numbers, " ")
	var inCount, inMinute error
	m.count, inCount = strconv.ParseUint(count, 10, 64)
	at, inMinute := strconv.ParseUint(minute, 10, 32)
	m.minute = uint32(at)
	return key, m, inCount == nil && inMinute == nil && key != ""
}

// load reads what a server has written, and returns nil where there is nothing. An entry that cannot be read is an error of type
// [*unreadableHits].
func (s *hitStore) load(ctx context.Context, server string) (*hitFile, error) {
	all, err := s.loadEntry(ctx, server, "all")
	if err != nil || all == nil {
		return nil, err
	}
	changes, err := s.loadEntry(ctx, server, "changes")
	if err != nil {
		return nil, err
	}
	if changes != nil && changes.generation == all.generation {
		for key, m := range changes.hits {
			all.hits[key] = m
		}
	}
	return all, nil
}

// loadEntry reads an entry, and returns nil where there is none.
func (s *hitStore) loadEntry(ctx context.Context, server, name string) (*hitFile, error) {
	key := s.entry(server, name)
	b, err := s.storage.Load(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := decodeHitFile(b)
	if err != nil {
		return nil, &unreadableHits{key, b, err}
	}
	return f, nil
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
func (s *hitStore) putAside(ctx context.Context, e *unreadableHits) error {
	aside := fmt.Sprintf("%s.unreadable-%d", e.entry, time.Now().Unix())
	s.logger.Error("hits that are stored cannot be read and are put aside", zap.String("aside", aside), zap.Error(e))
	return errors.Join(s.storage.Store(ctx, aside, e.content), s.storage.Delete(ctx, e.entry))
}

// restore adds what this server has stored before to the hits.
func (s *hitStore) restore(ctx context.Context, h *hits) error {
	if s.restored {
		return nil
	}
	f, err := s.load(ctx, s.server)
	if unreadable, is := errors.AsType[*unreadableHits](err); is {
		f, err = nil, s.putAside(ctx, unreadable)
	}
	if err != nil {
		return err
	}
	s.restored = true
	if f == nil {
		return nil
	}
	s.generation = f.generation
	h.mu.Lock()
	defer h.mu.Unlock()
	h.since = f.since
	for key, m := range f.hits {
		h.give(key, m)
	}
	return nil
}

// save stores what has changed since all was stored or, if that is much, or if whole is set, all.
func (s *hitStore) save(ctx context.Context, h *hits, whole bool) error {
	if !s.restored {
		return errors.New("what is stored has not been read yet, and must not be lost")
	}
	keys, changed, sum := 0, 0, uint64(0)
	h.each(false, func(_ string, m hit, isChanged bool) {
		keys++
		if isChanged {
			changed++
			sum += m.word()
		}
	})
	switch {
	case keys == 0 || sum == s.written && s.generation != 0:
		return nil // nothing has happened
	case whole || s.generation == 0 || changed > keys/2:
		return s.saveAll(ctx, h)
	}
	changes := newHitFileWriter(s.generation, h.begun())
	h.each(false, func(key string, m hit, isChanged bool) {
		if isChanged {
			changes.add(key, m)
		}
	})
	err := s.storage.Store(ctx, s.entry(s.server, "changes"), changes.end())
	if err == nil {
		s.written = sum
	}
	return err
}

// saveAll stores all. Changes of another generation do not count any more.
func (s *hitStore) saveAll(ctx context.Context, h *hits) error {
	s.generation, s.written = 0, 0
	generation := time.Now().UnixNano()
	all := newHitFileWriter(generation, h.begun())
	h.each(true, func(key string, m hit, _ bool) { all.add(key, m) })
	if err := s.storage.Store(ctx, s.entry(s.server, "all"), all.end()); err != nil {
		return err
	}
	s.generation = generation
	err := s.storage.Delete(ctx, s.entry(s.server, "changes"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// others returns the hits of the other servers that share the storage, added up, and since when they are counted.
func (s *hitStore) others(ctx context.Context) (sum map[string]hit, since time.Time, err error) {
	entries, err := s.storage.List(ctx, s.prefix, false)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, time.Time{}, err
	}
	sum = map[string]hit{}
	for _, entry := range entries {
		server := path.Base(entry)
		if server == s.server {
			continue
		}
		f, err := s.load(ctx, server)
		if unreadable, is := errors.AsType[*unreadableHits](err); is {
			s.logger.Warn("the hits of another server cannot be read", zap.Error(unreadable)) // perhaps it is of another version
			continue
		}
		if err != nil {
			return nil, time.Time{}, err
		}
		if f == nil {
			continue
		}
		if since.IsZero() || f.since.Before(since) {
			since = f.since
		}
		for key, m := range f.hits {
			sum[key] = sum[key].and(m)
		}
	}
	return sum, since, nil
}
