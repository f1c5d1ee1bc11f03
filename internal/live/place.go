package live

import (
	"context"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/source"
)

// Locate adds lines to the positions of rules that serve, which name only their sources. It does so
// if the source can say the lines and still holds what was read. One call runs at a time.
func (rs *Ruleset) Locate(ctx context.Context, serving *Loaded, rules ...*resolver.Rule) {
	if !rs.shared.locating.LockWithin(ctx) {
		return
	}
	defer rs.shared.locating.Unlock()
	wanted := wantedPlaces{}
	for _, rule := range rules {
		wanted.add(rule.Key, &rule.Position)
	}
	wanted.find(ctx, rs.Sources, serving.versions)
}

// locateErrors adds lines to the positions of invalid rules in what was just read, and sorts the
// errors by position.
func (c *Config) locateErrors(versions []string, errs []*resolver.RuleError) {
	wanted := wantedPlaces{}
	for _, err := range errs {
		wanted.add(err.Key, &err.Position)
	}
	if wanted.find(c.Context, c.Sources, versions) {
		slices.SortStableFunc(errs, func(a, b *resolver.RuleError) int {
			return a.Position.Compare(b.Position)
		})
	}
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

// located returns warnings with lines in their positions.
func (c *Config) located(versions []string, warnings []lint.Warning) []lint.Warning {
	warnings = slices.Clone(warnings)
	wanted := wantedPlaces{}
	for i := range warnings {
		wanted.add(warnings[i].Key, &warnings[i].Position)
	}
	wanted.find(c.Context, c.Sources, versions)
	return warnings
}

// wantedPlaces are positions to complete, by source and by key.
type wantedPlaces map[string]map[string][]*resolver.Position

// add adds the position of a key's rule, unless it is complete.
func (w wantedPlaces) add(key string, at *resolver.Position) {
	if at.Line > 0 || at.Source == "" || key == "" {
		return
	}
	if w[at.Source] == nil {
		w[at.Source] = map[string][]*resolver.Position{}
	}
	w[at.Source][key] = append(w[at.Source][key], at)
}

// find completes the positions in sources that still have these versions, and whose names are
// unique. It reports whether it completed any.
func (w wantedPlaces) find(
	ctx context.Context, sources []source.Source, versions []string,
) (hasFound bool) {
	named := map[string]int{}
	for _, from := range sources {
		named[from.String()]++
	}
	for i, from := range sources {
		annotated, ok := from.(source.Annotated)
		keys := w[from.String()]
		if !ok || keys == nil || named[from.String()] > 1 {
			continue
		}
		found := map[string]resolver.Position{}
		isThere := annotated.Locate(ctx, versions[i], func(rule resolver.Rule) {
			if _, isWanted := keys[rule.Key]; isWanted {
				found[strings.Clone(rule.Key)] = rule.Position
			}
		})
		if !isThere {
			continue
		}
		for key, place := range found {
			for _, at := range keys[key] {
				*at, hasFound = place, true
			}
		}
	}
	return hasFound
}
