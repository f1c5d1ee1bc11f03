package page

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"

	"github.com/caddy-shortlink/shortlink/internal/find"
	"github.com/caddy-shortlink/shortlink/internal/hits"
	"github.com/caddy-shortlink/shortlink/internal/show"
)

// mostFound is how many links a page of a search has.
const mostFound = 100

// The orders of a list, as the query parameter sort has them.
const (
	byKey  = "key"
	byUses = "uses"
)

// search is the result of a search.
type search struct {
	layout
	Text string `json:"query"`
	// About describes the list in a sentence.
	About string `json:"-"`
	// Sort is by what the links are sorted: key or uses, or "" where the shortest is first.
	Sort  string `json:"sort,omitempty"`
	Rules []link `json:"rules"`
	// Total is how many links there are on this page, the ones before it and, as far as they were
	// counted, those after it. AtLeast says that not all were counted.
	Total   int  `json:"total"`
	AtLeast bool `json:"at_least,omitempty"`
	// Next is behind what the next page begins, "" on the last one, and NextPage its URL.
	Next     string `json:"next,omitempty"`
	NextPage string `json:"next_page,omitempty"`
	// Late says that the time was up before all rules were searched.
	Late bool `json:"narrow_it_down,omitempty"`
	// Suggestions are links that were perhaps meant, if there are none.
	Suggestions []link `json:"suggestions,omitempty"`
	// New is a key for a new link.
	New string `json:"-"`
	// Example is a short URL.
	Example string `json:"-"`
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
	v := search{layout: r.layout(), Text: text, Sort: r.URL.Query().Get("sort")}
	v.Title, v.Query, v.IsFinding = "Links found", text, true
	v.Example = r.shortURL("docs")
	if target, is := strings.CutPrefix(text, "to:"); is {
		return r.searchTarget(v, strings.TrimSpace(target))
	}
	if v.Sort != byUses {
		v.Sort = byKey
	}
	if duration, is := strings.CutPrefix(text, "unused:"); is {
		return r.searchUnused(v, strings.TrimSpace(duration))
	}
	return r.searchText(v)
}

// searchText lists the link that answers a short URL, and those with the words of a text.
func (r *request) searchText(v search) view {
	ruleset := r.links.Serving().Ruleset
	path, isOurs := r.pathOf(v.Text)
	if _, isKey := servingRule(ruleset, v.Text); isKey {
		path, isOurs = "", false
	}
	query := find.Query{Text: v.Text}
	v.About = "First come links whose key begins with the text, then those that have all its words " +
		"in their key, destination or note."
	if isOurs {
		query.Text, _, _ = strings.Cut(strings.TrimPrefix(path, "/"), "?")
		if number, ok := v.addAnswering(r, path); ok {
			query.Only = func(n int) bool { return n != number }
		}
	}
	v.addFound(r, query)
	if v.isEmpty() && !isOurs && !v.IsURL() && strings.Contains(v.Text, "/") {
		v.addAnswering(r, "/"+v.Text)
	}
	if v.isEmpty() && !isOurs && r.links.Site.Hosts == nil { // it may be another host of the handler
		v.addAnswering(r, path)
	}
	if v.isEmpty() {
		v.addSuggestions(r, query.Text)
	}
	if query.Text == "" && query.Only == nil {
		v.About, v.Total, v.AtLeast = "", ruleset.Len(), false
	}
	_, isTaken := servingRule(ruleset, query.Text)
	if !isTaken && !strings.Contains(query.Text, " ") && !v.IsURL() {
		v.New = strings.TrimPrefix(query.Text, "/")
	}
	return v
}

// isEmpty reports whether all links were searched, and none was found.
func (v *search) isEmpty() bool { return v.Total == 0 && !v.AtLeast }

