package page

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// layout is common to all views.
type layout struct {
	// Root leads from the shown page to the start page, as a relative reference: the browser knows
	// its own URL, whatever proxies and handlers have stripped from it.
	Root string `json:"-"`
	// Title is the heading.
	Title string `json:"-"`
	// Handler is the name of the handler of the links, User that of the reader.
	Handler string `json:"-"`
	User    string `json:"-"`
	// MayWrite says that the user may edit.
	MayWrite bool `json:"-"`
	// Query is the content of the search box. IsFinding says that the box has the focus, and
	// searches as one types.
	Query     string `json:"-"`
	IsFinding bool   `json:"-"`
	// IsPublic says that everybody is shown the view, at any path.
	IsPublic bool `json:"-"`
	// Status is that of the answer, 0 for 200.
	Status int `json:"-"`
}

// newLayout returns the layout of a page at the path of a request. For browsers, a percent-encoded
// slash in it does not begin a segment.
func (p *Page) newLayout(r *http.Request) layout {
	root := "./"
	if n := strings.Count(r.URL.EscapedPath(), "/") - strings.Count(p.Path, "/") - 1; n > 0 {
		root = strings.Repeat("../", n)
	}
	return layout{Root: root}
}

// layout returns the layout of the requested page.
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

// keyPath returns the path of a key's page, relative to the root.
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

// message is a view that is only a text.
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

// failure returns the view of a request that cannot be answered.
func failure(l layout, status int, text string) message {
	l.Status, l.Title = status, http.StatusText(status)
	return message{layout: l, Text: text}
}

// notFound returns the view of a page that does not exist.
func notFound(l layout, text string) message { return failure(l, http.StatusNotFound, text) }

// noName returns the view for users without a name.
func noName(l layout) message {
	m := failure(l, http.StatusForbidden,
		"This page is only for users whom Caddy knows by name, and you are not signed in.")
	m.Title = "You are not signed in"
	m.Help = "To change that, put basic_auth, forward_auth or another provider of " +
		"authentication in front of shortlink_page; with \"read everyone\", anybody may read."
	return m
}
