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

// Written returns the command that sets a rule; see [source.Legible].
func (s *Source) Written(rule resolver.Rule) (string, error) {
	words := []string{"HSET", s.Hash, rule.Key, valueOf(rule)}
	if prefix, eachRule := strings.CutSuffix(s.Hash, "*"); eachRule {
		words = []string{"SET", prefix + rule.Key, valueOf(rule)}
	}
	for i, word := range words {
		if strings.ContainsAny(word, " '\"?&#;{}") {
			words[i] = "'" + strings.ReplaceAll(word, "'", `\'`) + "'"
		}
	}
	return strings.Join(words, " "), nil
}

// Edit makes an edit and returns the version of what is there then; see [source.Writable].
func (s *Source) Edit(
	ctx context.Context, version string, edit rulefile.Edit,
) (newVersion string, err error) {
	newVersion, err = s.content.apply(ctx, version, edit)
	if err == nil {
		s.answered.raise()
	}
	return newVersion, err
}

// apply sets and deletes fields of the hash, in a transaction that fails if anybody has written
// to the hash since it was compared with version.
func (h *hash) apply(
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
		if rules, err = edited(rules, edit); err != nil {
			return err
		}
		newVersion = versionOf(rules)
		commands, err := tx.TxPipelined(ctx, func(p goredis.Pipeliner) error {
			h.write(ctx, p, edit)
			return nil
		})
		return reasonOf(commands, err)
	}, h.Hash)
	if err != nil {
		return "", editError(err, "HSET and HDEL")
	}
	return newVersion, nil
}

// write writes the changes of an edit.
func (h *hash) write(ctx context.Context, p goredis.Pipeliner, edit rulefile.Edit) {
	var removed []string
	var set []any // fields and values, in turn
	for _, change := range edit.Changes {
		if change.Rule == nil || change.Rule.Key != change.Key {
			removed = append(removed, change.Key)
		}
		if change.Rule != nil {
			set = append(set, change.Rule.Key, valueOf(*change.Rule))
		}
	}
	if removed != nil {
		p.HDel(ctx, h.Hash, removed...)
	}
	if set != nil {
		p.HSet(ctx, h.Hash, set...)
	}
}

// edited returns rules, which are sorted by key, with an edit made. The error tells of all changes
// that cannot be made.
func edited(rules []resolver.Rule, edit rulefile.Edit) ([]resolver.Rule, error) {
	isThere := make(map[string]bool, len(edit.Changes))
	for _, change := range edit.Changes {
		isThere[change.Key] = false
		if change.Rule != nil {
			isThere[change.Rule.Key] = false
		}
	}
	rules = slices.DeleteFunc(rules, func(rule resolver.Rule) bool {
		_, is := isThere[rule.Key]
		if is {
			isThere[rule.Key] = true
		}
		return is
	})
	var missing []error
	for _, change := range edit.Changes {
		if change.Rule != nil {
			rules = append(rules, *change.Rule)
		} else if !isThere[change.Key] {
			missing = append(missing, noRule(change))
		}
	}
	if missing == nil && len(rules) == 0 {
		return nil, rulefile.Errors{{Message: "this is the last rule of the hash, and there is no such " +
			"thing as an empty hash in Redis; add another rule first"}}
	}
	slices.SortFunc(rules, func(a, b resolver.Rule) int { return strings.Compare(a.Key, b.Key) })
	return rules, errors.Join(missing...)
}

// noRule is the error of a change that would remove what is not there.
func noRule(change rulefile.Change) error {
	return fmt.Errorf("key %q: %w", change.Key, rulefile.ErrNoRule)
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
