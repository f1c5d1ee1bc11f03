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

	"github.com/caddy-shortlink/shortlink/internal/copies"
	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/internal/pending"
	"github.com/caddy-shortlink/shortlink/internal/report"
	"github.com/caddy-shortlink/shortlink/internal/reverse"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/internal/turn"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/source"
)

// loading is a load of rules in progress.
type loading struct {
	rs      *Ruleset
	ctx     context.Context
	sources []source.Source // the ruleset's, or their stand-ins
	before  predecessors    // whom the ruleset replaces with its first rules
	edit    *editing
	pause   func() // lets requests run; nil for none
	meter   *meter // nil if nobody follows the progress
	next    *candidate

	// only in a load that derives
	serving *Loaded
	work    []pending.Reading // the pending reads by source
	whole   []int             // indexes of the sources that are read as a whole
}

// newLoading returns a load without an edit.
func (rs *Ruleset) newLoading(ctx context.Context, pause func()) *loading {
	return &loading{
		rs: rs, ctx: ctx, sources: rs.Sources, pause: pause, edit: new(editing),
	}
}

// load reads and compiles all rules and checks their expectations. The error lists all that is
// wrong.
func (l *loading) load() (*Loaded, error) {
	err := l.compile(l.rs.servingOptions(l.pause))
	if err == nil {
		err = l.rs.checkToServe(l.next.Loaded)
	}
	if err != nil {
		return nil, err
	}
	l.next.complete()
	if l.rs.Advertised {
		l.next.Reverse = reverse.New(l.next.Ruleset)
	}
	return l.next.Loaded, nil
}

// servingOptions are the options for compiling rules that are to serve.
func (c *Config) servingOptions(pause func()) resolver.Options {
	options := c.Options
	options.NoLines, options.Digest = true, true
	options.Pause = pause
	return options
}

// CompileRules reads and compiles all rules, and returns the ruleset and its warnings. It reports
// its progress to tell; later scans of the ruleset call tell, too, on the scanning goroutine.
func (rs *Ruleset) CompileRules(ctx context.Context, tell func(Progress)) (*resolver.Ruleset,
	*lint.List, error) {
	l := rs.newLoading(ctx, nil)
	l.meter = newMeter(l, tell)
	l.pause = l.meter.compiled
	options, rules := rs.Options, 0
	options.Pause = l.pause
	options.Progress = func(done, of int) {
		if rules > 0 { // else they are being compiled, which scans them, too
			l.meter.looked(rules, done, of)
		}
	}
	err := l.compile(options)
	if err != nil {
		var found bool
		if l.sources, found = copies.StandIns(rs.Context, rs.Sources); found {
			err = l.compile(options)
		}
	}
	if err == nil {
		rules = l.next.Ruleset.Len()
		l.next.complete()
		rs.compiled = l.next.Loaded
	}
	return l.next.Ruleset, l.next.Warnings, err
}

// compile reads all sources and compiles their rules.
func (l *loading) compile(options resolver.Options) error {
	n := len(l.sources)
	l.next = newCandidate(&Loaded{versions: make([]string, n),
		expected: make([]source.PlacedExpectations, n), remarks: make([][]lint.Warning, n)})
	l.next.base = l.serving
	return retryWhileWritten(l.ctx, func() error {
		to, err := l.newCompiling(options)
		if err != nil {
			return err
		}
		for _, rule := range l.rs.Rules {
			to.addOwn(rule)
		}
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		inSources := l.readSources(to, all)
		for i, warnings := range l.next.remarks {
			to.warnings.AddRead(i+1, warnings...)
		}
		to.Inspect(to.warnings.Finish)
		var inRules error
		l.next.Rules, inRules = to.Compile()
		l.next.Warnings = to.warnings
		return errors.Join(inSources, inRules)
	})
}

// intake receives the rules of sources.
type intake interface {
	Source(n int)
	Add(rule resolver.Rule)
}

// compiling adapts a compiler to [intake], and collects what there is to warn of.
type compiling struct {
	*schedule.Compiler
	warnings *lint.List
	source   int
}

// newCompiling returns an intake that compiles rules for the time that what serves is for.
func (l *loading) newCompiling(options resolver.Options) (*compiling, error) {
	at := schedule.At(time.Now())
	switch {
	case l.serving != nil:
		at = l.serving.At()
	case !l.rs.At.IsZero():
		at = schedule.At(l.rs.At)
	}
	compiler, err := schedule.NewCompiler(options, at)
	return &compiling{
		Compiler: compiler, warnings: lint.New(options).WithPages(l.rs.Pages),
	}, err
}

