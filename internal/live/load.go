package live

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// load reads all rules, compiles them and lets them pass their expectations. Its error tells all
// that is wrong. pause, if not nil, is called all the way, to let requests run.
func (rs *Ruleset) load(ctx context.Context, pause func()) (*Loaded, error) {
	return rs.loadEdited(ctx, pause, nil)
}

// loadEdited is load with an edit, if there is one, that the sources do not hold yet.
func (rs *Ruleset) loadEdited(ctx context.Context, pause func(), e *Edit) (*Loaded, error) {
	options := rs.Options
	options.Digest = true
	options.Reverse = rs.Advertised && e == nil // an edit is only tried
	options.Pause = pause
	ruleset, versions, err := rs.compileEdited(ctx, options, e)
	if err != nil {
		return nil, err
	}
	if err := rs.CheckExpectations(ruleset); err != nil {
		return nil, err
	}
	next := &Loaded{Ruleset: ruleset, Digest: ruleset.Digest(), versions: versions}
	next.expected = rs.expectationsOfSources()
	for _, from := range rs.Sources {
		next.warnings = append(next.warnings, source.WarningsOf(from))
	}
	next.broken.count, next.broken.first = ruleset.Broken(nil, toldBroken)
	return next, nil
}

// CompileRules reads all rules and compiles them. It returns the sources' versions, too.
func (rs *Ruleset) CompileRules(ctx context.Context, pause func()) (*resolver.Ruleset, []string,
	error) {
	options := rs.Options
	options.Pause = pause
	return rs.compileEdited(ctx, options, nil)
}

// longestWait is the last wait for a source that is being written. All of them are twice as long,
// which is longer than a file has to rest to be read.
const longestWait = 1280 * time.Millisecond

