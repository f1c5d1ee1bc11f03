package resolver

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// Explanation is a result with its reasons. It has a destination even if that is the request
// itself, so that the outcome is Pass. As JSON it is only the reasons.
type Explanation struct {
	Result `json:"-"`
	// Request is the URL that was resolved, as the URL Standard spells it.
	Request string `json:"-"`
	// Walk has the matches in order: the rule for the request, and then the rule for the value of each
	// internal redirect. It ends at an absolute destination, at a path that no key matches, or at a
	// rule that occurred before.
	Walk []Step `json:"walk,omitempty"`
	// Origin says where scheme and host of the destination come from.
	Origin From `json:"origin,omitzero"`
	// Appended is the path that was appended to that of the last value, "" for none (R6).
	Appended string `json:"appended,omitempty"`
	// Query is the query mode of the first rule, QueryDefault if it has none.
	Query QueryMode `json:"query,omitzero"`
	// Parameters are the destination's query parameters, in its order.
	Parameters []Parameter `json:"parameters,omitempty"`
	// Dropped are the parameters that the query mode ignores.
	Dropped []Given `json:"dropped,omitempty"`
	// Fragment is the destination's fragment.
	Fragment Fragment `json:"fragment,omitzero"`
}

// Step is one step of the resolution phase (3.3) in full.
type Step struct {
	// Pathname is the path that was looked up. Rule is the best match: the rule with the longest key
	// that the path begins with.
	Pathname string
	Rule     Rule
	// Value is the rule's value, with captures in their places.
	Value string
	// Captures are the values of the variables of the key, in the spelling of the pathname.
	Captures []Capture
	// Remaining is the rest of the pathname after the key.
	Remaining string
}

// Capture is the value of a variable of a key.
type Capture struct{ Name, Raw string }

// From says where a part of a destination comes from.
type From struct {
	Kind FromKind `json:"source"`
	// Key is that of the rule whose value has the part, for an embedded part or a destination's.
	Key string `json:"key,omitempty"`
}

// FromKind is one of the places that parts of a destination come from.
type FromKind string

const (
	FromNowhere     FromKind = ""
	FromRequest     FromKind = "request"
	FromEmbedded    FromKind = "embedded"
	FromDestination FromKind = "destination"
	FromOption      FromKind = "option"
)

// String returns it in words.
func (f From) String() string {
	switch f.Kind {
	case FromRequest:
		return "the request"
	case FromOption:
		return "the option origin"
	}
	return "the destination of " + f.Key
}

// Given is a value, and where it comes from.
type Given struct {
	Name  string `json:"name,omitempty"`
	Value string `json:"value"`
	From  From   `json:"from"`
}

// Parameter is a query parameter of a destination, decoded.
type Parameter struct {
	Given
	// Displaced are the values of the same name that this one replaced, in that order.
	Displaced []Given `json:"displaced,omitempty"`
	// Bare is set if the parameter has no value and no "=" in the destination.
	Bare bool `json:"-"`
}

// String returns the parameter as NAME=VALUE, or as NAME if it is bare.
func (p Parameter) String() string {
	if p.Bare {
		return p.Name
	}
	return p.Name + "=" + p.Value
}

// Fragment is the fragment of a destination, with its "#"; empty for none.
type Fragment struct {
	Given
	// Displaced are the fragments of lower precedence.
	Displaced []Given `json:"displaced,omitempty"`
}

// Explain resolves a request and gives the reasons for its outcome. It follows 3.3 rule by rule and
// is meant for people, not for serving.
func (rs *Ruleset) Explain(req Request) Explanation {
	appended, result := rs.AppendDestination(nil, &req)
	result.Destination = string(appended)
	e := Explanation{Result: result, Request: string(appendURL(nil, &req, &req.Target))}
	e.Walk = rs.walk(req.Target.Pathname)
	if result.Outcome == Failed {
		return e
	}
	if len(e.Walk) == 0 || result.Outcome == Gone || isOutcome(e.Walk[0].Value) {
		return e
	}
	if result.Outcome == Pass {
		e.Destination = string(appendURL(nil, &req, req.asked()))
	}
	e.explainParts(&rs.opts, &req)
	return e
}

// appendURL appends the URL of a target on the request's origin.
func appendURL(dst []byte, req *Request, target *weburl.Target) []byte {
	dst, _ = weburl.AppendOrigin(dst, req.Scheme, req.Host)
	dst = append(dst, target.Pathname...)
	dst = append(dst, target.Search...)
	return append(dst, target.Hash...)
}