// Source begins a source; those before it without rules are skipped.
func (c *compiling) Source(n int) {
	for ; c.source < n; c.source++ {
		c.NextSource()
	}
}

// Add adds a rule, and copies its strings, which the source only lends.
func (c *compiling) Add(rule resolver.Rule) {
	texts := rule.Key + rule.Value // one piece of memory for both, if there are two
	if rule.Key == "" || rule.Value == "" {
		texts = strings.Clone(texts)
	}
	rule.Key, rule.Value = texts[:len(rule.Key)], texts[len(rule.Key):]
	rule.Note, rule.Windows = strings.Clone(rule.Note), strings.Clone(rule.Windows)
	c.addOwn(rule)
}

// addOwn adds a rule that nobody changes.
func (c *compiling) addOwn(rule resolver.Rule) {
	if active, ok := c.Compiler.Add(rule); ok {
		c.warnings.Add(c.source, active)
	}
}

// longestWait is the last wait for a source that is being written. All waits together are twice as
// long: longer than a file has to be unchanged to be read.
const longestWait = 1280 * time.Millisecond

// retryWhileWritten calls read again while a source is being written.
func retryWhileWritten(ctx context.Context, read func() error) error {
	for pause := 10 * time.Millisecond; ; pause *= 2 {
		err := read()
		if !errors.Is(err, source.ErrBeingWritten) || pause > longestWait || ctx.Err() != nil {
			return err
		}
		turn.Wait(ctx, pause)
	}
}

// readSources passes all rules of some sources to an intake, in order and with the edit, and
// records the sources' remarks and versions. A source that fails before its first rule is not
// begun, so that only its own error is reported.
func (l *loading) readSources(to intake, which []int) error {
	var errs []error
	f := feed{pause: l.pause, meter: l.meter}
	for _, i := range which {
		begin, isEmpty := sync.OnceFunc(func() { to.Source(i + 1) }), true
		f.to = func(rule resolver.Rule) {
			begin()
			to.Add(rule)
		}
		l.edit.beginSource(i)
		version, err := l.sources[i].Read(l.ctx, func(rule resolver.Rule) {
			isEmpty = false
			if rule, keep := l.edit.replace(i, rule); keep {
				f.passOn(rule)
			}
		})
		if err == nil && isEmpty {
			err = l.checkEmptied(i)
		}
		if l.next.wrong[i] = err; err != nil {
			version, errs = "", append(errs, readError{l.sources[i], err})
		}
		for _, rule := range l.edit.added(i) {
			f.passOn(rule)
		}
		l.next.noteReading(l.sources[i], i, version)
		if err == nil {
			begin()
		}
	}
	return errors.Join(errs...)
}

// feed passes rules on, and pauses for requests.
type feed struct {
	to    func(resolver.Rule)
	pause func() // nil for none
	meter *meter // nil for none
	n     int
}

