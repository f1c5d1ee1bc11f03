package source

import (
	"context"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Changing is a [Source] that says which of its rules may have changed. So a change costs no more
// than its rules. The handler remembers what is still to be read, and asks the source for it.
type Changing interface {
	Source

	// ByKey reports whether the source can do so as it is configured. If not, it is like all other
	// sources.
	ByKey() bool

	// WatchKeys replaces Watch. It calls changed with the keys whose rules may have changed since
	// the last call. No key stands for all keys, and is passed first, once changes are noticed:
	// then all rules are read and compared with those that serve, in the background.
	WatchKeys(ctx context.Context, changed func(keys ...string))

	// ReadKeys reads the rules of some keys. It passes each rule to set, and each key without a rule
	// to remove. The error is like that of Read; after an error, nothing counts. It may be called
	// while Read runs, which may then run twice at a time. Positions name only the source.
	ReadKeys(
		ctx context.Context, keys []string, set func(resolver.Rule), remove func(key string),
	) error
}

// ByKey returns a source as a [Changing], if it says which of its rules may have changed.
func ByKey(from Source) (changing Changing, does bool) {
	changing, does = from.(Changing)
	return changing, does && changing.ByKey()
}
