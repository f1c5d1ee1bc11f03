package live

import (
	"context"
	"errors"
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
	// changes make the rules that serve those of the candidate, if they are all that is other.
	changes  []resolver.RuleChange
	isByThem bool
}

// newCandidate returns a candidate that goes on from what has been read of the sources before.
func (rs *Ruleset) newCandidate(from *Loaded) *candidate {
	n := len(rs.Sources)
	next := &candidate{Loaded: &Loaded{
		Ruleset:  from.Ruleset,
		versions: make([]string, n),
		expected: make([]source.PlacedExpectations, n),
		warnings: make([][]resolver.Warning, n),
	}}
	copy(next.versions, from.versions)
	copy(next.expected, from.expected)
	copy(next.warnings, from.warnings)
	return next
}

// noteReading takes down what a source has said beside its rules, whose version is empty where it
// has failed.
func (c *candidate) noteReading(from source.Source, i int, version string) {
	c.versions[i] = version
	c.expected[i], c.warnings[i] = source.ExpectationsOf(from), source.WarningsOf(from)
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
		for i := range work {
			work[i] = unread{isStale: true, isWhole: true}
		}
		next, err = rs.compile(ctx, rs.servingOptions(pause), serving.Ruleset, e)
	}
	if inRules, are := errors.AsType[resolver.RuleErrors](err); are {
		rs.locateErrors(next.versions, inRules)
	}
	return next, next.check(rs, err)
}

// deriveOnce is derive where no source is being written.
func (rs *Ruleset) deriveOnce(ctx context.Context, serving *Loaded, work []unread, pause func(),
	e *Edit) (*candidate, error) {
	next := rs.newCandidate(serving)
	whole, inSources := rs.readChanges(ctx, work, next)
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

// readChanges reads the sources that know what has changed, and returns those that are to be read
// as a whole.
func (rs *Ruleset) readChanges(
	ctx context.Context, work []unread, next *candidate,
) (whole []int, err error) {
	var errs []error
	for i := range work {
		what, from := &work[i], rs.Sources[i]
		if !what.isStale {
			continue
		}
		version, err := what.readChanges(ctx, from, i+1)
		switch {
		case errors.Is(err, source.ErrUnknownChanges):
			*what = unread{isStale: true, isWhole: true}
			whole = append(whole, i)
			continue
		case err != nil:
			errs = append(errs, unreadError{from, err})
		}
		next.changes = append(next.changes, what.passed...)
		next.versions[i] = version
		next.noteRead(i)
	}
	return whole, errors.Join(errs...)
}

// readChanges adds what a source, the n-th, has to pass. After an error nothing of that counts.
func (u *unread) readChanges(
	ctx context.Context, from source.Source, n int,
) (version string, err error) {
	changing, ok := from.(source.Changing)
	if !ok || u.isWhole {
		return "", source.ErrUnknownChanges
	}
	passed := slices.Clone(u.passed)
	version, err = changing.ReadChanges(ctx,
		func(rule resolver.Rule) {
			passed = append(passed, resolver.RuleChange{Source: n, Key: rule.Key, Rule: &rule})
		},
		func(key string) { passed = append(passed, resolver.RuleChange{Source: n, Key: key}) })
	if err == nil {
		u.passed = passed
	}
	return version, err
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
	inSources := rs.readSources(ctx, looking{r}, whole, next, pause, e)
	ruleset, difference, inRules := r.Ruleset()
	switch {
	case inRules == nil:
		next.Ruleset, next.difference = ruleset, difference
	case inRules == resolver.ErrDuplicateKey:
		return rs.duplicates(ctx, whole, next, pause, e)
	}
	return errors.Join(inSources, inRules)
}

// duplicates reads whole sources once more, to tell which keys stand twice, and where.
func (rs *Ruleset) duplicates(
	ctx context.Context, whole []int, next *candidate, pause func(), e *Edit,
) error {
	compiler, err := resolver.NewCompiler(rs.Options)
	if err != nil {
		return err
	}
	to := &compiling{Compiler: compiler}
	inSources := rs.readSources(ctx, to, whole, next, pause, e)
	_, _, inRules := to.Ruleset()
	if !errors.Is(inRules, resolver.ErrDuplicateKey) {
		inRules = source.ErrBeingWritten // as it was another one a moment ago
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