func (f *feed) passOn(rule resolver.Rule) {
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

// readError is the error of a source that could not be read to its end. Where keys stand is unknown
// then.
type readError struct {
	from source.Source
	err  error
}

// Error also names the source.
func (e readError) Error() string { return fmt.Sprintf("source %s: %v", e.from, e.err) }

// Unwrap returns the error without the source.
func (e readError) Unwrap() error { return e.err }

// Reload reads all sources beside the rules that serve, swaps in what they hold if all is well, and
// reports. It does nothing if ctx has ended before its turn, or if the configuration has been
// unloaded: its successor follows the sources then.
func (rs *Ruleset) Reload(ctx context.Context) {
	_ = rs.alone(func() error { // what is wrong is reported
		if ctx.Err() == nil {
			for i := range rs.Sources {
				rs.shared.backlog.Add(i, pending.Whole())
			}
			rs.loadStale(author{})
		}
		return nil
	})
}

// loadStale reads the stale sources and swaps in or rejects the result. by is who
// has edited what is read. shared.loading must be held.
func (rs *Ruleset) loadStale(by author) {
	work := rs.shared.backlog.TakeAll(len(rs.Sources))
	if !pending.HasStale(work) {
		return // an edit has read it
	}
	next, err := rs.newLoading(rs.Context, pace.New().Pause).derive(work)
	if rs.Context.Err() != nil {
		rs.keepPending(work, nil)
		return
	}
	if err == nil {
		err = rs.brokenBy(next.Loaded, rs.Serving().Ruleset)
	}
	if err != nil {
		rs.keepPending(work, next)
		rs.reject(next, err)
		return
	}
	rs.swap(next, by)
}

// keepPending returns work that was read in vain to the backlog. next is what came of it, or nil.
func (rs *Ruleset) keepPending(work []pending.Reading, next *candidate) {
	serving := rs.Serving()
	for i, what := range work {
		isAsServing := false
		if next != nil {
			isAsServing = next.wrong[i] == nil && next.versions[i] == serving.versions[i]
			what.IsRejected = true
		}
		if next != nil && next.wrong[i] != nil {
			what.Found = pending.ProblemOf(rs.Sources[i], next.wrong[i])
		}
		// nobody polls keys, so rejected ones have to stay pending
		if _, byKey := source.ByKey(rs.Sources[i]); byKey && rs.LastLoad().Err != nil {
			isAsServing = false
		}
		if what.IsStale && !isAsServing {
			rs.shared.backlog.Add(i, what)
		}
	}
}

// swap makes a candidate serve. by is who has edited it.
func (rs *Ruleset) swap(next *candidate, by author) {
	now := time.Now()
	next.complete()
	old := rs.put(next) // even if it answers the same: warnings may differ
	before, recovered := old.Digest, rs.LastLoad().Err != nil
	rs.shared.emptied = 0
	rs.shared.last.Store(goodLoad(now))
	read := rs.sourcesAt(next.read)
	rs.shared.totals.Loaded(read, nil, now)
	for _, i := range next.read {
		rs.shared.copies[i].Due.Raise()
		if reach := source.ReachOf(rs.Sources[i]); reach != nil && reach.Served != nil {
			reach.Served(next.versions[i])
		}
	}
	warnings := rs.newWarnings(old.Ruleset, next)
	if next.Digest != before {
		rs.record(old, next, by, now)
	}
	if next.Digest == before && !recovered {
		rs.shared.addNotice(report.Unchanged(rs.Name, warnings))
		return
	}
	rs.shared.addNotice(next.told(rs.Name, before, warnings).OfLoad())
}

// put makes a candidate serve in place of what has served, which it returns. shared.loading must be
// held.
func (rs *Ruleset) put(next *candidate) (old *Loaded) {
	next.catchUp(rs.Serving())
	rs.shared.swapping.Lock()
	defer rs.shared.swapping.Unlock()
	old = rs.Serving()
	next.catchUp(old)
	rs.shared.replace(old, next.Loaded)
	return old
}

// newWarnings returns the warnings of a candidate that the previous ruleset does not have.
func (rs *Ruleset) newWarnings(
	before *resolver.Ruleset, next *candidate,
) []lint.Warning {
	warnings := slices.Clip(next.fresh)
	if rules, _ := before.AtSite(); rules == 0 {
		warnings = append(warnings, rs.clientHostWarnings(next.Ruleset)...)
	}
	return append(warnings, rs.shared.pages.warnings(before, next.Ruleset)...)
}

// replace stores what serves from now on, and moves the hits of rules whose numbers change.
func (s *shared) replace(old, next *Loaded) {
	next.counted = s.totals.hits.Next(old.counted, next.Ruleset)
	next.Reverse, next.finder = old.Reverse.Follow(next.Ruleset), s.finder
	s.serving.Store(next)
	if next.HasWindows() {
		s.windowed.Raise()
	}
	s.finder.Follow(next.Ruleset)
	if next.counted == old.counted {
		return
	}
	s.totals.hits.Retire(old.counted, pace.New().Pause)
}

// sourcesAt returns the sources at some indexes.
func (c *Config) sourcesAt(indexes []int) (sources []source.Source) {
	for _, i := range indexes {
		sources = append(sources, c.Sources[i])
	}
	return sources
}

// reject reports an error, and keeps the ruleset that serves.
func (rs *Ruleset) reject(next *candidate, err error) {
	rejected := failedLoad(err, rs.shared.last.Load())
	rs.shared.last.Store(rejected)
	read := rs.sourcesAt(next.read)
	rs.shared.totals.Loaded(read, err, rejected.Time)
	rs.shared.addNotice(report.Rejected(rs.Name, rs.Serving().Digest, rejected.FailingSince,
		rejected.Err))
}

// freeMemory returns garbage of the first load to the system if there are many rules: with a
// million, a server that starts has 164 MiB afterwards, and 224 without this. It stops the world,
// but nothing serves yet. After a swap the runtime returns memory gradually.
func freeMemory(ruleset *resolver.Ruleset) {
	if isLarge(ruleset) {
		debug.FreeOSMemory()
	}
}

// isLarge reports whether a ruleset is so large that freeing memory is worth a collection.
func isLarge(ruleset *resolver.Ruleset) bool {
	const large = 8 << 20
	return ruleset.Size() >= large
}
