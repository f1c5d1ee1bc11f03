package shortlink

import (
	"bufio"
	"encoding/json"
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
	others, since, err := h.live.tally.others(r.Context())
	if err != nil {
		return fmt.Errorf("the hits of other servers cannot be read: %w", err)
	}
	list := hitList{handler: h, ruleset: h.live.serving.Load().ruleset, others: others, since: h.live.tally.hits.begun()}
	if !since.IsZero() && since.Before(list.since) {
		list.since = since
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
	handler *Handler
	ruleset *resolver.Ruleset
	others  map[string]hit // of other servers
	since   time.Time
	// used are the numbers of the rules that are left out; nil where none are.
	used []bool
	note string
}

// of returns the hits of a rule.
func (l *hitList) of(rule resolver.Rule) hit {
	m := l.handler.live.tally.hits.of(rule.Key)
	if l.others != nil {
		n, _ := l.ruleset.NumberOf(rule.Key)
		m = m.and(l.others[l.ruleset.KeyOf(n)])
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
		if m := l.of(rule); m.count == 0 || m.time().Before(cutoff) {
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
	for rule := range l.ruleset.RulesBelow("", newPacer().pause) {
		if l.used != nil {
			if n, _ := l.ruleset.NumberOf(rule.Key); l.used[n] {
				continue
			}
		}
		key, err := json.Marshal(rule.Key)
		if err != nil {
			return err
		}
		value, err := json.Marshal(hitJSONOf(l.of(rule)))
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s%s:%s", separator, key, value)
		separator = ",\n"
	}
	w.WriteString("\n}}\n")
	return w.Flush()
}

func hitJSONOf(m hit) hitJSON {
	if m.count == 0 {
		return hitJSON{}
	}
	return hitJSON{m.count, new(m.time())}
}
