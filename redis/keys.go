package redis

import (
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// keysAtOnce is how many changed keys are read at once. Keys written together, by MSET, MULTI or a
// script, are pushed together, and up to this many are read consistently. It takes the server 5 ms.
const keysAtOnce = 10_000

// maxBad is how many bad values are reported: nobody mends more by hand.
const maxBad = 10_000

// keys is rules stored as a Redis key each. The server pushes the names of those that change, which
// are passed on; the rules themselves are not kept.
type keys struct {
	*Source
	prefix  string // of all names; the rest of a name is the rule's key
	changed signal
	took    atomic.Int64 // nanoseconds of the last complete reading

	mu sync.Mutex
	// told are the keys that the server has pushed in a burst, and whether it pushed all.
	told    map[string]struct{}
	toldAll bool
}

// newKeys returns the rules whose Redis keys begin with a prefix.
func newKeys(s *Source, prefix string) *keys {
	return &keys{Source: s, prefix: prefix, changed: newSignal()}
}

// nodes returns all servers: each of them has keys.
func (k *keys) nodes(ctx context.Context) ([]*goredis.Client, error) {
	return k.server.masters(ctx)
}

// subject has no keyspace events: those of many keys need a pattern, which the server compares with
// each key that anybody writes.
func (k *keys) subject() subject { return subject{prefix: k.prefix} }

// hear records which keys have changed.
func (k *keys) hear(names []any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.toldAll = k.toldAll || names == nil
	if k.told == nil {
		k.told = make(map[string]struct{})
	}
	for _, name := range names {
		if name, is := name.(string); is {
			k.told[k.keyOf(name)] = struct{}{}
		}
	}
	k.changed.raise()
}

func (k *keys) heard() signal { return k.changed }

func (*keys) burst() time.Duration { return 5 * time.Millisecond }

func (k *keys) tell(changed func(keys ...string)) {
	k.mu.Lock()
	told, toldAll := k.told, k.toldAll
	k.told, k.toldAll = nil, false
	k.mu.Unlock()
	if toldAll {
		changed()
	}
	if len(told) > 0 {
		changed(slices.Collect(maps.Keys(told))...)
	}
}

// begin does nothing: a watch of keys compares them first.
func (*keys) begin(string) {}

// compare leaves reading all rules to the handler, which has the rules to compare with.
func (k *keys) compare(_ context.Context, changed func(keys ...string)) (time.Duration, error) {
	changed()
	return time.Duration(k.took.Load()), nil
}

// seed keeps authors of rules from choosing rules with equal digests.
var seed = maphash.MakeSeed()

// read passes all rules as they come. What is written meanwhile may be missed.
func (k *keys) read(ctx context.Context, add func(resolver.Rule)) (version string, err error) {
	begun := time.Now()
	// SCAN can return a key twice while the server enlarges its table. Of a million names, two
	// collide with a probability of 1 to 37 million.
	seen := make(map[uint64]struct{})
	var sum uint64
	var bad rulefile.Errors
	err = k.each(ctx, func(e storedKey) {
		name := maphash.String(seed, e.name)
		if _, again := seen[name]; again || e.gone {
			return
		}
		seen[name] = struct{}{}
		if e.err != nil {
			bad = k.appendProblems(bad, e)
			return
		}
		sum += maphash.Comparable(seed, e.rule)
		add(e.rule)
	})
	if err == nil && len(seen) == 0 {
		err = rejection{fmt.Errorf(
			"no Redis key begins with %s; write rules with: SET %[1]s<key> <destination>", k.prefix)}
	}
	if err == nil {
		err = rejectionOf(bad)
	}
	k.reached(ctx, err)
	k.took.Store(int64(time.Since(begun)))
	return fmt.Sprintf("%d-%016x", len(seen), sum), err
}

// readKeys passes the rules of some keys.
func (k *keys) readKeys(
	ctx context.Context, keys []string, set func(resolver.Rule), remove func(key string),
) error {
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = k.prefix + key
	}
	slices.Sort(names)
	var found []storedKey
	var bad rulefile.Errors
	for some := range slices.Chunk(names, keysAtOnce) {
		err := k.fetch(ctx, some, func(e storedKey) {
			found = append(found, e)
			bad = k.appendProblems(bad, e)
		})
		if err != nil {
			k.reached(ctx, err)
			return err
		}
	}
	if len(names) > 0 {
		k.reached(ctx, nil)
	}
	if err := rejectionOf(bad); err != nil {
		return err
	}
	for _, e := range found {
		if e.gone {
			remove(e.rule.Key)
		} else {
			set(e.rule)
		}
	}
	return nil
}

// appendProblems appends the errors of a key's value.
func (k *keys) appendProblems(errs rulefile.Errors, e storedKey) rulefile.Errors {
	for _, message := range messagesOf(e.err) {
		if len(errs) < maxBad {
			errs = append(errs, &rulefile.Error{
				Position: resolver.Position{Source: k.String()},
				Message:  fmt.Sprintf("key %q: %s", e.rule.Key, message),
			})
		}
	}
	return errs
}

// rejectionOf returns the error of bad values, or nil.
func rejectionOf(bad rulefile.Errors) error {
	if bad == nil {
		return nil
	}
	slices.SortFunc(bad, func(a, b *rulefile.Error) int {
		return strings.Compare(a.Message, b.Message)
	})
	return rejection{bad}
}
