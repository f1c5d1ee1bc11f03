package page

import (
	"context"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/find"
	"github.com/caddy-shortlink/shortlink/internal/hits"
	"github.com/caddy-shortlink/shortlink/internal/show"
)

// storageTime is how long a page waits for what the storage has: hits of other servers, and
// changes.
const storageTime = 5 * time.Second

// daysOfTotals is for how many days the start page adds up redirects.
const daysOfTotals = 30

// mostOfNew is the number of links up to which the start page lists the first ones: a search counts
// them all, and the first of very many are of no use.
const mostOfNew = 10_000

// mostOnHome is how many links each list of the start page has.
const mostOnHome = 10

// home is the start page.
type home struct {
	layout
	serving
	Used    []link `json:"most_used"`
	Changed []link `json:"last_changed"`
	// First are the first links in the order of keys, where none was used or changed yet.
	First []link `json:"first,omitempty"`
	Days  []day  `json:"days,omitempty"`
	Chart *chart `json:"-"`
	// Origin is that of short URLs, SearchURL that of a search, without its text.
	Origin    string `json:"-"`
	SearchURL string `json:"-"`
	// WhyNot says why the user cannot make a link, or is empty.
	WhyNot string `json:"-"`
	// Bookmark is the URL of a bookmark that opens the form for the page that is shown.
	Bookmark template.URL `json:"-"`
	Removed  string       `json:"-"` // a key that was just removed
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
	v := home{layout: r.layout(), serving: serving{show.StatusOfRunning(r.links)}, Origin: r.origin(),
		WhyNot: r.whyNotWritable(), Bookmark: bookmark(r.absolute("new")),
		SearchURL: r.absolute("?q=")}
	v.IsFinding = true
	v.Title = "Links"
	if key := r.URL.Query().Get("removed"); r.hasHappened("removed", key) {
		v.Removed = key
	}
	serving := r.links.Serving()
	for _, c := range r.links.Past().Changed(&serving.Rules, mostOnHome) {
		if found, ok := serving.Written(c.Key); ok {
			l := r.linkOf(found)
			l.lastChange = *r.lastChangeOf(c.Change, c.Kind)
			v.Changed = append(v.Changed, l)
		}
	}
	v.addHits(r)
	if v.Used == nil && v.Changed == nil && v.State.Rules <= mostOfNew {
		first := r.links.Serving().Search(r.Context(), find.Query{Most: mostOnHome})
		v.First = r.linksOf(first.Rules...)
	}
	return v
}

// addHits adds what is known of hits.
func (v *home) addHits(r *request) {
	ctx, cancel := context.WithTimeout(r.Context(), storageTime)
	defer cancel()
	counted, err := r.links.Hits().Summary(ctx)
	if err != nil {
		r.report("hits", err)
		return
	}
	for _, u := range counted.MostUsed {
		if len(v.Used) == mostOnHome {
			break
		}
		if found, ok := r.links.Serving().Written(u.Key); ok {
			l := r.linkOf(found)
			l.Redirects, l.Uses = u.N, &u.N
			v.Used = append(v.Used, l)
		}
	}
	v.Days = dayCounts(counted.Days)
	v.Chart = newChart("all", "Redirects per day", counted.Days)
}

// report logs that something is missing on a page.
func (r *request) report(what string, err error) {
	if err != nil {
		r.page.logger.Warn(what+" are left out of the links page", zap.Error(err))
	}
}

// bookmark returns the URL of a bookmark that opens the form at a URL, filled in for the page that
// is shown. 160 characters of its title fit into a note. Browsers decode a script that is a URL, so
// that escapes in the form's, which a client can send, must be encoded again.
func bookmark(form string) template.URL {
	return template.URL("javascript:" + url.PathEscape("void(location.href='"+
		template.JSEscapeString(form+"?to=")+"'+encodeURIComponent(location.href)+'&note='+"+
		"encodeURIComponent(document.title.slice(0,160)))"))
}

// Host is the beginning of a short URL as people type it.
func (v home) Host() string {
	_, host, _ := strings.Cut(v.Origin, "://")
	return host
}

// Totals says how many links there are, and how often they were used if that is known.
func (v home) Totals() string {
	total := "1 link"
	if v.State.Rules != 1 {
		total = number(uint64(v.State.Rules)) + " links"
	}
	if len(v.Days) < daysOfTotals {
		return total
	}
	var used uint64
	for _, d := range v.Days[len(v.Days)-daysOfTotals:] {
		used += d.Count
	}
	return fmt.Sprintf("%s, %s in the last %d days", total, redirects(used), daysOfTotals)
}

// Broken are the first rules that are answered with an error.
func (v home) Broken() []show.BrokenRule { return v.State.Broken[:min(len(v.State.Broken), 5)] }

func (home) template() string { return "home" }

func (v home) text(w io.Writer) {
	v.serving.text(w)
	fmt.Fprintln(w, v.Totals())
	for _, l := range v.First {
		l.line(w)
	}
	fmt.Fprintln(w, "\nmost used in the last 30 days")
	for _, u := range v.Used {
		fmt.Fprintf(w, "%10d  %s %s\n", u.Redirects, u.Key, u.To)
	}
	fmt.Fprintln(w, "\nlast changed")
	for _, c := range v.Changed {
		fmt.Fprintf(w, "%s  %s %s%s\n", c.Time.UTC().Format(time.RFC3339), c.Key, c.To, c.By)
	}
}
