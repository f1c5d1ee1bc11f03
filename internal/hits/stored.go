package hits

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// stored is what a server has stored.
type stored struct {
	*store
	server string
	today  *changes  // what is not in the shards
	old    *oldIndex // in place of shards, if an older version has stored it
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

// shard reads the lines of a shard. The error is errUnreadable if it cannot be understood.
func (s *stored) shard(ctx context.Context, n int) ([]byte, error) {
	if s.old != nil {
		return s.oldShard(ctx, n)
	}
	e, err := load(ctx, s.store, s.server, shardName(n), parseEntry)
	if e == nil {
		return nil, err
	}
	return e.lines, err
}

// each passes what the keys of a shard had. If it cannot be understood that is what there is of
// today, on no day.
func (s *stored) each(ctx context.Context, n int, yield func(l *line)) error {
	lines, err := s.shard(ctx, n)
	if err == errUnreadable {
		for key, m := range s.today.of(n) {
			lines = appendLine(lines, key, m)
		}
	} else if err != nil {
		return err
	}
	s.today.merge(n, lines, anyKey, yield)
	return nil
}

var errUnreadable = errors.New("an entry holds something else than hits")

// readable reads an entry of a server, and returns nil where there is none that can be understood.
func readable[T any](ctx context.Context, s *store, server, name string,
	parse func([]byte) (*T, error),
) (*T, error) {
	value, err := load(ctx, s, server, name, parse)
	if err == errUnreadable {
		return nil, nil
	}
	return value, err
}

// load reads an entry of a server, and returns nil where there is none. The error is errUnreadable
// if it cannot be understood, which is told; one of this server, which will be written anew, is
// copied to another name. What is read twice has one copy.
func load[T any](ctx context.Context, s *store, server, name string,
	parse func([]byte) (*T, error),
) (*T, error) {
	entry := s.entry(server, name)
	b, err := s.storage.Load(ctx, entry)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	value, err := parse(b)
	if err == nil {
		return value, nil
	}
	if s.isReader || server != s.server {
		s.logger.Warn("hits of a server cannot be read", zap.String("entry", entry), zap.Error(err))
		return nil, errUnreadable
	}
	aside := s.entry(server, fmt.Sprintf("%s.unreadable-%08x", strings.ReplaceAll(name, "/", "-"),
		crc32.ChecksumIEEE(b)))
	s.logger.Error("hits that are stored cannot be read and are put aside",
		zap.String("entry", entry), zap.String("aside", aside), zap.Error(err))
	return nil, cmp.Or(s.storage.Store(ctx, aside, b), errUnreadable)
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
		since := from.today.Since
		if sum == nil {
			sum = &others{ruleset: ruleset, counts: make([]Count, ruleset.Numbers()), since: since}
		}
		if since.Before(sum.since) {
			sum.since = since
		}
		if from.old != nil {
			from.old.Segments = nil // as days do not matter here
		}
		for n := range shards {
			if err := from.each(ctx, n, sum.add); err != nil {
				return err
			}
		}
		sum.read = time.Now()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return sum, nil
}

// add adds what a key had on one server.
func (o *others) add(l *line) {
	if number, ok := o.ruleset.NumberOf(string(l.key)); ok {
		o.counts[number] = o.counts[number].plus(l.Count)
	}
}
