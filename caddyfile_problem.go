package shortlink

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// problem is something to be put right in a Caddyfile, or in its JSON.
type problem struct {
	at      resolver.Position    // if it is known
	kind    resolver.WarningKind // of a rule that is bad; empty for everything else
	key     string               // of the rule that it is about, if it is about one
	message string
	placed  bool // the message tells the place, as that of a source may
}

// Error tells the problem with its place.
func (p problem) Error() string {
	text := p.message
	if p.key != "" {
		text = fmt.Sprintf("key %q: %s", p.key, text)
	}
	if at := p.at.String(); at != "" && !p.placed {
		text = at + ": " + text
	}
	return text
}

// problemOfSource returns the problem that a source tells, which stands at a place or in the lines
// below it. A message can begin with its own place.
func problemOfSource(at resolver.Position, message string) problem {
	place, rest, _ := strings.Cut(strings.TrimPrefix(message, at.Source+":"), ": ")
	line, err := strconv.Atoi(place)
	if err != nil {
		return problem{at: at, message: message, placed: true}
	}
	at.Line = line
	return problem{at: at, message: rest}
}

// problems are all the problems of a directive.
type problems []problem

// Error lists the problems, a line for each.
func (p problems) Error() string {
	lines := make([]string, 0, len(p)+1)
	if len(p) > 1 {
		lines = append(lines, fmt.Sprintf("%d errors", len(p)))
	}
	for _, problem := range p {
		lines = append(lines, problem.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the problems.
func (p problems) Unwrap() []error {
	errs := make([]error, len(p))
	for i, problem := range p {
		errs[i] = problem
	}
	return errs
}
