package page

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// layout is what all views have in common.
type layout struct {
	// Root leads from the page that is shown to the start page, as a relative reference: the browser
	// knows its own URL, whatever proxies and handlers have cut from it.
	Root string `json:"-"`
	// Title is the heading.
	Title string `json:"-"`
	// Handler is the name of the handler whose links these are, User that of who reads.
	Handler string `json:"-"`
	User    string `json:"-"`
	// MayWrite tells that the user may edit.
	MayWrite bool `json:"-"`
	// Query is what the search box holds. IsFinding tells that the box has the focus, and finds as one
	// types.
	Query     string `json:"-"`
	IsFinding bool   `json:"-"`
	// Status is that of the answer, 0 for 200.
	Status int `json:"-"`
}

// newLayout returns the layout of a page at the path of a request. A slash that is percent-encoded
// there is no level for browsers.
func (p *Page) newLayout(r *http.Request) layout {
	root := "./"
	if n := strings.Count(r.URL.EscapedPath(), "/") - strings.Count(p.Path, "/") - 1; n > 0 {
		root = strings.Repeat("../", n)
	}
	return layout{Root: root}
}

// layout returns the layout of the page that is asked for.
func (r *request) layout() layout {
	l := r.page.newLayout(r.Request)
	l.Handler, l.User, l.MayWrite = r.links.UniqueName, r.user, r.page.mayWrite(r.user)
	return l
}

// status returns the status of the answer.
func (l layout) status() int {
	if l.Status == 0 {
		return http.StatusOK
	}
	return l.Status
}

// keyPath returns the path of a key's page, below the root.
func keyPath(key string) string {
	if !isClean("/key/"+key) || strings.HasSuffix(key, "/") {
		return "key/?key=" + url.QueryEscape(key)
	}
	segments := strings.Split(key, "/")
	for i, segment := range segments {
		segments[i] = url.PathEscape(segment)
	}
	return "key/" + strings.Join(segments, "/")
}

// keyPathWith returns the path of a key's page with a query.
func keyPathWith(key, query string) string {
	path := keyPath(key)
	if strings.Contains(path, "?") {
		return path + "&" + query
	}
	return path + "?" + query
}

// message is a view that says something, and nothing else.
type message struct {
	layout
	Text string `json:"error"`
	// Help says what to do about it.
	Help string `json:"help,omitempty"`
}

func (message) template() string { return "message" }

func (m message) text(w io.Writer) {
	fmt.Fprintln(w, m.Text)
	if m.Help != "" {
		fmt.Fprintln(w, m.Help)
	}
}

// failure is the view of a request that cannot be answered.
func failure(l layout, status int, text string) message {
	l.Status, l.Title = status, http.StatusText(status)
	return message{layout: l, Text: text}
}

// notFound is the view of what is not there.
func notFound(l layout, text string) message { return failure(l, http.StatusNotFound, text) }

// noName is the view for those who have no name.
func noName(l layout) message {
	m := failure(l, http.StatusForbidden,
		"This page is for those alone whom Caddy knows by name, and you have none here.")
	m.Title = "Nobody is signed in"
	m.Help = "Who runs this server puts basic_auth, forward_auth or another provider of " +
		"authentication in front of shortlink_page; with \"read everyone\" all may read."
	return m
}
