package live

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/copies"
	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// predecessor is a running handler that a new one replaces, and what it serves.
type predecessor struct {
	*Ruleset
	serving *Loaded
}

// predecessors are all running handlers that a new one replaces.
type predecessors []predecessor

// predecessorsOf returns the running handlers that rs replaces: those of its name, only at its site
// if some are there, or else those of its site.
func predecessorsOf(rs *Ruleset) predecessors {
	var ofBoth, ofName, ofSite predecessors
	running.Range(func(key, _ any) bool {
		other := key.(*Ruleset)
		p := predecessor{other, other.shared.serving.Load()}
		sameName, sameSite := rs.Name != "" && other.Name == rs.Name, other.Site.overlaps(rs.Site)
		switch {
		case sameName && sameSite:
			ofBoth = append(ofBoth, p)
		case sameName:
			ofName = append(ofName, p)
		case sameSite:
			ofSite = append(ofSite, p)
		}
		return true
	})
	switch {
	case ofBoth != nil:
		return ofBoth
	case ofName != nil:
		return ofName
	}
	return ofSite
}

// check returns an error if the rules of a new handler break a key that works in a predecessor, as
// in a swap. Without predecessors, Caddy starts or the site is new, and all that works serves.
func (ps predecessors) check(of *Config, next *Loaded) error {
	var before []*resolver.Ruleset
	for _, p := range ps {
		before = append(before, p.serving.Ruleset)
	}
	if before == nil {
		return nil
	}
	return of.brokenBy(next, before...)
}

// loadFirst loads the rules that a handler begins with when it replaces others. If what sources
// hold is at fault, and not the configuration, it begins with the last good rules of the
// predecessors' sources, and last says what is wrong.
func (rs *Ruleset) loadFirst(before predecessors) (first *Loaded, last *LastLoad, err error) {
	if first, err = rs.loadAfter(before, rs.Sources); err == nil {
		return first, goodLoad(time.Now()), nil
	}
	sources, found := before.lastGood(rs)
	sources, copied := copies.StandIns(rs.Context, sources)
	isIncomplete := rs.startWithout(sources)
	if !found && !copied && !isIncomplete {
		return nil, nil, adviseStart(err, rs.Sources)
	}
	first, inConfiguration := rs.loadAfter(before, sources)
	if inConfiguration != nil {
		return nil, nil, inConfiguration
	}
	if !found && !isIncomplete {
		return first, goodLoad(time.Now()), nil
	}
	var loads []*LastLoad
	for _, p := range before {
		loads = append(loads, p.shared.last.Load())
	}
	return first, failedLoad(err, loads...), nil
}

// loadAfter loads rules from sources that may be stand-ins for the handler's own, and checks them.
func (rs *Ruleset) loadAfter(before predecessors, sources []source.Source) (*Loaded, error) {
	pacer := pace.Later() // a start must not wait, but later scans of the rules do
	l := rs.newLoading(rs.Context, pacer.Pause)
	l.sources, l.before = sources, before
	l.meter = startMeter(l)
	next, err := l.load()
	pacer.Begin()
	if err != nil {
		return nil, err
	}
	return next, before.check(&rs.Config, next)
}

// continueOutages passes the outages of predecessors' sources to the same sources of a handler.
func (ps predecessors) continueOutages(rs *Ruleset) {
	for i, from := range rs.Sources {
		reach := source.ReachOf(from)
		if reach == nil {
			continue
		}
		if outage := ps.firstOutage(rs.SourceJSON[i]); outage != nil {
			reach.Continue(outage)
		}
	}
}

// firstOutage returns the outage of a source that began first, or nil. Of the handlers that share a
// ruleset, the one that follows the sources knows it.
func (ps predecessors) firstOutage(configuration string) (first *source.Outage) {
	for _, p := range ps {
		at := slices.Index(p.SourceJSON, configuration)
		if at < 0 {
			continue
		}
		outage := source.OutageOf(p.shared.handler.Load().Sources[at])
		if outage != nil && (first == nil || outage.Since.Before(first.Since)) {
			first = outage
		}
	}
	return first
}

// lastGood returns a handler's sources, of which those that predecessors share are replaced by what
// they serve. found reports whether there are any.
func (ps predecessors) lastGood(rs *Ruleset) (sources []source.Source, found bool) {
	sources = slices.Clone(rs.Sources)
	for i, configuration := range rs.SourceJSON {
		for _, p := range ps {
			if at := slices.Index(p.SourceJSON, configuration); at >= 0 {
				sources[i], found = lastGood{rs.Sources[i], p.serving, at}, true
			}
		}
	}
	return sources, found
}

// lastGood is a source whose rules are those that a running handler serves.
type lastGood struct {
	source.Source
	serving *Loaded
	index   int // of the source there
}

// Read passes the rules that serve, and those that an earlier source shadows.
func (s lastGood) Read(_ context.Context, add func(resolver.Rule)) (version string, err error) {
	for rule := range s.serving.RulesOf(s.index + 1) { // 0 are the inline ones
		add(rule)
	}
	return s.serving.versions[s.index], nil
}

// Remarks returns the source's remarks on the rules that serve.
func (s lastGood) Remarks() source.Remarks {
	return source.Remarks{
		Expectations: s.serving.expected[s.index], Warnings: s.serving.remarks[s.index],
	}
}

// Locate is asked of the source itself.
func (lastGood) Locate(context.Context, string, func(resolver.Rule)) bool { return false }

// Interface guard
var _ source.Annotated = lastGood{}

// neverRead is the version of a source that a handler has started without.
const neverRead = "never read"

// IsIncomplete reports whether a source has not been read since the handler started without it.
func (l *Loaded) IsIncomplete() bool {
	return slices.Contains(l.versions, neverRead)
}

// IsWithout reports whether the source with this index has not been read since then.
func (l *Loaded) IsWithout(index int) bool { return l.versions[index] == neverRead }

// missing is a source that cannot be read when a handler starts, and has no rules until it can.
type missing struct{ source.Source }

// Read passes no rules.
func (missing) Read(context.Context, func(resolver.Rule)) (version string, err error) {
	return neverRead, nil
}

// startWithout replaces the sources that cannot be read and that a handler may start without.
// Nothing else stands in for these: no stored copy, and no handler from before.
func (rs *Ruleset) startWithout(sources []source.Source) (found bool) {
	for i, from := range sources {
		outage := source.OutageOf(from)
		if outage == nil || !source.ReachOf(from).StartsWithout {
			continue
		}
		sources[i], found = missing{from}, true
		rs.logger.Error("a source cannot be read; starting without its rules: until it is read, a 404 "+
			"is answered with 503", zap.Stringer("source", from), zap.Error(outage.Err))
	}
	return found
}

// adviseStart adds to the error of a start how Caddy starts in spite of it.
func adviseStart(err error, sources []source.Source) error {
	for _, from := range sources {
		if source.OutageOf(from) != nil {
			return fmt.Errorf("%w; to start without the rules of %s, write start without into its block",
				err, from)
		}
	}
	return err
}
