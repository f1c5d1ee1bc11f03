package live

import (
	"context"
	"slices"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/source"
)

// predecessor is a running handler whose place a new one takes, and what it serves.
type predecessor struct {
	*Ruleset
	serving *Loaded
}

// predecessors are all that a handler takes the place of.
type predecessors []predecessor

// predecessors returns the running handlers whose place rs takes: those of its name, at its site if
// some are there or, where there are none of its name, those of its site.
func (rs *Ruleset) predecessors() predecessors {
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

// check returns an error if the rules of a handler break a key that no predecessor had broken, as
// in a swap. Where there are none, Caddy starts or the site is new, and what can be answered is.
func (ps predecessors) check(of *Config, next *Loaded) error {
	var before []*resolver.Ruleset
	for _, p := range ps {
		before = append(before, p.serving.Ruleset)
	}
	if before == nil {
		return nil
	}
	if count, first := lint.Broken(next.Ruleset, before, namedKeys); count > 0 {
		of.locateErrors(next.versions, first)
		return brokenError(count, first)
	}
	return nil
}

// loadFirst loads the rules that a handler begins with in the place of others. If not the
// configuration is at fault but what sources hold, it begins with the last good rules of those that
// a predecessor has, too, and last tells what is wrong.
func (rs *Ruleset) loadFirst(before predecessors) (first *Loaded, last *lastLoad, err error) {
	if first, err = rs.loadAfter(before, rs.Sources); err == nil {
		return first, &lastLoad{time: time.Now()}, nil
	}
	sources, found := before.lastGood(rs)
	sources, copied := rs.withCopies(sources)
	if !found && !copied {
		return nil, nil, err
	}
	first, inConfiguration := rs.loadAfter(before, sources)
	if inConfiguration != nil {
		return nil, nil, inConfiguration
	}
	if !found {
		return first, &lastLoad{time: time.Now()}, nil
	}
	var loads []*lastLoad
	for _, p := range before {
		loads = append(loads, p.shared.last.Load())
	}
	return first, failedLoad(err, loads...), nil
}

// loadAfter loads rules from sources that stand in the place of the handler's own, and checks them.
func (rs *Ruleset) loadAfter(before predecessors, sources []source.Source) (*Loaded, error) {
	pacer := pace.Later() // a start is not to wait, but what is asked of the rules later is
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

// continueOutages lets the sources of a handler continue the outages of the same sources of those
// whose place it takes.
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

// firstOutage returns the outage of a source that began first, or nil. Of those that share a
// ruleset the handler knows it that follows the sources.
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

// lastGood returns a handler's sources, in the place of those that predecessors have, too, what
// these serve of them. found tells whether there are any.
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

// lastGood is a source as a running handler serves it.
type lastGood struct {
	source.Source
	serving *Loaded
	index   int // of the source there
}

// Read passes the rules to add that serve, or that a source before this one shadows.
func (s lastGood) Read(_ context.Context, add func(resolver.Rule)) (version string, err error) {
	for rule := range s.serving.Ruleset.RulesOf(s.index + 1) { // 0 are the inline ones
		add(rule)
	}
	return s.serving.versions[s.index], nil
}

// Remarks returns those of the rules as they were read.
func (s lastGood) Remarks() source.Remarks {
	return source.Remarks{
		Expectations: s.serving.expected[s.index], Warnings: s.serving.remarks[s.index],
	}
}

// Locate is asked of the source itself.
func (lastGood) Locate(context.Context, string, func(resolver.Rule)) bool { return false }

// Interface guard
var _ source.Annotated = lastGood{}
