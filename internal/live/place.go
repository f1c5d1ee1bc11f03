package live

import (
	"context"

	"github.com/caddy-shortlink/shortlink/internal/place"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Locate adds lines to the positions of rules that serve, which name only their sources. It does so
// if the source can say the lines and still holds what was read. One call runs at a time.
func (rs *Ruleset) Locate(ctx context.Context, serving *Loaded, rules ...*resolver.Rule) {
	if !rs.shared.locating.LockWithin(ctx) {
		return
	}
	defer rs.shared.locating.Unlock()
	wanted := place.Places{}
	for _, rule := range rules {
		wanted.Add(rule.Key, &rule.Position)
	}
	wanted.Find(ctx, rs.Sources, serving.versions)
}

// locateErrors adds lines to the positions of invalid rules in what was just read, and sorts the
// errors by position.
func (c *Config) locateErrors(versions []string, errs []*resolver.RuleError) {
	place.CompleteErrors(c.Context, c.Sources, versions, errs)
}

// ruleErrorsIn returns the lists of rule errors that are joined in an error.
func ruleErrorsIn(err error) (all []resolver.RuleErrors) {
	switch e := err.(type) {
	case resolver.RuleErrors:
		return []resolver.RuleErrors{e}
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			all = append(all, ruleErrorsIn(one)...)
		}
	case interface{ Unwrap() error }:
		return ruleErrorsIn(e.Unwrap())
	}
	return all
}
