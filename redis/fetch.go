package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	goredis "github.com/redis/go-redis/v9"
)

const (
	// pageSize is how many fields are read at a time. They block the server's other clients for
	// about a millisecond, and a hash of a million takes 200 round trips.
	pageSize = 5000
	// strictTries is how often a hash is read before one that changed meanwhile is accepted; tries
	// is how often at most.
	strictTries, tries = 3, 5
)

// field is a field of the hash: a key and its value.
type field struct{ key, value string }

// fetch returns the fields of the hash, sorted by key. They are as they were at one time. If the
// hash changes too often for that, each field is as it was at some time during the reading; the
// next push or poll then leads to another reading.
func (s *Source) fetch(ctx context.Context) ([]field, error) {
	for try := 1; try <= tries; try++ {
		f, err := s.fetchOnce(ctx)
		if goredis.HasErrorPrefix(err, "WRONGTYPE") {
			return nil, rejection{fmt.Errorf(
				"the Redis key %s is not a hash; write rules with: HSET %s <key> <destination>", s.Hash,
				s.Hash)}
		}
		if err != nil {
			return nil, err
		}
		if f.undisturbed || try > strictTries && f.plausible() {
			return f.fields, nil
		}
	}
	return nil, fmt.Errorf("the Redis hash %s is replaced more often than it can be read", s.Hash)
}

// fetched is the result of reading a hash once.
type fetched struct {
	fields        []field
	undisturbed   bool  // whether nobody wrote to the hash meanwhile
	before, after int64 // the number of fields
}

// plausible reports whether there are as many fields as there must be if some were written
// meanwhile. Fewer come from a hash that was deleted or replaced.
func (f fetched) plausible() bool {
	return int64(len(f.fields)) >= min(f.before, f.after)
}

// fetchOnce reads the hash in steps, so that the server can serve others in between. All steps use
// one connection: a cursor means nothing to another server, nor to this one after a restart. As for
// transactions, the server says in the end whether the hash was written to.
func (s *Source) fetchOnce(ctx context.Context) (f fetched, err error) {
	err = s.server.client.Watch(ctx, func(tx *goredis.Tx) error {
		if f.before, err = tx.HLen(ctx, s.Hash).Result(); err != nil {
			return err
		}
		if f.before == 0 {
			return rejection{fmt.Errorf("the Redis hash %s is missing or empty", s.Hash)}
		}
		if f.fields, err = s.scan(ctx, tx, f.before); err != nil {
			return err
		}
		if f.after, err = tx.HLen(ctx, s.Hash).Result(); err != nil {
			return err
		}
		_, err = tx.TxPipelined(ctx, func(p goredis.Pipeliner) error {
			return p.HLen(ctx, s.Hash).Err()
		})
		f.undisturbed = err == nil
		if errors.Is(err, goredis.TxFailedErr) {
			return nil
		}
		return err
	}, s.Hash)
	return f, err
}

// scan reads all fields, sorted by key. HSCAN can return a field twice while the server enlarges
// its table; sorting reveals that.
func (s *Source) scan(ctx context.Context, tx *goredis.Tx, size int64) ([]field, error) {
	fields := make([]field, 0, size)
	var cursor uint64
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		page, next, err := tx.HScan(ctx, s.Hash, cursor, "", pageSize).Result()
		if err != nil {
			return nil, err
		}
		for i := 0; i+1 < len(page); i += 2 {
			fields = append(fields, field{page[i], page[i+1]})
		}
		if next == 0 {
			return sortedOnce(fields), nil
		}
		cursor = next
	}
}

// sortedOnce sorts fields by key and keeps one of each, with either value if it has two.
func sortedOnce(fields []field) []field {
	slices.SortFunc(fields, func(a, b field) int { return strings.Compare(a.key, b.key) })
	return slices.CompactFunc(fields, func(a, b field) bool { return a.key == b.key })
}
