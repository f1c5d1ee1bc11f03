package live

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// neverRead is the version of a source that a handler has started without.
const neverRead = "never read"

// IsIncomplete reports whether the handler has started without a source that has not been read
// since.
func (l *Loaded) IsIncomplete() bool {
	return slices.Contains(l.versions, neverRead)
}

// missing is a source that cannot be read when a handler starts, and has no rules until it can.
type missing struct{ source.Source }

// Read passes no rules.
func (missing) Read(context.Context, func(resolver.Rule)) (version string, err error) {
	return neverRead, nil
}

// withoutMissing returns sources, less those that cannot be read and that a handler may start
// without. Nothing else stands in for these: no stored copy, and no handler from before.
func (rs *Ruleset) withoutMissing(sources []source.Source) (with []source.Source, found bool) {
	with = slices.Clone(sources)
	for i, from := range sources {
		reach, outage := source.ReachOf(from), source.OutageOf(from)
		if outage == nil || !reach.StartsWithout {
			continue
		}
		with[i], found = missing{from}, true
		rs.logger.Error("a source cannot be read; starting without its rules: until it is read, a 404 "+
			"is answered with 503", zap.Stringer("source", from), zap.Error(outage.Err))
	}
	return with, found
}

// adviseStart adds to the error of a start how Caddy starts in spite of it.
func adviseStart(err error, sources []source.Source) error {
	var names []string
	for _, from := range sources {
		if source.OutageOf(from) != nil {
			names = append(names, from.String())
		}
	}
	if names == nil {
		return err
	}
	return fmt.Errorf("%w; to start without the rules of %s, write start without into its block", err,
		strings.Join(names, " and of "))
}
