package hits

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// stored is what a server has stored.
type stored struct {
	*store
	server string
	today  *changes    // what is not in the shards
	old    *oldEntries // in place of shards, if an older version has stored it
}

// stored reads what a server has stored, and returns nil where there is nothing to understand.
func (s *store) stored(ctx context.Context, server string) (*stored, error) {
	e, err := readable(ctx, s, server, "today", parseEntry)
	if err != nil {
		return nil, err
	}
	if e == nil {
		return s.storedByOlder(ctx, server)
	}
	return &stored{s, server, newChanges(e.header, e.lines), nil}, nil
}

// shard reads the lines of a shard. One that cannot be understood is an error of type
// [*unreadableHits].
func (s *stored) shard(ctx context.Context, n int) ([]byte, error) {
	if s.old != nil {
		return s.old.shard(ctx, n)
	}
	e, err := loadEntry(ctx, s.storage, s.entry(s.server, shardName(n)), parseEntry)
	if e == nil {
		return nil, err
	}
	return e.lines, err
}

// each passes what the keys of a shard had. If it cannot be understood that is what there is of
// today, on no day.
func (s *stored) each(ctx context.Context, n int, yield func(l *line)) error {
	lines, err := s.shard(ctx, n)
	if unreadable, is := errors.AsType[*unreadableHits](err); is {
		s.warn(unreadable)
		for key, m := range s.today.of(n) {
			lines = appendLine(lines, key, m)
		}
	} else if err != nil {
		return err
	}
	s.today.merge(n, lines, anyKey, yield)
	return nil
}

// readable reads an entry of a server. One that cannot be understood is left out; if it is one of
// this server it is put aside.
func readable[T any](ctx context.Context, s *store, server, name string,
	parse func([]byte) (*T, error),
) (*T, error) {
	value, err := loadEntry(ctx, s.storage, s.entry(server, name), parse)
	unreadable, is := errors.AsType[*unreadableHits](err)
	if !is {
		return value, err
	}
	if s.isReader || server != s.server {
		s.warn(unreadable)
		return nil, nil
	}
	return nil, s.putAside(ctx, unreadable)
}

// loadEntry reads an entry, and returns nil where there is none. One that cannot be understood is
// an error of type [*unreadableHits].
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

func (s *store) warn(e *unreadableHits) {
	s.logger.Warn("hits of a server cannot be read", zap.Error(e))
}

// putAside copies an entry of this server to another name, as it will be written anew. What is read
// twice has one copy.
func (s *store) putAside(ctx context.Context, e *unreadableHits) error {
	name := strings.ReplaceAll(strings.TrimPrefix(e.entry, s.entry(s.server, "")+"/"), "/", "-")
	aside := s.entry(s.server, fmt.Sprintf("%s.unreadable-%08x", name,
		crc32.ChecksumIEEE(e.content)))
	s.logger.Error("hits that are stored cannot be read and are put aside", zap.String("aside", aside),
		zap.Error(e))
	return s.storage.Store(ctx, aside, e.content)
}

// eachOther passes the names of the other servers that share the storage.
func (s *store) eachOther(ctx context.Context, yield func(server string) error) error {
	entries, err := s.storage.List(ctx, s.prefix, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if server := path.Base(entry); server != s.server && err == nil {
			err = yield(server)
		}
	}
	return err
}

// others are the totals of other servers that share a storage, added up.
type others struct {
	ruleset *resolver.Ruleset
	counts  []Count   // by the numbers of the ruleset's rules
	since   time.Time // when the first of them began
	read    time.Time
}

// others adds up what the other servers have stored. It returns nil where there are none.
func (s *store) others(ctx context.Context, ruleset *resolver.Ruleset) (*others, error) {
	var sum *others
	err := s.eachOther(ctx, func(server string) error {
		from, err := s.stored(ctx, server)
		if err != nil || from == nil {
			return err
		}
		if sum == nil {
			counts := make([]Count, ruleset.Numbers())
			sum = &others{ruleset: ruleset, counts: counts, since: from.today.Since}
		}
		return sum.add(ctx, from)
	})
	if err != nil || sum == nil {
		return nil, err
	}
	sum.read = time.Now()
	return sum, nil
}

// add adds what one server has stored.
func (o *others) add(ctx context.Context, from *stored) error {
	if from.today.Since.Before(o.since) {
		o.since = from.today.Since
	}
	if from.old != nil {
		from.old.index = nil // as days do not matter here
	}
	for n := range shards {
		err := from.each(ctx, n, func(l *line) {
			if number, ok := o.ruleset.NumberOf(string(l.key)); ok {
				o.counts[number] = o.counts[number].plus(l.Count)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