// compileEdited is CompileRules with an edit. Where a source is just being written, it tries again.
func (rs *Ruleset) compileEdited(
	ctx context.Context, options resolver.Options, e *Edit,
) (*resolver.Ruleset, []string, error) {
	for wait := 10 * time.Millisecond; ; wait *= 2 {
		ruleset, versions, err := rs.compileOnce(ctx, options, e)
		if !errors.Is(err, source.ErrBeingWritten) || wait > longestWait {
			return ruleset, versions, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

func (rs *Ruleset) compileOnce(
	ctx context.Context, options resolver.Options, e *Edit,
) (*resolver.Ruleset, []string, error) {
	if e != nil {
		e.found, e.Old = nowhere, nil
	}
	compiler, err := resolver.NewCompiler(options)
	if err != nil {
		return nil, nil, err
	}
	for _, rule := range rs.Rules {
		rule, _ = e.replace(inline, rule)
		compiler.Add(rule)
	}
	versions, inSources := rs.readSources(ctx, compiler, options.Pause, e)
	if e != nil {
		e.versions = versions
	}
	ruleset, inRules := compiler.Compile()
	return ruleset, versions, errors.Join(inSources, inRules)
}

// readSources adds the rules of all sources, in their order, and returns the sources' versions.
func (rs *Ruleset) readSources(ctx context.Context, compiler *resolver.Compiler, pause func(),
	e *Edit) ([]string, error) {
	var versions []string
	var errs []error
	added := 0
	add := func(rule resolver.Rule) {
		compiler.Add(rule)
		added++
		if pause != nil && added%64 == 0 {
			pause()
		}
		if added%collectEvery == 0 {
			runtime.GC()
		}
	}
	for i, from := range rs.Sources {
		compiler.NextSource()
		version, err := from.Read(ctx, func(rule resolver.Rule) {
			if rule, keep := e.replace(i, rule); keep {
				add(rule)
			}
		})
		compiler.Warn(source.WarningsOf(from)...)
		if rule, ok := e.added(from, i); ok {
			add(rule)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("source %s: %w", from, err))
		}
		versions = append(versions, version)
	}
	if added >= collectEvery {
		runtime.GC() // what the last source has read, before compiling takes memory
	}
	return versions, errors.Join(errs...)
}

// Reload reads and compiles the rules beside those that serve, swaps them in if all is well, and
// reports. It does nothing where ctx has ended before its turn comes, nor when the configuration
// has been unloaded: its successor watches then.
func (rs *Ruleset) Reload(ctx context.Context) {
	_ = rs.alone(func() error { // what is wrong is reported
		if ctx.Err() == nil {
			rs.loadAlone()
		}
		return nil
	})
}

// loadAlone is Reload for who runs alone already.
func (rs *Ruleset) loadAlone() {
	if len(rs.Sources) == 0 {
		return // inline rules change with the configuration alone
	}
	pause := pace.New().Pause
	next, err := rs.load(rs.Context, pause)
	if rs.Context.Err() != nil {
		return
	}
	if err != nil {
		rs.reject(err)
		return
	}
	difference := resolver.Compare(rs.Serving().Ruleset, next.Ruleset, namedKeys)
	if difference.Broken > 0 {
		rs.reject(brokenError(difference.Broken, difference.FirstBroken))
		return
	}
	rs.swap(next, difference)
}

// swap lets a ruleset serve. The one from before is left to the garbage collector.
func (rs *Ruleset) swap(next *Loaded, difference resolver.Difference) {
	old, now := rs.Serving(), time.Now()
	before, recovered := old.Digest, rs.shared.last.Load().err != nil
	next.counted = rs.shared.tally.hits.Begin(next.Ruleset)
	// also where it answers the same: positions and warnings may be others
	rs.shared.serving.Store(next)
	rs.shared.tally.hits.Retire(old.counted, pace.New().Pause)
	if isLarge(old.Ruleset) {
		// the collector would wait until as much again has been left behind
		time.AfterFunc(longestRequest, runtime.GC)
	}
	rs.shared.last.Store(&lastLoad{time: now})
	rs.shared.tally.loaded(rs.Sources, nil, now)
	rs.tellSources(nil)
	if rules, _ := old.Ruleset.AtSite(); rules == 0 {
		warnings := rs.ClientHostWarnings(next.Ruleset)
		difference.Warnings = append(difference.Warnings, warnings...)
	}
	if next.Digest == before && !recovered {
		rs.note(rs.unchanged(difference))
		return
	}
	rs.note(rs.swapped(before, next, difference))
}

// longestRequest is how long it takes at most until nobody holds a ruleset that serves no more.
const longestRequest = 400 * time.Millisecond

// reject leaves the ruleset that serves where it is.
func (rs *Ruleset) reject(err error) {
	rejected := failedLoad(err, rs.shared.last.Load())
	rs.shared.last.Store(rejected)
	rs.shared.tally.loaded(rs.Sources, err, rejected.time)
	rs.tellSources(err)
	rs.note(rs.rejected(rs.Serving().Digest, rejected))
}

// tellSources tells those sources that want to know what became of what they returned last: nil
// stands for rules that serve.
func (rs *Ruleset) tellSources(err error) {
	for _, from := range rs.Sources {
		if judged, ok := from.(source.Judged); ok {
			judged.Judge(err)
		}
	}
}

// collectEvery is after how many rules what reading them has left behind is collected. By itself
// the collector would wait until that is as much as the old rules and the new ones together; and it
// has little to do, as compiled rules hold no pointers, nor do rules that a source has read only
// one at a time.
const collectEvery = 1 << 16

// freeMemory returns the memory to the system that loading the first rules has left behind, if they
// are many. It stops everybody for a while, which is nobody yet; after a swap the runtime does it
// by and by.
func freeMemory(ruleset *resolver.Ruleset) {
	if isLarge(ruleset) {
		debug.FreeOSMemory()
	}
}

// isLarge reports whether a ruleset takes so much memory that it is worth a collection.
func isLarge(ruleset *resolver.Ruleset) bool {
	const large = 8 << 20
	return ruleset.Size() >= large
}

// SiteOrigin is the origin of what is a path of the site.
func (rs *Ruleset) SiteOrigin() string { return source.SiteOrigin(rs.Options.Origin) }

// CheckExpectations lets a ruleset pass the expectations of the handler and of its sources. The
// error lists all that fail.
func (rs *Ruleset) CheckExpectations(ruleset *resolver.Ruleset) error {
	errs := []error{source.PlacedExpectations{Expectations: rs.Expect}.Check(ruleset,
		rs.Options.Origin)}
	for _, expected := range rs.expectationsOfSources() {
		errs = append(errs, expected.Check(ruleset, rs.Options.Origin))
	}
	return errors.Join(errs...)
}

// expectationsOfSources returns what each source expects, as of its last reading.
func (rs *Ruleset) expectationsOfSources() []source.PlacedExpectations {
	all := make([]source.PlacedExpectations, len(rs.Sources))
	for i, from := range rs.Sources {
		all[i] = source.ExpectationsOf(from)
	}
	return all
}
