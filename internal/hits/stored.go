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

// errUnreadable is the error of an entry that has another format, or is damaged.
var errUnreadable = errors.New("an entry does not contain hits")

// load reads an entry of a server. It returns nil if there is none, and errUnreadable after logging
// why. An unreadable entry of this server is going to be overwritten, so it is copied. The name of
// the copy depends on the content, so two attempts make one copy.
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
	if server != s.server {
		s.logger.Warn("the hits of a server cannot be read", zap.String("entry", entry), zap.Error(err))
		return nil, errUnreadable
	}
	aside := s.entry(server, fmt.Sprintf("%s.unreadable-%08x", strings.ReplaceAll(name, "/", "-"),
		crc32.ChecksumIEEE(b)))
	s.logger.Error("stored hits cannot be read and are put aside",
		zap.String("entry", entry), zap.String("aside", aside), zap.Error(err))
	return nil, cmp.Or(s.storage.Store(ctx, aside, b), errUnreadable)
}

// shard returns the lines of a shard.
func (s *store) shard(ctx context.Context, server string, n int) ([]byte, error) {
	c, err := load(ctx, s, server, shardName(n), parseEntry)
	if c == nil {
		return nil, err
	}
	return c.lines, nil
}

// eachKey passes the lines of a server's shard, with today's changes. If the shard is unreadable,
// only the changes are known, but not their days.
func (s *store) eachKey(ctx context.Context, server string, today *changes, n int,
	yield func(l *line),
) error {
	lines, err := s.shard(ctx, server, n)
	if err == errUnreadable {
		for key, m := range today.totals(n) {
			lines = appendLine(lines, key, m)
		}
	} else if err != nil {
		return err
	}
	today.merge(n, lines, anyKey, yield)
	return nil
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
		if today, err = load(ctx, s, server, "today", parseEntry); today != nil {
			err = yield(server, today)
		} else if err == errUnreadable {
			err = nil
		}
	}
	return err
}

// others are the totals of the other servers, added up.
type others struct {
	ruleset *resolver.Ruleset
	counts  []Count   // by the numbers of the ruleset's rules; nil for no servers
	recent  []uint64  // those of the last topDays
	since   time.Time // when the first of them began counting
	read    time.Time
}

// newOthers returns the totals of no servers.
func newOthers(ruleset *resolver.Ruleset) *others {
	return &others{ruleset: ruleset, recent: make([]uint64, ruleset.Numbers()), read: time.Now()}
}

// others adds up what the other servers have stored. It returns nil if there are none.
func (s *store) others(ctx context.Context, ruleset *resolver.Ruleset) (*others, error) {
	sum := newOthers(ruleset)
	if err := s.addOthers(ctx, sum); err != nil || sum.since.IsZero() {
		return nil, err
	}
	sum.read = time.Now()
	return sum, nil
}

// addOthers adds what the other servers have stored.
func (s *store) addOthers(ctx context.Context, sum *others) error {
	return s.eachOther(ctx, func(server string, c *content) error {
		today := newChanges(c.header, c.lines)
		if sum.counts == nil {
			sum.counts = make([]Count, sum.ruleset.Numbers())
		}
		if sum.since.IsZero() || today.Since.Before(sum.since) {
			sum.since = today.Since
		}
		for n := range shards {
			if err := s.eachKey(ctx, server, today, n, sum.add); err != nil {
				return err
			}
		}
		return nil
	})
}

// add adds the total of a key on one server.
func (o *others) add(l *line) {
	if number, ok := o.ruleset.NumberOf(string(l.key)); ok {
		o.counts[number] = o.counts[number].plus(l.Count)
		o.recent[number] += l.since(dayOf(o.read) - topDays + 1)
	}
}
