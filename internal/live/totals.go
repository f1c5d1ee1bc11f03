package live

import (
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/history"
	"github.com/caddy-shortlink/shortlink/internal/hits"
	"github.com/caddy-shortlink/shortlink/internal/metrics"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// totals are what all handlers of one name have in common. They last as long as one of these runs,
// and so survive reloads of Caddy's configuration.
type totals struct {
	metrics.Totals
	hits    *hits.Counters
	keeper  *hits.Keeper
	history *history.Store
}

func newTotals(name string) *totals {
	counters := hits.NewCounters(time.Now())
	return &totals{
		Totals: metrics.Totals{Name: name}, hits: counters, keeper: hits.NewKeeper(name, counters),
		history: history.NewStore(name),
	}
}

// count counts the outcome of a request. A rule counts as used, too, if it passes the request.
func (t *totals) count(result *resolver.Result, c *hits.RulesetCounters) {
	t.Count(result.Outcome)
	if result.Key != "" && result.Err == nil {
		c.Count(result.Rule)
	}
}

// Destruct stores all hits and changes when the last handler of the name is gone.
func (t *totals) Destruct() error {
	t.history.End()
	t.keeper.End()
	return nil
}

// Interface guard
var _ caddy.Destructor = (*totals)(nil)

// collector collects the metrics of all handlers that run.
var collector metrics.Collector = func() (all []metrics.Handler) {
	for _, rs := range AllRunning() {
		serving := rs.Serving()
		all = append(all, metrics.Handler{
			Totals: &rs.shared.totals.Totals, Sources: rs.Sources, Digest: serving.Digest,
			Rules: serving.Ruleset.Len(), Broken: serving.broken.count,
		})
	}
	return all
}
