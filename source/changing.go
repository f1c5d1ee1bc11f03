package source

import (
	"context"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Changing is a [Source] that says which of its rules may have changed, so that a change costs no
// more than the rules that it is of. What is still to be read the handler knows: the source is
// asked for that.
type Changing interface {
	Source

	// ByKey reports whether the source does, as it is configured. Else it is one like all others.
	ByKey() bool

	// WatchKeys is called in the place of Watch. It says of which keys the rules may be others than at
	// the call before. No key stands for all, which it says first, when it notices changes from then
	// on: all rules are read then, and compared with those that serve, and nobody waits for it.
	WatchKeys(ctx context.Context, changed func(keys ...string))

	// ReadKeys reads the rules of some keys: one that is there goes to set, and the key of one that is
	// not to remove. The error is as that of Read; after one nothing of it counts. It is called while
	// Read runs, too, which may run twice at a time then. Positions name the source alone.
	ReadKeys(
		ctx context.Context, keys []string, set func(resolver.Rule), remove func(key string),
	) error
}

// ByKey returns a source that says which of its rules may have changed, if it does.
func ByKey(from Source) (changing Changing, does bool) {
	changing, does = from.(Changing)
	return changing, does && changing.ByKey()
}
