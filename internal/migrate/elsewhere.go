package migrate

import (
	"cmp"
	"errors"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Redirect is a redirect that no rule can express: of "/", of another host, or of a query.
type Redirect struct {
	URL string // what it matches; without a host, if that is the site's
	// Accept is a regular expression of the header that requests must have, or "".
	Accept string
	// To is the destination. In it, "{splat}" is the text of a "*" at the end of the URL.
	To     string
	Status int
	// KeepsQuery reports whether the query of a request goes along.
	KeepsQuery bool
}

// keepElsewhere keeps a line without an equivalent if Caddy's redir can express it.
func (t *Table) keepElsewhere(line redirects.Line) {
	r := Redirect{To: redirects.DestinationText(line.To), Status: line.Status}
	if elsewhere, is := errors.AsType[*redirects.Elsewhere](line.Refused); is {
		r.URL, r.Accept = elsewhere.URL, elsewhere.Accept
	} else if errors.Is(line.Refused, redirects.ErrRoot) {
		r.URL = "/"
	}
	if r.URL == "" || line.Answer != redirects.Leads || len(line.Notes) > 0 {
		return
	}
	// a query that a line asks for is not meant for its destination
	isKept := cmp.Or(line.Query, t.Query) != resolver.QueryIgnore
	r.KeepsQuery = isKept && !strings.Contains(r.URL, "?") && !strings.ContainsAny(r.To, "?#")
	t.elsewhere = append(t.elsewhere, r)
}
