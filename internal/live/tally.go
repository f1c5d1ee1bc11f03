package live

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/hits"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// tally is what is counted of all handlers of one name. It is there as long as one of them is, and
// so goes on over reloads of Caddy's configuration.
type tally struct {
	name     string
	outcomes [resolver.Outcomes]atomic.Uint64 // by resolver.Outcome
	hits     *hits.Counters
	keeper   *hits.Keeper

	mu      sync.Mutex
	reloads map[reloadLabels]uint64
	// succeeded is when a source was last read and served, or when the copy was stored that stands in.
	succeeded map[string]time.Time
}

// reloadLabels say what a load was of, and what came of it.
type reloadLabels struct{ source, result string }

func newTally(name string) *tally {
	counters := hits.NewCounters(time.Now())
	return &tally{
		name: name, hits: counters, keeper: hits.NewKeeper(name, counters),
		reloads: map[reloadLabels]uint64{}, succeeded: map[string]time.Time{},
	}
}

// count counts what became of a request. A rule has been of use, too, where it leaves a request
// where it is.
func (t *tally) count(result *resolver.Result, c *hits.RulesetCounters) {
	t.outcomes[result.Outcome].Add(1)
	if result.Key != "" && result.Err == nil {
		c.Count(result.Rule)
	}
}

// loaded takes down what came of reading sources.
func (t *tally) loaded(sources []source.Source, err error, now time.Time) {
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

// timeOfRules returns of when the rules are that a source has returned now.
func timeOfRules(from source.Source, now time.Time) time.Time {
	if outage := source.OutageOf(from); outage != nil && outage.StoredCopy {
		return outage.CopyTime
	}
	return now
}

// lastSuccess returns of when the rules of a source are; zero if nobody knows.
func (t *tally) lastSuccess(from source.Source) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.succeeded[sourceLabel(from)]
}

// Destruct stores all hits when the last handler of the name is gone.
func (t *tally) Destruct() error {
	t.keeper.End()
	return nil
}

// Interface guard
var _ caddy.Destructor = (*tally)(nil)
