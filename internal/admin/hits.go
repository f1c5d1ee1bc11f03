package admin

import (
	"bufio"
	"fmt"
	"net/http"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/hits"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddyserver/caddy/v2"
)

// Hit is how often a rule has redirected, and when last; to the minute.
type Hit struct {
	Count uint64     `json:"count"`
	Last  *time.Time `json:"last,omitempty"`
}

// listHits answers with the hits of all rules, or of those that nobody needs.
func listHits(w http.ResponseWriter, r *http.Request, h *live.Ruleset) error {
	unused, err := ParseUnused(r.URL.Query().Get("unused"))
	if err != nil {
		return err
	}
	list, err := h.Hits(r.Context())
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

// ParseUnused returns for how long rules have not been used that are asked for, 0 for all rules.
func ParseUnused(written string) (time.Duration, error) {
	if written == "" {
		return 0, nil
	}
	unused, err := caddy.ParseDuration(written)
	if err != nil || unused < time.Minute {
		return 0, live.Refuse(http.StatusBadRequest,
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
