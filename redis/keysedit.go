package redis

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"

	goredis "github.com/redis/go-redis/v9"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// rewrite sets or deletes one key, in a transaction that fails if anybody has written to it since
// it was compared with the rule that the edit is made of. Other keys do not matter to it.
func (k *keys) rewrite(
	ctx context.Context, version string, edit rulefile.Edit,
) (newVersion string, err error) {
	name := k.prefix + edit.Key
	err = k.server.client.Watch(ctx, func(tx *goredis.Tx) error {
		held, err := k.heldBy(ctx, tx, name)
		if err != nil {
			return err
		}
		if problem := k.problemOf(edit, held); problem != nil {
			return problem
		}
		commands, err := tx.TxPipelined(ctx, func(p goredis.Pipeliner) error {
			if edit.Rule == nil {
				return p.Del(ctx, name).Err()
			}
			return p.Set(ctx, name, valueOf(*edit.Rule), 0).Err()
		})
		return reasonOf(commands, err)
	}, name)
	if err = editError(err, "GET SET DEL WATCH UNWATCH MULTI EXEC"); err != nil {
		if errors.Is(err, source.ErrChanged) {
			k.hear([]any{name}) // as not every server pushes it
		}
		return "", err
	}
	written := resolver.Rule{Key: edit.Key}
	if edit.Rule != nil {
		written = *edit.Rule
	}
	return versionAfter(version, written), nil
}

// heldBy returns what a key holds that a transaction watches.
func (k *keys) heldBy(ctx context.Context, tx *goredis.Tx, name string) (held storedKey, err error) {
	value, err := tx.Get(ctx, name).Result()
	return k.storedKeyOfReply(name, value, err)
}

// problemOf says why an edit cannot be made of what its key holds.
func (k *keys) problemOf(edit rulefile.Edit, held storedKey) error {
	switch {
	case held.err != nil:
		return k.appendProblems(nil, held)
	case held.gone && edit.Was == nil && edit.Rule == nil:
		return rulefile.ErrNoRule
	case held.gone != (edit.Was == nil) || edit.Was != nil && !sameRule(*edit.Was, held.rule):
		return source.ErrChanged
	case edit.IsLast:
		return rulefile.Errors{{Message: fmt.Sprintf("this is the last rule with a key that begins "+
			"with %s, and without any the rules are rejected; add another rule first", k.prefix)}}
	}
	return nil
}

// versionAfter returns the version of rules of which one has been written.
func versionAfter(version string, written resolver.Rule) string {
	of := struct {
		version string
		written resolver.Rule
	}{version, written}
	return fmt.Sprintf("%016x", maphash.Comparable(seed, of))
}

// sameRule reports whether rules of one key say the same.
func sameRule(a, b resolver.Rule) bool {
	a.Key, a.Position = b.Key, b.Position
	return a == b
}
