package shortlink

import (
	"fmt"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// outcomeJSON says what became of a URL, for programs: on the command line and at the admin endpoint.
type outcomeJSON struct {
	Request     string           `json:"request"`
	Outcome     string           `json:"outcome"`
	Destination string           `json:"destination,omitempty"`
	Key         string           `json:"key,omitempty"`
	Hops        *int             `json:"hops,omitempty"` // of redirects alone
	Status      int              `json:"status,omitempty"`
	Error       string           `json:"error,omitempty"`
	Explanation *explanationJSON `json:"explanation,omitempty"`
}

// explanationJSON says why.
type explanationJSON struct {
	Walk       []stepJSON      `json:"walk,omitempty"`
	Origin     *sourceJSON     `json:"origin,omitempty"`
	Appended   string          `json:"appended,omitempty"`
	Parameters []parameterJSON `json:"parameters,omitempty"`
	Dropped    []givenJSON     `json:"dropped,omitempty"`
	Fragment   *parameterJSON  `json:"fragment,omitempty"`
	Near       *nearJSON       `json:"near,omitempty"`
}

// nearJSON is the rule that comes nearest to a path that no key matches, and why it does not match.
type nearJSON struct {
	Key      string `json:"key"`
	Position string `json:"position,omitempty"`
	Reason   string `json:"reason"`
}

// stepJSON is a match on the way to the destination.
type stepJSON struct {
	Pathname string `json:"pathname"`
	Key      string `json:"key"`
	Value    string `json:"value"`
	// Captures are what the variables of a template take, as the pathname spells it.
	Captures  map[string]string `json:"captures,omitempty"`
	Remaining string            `json:"remaining,omitempty"`
	Position  string            `json:"position,omitempty"`
}

// sourceJSON is where something comes from: request, embedded, destination or option; key is the rule's that
// has it.
type sourceJSON struct {
	Source string `json:"source"`
	Key    string `json:"key,omitempty"`
}

// givenJSON is a part of a URL and where it comes from.
type givenJSON struct {
	Name  string     `json:"name,omitempty"`
	Value string     `json:"value"`
	From  sourceJSON `json:"from"`
}

// parameterJSON is a part of a destination, and what it displaced.
type parameterJSON struct {
	givenJSON
	Displaced []givenJSON `json:"displaced,omitempty"`

	text string // the parameter as it stands
}

// outcomeOfURL resolves a URL, and explains it if that is asked for. A path is one of origin.
func outcomeOfURL(ruleset *resolver.Ruleset, written, origin string, explain bool) (outcomeJSON, resolver.Explanation) {
	out := outcomeJSON{Request: written}
	req, err := resolver.ParseRequest(absolute(written, origin))
	if err != nil {
		err = fmt.Errorf("%w%s", err, insteadOfURL(written))
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
	case resolver.Failed:
		out.Error = e.Err.Error()
	}
	return out, e
}

// explanationOf is the form of an explanation for programs.
func explanationOf(e resolver.Explanation) explanationJSON {
	var out explanationJSON
	for _, step := range e.Walk {
		s := stepJSON{Pathname: step.Pathname, Key: step.Rule.Key, Value: step.Value, Remaining: step.Remaining, Position: step.Rule.Position.String()}
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
	out.Appended = e.Appended
	for _, p := range e.Parameters {
		out.Parameters = append(out.Parameters, parameterJSON{
			givenOf(e, p.Given), givensOf(e, p.Displaced), p.String(),
		})
	}
	out.Dropped = givensOf(e, e.Dropped)
	if e.Fragment.Value != "" {
		out.Fragment = &parameterJSON{
			givenJSON: givenOf(e, e.Fragment.Given), Displaced: givensOf(e, e.Fragment.Displaced),
		}
	}
	if near := e.Near; near != nil {
		out.Near = &nearJSON{near.Rule.Key, near.Rule.Position.String(), near.Reason}
	}
	return out
}

func sourceOf(e resolver.Explanation, from resolver.Source) sourceJSON {
	out := sourceJSON{Source: string(from.Kind)}
	if from.Kind == resolver.FromEmbedded || from.Kind == resolver.FromDestination {
		out.Key = e.Walk[from.Step].Rule.Key
	}
	return out
}

func givenOf(e resolver.Explanation, g resolver.Given) givenJSON {
	return givenJSON{g.Name, g.Value, sourceOf(e, g.From)}
}

func givensOf(e resolver.Explanation, all []resolver.Given) []givenJSON {
	var out []givenJSON
	for _, g := range all {
		out = append(out, givenOf(e, g))
	}
	return out
}

// String returns the outcome as a line for people.
func (o outcomeJSON) String() string {
	request := printable.Text(o.Request)
	switch o.Outcome {
	case resolver.Redirect.String():
		return fmt.Sprintf("%s -> %d %s", request, o.Status, o.Destination)
	case resolver.Failed.String():
		return fmt.Sprintf("%s -> error: %s", request, printable.Text(o.Error))
	}
	return request + " -> pass"
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
func (s sourceJSON) String() string {
	switch resolver.SourceKind(s.Source) {
	case resolver.FromRequest:
		return "the request"
	case resolver.FromOption:
		return "the option origin"
	}
	return "the destination of " + s.Key
}
