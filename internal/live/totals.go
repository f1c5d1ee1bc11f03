package live

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/history"
	"github.com/caddy-shortlink/shortlink/internal/hits"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// totals are the counts of all handlers of one name. They last as long as one of these runs, and so
// survive reloads of Caddy's configuration.
type totals struct {
	name     string
	outcomes [resolver.Outcomes]atomic.Uint64 // by resolver.Outcome
	hits     *hits.Counters
	keeper   *hits.Keeper
	history  *history.Store

	mu      sync.Mutex
	reloads map[reloadLabels]uint64
	// succeeded is when a source was last read and served, or when the copy was stored that stands
	// in for it.
	succeeded map[string]time.Time
}

// reloadLabels are the source of a load, and its result.
type reloadLabels struct{ source, result string }

func newTotals(name string) *totals {
	counters := hits.NewCounters(time.Now())
	return &totals{
		name: name, hits: counters, keeper: hits.NewKeeper(name, counters),
		history: history.NewStore(name),
		reloads: map[reloadLabels]uint64{}, succeeded: map[string]time.Time{},
	}
}

// count counts the outcome of a request. A rule counts as used, too, if it passes the request.
func (t *totals) count(result *resolver.Result, c *hits.RulesetCounters) {
	t.outcomes[result.Outcome].Add(1)
	if result.Key != "" && result.Err == nil {
		c.Count(result.Rule)
	}
}

// loaded records the result of reading sources.
func (t *totals) loaded(sources []source.Source, err error, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, from := range sources {
		result := "loaded"
		if err != nil {
			result = "rejected"
		} else {
			t.succeeded[sourceLabel(from)] = timeOfRules(from, now)
		}
		t.reloads[reloadLabels{sourceLabel(from), result}]++
	}
}

// timeOfRules returns how old the rules are that a source has just returned.
func timeOfRules(from source.Source, now time.Time) time.Time {
	if outage := source.OutageOf(from); outage != nil && outage.StoredCopy {
		return outage.CopyTime
	}
	return now
}

// lastSuccess returns how old the rules of a source are; zero if that is not known.
func (t *totals) lastSuccess(from source.Source) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.succeeded[sourceLabel(from)]
}

// Destruct stores all hits and changes when the last handler of the name is gone.
func (t *totals) Destruct() error {
	t.history.End()
	t.keeper.End()
	return nil
}

// Interface guard
var _ caddy.Destructor = (*totals)(nil)
