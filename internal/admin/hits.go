package admin

import (
	"bufio"
	"fmt"
	"net/http"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/client"
	"github.com/caddy-shortlink/shortlink/internal/hits"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddyserver/caddy/v2"
)

// Hit is how often a rule has redirected, and when last, to the minute.
type Hit struct {
	Count uint64     `json:"count"`
	Last  *time.Time `json:"last,omitempty"`
}

// Days are the hits of each of the last days, oldest first.
type Days struct {
	Since time.Time `json:"since"` // the start of the record
	Days  []Day     `json:"days"`
}

// Day is the hits of one day, in UTC.
type Day struct {
	Date  string `json:"date"`
	Count uint64 `json:"count"`
}

// listHits answers with the hits of all rules, of unused ones, or of days.
func listHits(w http.ResponseWriter, r *http.Request, h *live.Ruleset) error {
	query := r.URL.Query()
	unused, err := ParseUnused(query.Get("unused"))
	if err != nil {
		return err
	}
	switch days := query.Get("days"); {
	case days != "" && days != "true" && days != "false":
		return client.Errorf(http.StatusBadRequest, "days takes true or false, not %q", days)
	case days == "true" && unused > 0:
		return client.Errorf(http.StatusBadRequest, "days and unused cannot be asked for at once")
	case days == "true":
		return listDays(w, r, h)
	case query.Has("key"):
		return client.Errorf(http.StatusBadRequest, "key is for the days of a rule; write days=true, too")
	}
	list, err := h.Hits().List(r.Context(), h.Serving().Ruleset)
	if err != nil {
		return err
	}
	note := ""
	if unused > 0 {
		note = list.HideUsed(time.Now().Add(-unused))
	}
	w.Header().Set("Content-Type", "application/json")
	return writeHitList(bufio.NewWriter(w), list, note)
}

// listDays answers with the hits of each day: of all rules together, or of one.
func listDays(w http.ResponseWriter, r *http.Request, h *live.Ruleset) error {
	all, err := h.Hits().Summary(r.Context())
	if err != nil {
		return err
	}
	days := all.Days
	if query := r.URL.Query(); query.Has("key") {
		rule, ok := h.Serving().Written(query.Get("key"))
		if !ok {
			return client.Errorf(http.StatusNotFound, "there is no rule for the key %q", query.Get("key"))
		}
		key := resolver.CanonicalKey(rule.Key, h.Options.FoldCase)
		if days, _, err = h.Hits().DaysOf(r.Context(), key); err != nil {
			return err
		}
	}
	answer := Days{Since: all.Since}
	for _, d := range days {
		answer.Days = append(answer.Days, Day{d.Date.Format(time.DateOnly), d.N})
	}
	return writeJSON(w, answer)
}

// ParseUnused parses for how long rules must be unused, 0 for all rules.
func ParseUnused(written string) (time.Duration, error) {
	if written == "" {
		return 0, nil
	}
	unused, err := caddy.ParseDuration(written)
	if err != nil || unused < time.Minute {
		return 0, client.Errorf(http.StatusBadRequest,
			"unused takes a duration of at least a minute, such as 90d, not %q", written)
	}
	return unused, nil
}

// writeHitList writes the list as one object, rule by rule.
func writeHitList(w *bufio.Writer, list *hits.List, note string) error {
	fmt.Fprintf(w, "{\"since\":%q,", list.Since.Format(time.RFC3339))
	if note != "" {
		fmt.Fprintf(w, "\"note\":%q,", note)
	}
	w.WriteString("\"hits\":{")
	separator := "\n"
	for ruleKey, count := range list.All() {
		key, err := printable.JSON(ruleKey)
		if err != nil {
			return err
		}
		value, err := printable.JSON(hitJSONOf(count))
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s%s:%s", separator, key, value)
		separator = ",\n"
	}
	w.WriteString("\n}}\n")
	return w.Flush()
}

func hitJSONOf(m hits.Count) Hit {
	if m.N == 0 {
		return Hit{}
	}
	return Hit{m.N, new(m.Time())}
}
