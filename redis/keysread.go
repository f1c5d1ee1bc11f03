package redis

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// keysAtOnce is how many changed keys are read at once: what was written at once, by MSET, MULTI or
// a script, is pushed at once, and up to so many are seen as a whole. It takes the server 5 ms.
const keysAtOnce = 10_000

// maxBad is how many bad values are reported at most: nobody puts right more of them by hand.
const maxBad = 10_000

// read passes all rules as they come. What is written meanwhile is read or noted, or both.
func (k *keys) read(ctx context.Context, add func(resolver.Rule)) (version string, err error) {
	begun := time.Now()
	expected, before := k.beginReading()
	found := newDigests(expected)
	var bad rulefile.Errors
	visit := func(e entry) {
		if !found.add(e) {
			return
		}
		if e.err == nil {
			add(e.rule)
		} else if len(bad) < maxBad {
			bad = append(bad, k.problemsOf(e)...)
		}
	}
	err = k.each(ctx, visit)
	if err == nil { // a key that moves to another node of a cluster is perhaps on neither
		err = k.fetchAll(ctx, k.notedBeyond(found), visit)
	}
	if err == nil {
		err = k.refusal(found, bad)
	}
	k.reached(ctx, err)
	if err != nil && !isRejection(err) {
		k.undo(before)
		if err = k.readCopied(ctx, err, found, add); err != nil {
			return "", err
		}
		return found.version(), nil
	}
	k.endReading(found, begun, err == nil)
	return found.version(), err
}

// beginReading takes down that everything is being read. It returns how many rules there were, and
// what was unread before.
func (k *keys) beginReading() (expected int, before unread) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before, k.unread = k.unread, unread{unknown: true}
	k.passed = false
	if k.known != nil {
		expected = len(k.known.of)
	}
	return expected, before
}

// undo takes back that everything is being read.
func (k *keys) undo(before unread) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.restore(before)
}

// endReading takes down what has been read, and whether it was passed.
func (k *keys) endReading(found *digests, begun time.Time, passed bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known, k.passed = found, passed
	k.current, k.failed = true, false
	k.restAfter(begun)
}

// restAfter lets nothing be read a second time before a pause. The lock is held.
func (k *keys) restAfter(begun time.Time) {
	k.rest = time.Now().Add(pollShare * time.Since(begun))
}

// notedBeyond returns the names that are noted, but have not been found.
func (k *keys) notedBeyond(found *digests) (names []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for name := range k.noted {
		if _, known := found.get(name); !known {
			names = append(names, name)
		}
	}
	return names
}

// readCopied passes the rules of the stored copy, because of an error of reading the server, if
// there has been nothing to serve yet. The error is that one otherwise.
func (k *keys) readCopied(
	ctx context.Context, cause error, found *digests, add func(resolver.Rule),
) error {
	first := k.fail()
	if !first {
		return cause
	}
	found.clear() // of what was read until the error, and does not count
	err := k.readCopy(ctx, cause, func(rule resolver.Rule) {
		e := entry{name: k.prefix + rule.Key, rule: rule, digest: digestOfRule(&rule)}
		if found.add(e) {
			add(rule)
		}
	})
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known, k.passed, k.failed = found, true, false
	k.unknown = true // until it is judged
	return nil
}

// fail takes down that the server could not be read, and reports whether nothing has been before.
func (k *keys) fail() (first bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	first = k.known == nil && k.handedOver == "" && !k.failed
	k.current, k.failed = false, true
	return first
}

// fetchAll visits what keys hold, in steps where they are very many.
func (k *keys) fetchAll(ctx context.Context, names []string, visit func(entry)) error {
	for some := range slices.Chunk(names, keysAtOnce) {
		if err := k.fetch(ctx, some, visit); err != nil {
			return err
		}
	}
	return nil
}

// problemsOf returns what is wrong with what a key holds.
func (k *keys) problemsOf(e entry) (errs rulefile.Errors) {
	for _, message := range messagesOf(e.err) {
		errs = append(errs, &rulefile.Error{
			Position: resolver.Position{Source: k.String()},
			Message:  fmt.Sprintf("key %q: %s", e.rule.Key, message),
		})
	}
	return errs
}

// refusal returns why rules are rejected of which so many are known, or nil.
func (k *keys) refusal(known *digests, bad rulefile.Errors) error {
	if len(known.of) == 0 {
		return rejection{fmt.Errorf(
			"no Redis key begins with %s; write rules with: SET %[1]s<key> <destination>", k.prefix)}
	}
	if bad == nil {
		return nil
	}
	slices.SortFunc(bad, func(a, b *rulefile.Error) int {
		return strings.Compare(a.Message, b.Message)
	})
	return rejection{bad}
}

