package redis

import (
	"context"

	goredis "github.com/redis/go-redis/v9"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// content is how rules lie in Redis: as the fields of a [hash], or as [keys] of their own. What
// [Source] has is the way to the server; what they have in common stands there.
type content interface {
	// read, readChanges, judge and rewrite are the Source's methods.
	read(ctx context.Context, add func(resolver.Rule)) (version string, err error)
	readChanges(ctx context.Context, set func(resolver.Rule), remove func(key string)) (
		version string, err error)
	judge(serves bool)
	rewrite(ctx context.Context, version string, edit rulefile.Edit) (newVersion string, err error)

	// begin takes down the version that an earlier Read, perhaps of another Source, returned.
	begin(version string)
	// compare reads everything and reports whether the handler has to be told. An error tells that
	// the server could not be read.
	compare(ctx context.Context) (differs bool, err error)
	// isCurrent reports whether the last reading, if any, found the server.
	isCurrent() bool

	// nodes are the servers that hold the rules.
	nodes(ctx context.Context) ([]*goredis.Client, error)
	// subject is what these are asked to tell of, and hear is told: the names of keys, nil for all.
	subject() subject
	hear(names []any)
	// heard is raised when there is something to read, and gather waits for what follows at once.
	heard() signal
	gather(ctx context.Context)
	// lose is called when the server tells of changes no longer.
	lose()

	// store keeps the stored copy up to date until ctx ends.
	store(ctx context.Context)
}
