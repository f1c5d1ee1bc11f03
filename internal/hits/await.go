package hits

import (
	"context"
	"fmt"

	"github.com/caddyserver/certmagic"
)

// await returns the result of ask, or an error if ctx ends first. A hanging file system, or a pipe
// instead of a file, never answers and ignores contexts. A late answer is dropped.
func await[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	if ctx.Err() == nil {
		go func() {
			value, err := ask()
			answers <- answer{value, err}
		}()
	}
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("no answer: %w", context.Cause(ctx))
	}
}

// awaitedStorage is a storage whose operations end with their context.
type awaitedStorage struct{ certmagic.Storage }

// Load returns the value of a key.
func (s awaitedStorage) Load(ctx context.Context, key string) ([]byte, error) {
	return await(ctx, func() ([]byte, error) { return s.Storage.Load(ctx, key) })
}

// Store sets the value of a key.
func (s awaitedStorage) Store(ctx context.Context, key string, value []byte) error {
	_, err := await(ctx, func() (none struct{}, err error) {
		return none, s.Storage.Store(ctx, key, value)
	})
	return err
}

// Delete removes a key.
func (s awaitedStorage) Delete(ctx context.Context, key string) error {
	_, err := await(ctx, func() (none struct{}, err error) { return none, s.Storage.Delete(ctx, key) })
	return err
}

// List returns the keys with a prefix.
func (s awaitedStorage) List(ctx context.Context, prefix string, recursive bool) ([]string, error) {
	return await(ctx, func() ([]string, error) { return s.Storage.List(ctx, prefix, recursive) })
}
