package page

import (
	"strings"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/hits"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// link is a link in a list.
type link struct {
	rule
	// Path is, in a search for a destination, the path to request.
	Path string `json:"path,omitempty"`
	// Uses is how often it was used in the last 30 days, nil while that is not known. In the list of
	// the most used links it is Redirects, too.
	Uses      *uint64 `json:"uses,omitempty"`
	Redirects uint64  `json:"redirects,omitempty"`
	// Last is when it was last used; zero for never.
	Last time.Time `json:"last,omitzero"`
	// lastChange is there in lists in the order of the last changes.
	lastChange
	// DeadEnd says that the link leads to a path of the site that no link answers.
	DeadEnd string `json:"dead_end,omitempty"`
	// URL is that of the destination; "" for none, and where it needs values.
	URL string `json:"-"`
}

// recentHits returns the hits of the last days, looked up once; nil while they are not known.
func (r *request) recentHits() *hits.List {
	if !r.hasAsked {
		var err error
		r.recent, err = r.links.Hits().Recent(r.links.Serving().Ruleset)
		r.report("hits", err)
		r.hasAsked = true
	}
	return r.recent
}

// linksOf returns rules as links of a list.
func (r *request) linksOf(rules ...resolver.Rule) (links []link) {
	for _, found := range rules {
		links = append(links, r.linkOf(found))
	}
	return links
}

// linkOf returns a rule as a link of a list.
func (r *request) linkOf(found resolver.Rule) link {
	serving, recent := r.links.Serving(), r.recentHits()
	if written, ok := serving.Written(found.Key); ok {
		found = written
	}
	ruleset, l := serving.Ruleset, link{rule: *ruleOf(found)}
	l.URL = l.To
	n, ok := ruleset.NumberOf(found.Key)
	if strings.HasPrefix(l.To, "/") {
		l.URL = r.origin() + l.To
	}
	if ok && l.URL != l.To {
		sample := ruleset.SampleOf(n)
		l.DeadEnd = sample.Named(r.deadEnd(ruleset, sample.Path()))
	}
	if strings.Contains(l.To, "{") || !strings.Contains(l.URL, "://") { // gone and pass have none
		l.URL = ""
	}
	if ok && recent != nil {
		uses, count := recent.Uses(n), recent.Of(n)
		if l.Uses = &uses; count.N > 0 {
			l.Last = count.Time()
		}
	}
	return l
}

// linkList is what the template of lists shows: links of a search or of all, in an order.
type linkList struct {
	Root, Caption, Query, Sort string
	Links                      []link
}
