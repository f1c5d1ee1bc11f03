package source

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// Expectations are tests that a ruleset must pass before it serves: what to expect by request path.
// That is a destination, "pass", "gone" or "error". A destination that is a path is on this site.
type Expectations map[string]string

// SiteOrigin returns the origin of paths on the site: the configured one, or a stand-in.
func SiteOrigin(configured string) string { return cmp.Or(configured, StandInOrigin) }

// StandInOrigin replaces the origin of the site if none is configured.
const StandInOrigin = "http://localhost"

// PlacedExpectations are expectations with their positions in a file or entry. Those of a
// configuration have no position.
type PlacedExpectations struct {
	Expectations
	at map[string]resolver.Position
}

// Problems returns the errors of the expectations themselves.
func (e Expectations) Problems() error { return PlacedExpectations{Expectations: e}.problems() }

func (e PlacedExpectations) problems() error {
	var errs []error
	for _, path := range slices.Sorted(maps.Keys(e.Expectations)) {
		if !strings.HasPrefix(path, "/") {
			errs = append(errs, e.problem(path,
				"expect %s: the first word must be the path of a request; write /%s", path, path))
		}
		if want := e.Expectations[path]; want != "error" && !resolver.IsValue(want) {
			errs = append(errs, e.problem(path, "expect %s: a request can be expected to lead to a "+
				"destination, which begins with https://, http:// or /, to pass, to be gone, or to "+
				"be an error; not %q", path, want))
		}
	}
	return errors.Join(errs...)
}

// problem returns an error about the expectation for a path.
func (e PlacedExpectations) problem(path, format string, args ...any) error {
	return Problem{At: e.at[path], Message: fmt.Sprintf(format, args...)}
}

// Check checks a ruleset against the expectations. Expected paths are on the origin, which may be
// empty. The error lists all that fail, each with its place.
func (e PlacedExpectations) Check(ruleset *resolver.Ruleset, origin string) error {
	if err := e.problems(); err != nil {
		return err
	}
	origin = SiteOrigin(origin)
	var errs []error
	for _, path := range slices.Sorted(maps.Keys(e.Expectations)) {
		expected := e.Expectations[path]
		result := ruleset.Resolve(strings.TrimSuffix(origin, "/") + path)
		if got, want := outcomeOf(result), wanted(expected, origin); got != want {
			errs = append(errs, e.problem(path,
				"expect %s %s: it is %s", path, expected, described(got, result)))
		}
	}
	return errors.Join(errs...)
}

// outcomeOf returns a result in the form of an expectation.
func outcomeOf(result resolver.Result) string {
	if result.Outcome == resolver.Redirect {
		return result.Destination
	}
	return result.Outcome.String()
}

// wanted returns an expected destination as the resolver would spell it.
func wanted(expected, origin string) string {
	if !resolver.IsDestination(expected) {
		return expected
	}
	if strings.HasPrefix(expected, "/") {
		expected = strings.TrimSuffix(origin, "/") + expected
	}
	u, err := weburl.Parse(expected)
	if err != nil {
		return expected
	}
	return u.Href()
}

func described(got string, result resolver.Result) string {
	switch {
	case result.Err != nil:
		return fmt.Sprintf("the error %q, by the key %q", result.Err, result.Key)
	case result.Key != "":
		return fmt.Sprintf("%s, by the key %q", got, result.Key)
	}
	return got
}
