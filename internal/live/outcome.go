package live

import (
	"fmt"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Outcome says what became of a URL, for programs: on the command line and at the admin endpoint.
type Outcome struct {
	Request     string       `json:"request"`
	Outcome     string       `json:"outcome"`
	Destination string       `json:"destination,omitempty"`
	Key         string       `json:"key,omitempty"`
	Hops        *int         `json:"hops,omitempty"` // of redirects, and of what is gone
	Status      int          `json:"status,omitempty"`
	Error       string       `json:"error,omitempty"`
	Note        string       `json:"note,omitempty"` // why no such request comes to the handler
	Explanation *Explanation `json:"explanation,omitempty"`
}

// Explanation says why.
type Explanation struct {
	Walk     []Step  `json:"walk,omitempty"`
	Origin   *Origin `json:"origin,omitempty"`
	Appended string  `json:"appended,omitempty"`
	// Query is the query mode that the first rule says.
	Query      string      `json:"query,omitempty"`
	Parameters []Parameter `json:"parameters,omitempty"`
	Dropped    []Given     `json:"dropped,omitempty"`
	Fragment   *Parameter  `json:"fragment,omitempty"`
	Near       *NearMiss   `json:"near,omitempty"`
}

// NearMiss is the rule that comes nearest to a path that no key matches, and why it does not match.
type NearMiss struct {
	Key      string `json:"key"`
	Position string `json:"position,omitempty"`
	Reason   string `json:"reason"`
}

// Step is a match on the way to the destination.
type Step struct {
	Pathname string `json:"pathname"`
	Key      string `json:"key"`
	Value    string `json:"value"`
	// Captures are what the variables of a template take, as the pathname spells it.
	Captures  map[string]string `json:"captures,omitempty"`
	Remaining string            `json:"remaining,omitempty"`
	Position  string            `json:"position,omitempty"`
	Note      string            `json:"note,omitempty"`
}

// Origin is where something comes from: request, embedded, destination or option; key is the rule's
// that has it.
type Origin struct {
	Source string `json:"source"`
	Key    string `json:"key,omitempty"`
}

// Given is a part of a URL and where it comes from.
type Given struct {
	Name  string `json:"name,omitempty"`
	Value string `json:"value"`
	From  Origin `json:"from"`
}

// Parameter is a part of a destination, and what it displaced.
type Parameter struct {
	Given
	Displaced []Given `json:"displaced,omitempty"`

	Text string `json:"-"` // the parameter as it stands
}

// Question is a URL that somebody asks about.
type Question struct {
	Written string
	// Request is that for it, unless Err says why there is none.
	Request resolver.Request
	Err     error
}

// Ask returns the question about a URL. A path is one of origin.
func Ask(written, origin string) Question {
	req, err := resolver.ParseRequest(absolute(written, origin))
	if err != nil {
		err = fmt.Errorf("%w%s", err, insteadOfURL(written))
	}
	return Question{written, req, err}
}

// IsPath reports whether a path was written, of which nobody says whose host it has.
func (q Question) IsPath() bool { return strings.HasPrefix(q.Written, "/") }

// OutcomeOf resolves a URL, and explains it if that is asked for.
func OutcomeOf(ruleset *resolver.Ruleset, q Question, explain bool) (Outcome,
	resolver.Explanation) {
	out, req := Outcome{Request: q.Written}, q.Request
	if err := q.Err; err != nil {
		out.Outcome, out.Error = resolver.Failed.String(), err.Error()
		return out, resolver.Explanation{Result: resolver.Result{Outcome: resolver.Failed, Err: err}}
	}
	var e resolver.Explanation
	if explain {
		e = ruleset.Explain(req)
		explanation := explanationOf(e)
		out.Explanation = &explanation
	} else {
		appended, result := ruleset.AppendDestination(nil, &req)
		result.Destination = string(appended)
		e = resolver.Explanation{Result: result}
	}
	out.Outcome, out.Key = e.Outcome.String(), e.Key
	switch e.Outcome {
	case resolver.Redirect:
		out.Destination, out.Hops, out.Status = e.Destination, &e.Hops, e.Status
	case resolver.Gone:
		out.Hops = &e.Hops
	case resolver.Failed:
		out.Error = e.Err.Error()
	}
	return out, e
}

// explanationOf is the form of an explanation for programs.
func explanationOf(e resolver.Explanation) Explanation {
	var out Explanation
	for _, step := range e.Walk {
		s := Step{Pathname: step.Pathname, Key: step.Rule.Key, Value: step.Value,
			Remaining: step.Remaining, Position: step.Rule.Position.String(),
			Note: step.Rule.Note}
		for _, capture := range step.Captures {
			if s.Captures == nil {
				s.Captures = map[string]string{}
			}
			s.Captures[capture.Name] = capture.Raw
		}
		out.Walk = append(out.Walk, s)
	}
	if e.Origin.Kind != resolver.FromNowhere {
		out.Origin = new(sourceOf(e, e.Origin))
	}
	out.Appended, out.Query = e.Appended, e.Query.String()
	for _, p := range e.Parameters {
		out.Parameters = append(out.Parameters, Parameter{
			givenOf(e, p.Given), givensOf(e, p.Displaced), p.String(),
		})
	}
	out.Dropped = givensOf(e, e.Dropped)
	if e.Fragment.Value != "" {
		out.Fragment = &Parameter{
			Given: givenOf(e, e.Fragment.Given), Displaced: givensOf(e, e.Fragment.Displaced),
		}
	}
	if near := e.Near; near != nil {
		out.Near = &NearMiss{near.Rule.Key, near.Rule.Position.String(), near.Reason}
	}
	return out
}

func sourceOf(e resolver.Explanation, from resolver.Source) Origin {
	out := Origin{Source: string(from.Kind)}
	if from.Kind == resolver.FromEmbedded || from.Kind == resolver.FromDestination {
		out.Key = e.Walk[from.Step].Rule.Key
	}
	return out
}

func givenOf(e resolver.Explanation, g resolver.Given) Given {
	return Given{g.Name, g.Value, sourceOf(e, g.From)}
}

func givensOf(e resolver.Explanation, all []resolver.Given) []Given {
	var out []Given
	for _, g := range all {
		out = append(out, givenOf(e, g))
	}
	return out
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

// insteadOfURL says what to write instead of what is neither a URL nor a path, as a clause behind
// the reason; it returns "" for what is meant as a URL.
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

// absolute returns a URL as it is, and a path as one of origin.
func absolute(written, origin string) string {
	if strings.HasPrefix(written, "/") {
		return strings.TrimSuffix(origin, "/") + written
	}
	return written
}

// String returns the source in words.
func (s Origin) String() string {
	switch resolver.SourceKind(s.Source) {
	case resolver.FromRequest:
		return "the request"
	case resolver.FromOption:
		return "the option origin"
	}
	return "the destination of " + s.Key
}
