package shortlink

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

// Expectations are tests that a ruleset has to pass before it serves: what is expected by
// request path. It is a destination, "pass" or "error". A destination that is a path is one of this site.
type Expectations map[string]string

// siteOrigin is the origin of what is a path of the site.
func (h *Handler) siteOrigin() string { return cmp.Or(h.Origin, standIn) }

// standIn is the origin of requests in expectations, where none is configured.
const standIn = "http://localhost"

// problems returns what is wrong with the expectations themselves.
func (e Expectations) problems() error {
	var errs []error
	for _, path := range slices.Sorted(maps.Keys(e)) {
		if !strings.HasPrefix(path, "/") {
			errs = append(errs, fmt.Errorf("expect %s: the first word is the path of a request; write /%s", path, path))
		}
		if want := e[path]; want != "pass" && want != "error" && !isDestination(want) {
			errs = append(errs, fmt.Errorf("expect %s: a request is expected to lead to a destination, which begins with https://, http:// or /, to pass, or to be an error; not %q", path, want))
		}
	}
	return errors.Join(errs...)
}

// checkExpectations lets a ruleset pass the expectations of the handler and of its sources. The
// error lists all that fail.
func (h *Handler) checkExpectations(ruleset *resolver.Ruleset) error {
	errs := []error{h.Expect.check(ruleset, h.Origin)}
	for _, expected := range h.expectationsOfSources() {
		errs = append(errs, expected.check(ruleset, h.Origin))
	}
	return errors.Join(errs...)
}

// expectationsOfSources returns what each source expects, as of its last reading.
func (h *Handler) expectationsOfSources() []Expectations {
	all := make([]Expectations, len(h.sources))
	for i, source := range h.sources {
		if expecting, ok := source.(Expecting); ok {
			all[i] = expecting.Expectations()
		}
	}
	return all
}

func (e Expectations) check(ruleset *resolver.Ruleset, origin string) error {
	if err := e.problems(); err != nil {
		return err
	}
	if origin == "" {
		origin = standIn
	}
	var errs []error
	for _, path := range slices.Sorted(maps.Keys(e)) {
		destination, result := ruleset.Resolve(strings.TrimSuffix(origin, "/") + path)
		if got, want := outcomeOf(destination, result), wanted(e[path], origin); got != want {
			errs = append(errs, fmt.Errorf("expect %s %s: it is %s", path, e[path], described(got, result)))
		}
	}
	return errors.Join(errs...)
}

// outcomeOf is what an expectation would say of a result.
func outcomeOf(destination string, result resolver.Result) string {
	if result.Outcome == resolver.Redirect {
		return destination
	}
	return result.Outcome.String()
}

// wanted spells an expected destination as the resolver spells destinations.
func wanted(expected, origin string) string {
	if expected == "pass" || expected == "error" {
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
