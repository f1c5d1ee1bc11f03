package live

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/source"
)

// loading is a load of rules on its way.
type loading struct {
	rs      *Ruleset
	ctx     context.Context
	sources []source.Source // the ruleset's, or what stands in for them
	before  predecessors    // whose place the ruleset takes with its first rules
	edit    *editing
	pause   func() // lets requests run; nil for none
	meter   *meter // nil where nobody is told how far it is
	next    *candidate

	// of a load that derives
	serving *Loaded
	work    []unread // what there is to read of each source
	whole   []int    // the sources that are read as a whole
}

// newLoading returns a load of no edit.
func (rs *Ruleset) newLoading(ctx context.Context, pause func()) *loading {
	return &loading{
		rs: rs, ctx: ctx, sources: rs.Sources, pause: pause, edit: noEdit(len(rs.Sources)),
	}
}

// load reads all rules, compiles them and lets them pass their expectations. Its error tells all
// that is wrong.
func (l *loading) load() (*Loaded, error) {
	err := l.compile(l.rs.servingOptions(l.pause))
	if err == nil {
		err = l.rs.check(l.next.Ruleset, l.next.expected)
	}
	if err != nil {
		return nil, err
	}
	l.next.complete()
	return l.next.Loaded, nil
}

// servingOptions are the options of rules that are to serve.
func (c *Config) servingOptions(pause func()) resolver.Options {
	options := c.Options
	options.NoLines, options.Digest, options.Reverse = true, true, c.Advertised
	options.Pause = pause
	return options
}

// CompileRules reads all rules and compiles them, and tells how far it is, and how far later looks
// at all rules are, in the goroutine of who looks: tell needs no lock where that is always the same
// one.
func (rs *Ruleset) CompileRules(ctx context.Context, tell func(Progress)) (*resolver.Ruleset,
	*lint.List, error) {
	l := rs.newLoading(ctx, nil)
	l.meter = newMeter(l, tell)
	l.pause = l.meter.compiled
	options, rules := rs.Options, 0
	options.Pause = l.pause
	options.Progress = func(done, of int) {
		if rules > 0 { // else they are being compiled, which looks at all of them, too
			l.meter.looked(rules, done, of)
		}
	}
	err := l.compile(options)
	if err != nil {
		var found bool
		if l.sources, found = rs.withCopies(rs.Sources); found {
			err = l.compile(options)
		}
	}
	if err == nil {
		rules = l.next.Ruleset.Len()
	}
	return l.next.Ruleset, l.next.Warnings, err
}

// compile reads all sources and compiles their rules.
func (l *loading) compile(options resolver.Options) error {
	l.next = newCandidate(&Loaded{}, len(l.sources))
	return retryWhileWritten(l.ctx, func() error {
		compiler, err := resolver.NewCompiler(options)
		if err != nil {
			return err
		}
		to := &compiling{Compiler: compiler, warnings: lint.New(options)}
		for _, rule := range l.rs.Rules {
			to.addOwn(rule)
		}
		all := make([]int, len(l.sources))
		for i := range all {
			all[i] = i
		}
		inSources := l.readSources(to, all)
		for i, warnings := range l.next.remarks {
			to.warnings.AddRead(i+1, warnings...)
		}
		compiler.Inspect(to.warnings.Finish)
		var inRules error
		l.next.Ruleset, inRules = compiler.Compile()
		l.next.Warnings = to.warnings
		return errors.Join(inSources, inRules)
	})
}

// intake takes in the rules of sources.
type intake interface {
	Source(n int)
	Add(rule resolver.Rule)
}

// compiling is a compiler as an [intake], and what there is to know of the rules on the way to it.
type compiling struct {
	*resolver.Compiler
	warnings *lint.List
	source   int
}

// Source begins a source, and those before it that have passed nothing.
func (c *compiling) Source(n int) {
	for ; c.source < n; c.source++ {
		c.NextSource()
	}
}

