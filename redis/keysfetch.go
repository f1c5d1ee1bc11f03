package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// keysPage is how many keys are read at a time: a page takes the server half a millisecond. Larger
// pages block its other clients for longer, and smaller ones take longer in all.
const keysPage = 1000

// storedKey is a key of Redis and what it holds.
type storedKey struct {
	name string // of the key, with the prefix
	rule resolver.Rule
	// err says why it holds no rule.
	err  error
	gone bool // there is no such key
}

// each visits all keys in any order, and perhaps a key twice: SCAN can return it so while the
// server enlarges its table. What is written meanwhile may be missed.
func (k *keys) each(ctx context.Context, visit func(storedKey)) error {
	nodes, err := k.nodes(ctx)
	if err != nil {
		return err
	}
	for _, node := range nodes {
		if err := k.eachOf(ctx, node, visit); err != nil {
			return err
		}
	}
	return nil
}

// eachOf visits the keys of one server. All steps use one connection: a cursor means nothing to
// another server.
func (k *keys) eachOf(ctx context.Context, node *goredis.Client, visit func(storedKey)) error {
	conn := node.Conn()
	defer conn.Close()
	pattern := escapeGlob(k.prefix) + "*"
	var cursor uint64
	for {
		names, next, err := conn.Scan(ctx, cursor, pattern, keysPage).Result()
		if err != nil {
			return err
		}
		if err := k.fetch(ctx, names, visit); err != nil {
			return err
		}
		if next == 0 {
			return ctx.Err()
		}
		cursor = next
	}
}

// escapeGlob returns a pattern of SCAN that matches only the text.
func escapeGlob(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(text)
}

// fetch visits keys by name. Those of one server are read at once, so that keys written together
// are read consistently.
func (k *keys) fetch(ctx context.Context, names []string, visit func(storedKey)) error {
	if len(names) == 0 {
		return ctx.Err()
	}
	if _, several := k.server.client.(*goredis.ClusterClient); several {
		return k.fetchOneByOne(ctx, k.server.client, names, visit)
	}
	values, err := k.server.client.MGet(ctx, names...).Result()
	if err != nil {
		return err
	}
	var unclear []string // missing, or of another type
	for i, value := range values {
		if text, is := value.(string); is {
			visit(k.storedKeyOf(names[i], text))
		} else {
			unclear = append(unclear, names[i])
		}
	}
	return k.fetchOneByOne(ctx, k.server.client, unclear, visit)
}

// fetchOneByOne visits keys that are on any servers, that may have another type, or that a
// transaction watches.
func (k *keys) fetchOneByOne(
	ctx context.Context, from goredis.Cmdable, names []string, visit func(storedKey),
) error {
	if len(names) == 0 {
		return ctx.Err()
	}
	// The error is the first one of the commands.
	replies, _ := from.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for _, name := range names {
			p.Get(ctx, name)
		}
		return nil
	})
	for i, reply := range replies {
		value, err := reply.(*goredis.StringCmd).Result()
		e, err := k.storedKeyOfReply(names[i], value, err)
		if err != nil {
			return err
		}
		visit(e)
	}
	return ctx.Err()
}

// storedKeyOfReply returns the key for a reply of GET. The error is that of the server.
func (k *keys) storedKeyOfReply(name, value string, err error) (storedKey, error) {
	switch {
	case err == nil:
		return k.storedKeyOf(name, value), nil
	case errors.Is(err, goredis.Nil):
		return storedKey{name: name, rule: resolver.Rule{Key: k.keyOf(name)}, gone: true}, nil
	case goredis.HasErrorPrefix(err, "WRONGTYPE"):
		return k.storedKeyOfAnotherType(name), nil
	}
	return storedKey{}, err
}

// keyOf returns the rule's key for a Redis key.
func (k *keys) keyOf(name string) string { return strings.TrimPrefix(name, k.prefix) }

// storedKeyOf returns the key with this value.
func (k *keys) storedKeyOf(name, value string) storedKey {
	rule, err := parseRule(k.keyOf(name), value)
	rule.Position = resolver.Position{Source: k.String()}
	return storedKey{name: name, rule: rule, err: err}
}

func (k *keys) storedKeyOfAnotherType(name string) storedKey {
	err := fmt.Errorf("the Redis key %s is not a string; write rules with: SET %[1]s <destination>, "+
		"or rename it: keys of rules begin with %s", name, k.prefix)
	return storedKey{name: name, rule: resolver.Rule{Key: k.keyOf(name)}, err: err}
}
