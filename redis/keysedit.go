package redis

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// apply sets and deletes keys, in a transaction that fails if anybody has written to one of them
// since it was compared with the rule that its change is made of. Other keys do not matter to it.
func (k *keys) apply(
	ctx context.Context, version string, edit rulefile.Edit,
) (newVersion string, err error) {
	if err := k.checkTogether(edit); err != nil {
		return "", err
	}
	var names []string
	for _, change := range edit.Changes {
		names = append(names, k.prefix+change.Key)
	}
	err = k.server.client.Watch(ctx, func(tx *goredis.Tx) error {
		var held []storedKey
		err := k.fetchOneByOne(ctx, tx, names, func(e storedKey) { held = append(held, e) })
		if err == nil {
			err = k.problemsOf(edit, held)
		}
		if err != nil {
			return err
		}
		commands, err := tx.TxPipelined(ctx, func(p goredis.Pipeliner) error {
			for i, change := range edit.Changes {
				if change.Rule == nil {
					p.Del(ctx, names[i])
				} else {
					p.Set(ctx, names[i], valueOf(*change.Rule), 0)
				}
			}
			return nil
		})
		return reasonOf(commands, err)
	}, names...)
	if err = editError(err, "GET SET DEL WATCH UNWATCH MULTI EXEC"); err != nil {
		if errors.Is(err, source.ErrChanged) {
			for _, name := range names {
				k.hear([]any{name}) // as not every server pushes it
			}
		}
		return "", err
	}
	for _, change := range edit.Changes {
		version = versionAfter(version, change)
	}
	return version, nil
}

// checkTogether refuses to change several keys of a cluster at once, unless they lie on one server,
// as each has its transactions for itself.
func (k *keys) checkTogether(edit rulefile.Edit) error {
	_, several := k.server.client.(*goredis.ClusterClient)
	_, tagged, _ := strings.Cut(k.prefix, "{")
	if !several || len(edit.Changes) < 2 || strings.Index(tagged, "}") > 0 {
		return nil
	}
	return rulefile.Errors{{Message: fmt.Sprintf("keys that begin with %s lie on several servers of "+
		"the cluster, which do not change keys together; change one key at a time, or give all of "+
		"them a hash tag that keeps them on one server, such as {%[1]s}", k.prefix)}}
}

// problemsOf says why an edit cannot be made of what its keys hold.
func (k *keys) problemsOf(edit rulefile.Edit, held []storedKey) error {
	var problems []error
	for i, change := range edit.Changes {
		if problem := k.problemOf(change, held[i]); problem != nil {
			problems = append(problems, problem)
		}
	}
	if problems == nil && edit.IsLast {
		return rulefile.Errors{{Message: fmt.Sprintf("this is the last rule with a key that begins "+
			"with %s, and without any the rules are rejected; add another rule first", k.prefix)}}
	}
	return errors.Join(problems...)
}

// problemOf says why a change cannot be made of what its key holds.
func (k *keys) problemOf(change rulefile.Change, held storedKey) error {
	switch was := change.Was; {
	case held.err != nil:
		return k.appendProblems(nil, held)
	case held.gone && was == nil && change.Rule == nil:
		return noRule(change)
	case held.gone != (was == nil) || was != nil && !sameRule(*was, held.rule):
		return source.ErrChanged
	}
	return nil
}

// versionAfter returns the version of rules of which one has changed.
func versionAfter(version string, change rulefile.Change) string {
	written := resolver.Rule{Key: change.Key}
	if change.Rule != nil {
		written = *change.Rule
	}
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
