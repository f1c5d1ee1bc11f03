package live

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/caddy-shortlink/shortlink/internal/ahead"
	"github.com/caddy-shortlink/shortlink/internal/pending"
	"github.com/caddy-shortlink/shortlink/internal/report"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/source"
)

// candidate is a ruleset that is to replace the one that serves.
type candidate struct {
	*Loaded
	difference resolver.Difference
	fresh      []lint.Warning // those that what serves does not have
	read       []int          // the sources that were read for it
	// changes lead from the rules that serve to those of the candidate, if nothing else differs.
	changes []resolver.RuleChange
	base    *Loaded // what it replaces, whose time it has; nil for none
	wrong   []error // why sources cannot be read, by source
}

// newCandidate returns a candidate that is as what serves.
func newCandidate(serving *Loaded) *candidate {
	next := *serving
	next.versions, next.expected = slices.Clone(next.versions), slices.Clone(next.expected)
	next.remarks = slices.Clone(next.remarks)
	return &candidate{Loaded: &next, base: serving, wrong: make([]error, len(next.versions))}
}

// noteReading records the version and the remarks of a source; an empty version if it failed.
func (c *candidate) noteReading(from source.Source, i int, version string) {
	c.versions[i] = version
	remarks := source.RemarksOf(from)
	c.expected[i], c.remarks[i] = remarks.Expectations, remarks.Warnings
	c.noteRead(i)
}

// noteRead records that a source was read or written.
func (c *candidate) noteRead(i int) {
	if !slices.Contains(c.read, i) {
		c.read = append(c.read, i)
	}
}

// derive makes a candidate from the ruleset that serves, the pending reads in work, and the edit.
// The error lists all that is wrong. Whatever derive finds to read is added to work, so that it can
// be left to the next load.
func (l *loading) derive(work []pending.Reading) (*candidate, error) {
	l.work, l.serving = work, l.rs.Serving()
	err := retryWhileWritten(l.ctx, func() error {
		err := l.deriveOnce()
		if l.isEmptiedByKey() { // a whole read decides whether it may be empty
			err = l.deriveOnce()
		}
		return err
	})
	if errors.Is(err, resolver.ErrMostChanged) {
		for i := range work { // a poll would consider known what is read now
			if _, byKey := source.ByKey(l.sources[i]); !byKey {
				work[i].IsStale, work[i].IsWhole = true, true
			}
		}
		if err = l.compile(l.rs.servingOptions(l.pause)); err == nil {
			l.next.compareWith(l.serving)
		}
	}
	for _, inRules := range ruleErrorsIn(err) {
		l.rs.locateErrors(l.next.versions, inRules)
	}
	if err == nil {
		err = l.rs.checkToServe(l.next.Loaded)
	}
	return l.next, err
}

// deriveOnce is derive without the retries for a source that is being written. An error of one
// stage does not keep later stages from reporting theirs.
func (l *loading) deriveOnce() error {
	l.next, l.whole = newCandidate(l.serving), nil
	return errors.Join(
		l.readKeys(),    // which finds what has to be read as a whole
		l.nameKeys(),    // because two spellings are one key in a change
		l.placeEdit(),   // after what the sources hold now
		l.makeChanges(), // all at once, as they may be valid only together
		l.readWhole(),   // compared with the changed rules, as most are equal
	)
}

// nameKeys sets the key of each change to that of its rule.
func (l *loading) nameKeys() (err error) {
	l.next.changes, err = l.serving.Ruleset.BySpelling(l.next.changes, l.serving.RuleOf)
	return err
}

// placeEdit adds the edit to the changes, unless its source is read as a whole.
func (l *loading) placeEdit() error {
	e := l.edit
	e.findIn(l.serving, l.next.changes)
	if !slices.Contains(l.whole, e.at) {
		l.next.changes = append(l.next.changes, e.changes()...)
	}
	return nil
}

// makeChanges derives the ruleset with the changes.
func (l *loading) makeChanges() error {
	if len(l.next.changes) == 0 {
		return nil
	}
	return l.next.change(l.next.changes, nil)
}

// change applies changes. read has the new reader warnings of sources that were read as a whole.
func (c *candidate) change(
	changes []resolver.RuleChange, read map[int][]lint.Warning,
) error {
	derived, err := c.With(changes)
	if err == nil {
		c.follow(derived, read)
	}
	return err
}

// follow makes the candidate what was derived of it.
func (c *candidate) follow(derived schedule.Derived, read map[int][]lint.Warning) {
	before := c.Ruleset
	c.Rules, c.difference = derived.Rules, derived.Difference
	c.Warnings, c.fresh = c.Warnings.Derive(before, c.Ruleset, derived.Changes, read)
}

