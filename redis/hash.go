package redis

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// hash is rules stored as the fields of one hash.
type hash struct {
	*Source
	changed signal
	// last is the result of the handler's last reading, or nil.
	last atomic.Pointer[string]
}

// outcome returns a text that is equal for equal results of reading the hash: the rules' version,
// or why they are rejected. A failure to read it is equal to nothing, so that the handler is told
// when it is over.
func outcome(version string, err error) string {
	switch {
	case err == nil:
		return version
	case isRejection(err):
		return "rejected: " + err.Error()
	}
	return "unreachable"
}

// read passes the rules, sorted by key.
func (h *hash) read(ctx context.Context, add func(resolver.Rule)) (version string, err error) {
	rules, version, err := h.load(ctx)
	last := outcome(version, err)
	h.last.Store(&last)
	for _, rule := range rules {
		add(rule)
	}
	return version, err
}

func (h *hash) begin(version string) { h.last.CompareAndSwap(nil, &version) }

func (h *hash) compare(ctx context.Context, changed func(keys ...string)) (
	took time.Duration, err error,
) {
	begun := time.Now()
	_, version, err := h.load(ctx)
	if err != nil && !isRejection(err) {
		return 0, err
	}
	if last := h.last.Load(); last == nil || *last != outcome(version, err) {
		changed()
	}
	return time.Since(begun), nil
}

func (h *hash) nodes(ctx context.Context) ([]*goredis.Client, error) {
	node, err := h.server.node(ctx, h.Hash)
	return []*goredis.Client{node}, err
}

func (h *hash) subject() subject {
	return subject{h.Hash, fmt.Sprintf("__keyspace@%d__:%s", h.server.db, h.Hash)}
}

// hear receives changes; other keys may begin like the hash's name.
func (h *hash) hear(names []any) {
	if names == nil || slices.Contains(names, any(h.Hash)) {
		h.changed.raise()
	}
}

func (h *hash) heard() signal { return h.changed }

func (*hash) burst() time.Duration { return 100 * time.Millisecond }

// tell reports the whole hash: the server does not say which fields change.
func (*hash) tell(changed func(keys ...string)) { changed() }

// load reads and parses the hash, and records whether it can be read.
func (h *hash) load(ctx context.Context) (rules []resolver.Rule, version string, err error) {
	fields, err := h.fetch(ctx)
	h.reached(ctx, err)
	if err != nil {
		return nil, "", err
	}
	rules, err = parseRules(fields, h.String())
	if err != nil {
		return nil, "", rejection{err}
	}
	return rules, versionOf(rules), nil
}
