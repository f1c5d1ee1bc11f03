package shortlink

import (
	"errors"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// SiteOrigin is the origin of what is a path of the site.
func (rs *Ruleset) siteOrigin() string { return source.SiteOrigin(rs.Options.Origin) }

// checkExpectations lets a ruleset pass the expectations of the handler and of its sources. The
// error lists all that fail.
func (rs *Ruleset) checkExpectations(ruleset *resolver.Ruleset) error {
	errs := []error{source.PlacedExpectations{Expectations: rs.Expect}.Check(ruleset, rs.Options.Origin)}
	for _, expected := range rs.expectationsOfSources() {
		errs = append(errs, expected.Check(ruleset, rs.Options.Origin))
	}
	return errors.Join(errs...)
}

// expectationsOfSources returns what each source expects, as of its last reading.
func (rs *Ruleset) expectationsOfSources() []source.PlacedExpectations {
	all := make([]source.PlacedExpectations, len(rs.Sources))
	for i, from := range rs.Sources {
		all[i] = source.ExpectationsOf(from)
	}
	return all
}