// told returns what there is to tell when the candidate has come to serve.
func (c *candidate) told(name, before string, warnings []lint.Warning) *report.Swap {
	return &report.Swap{Name: name, Before: before, Digest: c.Digest, Rules: c.Ruleset.Len(),
		Difference: &c.difference, Warnings: warnings}
}

// compareWith compares the candidate with what serves, if it is not derived from that in one step.
func (c *candidate) compareWith(serving *Loaded) {
	c.difference = schedule.Compare(&serving.Rules, &c.Rules, report.NamedKeys)
	c.fresh = c.Warnings.Since(serving.Warnings)
}

// readWhole reads whole sources and compares them with the rules of the candidate.
func (l *loading) readWhole() error {
	next := l.next
	if len(l.whole) == 0 {
		return nil
	}
	if isLarge(next.Ruleset) {
		// Else garbage of requests would add up meanwhile: a swap of a million rules grows memory
		// by 60 MiB, and by 125 without this.
		runtime.GC()
	}
	r := next.Reread()
	inSources := l.readSources(r, l.whole)
	changes, inRules := r.Changes()
	if inRules == resolver.ErrDuplicateKey {
		return l.duplicates()
	}
	if inRules == nil {
		inRules = next.change(changes, l.readWarnings())
	}
	if inRules == nil && inSources == nil && len(next.changes) > 0 {
		next.compareWith(l.serving)
	}
	return errors.Join(inSources, inRules)
}

// readWarnings returns the warnings of the readers of the whole sources.
func (l *loading) readWarnings() map[int][]lint.Warning {
	read := map[int][]lint.Warning{}
	for _, i := range l.whole {
		read[i+1] = l.next.remarks[i]
	}
	return read
}

// duplicates reads the whole sources once more, to report which keys stand twice, and where.
func (l *loading) duplicates() error {
	to, err := l.newCompiling(l.rs.Options)
	if err != nil {
		return err
	}
	inSources := l.readSources(to, l.whole)
	_, inRules := to.Compile()
	if !errors.Is(inRules, resolver.ErrDuplicateKey) {
		inRules = source.ErrBeingWritten // as it differed a moment ago
	}
	return errors.Join(inSources, inRules)
}

// readKeys reads the pending keys of sources that are read by key.
func (l *loading) readKeys() error {
	var errs []error
	for i := range l.work {
		what, next := &l.work[i], l.next
		changing, byKey := source.ByKey(l.sources[i])
		switch {
		case !what.IsStale:
			continue
		case what.IsWhole || !byKey:
			what.IsWhole = true
			l.whole = append(l.whole, i)
			continue
		}
		next.noteRead(i)
		changes, err := readKeys(l.ctx, what.Keys, changing, i+1)
		if err != nil {
			next.wrong[i] = err
			errs = append(errs, readError{l.sources[i], err})
			continue
		}
		changes = pending.OtherThan(&l.serving.Rules, changes)
		if what.Found = pending.DigestOf(changes); len(changes) > 0 {
			next.versions[i] = pending.VersionAfter(next.versions[i], what.Found)
		}
		next.changes = append(next.changes, changes...)
	}
	return errors.Join(errs...)
}

// readKeys returns the changes of pending keys of the n-th source.
func readKeys(
	ctx context.Context, keys map[string]struct{}, from source.Changing, n int,
) (changes []resolver.RuleChange, err error) {
	set := func(rule resolver.Rule) {
		changes = append(changes, resolver.RuleChange{Source: n, Key: rule.Key, Rule: &rule})
	}
	remove := func(key string) {
		changes = append(changes, resolver.RuleChange{Source: n, Key: key})
	}
	err = from.ReadKeys(ctx, slices.Sorted(maps.Keys(keys)), set, remove)
	return changes, err
}

// isEmptiedByKey reports whether the keys that were read leave a source without rules. Such a
// source is read as a whole.
func (l *loading) isEmptiedByKey() (is bool) {
	for i := range l.work {
		what := &l.work[i]
		isRemoval := func(c resolver.RuleChange) bool { return c.Source == i+1 && c.Rule == nil }
		if what.IsStale && !what.IsWhole && slices.ContainsFunc(l.next.changes, isRemoval) &&
			l.serving.HasRulesOf(i+1) && !l.next.HasRulesOf(i+1) {
			what.IsWhole, is = true, true
		}
	}
	return is
}

// complete sets what is derived from the rules before they serve.
func (l *Loaded) complete() {
	l.Digest = l.Rules.Digest()
	l.ahead = new(ahead.Look)
	l.countBroken()
}

// countBroken counts the rules that are answered with an error.
func (l *Loaded) countBroken() {
	l.broken.count, l.broken.first = lint.Broken(l.Ruleset, nil, toldBroken)
	l.broken.place = new(sync.Once)
}
