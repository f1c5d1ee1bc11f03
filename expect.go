package shortlink

import (
	"errors"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// siteOrigin is the origin of what is a path of the site.
func (h *Handler) siteOrigin() string { return siteOrigin(h.Origin) }

// checkExpectations lets a ruleset pass the expectations of the handler and of its sources. The
// error lists all that fail.
func (h *Handler) checkExpectations(ruleset *resolver.Ruleset) error {
	errs := []error{placedExpectations{Expectations: h.Expect}.check(ruleset, h.Origin)}
	for _, expected := range h.expectationsOfSources() {
		errs = append(errs, expected.check(ruleset, h.Origin))
	}
	return errors.Join(errs...)
}

// expectationsOfSources returns what each source expects, as of its last reading.
func (h *Handler) expectationsOfSources() []placedExpectations {
	all := make([]placedExpectations, len(h.sources))
	for i, from := range h.sources {
		all[i] = expectationsOf(from)
	}
	return all
}
