package show

import (
	"fmt"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/find"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Outcome is the result of resolving a URL, as JSON: on the command line and at the admin endpoint.
type Outcome struct {
	Request     string                `json:"request"`
	Outcome     string                `json:"outcome"`
	Destination string                `json:"destination,omitempty"`
	Key         string                `json:"key,omitempty"`
	Hops        *int                  `json:"hops,omitempty"` // for redirect and gone
	Status      int                   `json:"status,omitempty"`
	Error       string                `json:"error,omitempty"`
	Note        string                `json:"note,omitempty"` // why none reaches the handler
	Explanation *resolver.Explanation `json:"explanation,omitempty"`
	Suggestions []Suggestion          `json:"suggestions,omitempty"` // where no key matches
	DeadEnd     string                `json:"dead_end,omitempty"`    // says that no link answers there
}

// Question is a URL to resolve.
type Question struct {
	Written string
	// Request is the request for it, unless Err says why there is none.
	Request resolver.Request
	Err     error
}

// Ask returns the question about a URL. A path is on origin.
func Ask(written, origin string) Question {
	req, err := resolver.ParseRequest(absolute(written, origin))
	if err != nil {
		err = fmt.Errorf("%w%s", err, insteadOfURL(written))
	}
	return Question{written, req, err}
}

// IsPath reports whether a path was written, whose host is not known.
func (q Question) IsPath() bool { return strings.HasPrefix(q.Written, "/") }

// OutcomeOf resolves a URL.
func OutcomeOf(ruleset *resolver.Ruleset, q Question) Outcome {
	if q.Err != nil {
		return newOutcome(q, resolver.Result{Outcome: resolver.Failed, Err: q.Err})
	}
	destination, result := ruleset.AppendDestination(nil, &q.Request)
	result.Destination = string(destination)
	return newOutcome(q, result)
}

// Explain is OutcomeOf with the reasons, and with the keys that were perhaps meant.
func Explain(keys find.Listed, q Question) Outcome {
	if q.Err != nil {
		return OutcomeOf(keys.Ruleset, q)
	}
	e := keys.Ruleset.Explain(q.Request)
	out := newOutcome(q, e.Result)
	out.Explanation = &e
	for _, rule := range keys.Suggest(unmatchedPath(&e, q.Request), mostSuggested) {
		out.Suggestions = append(out.Suggestions, Suggestion{rule})
	}
	return out
}

func newOutcome(q Question, result resolver.Result) Outcome {
	out := Outcome{Request: q.Written, Outcome: result.Outcome.String(), Key: result.Key}
	switch result.Outcome {
	case resolver.Redirect:
		out.Destination, out.Hops, out.Status = result.Destination, &result.Hops, result.Status
	case resolver.Gone:
		out.Hops = &result.Hops
	case resolver.Failed:
		out.Error = result.Err.Error()
	}
	return out
}

// Rules returns the rules that the outcome names.
func (o *Outcome) Rules() (all []*resolver.Rule) {
	if o.Explanation != nil {
		for i := range o.Explanation.Walk {
			all = append(all, &o.Explanation.Walk[i].Rule)
		}
	}
	for i := range o.Suggestions {
		all = append(all, &o.Suggestions[i].Rule)
	}
	return all
}

// String returns the outcome as a line for people.
func (o Outcome) String() string {
	request := printable.Text(o.Request)
	switch o.Outcome {
	case resolver.Redirect.String():
		return fmt.Sprintf("%s -> %d %s", request, o.Status, o.Destination)
	case resolver.Failed.String():
		return fmt.Sprintf("%s -> error: %s", request, printable.Text(o.Error))
	}
	return request + " -> " + o.Outcome
}

// insteadOfURL returns what to write instead of something that is neither a URL nor a path, as the
// end of a message; "" if it is meant as a URL.
func insteadOfURL(written string) string {
	host, path, below := strings.Cut(written, "/")
	if host == "" || !below && strings.Contains(host, ":") || strings.Contains(written, "://") {
		return ""
	}
	if !below {
		return "; write /" + written + " for a path of the site"
	}
	return fmt.Sprintf("; write /%s if %s is the site's host, else /%s", path, host, written)
}

// absolute returns a URL as it is, and a path with origin in front.
func absolute(written, origin string) string {
	if strings.HasPrefix(written, "/") {
		return strings.TrimSuffix(origin, "/") + written
	}
	return written
}
