package redis

import (
	"context"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// content is how rules are stored in Redis: as the fields of a [hash], or as [keys] of their own.
// [Source] connects to the server, and has what both share.
type content interface {
	// read and apply are the Source's methods.
	read(ctx context.Context, add func(resolver.Rule)) (version string, err error)
	apply(ctx context.Context, version string, edit rulefile.Edit) (newVersion string, err error)

	// begin records the version that an earlier Read, perhaps of another Source, returned.
	begin(version string)
	// compare calls changed if the rules may differ from those that were read last, and returns how
	// long reading them takes. An error means that the server could not be read.
	compare(ctx context.Context, changed func(keys ...string)) (took time.Duration, err error)

	// nodes are the servers that hold the rules.
	nodes(ctx context.Context) ([]*goredis.Client, error)
	// subject is what the servers are asked to push, and hear receives the names of changed keys,
	// nil for all.
	subject() subject
	hear(names []any)
	// heard is raised when something was heard. After a burst, in which more follows, tell passes
	// it on.
	heard() signal
	burst() time.Duration
	tell(changed func(keys ...string))
}
