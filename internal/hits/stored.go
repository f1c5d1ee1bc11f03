package hits

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
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

// shard reads a shard, which is empty where there is none. One that cannot be understood is an
// error of type [*unreadableHits].
func (s *stored) shard(ctx context.Context, n int) (*entry, error) {
	if s.old != nil {
		return s.old.shard(ctx, n)
	}
	e, err := loadEntry(ctx, s.storage, s.entry(s.server, shardName(n)), parseEntry)
	if e == nil {
		e = new(entry)
	}
	return e, err
}

// each passes what the keys of a shard had, with today. Of a shard that cannot be understood that
// is what there is of today, on no day.
func (s *stored) each(ctx context.Context, n int, yield func(l *line, isChanged bool)) error {
	sh, err := s.shard(ctx, n)
	if unreadable, is := errors.AsType[*unreadableHits](err); is {
		s.warn(unreadable)
		sh, err = new(entry), nil
		for key, m := range s.today.of(n) {
			sh.lines = appendLine(sh.lines, key, m)
		}
	}
	if err != nil {
		return err
	}
	s.today.since(sh.header)
	s.today.merge(n, sh.lines, yield)
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
	if err := s.copyAside(ctx, unreadable); err != nil {
		return nil, err
	}
	return nil, s.delete(ctx, unreadable.entry)
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

// copyAside copies an entry of this server to another name, so that it can be written anew.
func (s *store) copyAside(ctx context.Context, e *unreadableHits) error {
	aside := fmt.Sprintf("%s.unreadable-%d", e.entry, time.Now().Unix())
	s.logger.Error("hits that are stored cannot be read and are put aside", zap.String("aside", aside),
		zap.Error(e))
	return s.storage.Store(ctx, aside, e.content)
}

func (s *store) delete(ctx context.Context, entry string) error {
	if err := s.storage.Delete(ctx, entry); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
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
func (s *store) others(ctx context.Context, ruleset *resolver.Ruleset) (sum *others, err error) {
	err = s.eachOther(ctx, func(server string) error {
		from, err := s.stored(ctx, server)
		if err != nil || from == nil {
			return err
		}
		if sum == nil {
			counts := make([]Count, ruleset.Numbers())
			sum = &others{ruleset: ruleset, counts: counts, since: from.today.Since, read: time.Now()}
		}
		return sum.add(ctx, from)
	})
	return sum, err
}

// add adds what one server has stored.
func (o *others) add(ctx context.Context, from *stored) error {
	for n := range shards {
		err := from.each(ctx, n, func(l *line, _ bool) {
			if n, ok := o.ruleset.NumberOf(string(l.key)); ok {
				o.counts[n] = o.counts[n].plus(l.Count)
			}
		})
		if err != nil {
			return err
		}
	}
	if from.today.Since.Before(o.since) {
		o.since = from.today.Since
	}
	return nil
}