// addAnswering adds the link that answers a path, to the first page, and returns its number.
func (v *search) addAnswering(r *request, path string) (number int, ok bool) {
	ruleset := r.links.Serving().Ruleset
	answer := ruleset.Resolve(r.origin() + path)
	rule, ok := ruleset.Numbered(answer.Rule)
	if path == "" || answer.Key == "" || !ok {
		return 0, false
	}
	if v.Total++; !r.URL.Query().Has("after") {
		v.Rules = append(v.Rules, r.linkOf(rule, r.recentHits()))
	}
	return answer.Rule, true
}

// addSuggestions adds the links that a text was perhaps meant to find.
func (v *search) addSuggestions(r *request, text string) {
	near := r.links.Suggest(text, mostSuggested)
	if listed := r.links.Serving().Listed(); near == nil && listed.Len() <= mostCompared {
		near = listed.Suggest(text, mostSuggested) // the index may be being made
	}
	for _, rule := range near {
		v.Suggestions = append(v.Suggestions, r.linkOf(rule, r.recentHits()))
	}
}

// mostCompared is how many links a text is compared with while there is no index.
const mostCompared = 10_000

// addFound searches, and adds what is found.
func (v *search) addFound(r *request, query find.Query) {
	recent := r.recentHits()
	after := r.URL.Query().Get("after")
	shown, _ := strconv.Atoi(r.URL.Query().Get("shown"))
	shown = max(shown, 0)
	switch {
	case v.Sort == byKey:
	case recent != nil:
		query.Uses = recent.Uses
	case after == "":
		v.Sort, v.About = byKey, v.About+" Uses are still being read, so they are sorted by key."
	default: // the rules have been loaded anew since the last page
		v.Late, v.AtLeast, v.Total = true, true, v.Total+shown
		v.goOn(after, shown)
		return
	}
	query.Most, query.Behind = mostFound-len(v.Rules), placeIn(after)
	found := r.links.Search(r.Context(), query)
	for _, rule := range found.Rules {
		v.Rules = append(v.Rules, r.linkOf(rule, recent))
	}
	v.AtLeast, v.Late, v.Total = found.AtLeast, found.Late, v.Total+shown+found.Total
	if found.More || found.Late {
		v.goOn(afterPlace(found.Next), shown+len(found.Rules))
	}
}

// goOn sets the next page. So many links were found up to this one.
func (v *search) goOn(next string, shown int) {
	v.Next = next
	v.NextPage = v.urlOf(v.Sort) + "&after=" + url.QueryEscape(next) + "&shown=" + strconv.Itoa(shown)
}

// placeIn returns the place that the query parameter after has: KEY, with ?USES in the order of
// uses, and #NUMBER in the order in which rules are stored. No key has these characters.
func placeIn(after string) (p find.Place) {
	after, stored, _ := strings.Cut(after, "#")
	key, uses, _ := strings.Cut(after, "?")
	p.Key = key
	p.Uses, _ = strconv.ParseUint(uses, 10, 64)
	n, _ := strconv.Atoi(stored)
	p.Stored = max(n, 0)
	return p
}

// afterPlace is the inverse of placeIn.
func afterPlace(p find.Place) string {
	after := p.Key
	if p.Uses > 0 {
		after += "?" + strconv.FormatUint(p.Uses, 10)
	}
	if p.Stored > 0 {
		after += "#" + strconv.Itoa(p.Stored)
	}
	return after
}

// pathOf returns the path that a text asks for if it is a path or a URL. isOurs says that the
// handler is known to answer its host.
func (r *request) pathOf(text string) (path string, isOurs bool) {
	_, rest, isURL := strings.Cut(text, "://")
	if !isURL {
		rest = text
	}
	host, path, hasPath := strings.Cut(rest, "/")
	switch {
	case strings.Contains(text, " ") || !isURL && !hasPath:
		return "", false
	case host == "" && !isURL:
		return text, true
	}
	_, own, _ := strings.Cut(r.origin(), "://")
	isOurs = strings.EqualFold(host, own) || strings.EqualFold(host, r.Host) ||
		slices.ContainsFunc(r.links.Site.Hosts, func(pattern string) bool {
			return certmagic.MatchWildcard(hostOf(host), pattern)
		})
	return "/" + path, isOurs
}

