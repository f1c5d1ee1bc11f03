package redis

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// burst is how long changes of a hash are gathered that follow one another.
const burst = 100 * time.Millisecond

// hash is rules that are the fields of one hash.
type hash struct {
	*Source
	changed signal
}

// read passes the rules sorted by key.
func (h *hash) read(ctx context.Context, add func(resolver.Rule)) (version string, err error) {
	rules, version, err := h.load(ctx)
	live := err == nil || isRejection(err)
	if live {
		h.served.set(fingerprint(version, err), true)
	} else if h.served.nothing() {
		rules, version, err = h.loadCopy(ctx, err)
	} else {
		h.served.fail()
	}
	h.copy.read = nil
	if err != nil {
		return "", err
	}
	for _, rule := range rules {
		add(rule)
	}
	if live {
		h.copy.read = &offer{rules, version}
	}
	return version, nil
}

// readChanges passes nothing: the server does not tell which fields of a hash change.
func (*hash) readChanges(context.Context, func(resolver.Rule), func(string)) (string, error) {
	return "", source.ErrUnknownChanges
}

func (h *hash) judge(serves bool) { h.copy.judge(serves) }

func (h *hash) begin(version string) { h.served.begin(version) }

func (h *hash) isCurrent() bool { return h.served.isCurrent() }

func (h *hash) nodes(ctx context.Context) ([]*goredis.Client, error) {
	node, err := h.server.node(ctx, h.Hash)
	return []*goredis.Client{node}, err
}

func (h *hash) subject() subject {
	return subject{h.Hash, fmt.Sprintf("__keyspace@%d__:%s", h.server.db, h.Hash)}
}

// hear hears of changes; other keys may begin like the hash's name.
func (h *hash) hear(names []any) {
	if names == nil || slices.Contains(names, any(h.Hash)) {
		h.changed.raise()
	}
}

func (h *hash) heard() signal { return h.changed }

func (*hash) gather(ctx context.Context) { wait(ctx, burst) }

// lose does nothing: after each loss of the connection the whole hash is compared.
func (*hash) lose() {}

func (h *hash) compare(ctx context.Context) (differs bool, err error) {
	_, version, err := h.load(ctx)
	if err != nil && !isRejection(err) {
		return false, err
	}
	return !h.served.agrees(fingerprint(version, err)), nil
}

func (h *hash) store(ctx context.Context) { h.copy.run(ctx, h.logger) }

// load reads and understands the hash, and notes whether it can be read.
func (s *Source) load(ctx context.Context) (rules []resolver.Rule, version string, err error) {
	fields, err := s.fetch(ctx)
	s.reached(ctx, err)
	if err != nil {
		return nil, "", err
	}
	rules, err = parseRules(fields, s.String())
	if err != nil {
		return nil, "", rejection{err}
	}
	return rules, versionOf(rules), nil
}

// loadCopy reads the stored copy because the hash cannot be read; cause tells why.
func (s *Source) loadCopy(ctx context.Context, cause error) (rules []resolver.Rule, version string,
	err error) {
	err = s.readCopy(ctx, cause, func(rule resolver.Rule) { rules = append(rules, rule) })
	if err != nil {
		s.served.fail()
		return nil, "", err
	}
	version = versionOf(rules)
	s.served.set(version, false)
	return rules, version, nil
}

// readCopy passes the rules of the stored copy because the server cannot be read; cause tells why.
func (s *Source) readCopy(ctx context.Context, cause error, add func(resolver.Rule)) error {
	rules := 0
	since, err := s.copy.load(ctx, s.String(), func(rule resolver.Rule) {
		rules++
		add(rule)
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return cause
	case err != nil:
		return errors.Join(cause, err)
	}
	s.logger.Warn("redis cannot be read; serving the stored copy of its rules",
		zap.Error(cause), zap.Int("rules", rules), zap.Time("stored", since))
	s.reach.UseCopy(cause, since)
	return nil
}
