package redis

import (
	"context"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// content is how rules lie in Redis: as the fields of a [hash], or as [keys] of their own. What
// [Source] has is the way to the server; what they have in common stands there.
type content interface {
	// read and rewrite are the Source's methods.
	read(ctx context.Context, add func(resolver.Rule)) (version string, err error)
	rewrite(ctx context.Context, version string, edit rulefile.Edit) (newVersion string, err error)

	// begin takes down the version that an earlier Read, perhaps of another Source, returned.
	begin(version string)
	// compare calls changed if the rules may be others than those that were read last, and returns how
	// long it takes to read them. An error tells that the server could not be read.
	compare(ctx context.Context, changed func(keys ...string)) (took time.Duration, err error)

	// nodes are the servers that hold the rules.
	nodes(ctx context.Context) ([]*goredis.Client, error)
	// subject is what these are asked to tell of, and hear is told: the names of keys, nil for all.
	subject() subject
	hear(names []any)
	// heard is raised when something has been heard. After a burst, in which more follows, tell passes
	// it on.
	heard() signal
	burst() time.Duration
	tell(changed func(keys ...string))
}
