package page

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/hits"
	"github.com/caddy-shortlink/shortlink/internal/show"
)

// mostFound is how many links a page of a search has.
const mostFound = 100

// search is the result of a search.
type search struct {
	layout
	Text string `json:"query"`
	// About describes the list in a sentence.
	About string     `json:"-"`
	Rules []foundKey `json:"rules"`
	// Next is the key after which the next page begins, "" on the last one.
	Next string `json:"next,omitempty"`
	// Late says that the time was up before all rules were searched.
	Late bool `json:"narrow_it_down,omitempty"`
	// New is a key for a new link.
	New string `json:"-"`
}

// foundKey is a rule that was found.
type foundKey struct {
	rule
	// Path is, in a search for a destination, the path to request.
	Path string `json:"path,omitempty"`
	// Last is, in a search for unused links, when the rule was last needed; zero for never.
	Last time.Time `json:"last,omitzero"`
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
	text = strings.TrimPrefix(text, r.origin()+"/") // of a short URL
	after := r.URL.Query().Get("after")
	v := search{layout: r.layout(), Text: text}
	v.Title, v.Query, v.IsFinding = "Links found", text, true
	if target, is := strings.CutPrefix(text, "to:"); is {
		return r.searchTarget(v, strings.TrimSpace(target), after)
	}
	if duration, is := strings.CutPrefix(text, "unused:"); is {
		return r.searchUnused(v, strings.TrimSpace(duration), after)
	}
	found := r.links.Search(r.Context(), text, after, mostFound)
	for _, rule := range found.Rules {
		v.Rules = append(v.Rules, foundKey{rule: *ruleOf(rule)})
	}
	v.Late = found.Late
	if found.More && len(v.Rules) > 0 {
		v.Next = v.Rules[len(v.Rules)-1].Key
	}
	v.About = fmt.Sprintf("Links whose key begins with “%s”, then those that have it in their key, "+
		"destination or note.", text)
	if text == "" {
		v.About = "All links, in the order of their keys."
	}
	_, isTaken := servingRule(r.links.Serving().Ruleset, text)
	if !isTaken && !strings.Contains(text, " ") {
		v.New = strings.TrimPrefix(text, "/")
	}
	return v
}

// searchTarget lists the links that lead to a URL.
func (r *request) searchTarget(v search, target, after string) view {
	v.About = "Links that lead to " + target + ", directly or through others."
	leads, err := r.leadsTo(target)
	if err != nil {
		return failure(r.layout(), http.StatusBadRequest, "to: takes a URL or a path: "+err.Error()+".")
	}
	behind := after == ""
	ruleset := r.links.Serving().Ruleset
	for lead := range leads.All {
		if !behind {
			behind = lead.Path == after
			continue
		}
		if len(v.Rules) == mostFound {
			v.Next = v.Rules[mostFound-1].Path
			break
		}
		found, _ := servingRule(ruleset, lead.Key)
		v.Rules = append(v.Rules, foundKey{rule: *ruleOf(found), Path: lead.Path})
	}
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
func (r *request) searchUnused(v search, duration, after string) view {
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
	v.addListed(r, list, after)
	return v
}

// unusedTime is how long a page of unused links may take.
const unusedTime = 250 * time.Millisecond

// addListed adds the rules in a list of hits, sorted by key, after one key.
func (v *search) addListed(r *request, list *hits.List, after string) {
	for end := time.Now().Add(unusedTime); ; {
		found := r.links.Search(r.Context(), "", after, mostFound)
		v.Late = v.Late || found.Late
		for _, rule := range found.Rules {
			if len(v.Rules) == mostFound {
				v.Next = after
				return
			}
			after = rule.Key
			count, isListed := list.Of(rule.Key)
			if !isListed {
				continue
			}
			one := foundKey{rule: *ruleOf(rule)}
			if count.N > 0 {
				one.Last = count.Time()
			}
			v.Rules = append(v.Rules, one)
		}
		if !found.More || len(found.Rules) == 0 {
			return
		}
		if time.Now().After(end) {
			v.Late, v.Next = true, after
			return
		}
	}
}

func (search) template() string { return "search" }

// NextPage returns the URL of the next page, relative to the root.
func (v search) NextPage() string {
	return v.Root + "?q=" + url.QueryEscape(v.Text) + "&after=" + url.QueryEscape(v.Next)
}

func (v search) text(w io.Writer) {
	for _, found := range v.Rules {
		found.line(w)
	}
	if v.Late {
		fmt.Fprintln(w, "The search took too long and may have missed rules; narrow it down.")
	}
	if v.Next != "" {
		fmt.Fprintf(w, "There are more: request them with &after=%s\n", url.QueryEscape(v.Next))
	}
}
