package live

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"

	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// candidate is a ruleset on its way to serve in the place of another.
type candidate struct {
	*Loaded
	difference resolver.Difference
	read       []int // the sources that have been read for it
	// changes make the rules that serve those of the candidate, if they are all that is other, also
	// of positions.
	changes  []resolver.RuleChange
	isByThem bool
	wrong    []error // why sources cannot be read, by source
}

// newCandidate returns a candidate that goes on from what has been read of the sources before.
func (rs *Ruleset) newCandidate(from *Loaded) *candidate {
	n := len(rs.Sources)
	next := &candidate{Loaded: &Loaded{
		Ruleset:  from.Ruleset,
		versions: make([]string, n),
		expected: make([]source.PlacedExpectations, n),
		warnings: make([][]resolver.Warning, n),
	}, wrong: make([]error, n)}
	copy(next.versions, from.versions)
	copy(next.expected, from.expected)
	copy(next.warnings, from.warnings)
	return next
}

// noteReading takes down what a source has said beside its rules, whose version is empty where it
// has failed.
func (c *candidate) noteReading(from source.Source, i int, version string) {
	c.versions[i] = version
	remarks := source.RemarksOf(from)
	c.expected[i], c.warnings[i] = remarks.Expectations, remarks.Warnings
	c.noteRead(i)
}

// noteRead takes down that a source has been read or written.
func (c *candidate) noteRead(i int) {
	if !slices.Contains(c.read, i) {
		c.read = append(c.read, i)
	}
}

// derive makes a candidate of the ruleset that serves, by what there is to read of the sources and
// by an edit, if there is one. The error tells all that is wrong. What is read becomes a part of
// work, so that it can be left to others.
func (rs *Ruleset) derive(
	ctx context.Context, work []unread, e *Edit,
) (next *candidate, err error) {
	pause := pace.New().Pause
	serving := rs.Serving()
	err = retryWhileWritten(ctx, func() (err error) {
		next, err = rs.deriveOnce(ctx, serving, work, pause, e)
		return err
	})
	if errors.Is(err, resolver.ErrMostChanged) {
		for i := range work { // who polls a source would take what is read now for known
			if _, byKey := source.ByKey(rs.Sources[i]); !byKey {
				work[i].isStale, work[i].isWhole = true, true
			}
		}
		next, err = rs.compile(ctx, rs.servingOptions(pause), serving.Ruleset, e)
	}
	return next, next.check(rs, err)
}

// deriveOnce is derive where no source is being written.
func (rs *Ruleset) deriveOnce(ctx context.Context, serving *Loaded, work []unread, pause func(),
	e *Edit) (*candidate, error) {
	next := rs.newCandidate(serving)
	whole, inSources := rs.readKeys(ctx, work, next)
	changes, inSpelling := serving.Ruleset.BySpelling(next.changes)
	if inSpelling != nil {
		return next, errors.Join(inSources, inSpelling)
	}
	next.changes = changes
	if e != nil {
		e.findIn(serving.Ruleset, len(rs.Sources), next.changes)
		if !slices.Contains(whole, e.into) {
			next.changes = append(next.changes, e.change(rs.Sources[e.into]))
		}
	}
	var inChanges error
	if len(next.changes) > 0 {
		var derived *resolver.Ruleset
		derived, next.difference, inChanges = serving.Ruleset.With(next.changes)
		if inChanges == nil {
			next.Ruleset = derived
		}
	}
	for i := range work {
		if rs.isEmptied(i, work[i], next) {
			work[i].isWhole = true
			return rs.deriveOnce(ctx, serving, work, pause, e)
		}
	}
	next.isByThem = len(whole) == 0
	if next.isByThem {
		return next, errors.Join(inSources, inChanges)
	}
	inWhole := rs.reread(ctx, whole, next, pause, e)
	if inWhole == nil && len(next.changes) > 0 {
		next.difference = resolver.Compare(serving.Ruleset, next.Ruleset, namedKeys)
	}
	return next, errors.Join(inSources, inChanges, inWhole)
}

// readKeys reads what may have changed of sources that are read by key. It returns the sources that
// are to be read as a whole.
func (rs *Ruleset) readKeys(
	ctx context.Context, work []unread, next *candidate,
) (whole []int, err error) {
	var errs []error
	for i := range work {
		what, from := &work[i], rs.Sources[i]
		changing, byKey := source.ByKey(from)
		switch {
		case !what.isStale:
			continue
		case what.isWhole || !byKey:
			what.isWhole = true
			whole = append(whole, i)
			continue
		}
		next.noteRead(i)
		changes, err := what.read(ctx, changing, i+1)
		if err != nil {
			next.wrong[i] = err
			errs = append(errs, unreadError{from, err})
			continue
		}
		changes = rs.otherThanServing(changes)
		if what.found = digestOf(changes); len(changes) > 0 {
			next.versions[i] = versionAfter(next.versions[i], what.found)
		}
		next.changes = append(next.changes, changes...)
	}
	return whole, errors.Join(errs...)
}

// read returns the changes that the keys may be of, of the n-th source.
func (u *unread) read(
	ctx context.Context, from source.Changing, n int,
) (changes []resolver.RuleChange, err error) {
	set := func(rule resolver.Rule) {
		changes = append(changes, resolver.RuleChange{Source: n, Key: rule.Key, Rule: &rule})
	}
	remove := func(key string) {
		changes = append(changes, resolver.RuleChange{Source: n, Key: key})
	}
	err = from.ReadKeys(ctx, slices.Sorted(maps.Keys(u.keys)), set, remove)
	return changes, err
}

// isEmptied reports whether keys that have been read leave a source without rules. Whether it may
// be decides who reads it as a whole.
func (rs *Ruleset) isEmptied(i int, what unread, next *candidate) bool {
	isRemoval := func(c resolver.RuleChange) bool { return c.Source == i+1 && c.Rule == nil }
	return what.isStale && !what.isWhole && slices.ContainsFunc(next.changes, isRemoval) &&
		hasRulesOf(rs.Serving().Ruleset, i) && !hasRulesOf(next.Ruleset, i)
}

// reread reads whole sources past the rules of a candidate.
func (rs *Ruleset) reread(
	ctx context.Context, whole []int, next *candidate, pause func(), e *Edit,
) error {
	if isLarge(next.Ruleset) {
		// else what requests leave behind could grow meanwhile: at a swap of a million rules memory grows
		// by 60 MiB, and by 125 without this
		runtime.GC()
	}
	r := next.Ruleset.Reread()
	inSources := rs.readSources(ctx, r, whole, next, pause, e)
	ruleset, difference, inRules := r.Ruleset()
	if inRules == nil {
		next.Ruleset, next.difference = ruleset, difference
	}
	return errors.Join(inSources, inRules)
}

// check lets a candidate pass all expectations, unless its rules are wrong already.
func (c *candidate) check(rs *Ruleset, wrong error) error {
	if wrong != nil {
		return wrong
	}
	return rs.check(c.Ruleset, c.expected)
}

// complete completes what is known of rules that are to serve.
func (l *Loaded) complete() {
	l.Digest = l.Ruleset.Digest()
	l.broken.count, l.broken.first = l.Ruleset.Broken(nil, toldBroken)
}
