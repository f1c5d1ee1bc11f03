package shortlink

import (
	"errors"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// SiteOrigin is the origin of what is a path of the site.
func (h *Ruleset) siteOrigin() string { return source.SiteOrigin(h.Options.Origin) }

// checkExpectations lets a ruleset pass the expectations of the handler and of its sources. The
// error lists all that fail.
func (h *Ruleset) checkExpectations(ruleset *resolver.Ruleset) error {
	errs := []error{source.PlacedExpectations{Expectations: h.Expect}.Check(ruleset, h.Options.Origin)}
	for _, expected := range h.expectationsOfSources() {
		errs = append(errs, expected.Check(ruleset, h.Options.Origin))
	}
	return errors.Join(errs...)
}

// expectationsOfSources returns what each source expects, as of its last reading.
func (h *Ruleset) expectationsOfSources() []source.PlacedExpectations {
	all := make([]source.PlacedExpectations, len(h.Sources))
	for i, from := range h.Sources {
		all[i] = source.ExpectationsOf(from)
	}
	return all
}