// walk takes the steps of 3.3 until the chain ends. It also ends at a rule with the same value
// again, or after the maximum number of steps.
func (rs *Ruleset) walk(pathname string) []Step {
	type state struct{ key, value string }
	var steps []Step
	seen := map[state]bool{}
	s := rs.stepper(pathname, rs.opts.templateLimits())
	var chain chainEnd
	for {
		s.spare, s.memory = nil, nil // as steps keep parts of their paths
		from := s.at
		next, ok := s.step(&chain)
		if !ok || s.matched.isNone() {
			return steps
		}
		this := rs.describe(from, &s.matched)
		if steps = append(steps, this); len(steps) == 1 && !s.matched.isTemplate() {
			s.limits = rs.opts.literalLimits()
		}
		again := state{this.Rule.Key, this.Value}
		isLast := !next.internal || seen[again] || len(steps) > s.limits.hops
		if isLast || next.err != nil || len(s.at) > maxDestination {
			return steps
		}
		seen[again] = true
		chain.add(&next)
	}
}

// describe returns the step of a match, with the rule, and its value with captures.
func (c *compiled) describe(pathname string, m *match) Step {
	if !m.isTemplate() {
		rule := c.rule(m.literal.ref)
		return Step{
			Pathname: pathname, Rule: rule, Value: rule.Value, Remaining: m.literal.remaining,
		}
	}
	t := c.templates.template(int(m.template.rule) - 1)
	step := Step{
		Pathname: pathname, Rule: t.rule, Value: t.value.textOf(m.template.captures),
		Remaining: m.template.remaining,
	}
	for slot, name := range t.names {
		step.Captures = append(step.Captures, Capture{name, m.template.captures[slot]})
	}
	return step
}

// next returns where the step leads, if it is a path.
func (s *Step) next() internalValue { return newInternalValue(s.Value) }

// explainParts says where the parts of the destination come from.
func (e *Explanation) explainParts(o *options, req *Request) {
	parts := o.partsOf(e.Walk)
	e.Origin = parts.origin
	for _, step := range e.Walk {
		if !isOutcome(step.Value) { // else the path stays whole
			e.Appended = step.Remaining + e.Appended
		}
	}
	given := Given{Value: req.Target.Hash, From: From{Kind: FromRequest}}
	e.Fragment = explainFragment(given, parts.fragment, parts.destinationFragment)
	e.Query = e.Walk[0].Rule.Query
	e.explainQuery(o, parts, req.Target.Search)
}

// parts are what the rules of a walk contribute to a destination.
type parts struct {
	origin                        From
	query, destinationQuery       Given
	laterQueries                  []Given // embedded ones
	fragment, destinationFragment Given
}

// partsOf collects the parts of the values of a walk. As in 3.3.2, the first embedded query and the
// first embedded fragment count.
func (o *options) partsOf(walk []Step) parts {
	p := parts{origin: From{Kind: FromRequest}}
	if o.origin != "" {
		p.origin.Kind = FromOption
	}
	for i := range walk {
		if isOutcome(walk[i].Value) {
			return p
		}
		if !isInternal(walk[i].Value) {
			from := From{FromDestination, walk[i].Rule.Key}
			u, _ := parseAbsolute(walk[i].Value)
			p.origin = from
			p.destinationQuery = Given{Value: u.Search(), From: from}
			p.destinationFragment = Given{Value: u.Hash(), From: from}
			return p
		}
		from := From{FromEmbedded, walk[i].Rule.Key}
		value := walk[i].next()
		if query := (Given{Value: value.query, From: from}); p.query.Value == "" {
			p.query = query
		} else {
			p.laterQueries = append(p.laterQueries, query)
		}
		if p.fragment.Value == "" && value.fragment != "" {
			p.fragment = Given{Value: encodedFragment(value.fragment), From: from}
		}
	}
	return p
}

// explainFragment uses the first fragment that there is (3.4.3).
func explainFragment(byPrecedence ...Given) Fragment {
	var f Fragment
	for _, given := range byPrecedence {
		switch {
		case given.Value == "":
		case f.Value == "":
			f.Given = given
		default:
			f.Displaced = append(f.Displaced, given)
		}
	}
	return f
}

// explainQuery combines the queries pair by pair (3.4.2), and keeps what is displaced.
func (e *Explanation) explainQuery(o *options, p parts, search string) {
	mode := o.queryOf(e.Query)
	if mode == queryOwn {
		e.explainOwnQuery(p, search)
		return
	}
	own := explainedQuery{preserve: mode == QueryPreserve}
	for _, parameter := range p.destinationQuery.parameters() {
		own.add(parameter)
	}
	own.combine(p.query, nil)
	request := Given{Value: search, From: From{Kind: FromRequest}}
	if mode == QueryIgnore {
		e.drop(request.parameters())
	} else {
		own.combine(request, o.protected)
	}
	e.Parameters = own.parameters
}

