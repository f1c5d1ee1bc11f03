package shortlink

import (
	"bufio"
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// hitJSON is how often a rule has redirected, and when last; to the minute.
type hitJSON struct {
	Count uint64     `json:"count"`
	Last  *time.Time `json:"last,omitempty"`
}

// listHits answers with the hits of all rules, or of those that nobody needs.
func listHits(w http.ResponseWriter, r *http.Request, h *Handler) error {
	unused, err := parseUnused(r.URL.Query().Get("unused"))
	if err != nil {
		return err
	}
	tally := h.live.tally
	list := hitList{hits: tally.hits, ruleset: h.live.serving.Load().ruleset, since: tally.hits.begun()}
	if list.others, err = tally.keeper.others(r.Context(), list.ruleset); err != nil {
		return fmt.Errorf("the hits of other servers cannot be read: %w", err)
	}
	if list.others != nil && list.others.since.Before(list.since) {
		list.since = list.others.since
	}
	if unused > 0 {
		list.hideUsed(time.Now().Add(-unused))
	}
	w.Header().Set("Content-Type", "application/json")
	return list.write(bufio.NewWriter(w))
}

// parseUnused returns for how long rules have not been used that are asked for, 0 for all rules.
func parseUnused(written string) (time.Duration, error) {
	if written == "" {
		return 0, nil
	}
	unused, err := caddy.ParseDuration(written)
	if err != nil || unused < time.Minute {
		return 0, refuse(http.StatusBadRequest, "unused takes a duration of at least a minute, such as 90d, not %q", written)
	}
	return unused, nil
}

// hitList is a list of hits.
type hitList struct {
	hits    *hitCounters
	ruleset *resolver.Ruleset
	others  *otherHits // nil for none
	since   time.Time
	// used are the numbers of the rules that are left out; nil where none are.
	used []bool
	note string
}

// of returns the hits of the rule with a number.
func (l *hitList) of(number int) hitCount {
	m := l.hits.of(l.ruleset.KeyOf(number))
	if l.others != nil {
		m = m.plus(l.others.counts[number])
	}
	return m
}

// hideUsed leaves out the rules that have redirected since a time, and those that these lead through.
func (l *hitList) hideUsed(cutoff time.Time) {
	if l.since.After(cutoff) {
		l.note = "hits have been counted since " + l.since.Format(time.RFC3339) + " only, which is a shorter time"
	}
	l.used = make([]bool, l.ruleset.Numbers())
	for n := range l.used {
		rule, ok := l.ruleset.Numbered(n)
		if !ok {
			continue
		}
		if m := l.of(n); m.count == 0 || m.time().Before(cutoff) {
			continue
		}
		for _, met := range l.ruleset.Chain(rule.Key) {
			if n, ok := l.ruleset.NumberOf(met.Key); ok {
				l.used[n] = true
			}
		}
	}
}

// write writes the list as one object, rule by rule.
func (l *hitList) write(w *bufio.Writer) error {
	fmt.Fprintf(w, "{\"since\":%q,", l.since.Format(time.RFC3339))
	if l.note != "" {
		fmt.Fprintf(w, "\"note\":%q,", l.note)
	}
	w.WriteString("\"hits\":{")
	separator := "\n"
	for rule := range l.ruleset.RulesBelow("") {
		n, _ := l.ruleset.NumberOf(rule.Key)
		if l.used != nil && l.used[n] {
			continue
		}
		key, err := jsonOf(rule.Key)
		if err != nil {
			return err
		}
		value, err := jsonOf(hitJSONOf(l.of(n)))
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s%s:%s", separator, key, value)
		separator = ",\n"
	}
	w.WriteString("\n}}\n")
	return w.Flush()
}

func hitJSONOf(m hitCount) hitJSON {
	if m.count == 0 {
		return hitJSON{}
	}
	return hitJSON{m.count, new(m.time())}
}
