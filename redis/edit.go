package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// Writable returns nil: what the user of the URL may do, the server knows.
func (s *Source) Writable() error { return nil }

// Edit makes an edit and returns the version of what is there then; see [source.Writable].
func (s *Source) Edit(
	ctx context.Context, version string, edit rulefile.Edit,
) (newVersion string, err error) {
	newVersion, err = s.content.rewrite(ctx, version, edit)
	if err == nil {
		s.answered.raise()
	}
	return newVersion, err
}

// rewrite sets or deletes a field of the hash, in a transaction that fails if anybody has written
// to the hash since it was compared with version.
func (h *hash) rewrite(
	ctx context.Context, version string, edit rulefile.Edit,
) (newVersion string, err error) {
	err = h.server.client.Watch(ctx, func(tx *goredis.Tx) error {
		fields, err := h.scan(ctx, tx, 0)
		if err != nil {
			return err
		}
		rules, err := parseRules(fields, h.String())
		if err != nil || versionOf(rules) != version {
			return source.ErrChanged
		}
		old, found := fieldOf(fields, edit)
		if problem := problemOf(edit, found, len(fields)); problem != nil {
			return problem
		}
		newVersion = versionOf(edited(rules, old, found, edit.Rule))
		commands, err := tx.TxPipelined(ctx, func(p goredis.Pipeliner) error {
			if found && (edit.Rule == nil || old != edit.Rule.Key) {
				p.HDel(ctx, h.Hash, old)
			}
			if edit.Rule != nil {
				p.HSet(ctx, h.Hash, edit.Rule.Key, valueOf(*edit.Rule))
			}
			return nil
		})
		return reasonOf(commands, err)
	}, h.Hash)
	if err != nil {
		return "", editError(err, "HSET and HDEL")
	}
	return newVersion, nil
}

// edited returns rules, which are sorted, with an edit made of the one of a key, if it was found.
func edited(rules []resolver.Rule, old string, found bool, to *resolver.Rule) []resolver.Rule {
	if found {
		rules = slices.DeleteFunc(rules, func(rule resolver.Rule) bool { return rule.Key == old })
	}
	if to == nil {
		return rules
	}
	at, there := slices.BinarySearchFunc(rules, to.Key, func(rule resolver.Rule, key string) int {
		return strings.Compare(rule.Key, key)
	})
	if there {
		rules[at] = *to
		return rules
	}
	return slices.Insert(rules, at, *to)
}

// reasonOf returns the error of the command that made a transaction fail: that of the transaction
// itself tells only that there is one.
func reasonOf(commands []goredis.Cmder, err error) error {
	for _, command := range commands {
		if reason := command.Err(); reason != nil && !goredis.IsExecAbortError(reason) {
			return reason
		}
	}
	return err
}

// editError returns what an error of an edit is for the handler: that of the rule or of its
// version, or why the server takes no edits, for which the user needs some commands.
func editError(err error, needed string) error {
	_, ofRule := errors.AsType[rulefile.Errors](err)
	switch {
	case err == nil, ofRule, errors.Is(err, source.ErrChanged), errors.Is(err, rulefile.ErrNoRule):
		return err
	case errors.Is(err, goredis.TxFailedErr):
		return source.ErrChanged
	case goredis.IsReadOnlyError(err):
		return fmt.Errorf("%w: it is a replica; let url name its master: %w",
			source.ErrNotWritable, err)
	case goredis.IsPermissionError(err):
		return fmt.Errorf("%w: the user needs %s for edits: %w", source.ErrNotWritable, needed, err)
	}
	return fmt.Errorf("%w: %w", source.ErrUnavailable, err)
}

// fieldOf returns the field that an edit is about.
func fieldOf(fields []field, edit rulefile.Edit) (name string, found bool) {
	for _, f := range fields {
		if f.key == edit.Key || edit.Same != nil && edit.Same(f.key) {
			return f.key, true
		}
	}
	return "", false
}

// problemOf says why an edit cannot be made in a hash of so many fields.
func problemOf(edit rulefile.Edit, found bool, fields int) error {
	switch {
	case edit.Rule != nil:
		return nil
	case !found:
		return rulefile.ErrNoRule
	case fields == 1:
		return rulefile.Errors{{Message: "this is the last rule of the hash, and there is no such " +
			"thing as an empty hash in Redis; add another rule first"}}
	}
	return nil
}

// valueOf returns the value of a rule's field: the destination, or an object where there is more to
// say.
func valueOf(rule resolver.Rule) string {
	if rule.IsPlain() {
		return rule.Value
	}
	return rulefile.JSONValue(rule)
}

// Interface guard
var _ source.Writable = (*Source)(nil)
