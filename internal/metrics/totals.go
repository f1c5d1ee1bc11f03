package metrics

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// Totals are the counts of all handlers of one name. They last as long as one of these runs, and so
// survive reloads of Caddy's configuration.
type Totals struct {
	Name     string
	outcomes [resolver.Outcomes]atomic.Uint64 // by resolver.Outcome

	mu      sync.Mutex
	reloads map[reloadLabels]uint64 // made by Loaded, as the next
	// succeeded is when a source was last read and served, or when the copy was stored that stands
	// in for it.
	succeeded map[string]time.Time
}

// reloadLabels are the source of a load, and its result.
type reloadLabels struct{ source, result string }

// Count counts the outcome of a request.
func (t *Totals) Count(outcome resolver.Outcome) { t.outcomes[outcome].Add(1) }

// Loaded records the result of reading sources.
func (t *Totals) Loaded(sources []source.Source, err error, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reloads == nil {
		t.reloads, t.succeeded = map[reloadLabels]uint64{}, map[string]time.Time{}
	}
	for _, from := range sources {
		result := "loaded"
		if err != nil {
			result = "rejected"
		} else {
			t.succeeded[label(from)] = timeOfRules(from, now)
		}
		t.reloads[reloadLabels{label(from), result}]++
	}
}

// timeOfRules returns how old the rules are that a source has just returned.
func timeOfRules(from source.Source, now time.Time) time.Time {
	if outage := source.OutageOf(from); outage != nil && outage.StoredCopy {
		return outage.CopyTime
	}
	return now
}

// LastSuccess returns how old the rules of a source are; zero if that is not known.
func (t *Totals) LastSuccess(from source.Source) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.succeeded[label(from)]
}
