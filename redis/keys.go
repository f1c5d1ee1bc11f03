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

// keysAtOnce is how many changed keys are read at once: what was written at once, by MSET, MULTI or
// a script, is pushed at once, and up to so many are seen as a whole. It takes the server 5 ms.
const keysAtOnce = 10_000

// maxBad is how many bad values are reported at most: nobody puts right more of them by hand.
const maxBad = 10_000

// keys are rules with a key of Redis for each. The server pushes the names of those that change,
// which are passed on; nothing is remembered of the rules.
type keys struct {
	*Source
	prefix  string // of the names of all keys; what stands behind it is a rule's key
	changed signal
	took    atomic.Int64 // nanoseconds that the last reading of everything took

	mu sync.Mutex
	// told are the rules' keys that the server has told of, in a burst, and whether it was of all.
	told    map[string]struct{}
	toldAll bool
}

// newKeys returns the rules whose keys in Redis begin with a prefix.
func newKeys(s *Source, prefix string) *keys {
	return &keys{Source: s, prefix: prefix, changed: newSignal()}
}

// nodes are all servers: keys lie on each of them.
func (k *keys) nodes(ctx context.Context) ([]*goredis.Client, error) {
	return k.server.masters(ctx)
}

// subject has no keyspace events: those of many keys come by a pattern, which takes the server a
// comparison with each key that anybody writes.
func (k *keys) subject() subject { return subject{prefix: k.prefix} }

// hear takes down which keys have changed.
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

// begin does nothing: whoever watches keys compares them first.
func (*keys) begin(string) {}

// compare leaves it to the handler to read all rules, as it has what to compare them with.
func (k *keys) compare(_ context.Context, changed func(keys ...string)) (time.Duration, error) {
	changed()
	return time.Duration(k.took.Load()), nil
}

// seed makes digests that nobody can choose rules for, so that one is taken for another.
var seed = maphash.MakeSeed()

// read passes all rules as they come. What is written meanwhile is seen or not.
func (k *keys) read(ctx context.Context, add func(resolver.Rule)) (version string, err error) {
	begun := time.Now()
	// SCAN gives a key twice while the server makes its table larger. Of a million names, two are
	// taken for one with a probability of 1 to 37 million.
	seen := make(map[uint64]struct{})
	var sum uint64
	var bad rulefile.Errors
	err = k.each(ctx, func(e entry) {
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
	var found []entry
	var bad rulefile.Errors
	for some := range slices.Chunk(names, keysAtOnce) {
		err := k.fetch(ctx, some, func(e entry) {
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

// appendProblems appends what is wrong with what a key holds.
func (k *keys) appendProblems(errs rulefile.Errors, e entry) rulefile.Errors {
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

// rejectionOf returns the error of bad values, nil for none.
func rejectionOf(bad rulefile.Errors) error {
	if bad == nil {
		return nil
	}
	slices.SortFunc(bad, func(a, b *rulefile.Error) int {
		return strings.Compare(a.Message, b.Message)
	})
	return rejection{bad}
}
