package page

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"

	"github.com/caddy-shortlink/shortlink/internal/find"
	"github.com/caddy-shortlink/shortlink/internal/show"
)

// mostFound is how many links a page of a search has.
const mostFound = 100

// The orders of a list.
const byKey, byUses, byChange = "key", "uses", "changed"

// search is the result of a search.
type search struct {
	layout
	Text string `json:"query"`
	// About describes the list in a sentence.
	About string `json:"-"`
	// Sort is by what the links are sorted: key, uses or changed.
	Sort  string `json:"sort"`
	Rules []link `json:"rules"`
	// Total is how many links there are on this page, the ones before it and, as far as they were
	// counted, those after it. AtLeast says that not all were counted.
	Total   uint64 `json:"total"`
	AtLeast bool   `json:"at_least,omitempty"`
	// Next is the key after which the next page begins, "" on the last one. NextPage is its URL.
	Next     string `json:"next,omitempty"`
	NextPage string `json:"next_page,omitempty"`
	// Late says that the time was up before all rules were searched.
	Late bool `json:"narrow_it_down,omitempty"`
	// Suggestions are links that were perhaps meant, if there are none.
	Suggestions []link `json:"suggestions,omitempty"`
	// New is a key for a new link.
	New string `json:"-"`
}

// search searches when it is its turn.
func (r *request) search() view {
	turns := r.page.searches
	if strings.HasPrefix(strings.TrimSpace(r.URL.Query().Get("q")), "to:") {
		turns = r.page.leads // these take longer
	}
	select {
	case turns <- struct{}{}:
		defer func() { <-turns }()
		return r.searchNow()
	case <-r.Context().Done():
		return failure(r.layout(), http.StatusRequestTimeout, "The client has gone.")
	}
}

// searchNow finds links by a text, by destination, or by how long nobody has needed them.
func (r *request) searchNow() view {
	text := strings.TrimSpace(r.URL.Query().Get("q"))
	v := search{layout: r.layout(), Text: text}
	v.Title, v.Query, v.IsFinding = "Links found", text, true
	if target, is := strings.CutPrefix(text, "to:"); is {
		return r.searchTarget(v, strings.TrimSpace(target))
	}
	if duration, is := strings.CutPrefix(text, "unused:"); is {
		return r.searchUnused(v, strings.TrimSpace(duration))
	}
	return r.searchText(v)
}

// searchText lists the link that answers a short URL, and those with the words of a text.
func (r *request) searchText(v search) view {
	v.About = "First come links whose key begins with the text, then those that have all its words " +
		"in their key, destination or note."
	ruleset := r.links.Serving().Ruleset
	query := find.Query{Text: v.Text}
	path, isOurs := r.pathOf(v.Text)
	if isOurs {
		query.Text, _, _ = strings.Cut(strings.TrimPrefix(path, "/"), "?")
		if number, ok := v.addAnswering(r, path); ok {
			query.Only = func(n int) bool { return n != number }
		}
	} else if path != "" {
		query.Text = strings.TrimSuffix(v.Text, "/") // browsers add one to a host
	}
	v.addFound(r, query)
	if v.isEmpty() && path != "" && !isOurs && r.links.Site.Hosts == nil {
		v.addAnswering(r, path) // of another host that the handler answers
	}
	if v.isEmpty() && path != "" && !strings.Contains(v.Text, "://") {
		v.addAnswering(r, "/"+v.Text)
	}
	if v.isEmpty() {
		v.About = ""
		v.Suggestions = r.linksOf(r.links.Serving().Suggest(query.Text, mostSuggested)...)
	}
	if query.Text == "" && query.Only == nil {
		v.About, v.Total, v.AtLeast = "", uint64(ruleset.Len()), false
	}
	_, isTaken := r.links.Serving().Written(query.Text)
	if !isTaken && !strings.Contains(query.Text, " ") && !strings.Contains(query.Text, "://") {
		v.New = strings.TrimPrefix(query.Text, "/")
	}
	return v
}

// pathOf returns the path that a text asks for if it is a path or a URL, which may lack its scheme.
// isOurs says that the handler is known to answer the host; it may answer others.
func (r *request) pathOf(text string) (path string, isOurs bool) {
	_, rest, isURL := strings.Cut(text, "://")
	if !isURL {
		rest = text
	}
	host, path, hasPath := strings.Cut(rest, "/")
	_, isKey := r.links.Serving().Written(text)
	if strings.Contains(text, " ") || !isURL && (!hasPath || isKey) {
		return "", false
	}
	_, own, _ := strings.Cut(r.origin(), "://")
	hosts := append([]string{r.Host, own}, r.links.Site.Hosts...)
	return "/" + path, host == "" || slices.ContainsFunc(hosts, func(pattern string) bool {
		return certmagic.MatchWildcard(hostOf(host), hostOf(pattern))
	})
}

// addAnswering adds the link that answers a path, to the first page, and returns its number.
func (v *search) addAnswering(r *request, path string) (number int, ok bool) {
	ruleset := r.links.Serving().Ruleset
	answer := ruleset.Resolve(r.origin() + path)
	if answer.Key == "" {
		return 0, false
	}
	rule, ok := ruleset.Numbered(answer.Rule)
	v.About = "First comes the link that answers this short URL."
	if v.Total++; !r.URL.Query().Has("after") {
		v.Rules = r.linksOf(rule)
	}
	return answer.Rule, ok
}

