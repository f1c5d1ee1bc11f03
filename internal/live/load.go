package live

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// load reads all rules, compiles them and lets them pass their expectations. Its error tells all
// that is wrong. pause, if not nil, is called all the way, to let requests run.
func (rs *Ruleset) load(ctx context.Context, pause func()) (*Loaded, error) {
	next, err := rs.compile(ctx, rs.servingOptions(pause), nil, nil)
	if err = next.check(rs, err); err != nil {
		return nil, err
	}
	next.complete()
	return next.Loaded, nil
}

// servingOptions are the options of rules that are to serve.
func (rs *Ruleset) servingOptions(pause func()) resolver.Options {
	options := rs.Options
	options.NoLines, options.Digest, options.Reverse = true, true, rs.Advertised
	options.Pause = pause
	return options
}

// CompileRules reads all rules and compiles them, and tells how far it is, and how far later looks
// at all rules are, in the goroutine of who looks: tell needs no lock where that is always the same
// one. It returns the sources' versions, too.
func (rs *Ruleset) CompileRules(ctx context.Context, tell func(Progress)) (*resolver.Ruleset,
	[]string, error) {
	metered := *rs
	metered.meter = rs.newMeter(ctx, tell)
	options, rules := rs.Options, 0
	options.Pause = metered.meter.compiled
	options.Progress = func(done, of int) {
		if rules > 0 { // else they are being compiled, which looks at all of them, too
			metered.meter.looked(rules, done, of)
		}
	}
	next, err := metered.compile(ctx, options, nil, nil)
	if err == nil {
		rules = next.Ruleset.Len()
	}
	return next.Ruleset, next.versions, err
}

// compile reads all sources, with an edit if there is one, and compiles their rules. Those before,
// nil for none, are compared with them.
func (rs *Ruleset) compile(
	ctx context.Context, options resolver.Options, before *resolver.Ruleset, e *Edit,
) (next *candidate, err error) {
	next = rs.newCandidate(&Loaded{})
	err = retryWhileWritten(ctx, func() error {
		compiler, err := resolver.NewCompiler(options)
		if err != nil {
			return err
		}
		for _, rule := range rs.Rules {
			compiler.Add(rule)
		}
		to := &compiling{Compiler: compiler, before: before}
		inSources := rs.readSources(ctx, to, rs.allSources(), next, options.Pause, e)
		var inRules error
		next.Ruleset, next.difference, inRules = to.Ruleset()
		return errors.Join(inSources, inRules)
	})
	return next, err
}

// allSources are the indexes of all sources.
func (rs *Ruleset) allSources() []int {
	all := make([]int, len(rs.Sources))
	for i := range all {
		all[i] = i
	}
	return all
}

// intake takes in the rules of sources.
type intake interface {
	// Read reads a source in its way.
	Read(ctx context.Context, from source.Source, add func(resolver.Rule)) (string, error)
	Source(n int)
	Add(rule resolver.Rule)
	Warn(warnings ...resolver.Warning)
	Ruleset() (*resolver.Ruleset, resolver.Difference, error)
}

// looking is a rereading as an [intake]: of what is as before it keeps nothing.
type looking struct{ *resolver.Rereading }

// Read lets a source lend its rules.
func (looking) Read(
	ctx context.Context, from source.Source, add func(resolver.Rule),
) (version string, err error) {
	return source.ReadLent(ctx, from, add)
}

// compiling is a compiler as an [intake].
type compiling struct {
	*resolver.Compiler
	source int
	before *resolver.Ruleset // to compare with, nil for none
}

// Read lets a source pass its rules.
func (c *compiling) Read(
	ctx context.Context, from source.Source, add func(resolver.Rule),
) (version string, err error) {
	return from.Read(ctx, add)
}

// Source begins a source, and those before it that have passed nothing.
func (c *compiling) Source(n int) {
	for ; c.source < n; c.source++ {
		c.NextSource()
	}
}

// Ruleset compiles the rules.
func (c *compiling) Ruleset() (*resolver.Ruleset, resolver.Difference, error) {
	ruleset, err := c.Compile()
	if err != nil || c.before == nil {
		return ruleset, resolver.Difference{}, err
	}
	return ruleset, resolver.Compare(c.before, ruleset, namedKeys), nil
}

