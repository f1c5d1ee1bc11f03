// Package await bounds the time of calls that may never return: a hanging file system, or a pipe
// instead of a file, never answers and ignores contexts. It imports nothing of the module.
package await

import (
	"context"

	"github.com/caddyserver/certmagic"
)

// Result returns the result of call, or the cause of the end of ctx if that comes first. A late
// result is dropped.
func Result[T any](ctx context.Context, call func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	if ctx.Err() == nil {
		go func() {
			value, err := call()
			answers <- answer{value, err}
		}()
	}
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// Storage is a storage whose operations end with their context.
type Storage struct{ certmagic.Storage }

// Load returns the value of a key.
func (s Storage) Load(ctx context.Context, key string) ([]byte, error) {
	return Result(ctx, func() ([]byte, error) { return s.Storage.Load(ctx, key) })
}

// Store sets the value of a key.
func (s Storage) Store(ctx context.Context, key string, value []byte) error {
	_, err := Result(ctx, func() (none struct{}, err error) {
		return none, s.Storage.Store(ctx, key, value)
	})
	return err
}

// Delete removes a key.
func (s Storage) Delete(ctx context.Context, key string) error {
	_, err := Result(ctx, func() (none struct{}, err error) { return none, s.Storage.Delete(ctx, key) })
	return err
}

// List returns the keys with a prefix.
func (s Storage) List(ctx context.Context, prefix string, recursive bool) ([]string, error) {
	return Result(ctx, func() ([]string, error) { return s.Storage.List(ctx, prefix, recursive) })
}
