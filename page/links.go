package page

import (
	"errors"
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
	// Uses is how often it was used in the last 30 days; nil while that is not known.
	Uses *uint64 `json:"uses,omitempty"`
	// Redirects is Uses in the list of the most used links.
	Redirects uint64 `json:"redirects,omitempty"`
	// Last is when it was last used; zero for never.
	Last time.Time `json:"last,omitzero"`
	// Time is when it was changed, and What says whether it was added or changed, in the list of the
	// last changes.
	Time time.Time `json:"time,omitzero"`
	What string    `json:"what,omitempty"`
	// URL is that of the destination, "" where it has none.
	URL string `json:"-"`
}

// linkOf returns a rule as a link in a list, with its hits unless they are nil.
func (r *request) linkOf(found resolver.Rule, recent *hits.List) link {
	l := link{rule: *ruleOf(found), URL: r.urlOf(found.Value)}
	number, ok := r.links.Serving().Ruleset.NumberOf(found.Key)
	if recent == nil || !ok {
		return l
	}
	uses := recent.Uses(number)
	l.Uses = &uses
	if count := recent.Of(number); count.N > 0 {
		l.Last = count.Time()
	}
	return l
}

// recentHits returns the hits that lists show; nil while they are not known.
func (r *request) recentHits() *hits.List {
	recent, err := r.links.RecentHits(r.Context())
	if !errors.Is(err, hits.ErrReading) {
		r.report(err)
	}
	return recent
}

// urlOf returns the URL of a rule's destination, as far as it needs no values.
func (r *request) urlOf(value string) string {
	switch {
	case strings.Contains(value, "{"):
		return ""
	case strings.HasPrefix(value, "/"):
		return r.origin() + value
	case strings.Contains(value, "://"):
		return value
	}
	return "" // gone or pass
}

// linkList is what the template of lists shows.
type linkList struct {
	Root  string
	Links []link
	// Caption says what the list is of.
	Caption string
	// Sort is by what it is sorted: key or uses, or something else.
	Sort string
	// ByKey and ByUses are the URLs of the list in another order.
	ByKey, ByUses string
}

// HasTimes reports whether the list says when links were changed.
func (l linkList) HasTimes() bool { return len(l.Links) > 0 && !l.Links[0].Time.IsZero() }

// allSorted returns a list of some of all links, with the URLs of all.
func allSorted(root, caption, sort string, links []link) linkList {
	return linkList{root, links, caption, sort, root + "?q=", root + "?q=&sort=" + byUses}
}