// searchTarget lists the links that lead to a URL, the shortest first unless they are to be sorted.
func (r *request) searchTarget(v search, target string) view {
	v.About = "Links that lead to " + target + ", directly or through others."
	leads, err := r.leadsTo(target)
	if err != nil {
		return failure(r.layout(), http.StatusBadRequest, "to: takes a URL or a path: "+err.Error()+".")
	}
	recent := r.recentHits()
	all := leads.All
	if v.Sort == byKey || v.Sort == byUses && recent != nil {
		all = v.sorted(r, all, recent)
	} else {
		v.Sort = ""
	}
	after := r.URL.Query().Get("after")
	isBehind, end := after == "", time.Now().Add(pageTime)
	for lead := range all {
		v.Total++
		switch {
		case !isBehind:
			isBehind = lead.Path == after
		case len(v.Rules) < mostFound:
			found, _ := servingRule(r.links.Serving().Ruleset, lead.Key)
			one := r.linkOf(found, recent)
			one.Path = lead.Path
			v.Rules = append(v.Rules, one)
		case v.Next == "":
			v.goOn(v.Rules[mostFound-1].Path, 0)
		case time.Now().After(end):
			v.AtLeast = true
			return v
		}
	}
	return v
}

// pageTime is how long a page of links takes that lead to a URL, after these were found.
const pageTime = 100 * time.Millisecond

// sorted returns ways to a URL by key or by uses. Of too many, the first are sorted.
func (v *search) sorted(
	r *request, all iter.Seq[show.Lead], recent *hits.List,
) iter.Seq[show.Lead] {
	var leads []show.Lead
	end := time.Now().Add(pageTime)
	for lead := range all {
		if v.AtLeast = time.Now().After(end); v.AtLeast {
			v.About += fmt.Sprintf(" Only the first %s are sorted.", number(uint64(len(leads))))
			break
		}
		leads = append(leads, lead)
	}
	ruleset := r.links.Serving().Ruleset
	uses := func(lead show.Lead) uint64 {
		n, ok := ruleset.NumberOf(lead.Key)
		if v.Sort == byKey || !ok {
			return 0
		}
		return recent.Uses(n)
	}
	slices.SortFunc(leads, func(a, b show.Lead) int {
		return cmp.Or(cmp.Compare(uses(b), uses(a)), strings.Compare(a.Path, b.Path))
	})
	return slices.Values(leads)
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
	list, err := r.links.Hits(r.Context())
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

// Count says how many links there are.
func (v search) Count() string {
	count := number(uint64(v.Total)) + " links"
	switch {
	case v.Total == 1:
		count = "1 link"
	case v.isEmpty():
		count = "Nothing found"
	}
	if v.AtLeast {
		return "At least " + count
	}
	return count
}

// IsURL reports whether the text is a URL.
func (v search) IsURL() bool {
	return strings.HasPrefix(v.Text, "https://") || strings.HasPrefix(v.Text, "http://")
}

// List returns the links for the template.
func (v search) List() linkList {
	return linkList{v.Root, v.Rules, "Links found", v.Sort, v.urlOf(byKey), v.urlOf(byUses)}
}

// Near returns the suggestions for the template.
func (v search) Near() linkList {
	return allSorted(v.Root, "Links that were perhaps meant", "", v.Suggestions)
}

// urlOf returns the URL of the search in an order.
func (v search) urlOf(sort string) string {
	found := v.Root + "?q=" + url.QueryEscape(v.Text)
	if sort == byUses || sort == byKey && strings.HasPrefix(v.Text, "to:") {
		found += "&sort=" + sort
	}
	return found
}

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