// isEmpty reports whether all links were searched, and none was found.
func (v *search) isEmpty() bool { return v.Total == 0 && !v.AtLeast }

// addFound searches, and adds what is found. The query parameter after is a key, with its rank if
// there are ranks as KEY?RANK: no key has a question mark. So many links as shown says were on the
// pages before.
func (v *search) addFound(r *request, query find.Query) {
	form := r.URL.Query()
	after, shown := form.Get("after"), uint64(0)
	_, _ = fmt.Sscan(form.Get("shown"), &shown)
	recent := r.recentHits()
	v.Sort = byKey
	switch sort := form.Get("sort"); {
	case sort == byChange:
		v.Sort, query.Rank = byChange, func(n int) uint64 { return r.lastChanges()[n].rank }
	case sort == byUses && recent != nil:
		v.Sort, query.Rank = byUses, recent.Uses
	case sort == byUses:
		v.About += " Uses are not known yet, so the links are sorted by key: try again soon."
		after, shown = "", 0
	}
	key, rank, _ := strings.Cut(after, "?")
	query.Behind.Key = key
	_, _ = fmt.Sscan(rank, &query.Behind.Rank)
	query.Most = mostFound - len(v.Rules)
	found := r.links.Serving().Search(r.Context(), query)
	v.Rules = append(v.Rules, r.linksOf(found.Rules...)...)
	if v.Sort == byChange {
		for i := range v.Rules {
			n, _ := r.links.Serving().Ruleset.NumberOf(v.Rules[i].Key)
			v.Rules[i].lastChange = r.lastChanges()[n]
		}
	}
	v.AtLeast, v.Late, v.Total = found.AtLeast, found.Late, v.Total+shown+uint64(found.Total)
	if found.More || found.Late {
		v.Next = found.Next.Key
		if v.Sort != byKey {
			v.Next += fmt.Sprint("?", found.Next.Rank)
		}
		v.NextPage = v.Root + "?" + url.Values{
			"q": {v.Text}, "sort": {v.Sort}, "after": {v.Next},
			"shown": {fmt.Sprint(shown + uint64(len(found.Rules)))},
		}.Encode()
	}
}

// searchTarget lists the links that lead to a URL.
func (r *request) searchTarget(v search, target string) view {
	v.About = "Links that lead to " + target + ", directly or through others."
	leads, err := r.leadsTo(target)
	if err != nil {
		return failure(r.layout(), http.StatusBadRequest, "to: takes a URL or a path: "+err.Error()+".")
	}
	ruleset, paths := r.links.Serving().Ruleset, map[int]string{}
	for lead := range leads.All {
		if n, ok := ruleset.NumberOf(lead.Key); ok {
			paths[n] = lead.Path
		}
	}
	v.addFound(r, find.Query{Only: func(number int) bool { return paths[number] != "" }})
	for i := range v.Rules {
		n, _ := ruleset.NumberOf(v.Rules[i].Key)
		v.Rules[i].Path = paths[n]
	}
	v.Total, v.AtLeast = uint64(len(paths)), false
	return v
}

// leadsTo finds the ways to a URL, or to a path of the site.
func (r *request) leadsTo(target string) (show.Leads, error) {
	return show.LeadsTo(r.links.Serving().Ruleset, target, r.links.SiteOrigin(), r.hosts(), false)
}

// hosts returns the hosts of the links.
func (r *request) hosts() []string {
	if r.links.Options.Origin != "" {
		return nil
	}
	_, host, _ := strings.Cut(r.origin(), "://")
	return []string{host}
}

// searchUnused lists the links that nobody has needed for some time.
func (r *request) searchUnused(v search, duration string) view {
	unused, err := caddy.ParseDuration(duration)
	if err != nil || unused < time.Minute {
		return failure(r.layout(), http.StatusBadRequest,
			"unused: takes a duration of at least a minute, in m, h or d, such as unused:90d.")
	}
	list, err := r.links.Hits().List(r.Context(), r.links.Serving().Ruleset)
	if err != nil {
		return failure(r.layout(), http.StatusServiceUnavailable, err.Error())
	}
	note := list.HideUsed(time.Now().Add(-unused))
	v.About = "Links that nobody has needed for " + duration + ", directly or through " +
		"another link."
	if note != "" {
		v.About += " Note: " + note + "."
	}
	v.addFound(r, find.Query{Only: list.Has})
	return v
}

func (search) template() string { return "search" }

func (v search) text(w io.Writer) {
	for _, found := range v.Rules {
		found.line(w)
	}
	for _, near := range v.Suggestions {
		fmt.Fprintln(w, "perhaps:", near.Key)
	}
	if v.Late {
		fmt.Fprintln(w, "The time was up before all rules were looked at; go on, or narrow it down.")
	}
	if v.Next != "" {
		fmt.Fprintf(w, "There are more: request them with &after=%s\n", url.QueryEscape(v.Next))
	}
}