// longestWait is the last wait for a source that is being written. All of them are twice as long,
// which is longer than a file has to rest to be read.
const longestWait = 1280 * time.Millisecond

// retryWhileWritten reads sources, and again where one of them is just being written.
func retryWhileWritten(ctx context.Context, read func() error) error {
	for wait := 10 * time.Millisecond; ; wait *= 2 {
		err := read()
		if !errors.Is(err, source.ErrBeingWritten) || wait > longestWait {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// readSources passes all rules of some sources on, in their order, with an edit if there is one,
// and takes down in next what else it has read. A source that fails before its first rule stays as
// it was, so that only what is wrong with it is told.
func (rs *Ruleset) readSources(ctx context.Context, to intake, which []int, next *candidate,
	pause func(), e *Edit) error {
	var errs []error
	f := feed{pause: pause, meter: rs.meter}
	for _, i := range which {
		from := rs.Sources[i]
		begin := sync.OnceFunc(func() { to.Source(i + 1) })
		f.to = func(rule resolver.Rule) {
			begin()
			to.Add(rule)
		}
		e.beginSource(i)
		version, err := rs.readSource(ctx, to, i, func(rule resolver.Rule) {
			if rule, keep := e.replace(i, rule); keep {
				f.add(rule)
			}
		})
		if err != nil {
			errs = append(errs, unreadError{from, err})
		}
		if rule, ok := e.added(from, i); ok {
			f.add(rule)
		}
		next.noteReading(from, i, version)
		if err == nil {
			begin()
			to.Warn(next.warnings[i]...)
		}
	}
	return errors.Join(errs...)
}

// readSource passes the rules of the i-th source on, which may have become empty only if it may.
func (rs *Ruleset) readSource(
	ctx context.Context, to intake, i int, add func(resolver.Rule),
) (version string, err error) {
	isEmpty := true
	version, err = to.Read(ctx, rs.Sources[i], func(rule resolver.Rule) {
		isEmpty = false
		add(rule)
	})
	if err == nil && isEmpty {
		err = rs.checkEmptied(i)
	}
	if err != nil {
		return "", err
	}
	return version, nil
}

// feed passes rules on, while requests are to run.
type feed struct {
	to    func(resolver.Rule)
	pause func() // nil for none
	meter *meter // nil for none
	n     int
}

func (f *feed) add(rule resolver.Rule) {
	f.to(rule)
	f.n++
	if f.n%64 != 0 {
		return
	}
	f.meter.read(f.n)
	if f.pause != nil {
		f.pause()
	}
}

// unreadError is why a source cannot be read to its end, so that where keys stand is not known.
type unreadError struct {
	from source.Source
	err  error
}

// Error also names the source.
func (e unreadError) Error() string { return fmt.Sprintf("source %s: %v", e.from, e.err) }

// Unwrap returns the error without the source.
func (e unreadError) Unwrap() error { return e.err }

// Reload reads all sources again beside the rules that serve, swaps in what they hold if all is
// well, and reports. It does nothing where ctx has ended before its turn comes, nor when the
// configuration has been unloaded: its successor watches then.
func (rs *Ruleset) Reload(ctx context.Context) {
	_ = rs.alone(func() error { // what is wrong is reported
		if ctx.Err() == nil {
			for i := range rs.Sources {
				rs.shared.backlog.add(i, unread{isStale: true, isWhole: true})
			}
			rs.loadAlone()
		}
		return nil
	})
}

// loadAlone reads what there is to read of the sources, and swaps it in or rejects it, for who runs
// alone.
func (rs *Ruleset) loadAlone() {
	work := rs.shared.backlog.take(len(rs.Sources))
	if !slices.ContainsFunc(work, isStale) {
		return // as an edit has read it
	}
	next, err := rs.derive(rs.Context, work, nil)
	if rs.Context.Err() != nil {
		rs.leave(work, nil)
		return
	}
	if err == nil {
		err = rs.brokenBy(next)
	}
	if err != nil {
		rs.leave(work, next)
		rs.reject(next, err)
		return
	}
	rs.swap(next)
}

// leave leaves it to the next load to read what has been read in vain; next is what has come of it,
// nil if nothing has.
func (rs *Ruleset) leave(work []unread, next *candidate) {
	serving := rs.Serving()
	for i, what := range work {
		if what.isStale && (next == nil || next.versions[i] != serving.versions[i]) {
			rs.shared.backlog.add(i, what)
		}
	}
}

// swap lets a ruleset serve. The one from before is left to the garbage collector.
func (rs *Ruleset) swap(next *candidate) {
	old, now := rs.Serving(), time.Now()
	before, recovered := old.Digest, rs.LastError() != nil
	next.complete()
	// also where it answers the same: warnings may be others
	rs.shared.replace(old, next.Loaded)
	rs.shared.emptied = 0
	rs.shared.last.Store(&lastLoad{time: now})
	read := rs.sourcesAt(next.read)
	rs.shared.tally.loaded(read, nil, now)
	tellSources(read, nil)
	difference := next.difference
	difference.Warnings = rs.newWarnings(old.Ruleset, next)
	rs.shared.changed.note(now, difference)
	if next.Digest == before && !recovered {
		rs.note(rs.unchanged(difference))
		return
	}
	rs.note(rs.swapped(before, next.Loaded, difference))
}

// newWarnings returns the warnings of a candidate that the ruleset before does not have.
func (rs *Ruleset) newWarnings(
	before *resolver.Ruleset, next *candidate,
) []resolver.Warning {
	warnings := slices.Clip(next.difference.Warnings)
	if rules, _ := before.AtSite(); rules == 0 {
		warnings = append(warnings, rs.clientHostWarnings(next.Ruleset)...)
	}
	return append(warnings, rs.shared.pages.warnings(before, next.Ruleset)...)
}

// replace stores what serves from now on, and moves the hits where rules get other numbers.
func (l *shared) replace(old, next *Loaded) {
	next.counted = l.tally.hits.Next(old.counted, next.Ruleset)
	l.serving.Store(next)
	l.finder.Follow(next.Ruleset)
	if next.counted == old.counted {
		return
	}
	l.tally.hits.Retire(old.counted, pace.New().Pause)
}

// sourcesAt returns the sources that have some indexes.
func (rs *Ruleset) sourcesAt(indexes []int) (sources []source.Source) {
	for _, i := range indexes {
		sources = append(sources, rs.Sources[i])
	}
	return sources
}

// reject leaves the ruleset that serves where it is.
func (rs *Ruleset) reject(next *candidate, err error) {
	rejected := failedLoad(err, rs.shared.last.Load())
	rs.shared.last.Store(rejected)
	read := rs.sourcesAt(next.read)
	rs.shared.tally.loaded(read, err, rejected.time)
	tellSources(read, err)
	rs.note(rs.rejected(rs.Serving().Digest, rejected))
}

// tellSources tells those sources that want to know what became of what they returned last: nil
// stands for rules that serve.
func tellSources(sources []source.Source, err error) {
	for _, from := range sources {
		if judged, ok := from.(source.Judged); ok {
			judged.Judge(err)
		}
	}
}

// freeMemory returns the memory to the system that loading the first rules has left behind, if they
// are many: with a million, a server that starts has 164 MiB afterwards, and 224 without this. It
// stops the world, but nothing serves yet; after a swap the runtime does it by and by.
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

// CheckExpectations lets a ruleset pass the expectations of the handler and of its sources, as of
// their last readings. The error lists all that fail.
func (rs *Ruleset) CheckExpectations(ruleset *resolver.Ruleset) error {
	var expected []source.PlacedExpectations
	for _, from := range rs.Sources {
		expected = append(expected, source.ExpectationsOf(from))
	}
	return rs.check(ruleset, expected)
}

// check lets a ruleset pass the expectations of the handler, and those expected by its sources.
func (rs *Ruleset) check(ruleset *resolver.Ruleset, expected []source.PlacedExpectations) error {
	ofHandler := source.PlacedExpectations{Expectations: rs.Expect}
	errs := []error{ofHandler.Check(ruleset, rs.Options.Origin)}
	for _, of := range expected {
		errs = append(errs, of.Check(ruleset, rs.Options.Origin))
	}
	return errors.Join(errs...)
}
