package migrate

import (
	"cmp"
	"slices"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// place is where a line stands: its number in the upper half and, where a line can have several
// entries that count each for itself, the column in the lower one.
type place uint64

func (c *converter) placeOf(at resolver.Position) place {
	p := place(at.Line) << 32
	if c.from.HasSeveral {
		p |= place(at.Column)
	}
	return p
}

// placesOf returns the places of lines, each once and in their order.
func (c *converter) placesOf(lines Lines) []place {
	places := make([]place, len(lines.Reports))
	for i, l := range lines.Reports {
		places[i] = c.placeOf(l.Position)
	}
	return sorted(places)
}

// sorted puts places in order, each once.
func sorted(places []place) []place {
	slices.Sort(places)
	return slices.Compact(places)
}

func contains(places []place, p place) bool {
	_, is := slices.BinarySearch(places, p)
	return is
}

// without returns the places that are none of others.
func without(places, others []place) []place {
	return slices.DeleteFunc(places, func(p place) bool { return contains(others, p) })
}

// count counts lines. Each counts once, as the worst that became of one of its rules.
func (c *converter) count() {
	done := &c.done
	refused := c.placesOf(done.Refused)
	done.Approximated.Reports = slices.DeleteFunc(done.Approximated.Reports,
		func(l LineReport) bool { return contains(refused, c.placeOf(l.Position)) })
	dropped := without(c.placesOf(done.Dropped), refused)
	approximated := without(c.placesOf(done.Approximated), dropped)
	done.Refused.Count, done.Dropped.Count, done.Approximated.Count =
		len(refused), len(dropped), len(approximated)
	// a line can be part of the next one's rule, so that no rule has its place
	all := sorted(slices.Concat(c.places, refused, dropped, approximated))
	done.Exact = max(len(all), c.entries) - len(refused) - len(dropped) - len(approximated)
	for _, lines := range []*Lines{&done.Approximated, &done.Refused, &done.Dropped} {
		slices.SortStableFunc(lines.Reports, func(a, b LineReport) int {
			return cmp.Or(cmp.Compare(a.Position.Line, b.Position.Line),
				cmp.Compare(a.Position.Column, b.Position.Column))
		})
		lines.Reports = slices.Compact(lines.Reports) // of a line that makes several rules
	}
}

func (l *Lines) report(at resolver.Position, key, message string) {
	l.Reports = append(l.Reports, LineReport{at, key, message})
}