// explainOwnQuery uses the last query of the values that is not empty, and drops all others.
func (e *Explanation) explainOwnQuery(p parts, search string) {
	all := append([]Given{p.query}, p.laterQueries...)
	all = append(all, p.destinationQuery)
	for _, query := range all {
		if len(query.Value) > len("?") {
			e.drop(e.Parameters)
			e.Parameters = query.parameters()
		}
	}
	request := Given{Value: search, From: From{Kind: FromRequest}}
	e.drop(request.parameters())
}

func (e *Explanation) drop(parameters []Parameter) {
	for _, p := range parameters {
		e.Dropped = append(e.Dropped, p.Given)
	}
}

// parameters returns the query parameters of a query.
func (g Given) parameters() []Parameter {
	var all []Parameter
	written := strings.TrimPrefix(g.Value, "?")
	for _, p := range weburl.ParseParams(g.Value) {
		_, _, rest, _ := weburl.NextPiece(written)
		all = append(all, Parameter{
			Given: Given{Name: p.Name, Value: p.Value, From: g.From},
			Bare:  !strings.Contains(written[:len(written)-len(rest)], "="),
		})
		written = rest
	}
	return all
}

// explainedQuery is a query while queries are combined.
type explainedQuery struct {
	preserve   bool
	parameters []Parameter
}

// add adds a parameter. Modes that do not preserve a query write a "=" after every name.
func (q *explainedQuery) add(p Parameter) {
	p.Bare = p.Bare && q.preserve
	q.parameters = append(q.parameters, p)
}

// combine adds a query of higher precedence. A parameter with a protected name is added only if the
// name is new.
func (q *explainedQuery) combine(over Given, protected *weburl.Names) {
	before := len(q.parameters)
	for _, p := range over.parameters() {
		switch first := q.findFrom(0, p.Name); {
		case 0 <= first && first < before && protected.Has(p.Name):
			q.parameters[first].Displaced = append(q.parameters[first].Displaced, p.Given)
		case q.preserve || first < 0:
			q.add(p)
		default:
			q.set(first, p.Given)
		}
	}
	if q.preserve {
		q.dropDisplaced(before)
	}
}

// set is URLSearchParams.set: the first parameter with the name gets the value, and the others are
// removed.
func (q *explainedQuery) set(first int, given Given) {
	kept := q.parameters[:first+1]
	displaced := append(q.parameters[first].Displaced, q.parameters[first].Given)
	for _, p := range q.parameters[first+1:] {
		if p.Name == given.Name {
			displaced = append(append(displaced, p.Displaced...), p.Given)
		} else {
			kept = append(kept, p)
		}
	}
	kept[first] = Parameter{Given: given, Displaced: displaced}
	q.parameters = kept
}

// dropDisplaced removes those of the first n parameters whose name a later one has. The later one
// records what it displaces.
func (q *explainedQuery) dropDisplaced(n int) {
	var kept []Parameter
	for i, p := range q.parameters {
		later := q.findFrom(n, p.Name)
		if i >= n || later < 0 {
			kept = append(kept, p)
			continue
		}
		displaced := &q.parameters[later].Displaced
		*displaced = append(append(*displaced, p.Displaced...), p.Given)
	}
	q.parameters = kept
}

func (q *explainedQuery) findFrom(n int, name string) int {
	for i := n; i < len(q.parameters); i++ {
		if q.parameters[i].Name == name {
			return i
		}
	}
	return -1
}

// MarshalJSON returns the step, with the key, position and note of its rule.
func (s Step) MarshalJSON() ([]byte, error) {
	captures := map[string]string{}
	for _, capture := range s.Captures {
		captures[capture.Name] = capture.Raw
	}
	return marshal(struct {
		Pathname  string            `json:"pathname"`
		Key       string            `json:"key"`
		Value     string            `json:"value"`
		Captures  map[string]string `json:"captures,omitempty"`
		Remaining string            `json:"remaining,omitempty"`
		Position  string            `json:"position,omitempty"`
		Note      string            `json:"note,omitempty"`
	}{
		s.Pathname, s.Rule.Key, s.Value, captures, s.Remaining, s.Rule.Position.String(), s.Rule.Note,
	})
}

// marshal leaves escaping for HTML to the encoder of the outer value.
func marshal(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return out.Bytes(), err
}
