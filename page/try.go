package page

import (
	"fmt"
	"io"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/show"
)

// try explains any URL.
type try struct {
	layout
	URL string `json:"url"`
	// Outcome says where the URL leads, and why; nil where none was given.
	Outcome *show.Outcome `json:"outcome,omitempty"`
}

// try returns the page that explains the URL of its query.
func (r *request) try() view {
	v := try{layout: r.layout(), URL: strings.TrimSpace(r.URL.Query().Get("url"))}
	v.Title = "Try a URL"
	if v.URL != "" {
		serving := r.links.Serving()
		outcome := show.Explain(serving.Listed(), show.Ask(v.URL, r.origin()))
		r.links.Locate(r.Context(), serving, outcome.Rules()...)
		v.Outcome = &outcome
	}
	return v
}

func (try) template() string { return "try" }

func (v try) text(w io.Writer) {
	if v.Outcome == nil {
		fmt.Fprintln(w, "The URL is missing; write try?url=<percent-encoded URL>")
		return
	}
	fmt.Fprintln(w, v.Outcome)
	_ = show.WriteExplanation(w, *v.Outcome) // a buffer takes all
}
