package redis

import (
	"context"
	"errors"
	"fmt"

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
	return k.written(name, edit.Rule, version), nil
}

// heldBy returns what a key holds that a transaction watches.
func (k *keys) heldBy(ctx context.Context, tx *goredis.Tx, name string) (held entry, err error) {
	value, err := tx.Get(ctx, name).Result()
	return k.entryOfReply(name, value, err)
}

// problemOf says why an edit cannot be made of what its key holds.
func (k *keys) problemOf(edit rulefile.Edit, held entry) error {
	switch {
	case held.err != nil:
		return k.problemsOf(held)
	case held.gone && edit.Was == nil && edit.Rule == nil:
		return rulefile.ErrNoRule
	case held.gone != (edit.Was == nil) || edit.Was != nil && !sameRule(*edit.Was, held.rule):
		return source.ErrChanged
	case edit.Rule == nil && k.isLast(held.name):
		return rulefile.Errors{{Message: fmt.Sprintf("this is the last rule with a key that begins "+
			"with %s, and without any the rules are rejected; add another rule first", k.prefix)}}
	}
	return nil
}

// sameRule reports whether rules of one key say the same.
func sameRule(a, b resolver.Rule) bool {
	a.Key, a.Position = b.Key, b.Position
	return a == b
}

// isLast reports whether a key is the only one there is.
func (k *keys) isLast(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil || len(k.known.of) != 1 {
		return false
	}
	_, known := k.known.get(name)
	return known
}

// written takes down what has been written, so that the push of it is nothing new, and returns the
// version of all rules then.
func (k *keys) written(name string, rule *resolver.Rule, version string) string {
	e := entry{name: name, gone: rule == nil}
	if rule != nil {
		e = k.entryOf(name, valueOf(*rule))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	// Watch has not compared yet, and will find that version is not that of the rules
	if k.known == nil {
		return fmt.Sprintf("%s+%016x", version, e.digest)
	}
	k.known.replace(e)
	k.unstored.raise()
	return k.known.version()
}
