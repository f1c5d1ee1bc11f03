package page

import (
	"fmt"
	"io"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/show"
)

// tryView explains any URL.
type tryView struct {
	layout
	URL string `json:"url"`
	// Outcome says where the URL leads, and why; nil without a URL.
	Outcome *show.Outcome `json:"outcome,omitempty"`
}

// tryPage returns the page that explains the URL in its query.
func (r *request) tryPage() view {
	v := tryView{layout: r.layout(), URL: strings.TrimSpace(r.URL.Query().Get("url"))}
	v.Title = "Try a URL"
	if v.URL != "" {
		serving := r.links.Serving()
		outcome := show.Explain(serving.Listed(), show.Ask(v.URL, r.origin()))
		r.links.Locate(r.Context(), serving, outcome.Rules()...)
		v.Outcome = &outcome
	}
	return v
}

func (tryView) template() string { return "try" }

func (v tryView) text(w io.Writer) {
	if v.Outcome == nil {
		fmt.Fprintln(w, "The URL is missing; write try?url=<percent-encoded URL>")
		return
	}
	fmt.Fprintln(w, v.Outcome)
	_ = show.WriteExplanation(w, *v.Outcome) // a buffer cannot fail
}
