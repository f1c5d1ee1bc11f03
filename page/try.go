package page

import (
	"fmt"
	"io"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/show"
	"github.com/caddy-shortlink/shortlink/resolver"
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
		v.Outcome = r.explain(v.URL)
	}
	return v
}

// explain says where a URL leads, and why. It locates the rules of the explanation, and others.
func (r *request) explain(url string, others ...*resolver.Rule) *show.Outcome {
	serving, question := r.links.Serving(), show.Ask(url, r.origin())
	outcome := show.Explain(serving.Listed(), question)
	r.links.Locate(r.Context(), serving, append(outcome.Rules(), others...)...)
	outcome.DeadEnd = r.deadEnd(serving.Ruleset, question.Request.Target.Pathname)
	return &outcome
}

// deadEnd says that requests for a path lead to one of the site that no link answers; "" if they do
// not.
func (r *request) deadEnd(ruleset *resolver.Ruleset, path string) string {
	end := r.links.DeadEnd(ruleset, path)
	if end == "" {
		return ""
	}
	return strings.ToUpper(end[:1]) + end[1:]
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
