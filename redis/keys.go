package redis

import (
	"context"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

const (
	// tick is how long changes of keys are gathered that follow one another.
	tick = 5 * time.Millisecond
	// maxNoted is how many names of changed keys are noted until they are read. With more, reading
	// everything costs about as much, and their memory is bounded.
	maxNoted = 100_000
)

// keys are rules with a key of Redis for each. The server pushes the names of those that change:
//
//	push, comparison --> noted --> readChanges: pending --> judged good: dealt with
//	                                               \------> rejected: read again with the next
//
// Where names have been lost, or are too many, everything is unknown until read has read it.
type keys struct {
	*Source
	prefix   string // of the names of all keys; what stands behind it is a rule's key
	changed  signal // there are keys that have changed
	unstored signal // there are rules that serve and are not stored

	mu sync.Mutex
	// known is what was read last, also if it was rejected; nil if nothing has been read yet.
	known *digests
	// handedOver is the version of what an earlier Source has read, for a time without known.
	handedOver string
	unread
	follows bool // changes are noted since the last comparison
	passed  bool // what was read last waits for its judgement
	current bool // the last reading or comparison found the server
	failed  bool // the handler was told that none did
	// rest is until when nothing is read a second time.
	rest time.Time
}

// unread is what may be otherwise than the rules that serve.
type unread struct {
	// noted are the names of the keys that have changed since they were read.
	noted map[string]struct{}
	// pending are those of the keys that have been read since. Of one that differs from what was read
	// before, the value is true.
	pending map[string]bool
	// missed tells that noted lacks names, and unknown that pending does.
	missed, unknown bool
}

// note notes that a key has changed.
func (u *unread) note(name string) {
	if u.noted == nil {
		u.noted = make(map[string]struct{})
	}
	if u.noted[name] = struct{}{}; len(u.noted) > maxNoted {
		u.noted, u.missed = nil, true
	}
}

// pend takes down that a key has been read, and whether it differs.
func (u *unread) pend(name string, differs bool) {
	if u.pending == nil {
		u.pending = make(map[string]bool)
	}
	u.pending[name] = differs
}

// restore takes back that everything was to be read, in place of what was unread before.
func (u *unread) restore(before unread) {
	for name := range before.noted {
		u.note(name)
	}
	u.pending, u.unknown = before.pending, before.unknown
	u.missed = u.missed || before.missed
}

// newKeys returns the rules whose keys in Redis begin with a prefix.
func newKeys(s *Source, prefix string) *keys {
	return &keys{Source: s, prefix: prefix, changed: newSignal(), unstored: newSignal()}
}

// nodes are all servers: keys lie on each of them.
func (k *keys) nodes(ctx context.Context) ([]*goredis.Client, error) {
	return k.server.masters(ctx)
}

// subject has no keyspace events: those of many keys come by a pattern, which takes the server a
// comparison with each key that anybody writes.
func (k *keys) subject() subject { return subject{prefix: k.prefix} }

func (k *keys) heard() signal { return k.changed }

// hear notes which keys have changed.
func (k *keys) hear(names []any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if names == nil {
		k.missed = true
	}
	for _, name := range names {
		if name, is := name.(string); is {
			k.note(name)
		}
	}
	k.changed.raise()
}

// gather waits for the changes that follow one another, and longer while rules are rejected, or
// more change than are noted, as these are read again each time.
func (k *keys) gather(ctx context.Context) {
	wait(ctx, tick)
	for ctx.Err() == nil && k.rests() {
		wait(ctx, 10*tick)
	}
}

func (k *keys) rests() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	again := k.unknown || k.missed || len(k.pending) > 0
	return again && time.Now().Before(k.rest)
}

// lose takes down that changes may go unnoticed from now on.
func (k *keys) lose() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.follows = false
}

// begin takes down the version of what was read before, unless this Source has read itself.
func (k *keys) begin(version string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil && !k.failed {
		k.handedOver, k.current = version, true
	}
}

func (k *keys) isCurrent() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.current
}

// judge takes down that what was read last serves, or that it does not.
func (k *keys) judge(serves bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.passed && serves {
		k.pending, k.unknown = nil, false
		k.unstored.raise()
	}
	k.passed = false
}

// serves reports whether a key holds what serves.
func (k *keys) serves(e entry) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil || k.unknown {
		return false
	}
	_, pending := k.pending[e.name]
	digest, known := k.known.get(e.name)
	return known && !pending && digest == e.digest
}