// readChanges reads the keys that are noted, and those that were read before and rejected.
func (k *keys) readChanges(
	ctx context.Context, set func(resolver.Rule), remove func(key string),
) (version string, err error) {
	begun := time.Now()
	names, err := k.beginChanges()
	if err != nil {
		return "", err
	}
	var found []entry
	err = k.fetchAll(ctx, names, func(e entry) { found = append(found, e) })
	if len(names) > 0 {
		k.reached(ctx, err)
	}
	if err != nil {
		k.fail()
		return "", err
	}
	found, version, err = k.endChanges(found, begun)
	if err != nil {
		return "", err
	}
	for _, e := range found {
		if e.gone {
			remove(e.rule.Key)
		} else {
			set(e.rule)
		}
	}
	return version, nil
}

// beginChanges returns the names of the keys to read, which are pending from now on.
func (k *keys) beginChanges() (names []string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.passed = false
	if k.known == nil || !k.follows || k.missed || k.unknown {
		return nil, source.ErrUnknownChanges
	}
	for name := range k.noted {
		if _, there := k.pending[name]; !there {
			k.pend(name, false)
		}
	}
	k.noted = nil
	if len(k.pending) > maxNoted {
		k.pending, k.unknown = nil, true
		return nil, source.ErrUnknownChanges
	}
	for name := range k.pending {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// endChanges takes down what the keys that are pending hold. It returns what is to be passed: what
// is otherwise than it was read before, and what was rejected.
func (k *keys) endChanges(
	found []entry, begun time.Time,
) (changed []entry, version string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var bad rulefile.Errors
	for _, e := range found {
		if !k.known.replace(e) && !k.pending[e.name] {
			delete(k.pending, e.name)
			continue
		}
		k.pend(e.name, true)
		bad = append(bad, k.problemsOf(e)...)
		changed = append(changed, e)
	}
	k.current, k.failed = true, false
	k.restAfter(begun)
	if err := k.refusal(k.known, bad); err != nil {
		return nil, "", err
	}
	k.passed = true
	return changed, k.known.version(), nil
}

// compare notes the keys that hold something else than was read. A key that SCAN gives twice can
// hide one that is gone, until the next comparison.
func (k *keys) compare(ctx context.Context) (differs bool, err error) {
	if !k.hasRead() {
		return k.compareVersions(ctx)
	}
	all, rules := k.readLast()
	known, changed := 0, 0
	seenGone := make(map[string]bool)
	err = k.each(ctx, func(e entry) {
		wasKnown, isSame := k.check(e)
		if wasKnown {
			known++
		}
		if wasKnown && e.gone {
			seenGone[e.name] = true
		}
		if !isSame {
			changed++
		}
	})
	var noted []string
	if err == nil && k.lacks(all, rules, known) {
		noted, err = k.notedGone(ctx, seenGone)
	}
	k.reached(ctx, err)
	if err != nil {
		return false, err
	}
	gone := k.lacks(all, rules, known+k.stillKnown(noted))
	k.mu.Lock()
	defer k.mu.Unlock()
	k.missed = k.missed || gone
	k.follows, k.current = true, true
	return changed > 0 || gone || k.failed, nil
}

// notedGone returns the names that are noted or pending and that the server no longer has, but for
// those that have been seen so.
func (k *keys) notedGone(ctx context.Context, seen map[string]bool) (
	gone []string, err error,
) {
	k.mu.Lock()
	names := slices.AppendSeq(slices.Collect(maps.Keys(k.noted)), maps.Keys(k.pending))
	k.mu.Unlock()
	slices.Sort(names)
	err = k.fetchAll(ctx, slices.Compact(names), func(e entry) {
		if e.gone && !seen[e.name] {
			gone = append(gone, e.name)
		}
	})
	return gone, err
}

// lacks reports whether some keys are gone whose names nobody knows: of all that were read, and not
// removed since, fewer are known to be there or to have changed.
func (k *keys) lacks(all *digests, rules, known int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known == all && known < rules-all.removed
}

// stillKnown returns how many rules of these names were read last, and have not been removed.
func (k *keys) stillKnown(names []string) (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, name := range names {
		if _, known := k.known.get(name); known {
			n++
		}
	}
	return n
}

// readLast returns what was read last, and how many rules that is with those removed since.
func (k *keys) readLast() (all *digests, rules int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known, len(k.known.of) + k.known.removed
}

func (k *keys) hasRead() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known != nil
}

// check reports whether a key was read before, and held the same. If not, it is noted.
func (k *keys) check(e entry) (known, same bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	digest, known := k.known.get(e.name)
	same = known != e.gone && digest == e.digest
	if !same {
		k.note(e.name)
	}
	return known, same
}

// compareVersions is compare where another Source has read the rules that serve.
func (k *keys) compareVersions(ctx context.Context) (differs bool, err error) {
	found := newDigests(0)
	err = k.each(ctx, func(e entry) { found.add(e) })
	k.reached(ctx, err)
	if err != nil {
		return false, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil && k.handedOver == found.version() {
		k.known = found
	} else {
		k.missed = true // or read while this was, and perhaps since before the server told of changes
	}
	k.follows, k.current = true, true
	return k.missed || k.failed, nil
}