// Add adds a rule, which sources lend.
func (c *compiling) Add(rule resolver.Rule) {
	texts := rule.Key + rule.Value // one piece of memory for both, if there are two
	if rule.Key == "" || rule.Value == "" {
		texts = strings.Clone(texts)
	}
	rule.Key, rule.Value = texts[:len(rule.Key)], texts[len(rule.Key):]
	rule.Note = strings.Clone(rule.Note)
	c.addOwn(rule)
}

// addOwn adds a rule that nobody changes.
func (c *compiling) addOwn(rule resolver.Rule) {
	c.Compiler.Add(rule)
	c.warnings.Add(c.source, rule)
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

// readSources passes all rules of some sources on, in their order, with the edit, and takes down
// what else it has read. A source that fails before its first rule stays as it was, so that only
// what is wrong with it is told.
func (l *loading) readSources(to intake, which []int) error {
	var errs []error
	f := feed{pause: l.pause, meter: l.meter}
	for _, i := range which {
		begin := sync.OnceFunc(func() { to.Source(i + 1) })
		f.to = func(rule resolver.Rule) {
			begin()
			to.Add(rule)
		}
		l.edit.beginSource(i)
		version, err := l.readSource(i, func(rule resolver.Rule) {
			if rule, keep := l.edit.replace(i, rule); keep {
				f.add(rule)
			}
		})
		if l.next.wrong[i] = err; err != nil {
			errs = append(errs, unreadError{l.sources[i], err})
		}
		if rule, ok := l.edit.added(i); ok {
			f.add(rule)
		}
		l.next.noteReading(l.sources[i], i, version)
		if err == nil {
			begin()
		}
	}
	return errors.Join(errs...)
}

// readSource passes the rules of the i-th source on, which may have become empty only if it may.
func (l *loading) readSource(
	i int, add func(resolver.Rule),
) (version string, err error) {
	isEmpty := true
	version, err = l.sources[i].Read(l.ctx, func(rule resolver.Rule) {
		isEmpty = false
		add(rule)
	})
	if err == nil && isEmpty {
		err = l.checkEmptied(i)
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
	next, err := rs.newLoading(rs.Context, pace.New().Pause).derive(work)
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
		isAsServing := false
		if next != nil {
			isAsServing = next.wrong[i] == nil && next.versions[i] == serving.versions[i]
			what.isRejected = true
		}
		if next != nil && next.wrong[i] != nil {
			what.found = problemOf(rs.Sources[i], next.wrong[i])
		}
		// of keys nobody would look again whether they have been put right
		if _, byKey := source.ByKey(rs.Sources[i]); byKey && rs.LastError() != nil {
			isAsServing = false
		}
		if what.isStale && !isAsServing {
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
	for _, i := range next.read {
		raise(rs.shared.copies[i].due)
	}
	difference := next.difference
	warnings := rs.newWarnings(old.Ruleset, next)
	rs.shared.changed.note(now, difference)
	if next.Digest == before && !recovered {
		rs.note(rs.unchanged(warnings))
		return
	}
	rs.note(rs.swapped(before, next.Loaded, difference, warnings))
}

// newWarnings returns the warnings of a candidate that the ruleset before does not have.
func (rs *Ruleset) newWarnings(
	before *resolver.Ruleset, next *candidate,
) []lint.Warning {
	warnings := slices.Clip(next.fresh)
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
func (c *Config) sourcesAt(indexes []int) (sources []source.Source) {
	for _, i := range indexes {
		sources = append(sources, c.Sources[i])
	}
	return sources
}

// reject leaves the ruleset that serves where it is.
func (rs *Ruleset) reject(next *candidate, err error) {
	rejected := failedLoad(err, rs.shared.last.Load())
	rs.shared.last.Store(rejected)
	read := rs.sourcesAt(next.read)
	rs.shared.tally.loaded(read, err, rejected.time)
	rs.note(rs.rejected(rs.Serving().Digest, rejected))
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
