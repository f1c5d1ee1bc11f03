package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// keysPage is how many keys the server is asked for at a time: each takes it half a millisecond.
// More keep it from its other clients for longer, and less take longer in all.
const keysPage = 1000

// entry is a key of Redis and what it holds.
type entry struct {
	name string // of the key, with the prefix
	rule resolver.Rule
	// err tells why what the key holds is no rule.
	err  error
	gone bool // there is no such key
}

// each visits what all keys hold, in any order, and a key perhaps twice: SCAN gives it so while the
// server makes its table larger. What is written meanwhile is seen or not.
func (k *keys) each(ctx context.Context, visit func(entry)) error {
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

// eachOf visits what the keys of one server hold. All steps are taken on one connection: a cursor
// means nothing to another server.
func (k *keys) eachOf(ctx context.Context, node *goredis.Client, visit func(entry)) error {
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

// escapeGlob returns a pattern of SCAN that matches text and nothing else.
func escapeGlob(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(text)
}

// fetch visits what keys hold. Of one server they are read at once, so that what was written at
// once is seen as a whole.
func (k *keys) fetch(ctx context.Context, names []string, visit func(entry)) error {
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
	var unclear []string // which are missing or of another type
	for i, value := range values {
		if text, is := value.(string); is {
			visit(k.entryOf(names[i], text))
		} else {
			unclear = append(unclear, names[i])
		}
	}
	return k.fetchOneByOne(ctx, k.server.client, unclear, visit)
}

// fetchOneByOne visits what keys hold that lie on any servers, may be of another type, or are
// watched by a transaction.
func (k *keys) fetchOneByOne(
	ctx context.Context, from goredis.Cmdable, names []string, visit func(entry),
) error {
	if len(names) == 0 {
		return ctx.Err()
	}
	// the error is the first of those of the commands
	replies, _ := from.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for _, name := range names {
			p.Get(ctx, name)
		}
		return nil
	})
	for i, reply := range replies {
		value, err := reply.(*goredis.StringCmd).Result()
		e, err := k.entryOfReply(names[i], value, err)
		if err != nil {
			return err
		}
		visit(e)
	}
	return ctx.Err()
}

// entryOfReply returns what a key holds by what GET has returned. The error is that of the server.
func (k *keys) entryOfReply(name, value string, err error) (entry, error) {
	switch {
	case err == nil:
		return k.entryOf(name, value), nil
	case errors.Is(err, goredis.Nil):
		return entry{name: name, rule: resolver.Rule{Key: k.keyOf(name)}, gone: true}, nil
	case goredis.HasErrorPrefix(err, "WRONGTYPE"):
		return k.entryOfAnotherType(name), nil
	}
	return entry{}, err
}

// keyOf returns the key of the rule that a key of Redis holds.
func (k *keys) keyOf(name string) string { return strings.TrimPrefix(name, k.prefix) }

// entryOf returns what a key holds.
func (k *keys) entryOf(name, value string) entry {
	rule, err := parseRule(k.keyOf(name), value)
	rule.Position = resolver.Position{Source: k.String()}
	return entry{name: name, rule: rule, err: err}
}

func (k *keys) entryOfAnotherType(name string) entry {
	err := fmt.Errorf("the Redis key %s holds no string; write rules with: SET %[1]s <destination>, "+
		"or rename it to what does not begin with %s", name, k.prefix)
	return entry{name: name, rule: resolver.Rule{Key: k.keyOf(name)}, err: err}
}
