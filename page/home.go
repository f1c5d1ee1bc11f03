package page

import (
	"context"
	"fmt"
	"io"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/hits"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/printable"
)

// hitsTime is how long a page waits for the hits of other servers.
const hitsTime = 5 * time.Second

// mostOnHome is how many links each list of the start page has.
const mostOnHome = 10

// home is the start page.
type home struct {
	layout
	State   live.Status `json:"status"`
	Used    []link      `json:"most_used"`
	Changed []link      `json:"last_changed"`
	Days    []day       `json:"days,omitempty"`
	Chart   *chart      `json:"-"`
	// EditedSource is the source that edits go to.
	EditedSource string `json:"-"`
	Removed      string `json:"-"` // a key that was just removed
}

// day is a day of a chart, as JSON.
type day struct {
	Date  string `json:"date"`
	Count uint64 `json:"count"`
}

func dayCounts(days []hits.Day) (all []day) {
	for _, d := range days {
		all = append(all, day{d.Date.Format(time.DateOnly), d.N})
	}
	return all
}

// home returns the start page.
func (r *request) home() view {
	v := home{layout: r.layout(), State: r.links.Status()}
	v.IsFinding = true
	v.Title, v.Removed = "Links", r.URL.Query().Get("removed")
	v.EditedSource = r.links.EditedSource()
	ruleset := r.links.Serving().Ruleset
	if _, isThere := servingRule(ruleset, v.Removed); isThere {
		v.Removed = ""
	}
	for _, c := range r.links.Changed(mostOnHome) {
		if found, ok := servingRule(ruleset, c.Key); ok {
			v.Changed = append(v.Changed, r.linksOf(found)...)
			last := &v.Changed[len(v.Changed)-1]
			last.Time, last.What = c.Time, string(c.Kind)
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), hitsTime)
	defer cancel()
	counted, err := r.links.HitSummary(ctx, mostOnHome)
	if err != nil {
		r.report(err)
		return v
	}
	for _, u := range counted.MostUsed {
		if found, ok := servingRule(ruleset, u.Key); ok {
			v.Used = append(v.Used, r.linksOf(found)...)
			last := &v.Used[len(v.Used)-1]
			last.Redirects, last.Uses = u.N, &u.N
		}
	}
	v.Days = dayCounts(counted.Days)
	v.Chart = newChart("all", "Redirects per day", counted.Days)
	return v
}

// report logs that hits are missing on a page.
func (r *request) report(err error) {
	if err != nil {
		r.page.logger.Warn("hits are left out of the links page", zap.Error(err))
	}
}

// FirstBroken are the first rules that are answered with an error.
func (v home) FirstBroken() []live.BrokenRule {
	return v.State.Broken[:min(len(v.State.Broken), 5)]
}

// Rules is how many rules serve.
func (v home) Rules() string { return number(uint64(v.State.Rules)) }

func (home) template() string { return "home" }

func (v home) text(w io.Writer) {
	fmt.Fprintf(w, "%s, digest %s\n", printable.Count(v.State.Rules, "rule"), v.State.Digest)
	if v.State.LastLoad.Error != "" {
		fmt.Fprintf(w, "rejected at %s: %s\n", v.State.LastLoad.Time.UTC().Format(time.RFC3339),
			v.State.LastLoad.Error)
	}
	fmt.Fprintln(w, "\nmost used in the last 30 days")
	for _, u := range v.Used {
		fmt.Fprintf(w, "%10d  %s %s\n", u.Redirects, u.Key, u.To)
	}
	fmt.Fprintln(w, "\nlast changed")
	for _, c := range v.Changed {
		fmt.Fprintf(w, "%s  %s %s\n", c.Time.UTC().Format(time.RFC3339), c.Key, c.To)
	}
}
