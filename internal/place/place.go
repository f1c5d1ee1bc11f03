package place

import (
	"context"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/source"
)

// Places are positions to complete, by source and by key.
type Places map[string]map[string][]*resolver.Position

// Add adds the position of a key's rule, unless it is complete.
func (p Places) Add(key string, at *resolver.Position) {
	if at.Line > 0 || at.Source == "" || key == "" {
		return
	}
	if p[at.Source] == nil {
		p[at.Source] = map[string][]*resolver.Position{}
	}
	p[at.Source][key] = append(p[at.Source][key], at)
}

// Find completes the positions in sources that still have these versions, and whose names are
// unique. It reports whether it completed any.
func (p Places) Find(
	ctx context.Context, sources []source.Source, versions []string,
) (hasFound bool) {
	named := map[string]int{}
	for _, from := range sources {
		named[from.String()]++
	}
	for i, from := range sources {
		annotated, ok := from.(source.Annotated)
		keys := p[from.String()]
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

// CompleteErrors adds lines to the positions of invalid rules in sources of these versions, and
// sorts the errors by position.
func CompleteErrors(
	ctx context.Context, sources []source.Source, versions []string, errs []*resolver.RuleError,
) {
	wanted := Places{}
	for _, err := range errs {
		wanted.Add(err.Key, &err.Position)
	}
	if wanted.Find(ctx, sources, versions) {
		slices.SortStableFunc(errs, func(a, b *resolver.RuleError) int {
			return a.Position.Compare(b.Position)
		})
	}
}

// OfWarnings returns warnings with lines in their positions.
func OfWarnings(
	ctx context.Context, sources []source.Source, versions []string, warnings []lint.Warning,
) []lint.Warning {
	warnings = slices.Clone(warnings)
	wanted := Places{}
	for i := range warnings {
		wanted.Add(warnings[i].Key, &warnings[i].Position)
	}
	wanted.Find(ctx, sources, versions)
	return warnings
}
