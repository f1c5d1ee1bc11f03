package storage

import (
	"context"
	"fmt"

	"github.com/caddyserver/certmagic"
)

// Await returns the result of ask, or an error if ctx ends first. A hanging file system, or a pipe
// instead of a file, never answers and ignores contexts. A late answer is dropped.
func Await[T any](ctx context.Context, ask func() (T, error)) (T, error) {
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

// awaited is a storage whose operations end with their context.
type awaited struct{ certmagic.Storage }

// Load returns the value of a key.
func (s awaited) Load(ctx context.Context, key string) ([]byte, error) {
	return Await(ctx, func() ([]byte, error) { return s.Storage.Load(ctx, key) })
}

// Store sets the value of a key.
func (s awaited) Store(ctx context.Context, key string, value []byte) error {
	_, err := Await(ctx, func() (none struct{}, err error) {
		return none, s.Storage.Store(ctx, key, value)
	})
	return err
}

// Delete removes a key.
func (s awaited) Delete(ctx context.Context, key string) error {
	_, err := Await(ctx, func() (none struct{}, err error) { return none, s.Storage.Delete(ctx, key) })
	return err
}

// List returns the keys with a prefix.
func (s awaited) List(ctx context.Context, prefix string, recursive bool) ([]string, error) {
	return Await(ctx, func() ([]string, error) { return s.Storage.List(ctx, prefix, recursive) })
}
