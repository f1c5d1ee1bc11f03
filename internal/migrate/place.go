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

// count counts lines. Each counts once, as the worst that became of one of its rules.
func (c *converter) count() {
	const approximated, dropped, refused = 1, 2, 3
	done := &c.done
	worst := make(map[place]int, len(c.places))
	for _, p := range c.places {
		worst[p] = 0
	}
	kinds := []*Lines{approximated: &done.Approximated, dropped: &done.Dropped, refused: &done.Refused}
	for kind, lines := range kinds[1:] {
		for _, l := range lines.Reports {
			p := c.placeOf(l.Position)
			worst[p] = max(worst[p], kind+1)
		}
	}
	done.Exact = max(len(worst), c.entries)
	for _, kind := range worst {
		if kind > 0 {
			kinds[kind].Count++
			done.Exact--
		}
	}
	done.Approximated.Reports = slices.DeleteFunc(done.Approximated.Reports,
		func(l resolver.Warning) bool { return worst[c.placeOf(l.Position)] == refused })
	for _, lines := range kinds[1:] {
		slices.SortStableFunc(lines.Reports, func(a, b resolver.Warning) int {
			return cmp.Or(cmp.Compare(a.Position.Line, b.Position.Line),
				cmp.Compare(a.Position.Column, b.Position.Column))
		})
		lines.Reports = slices.CompactFunc(lines.Reports, func(a, b resolver.Warning) bool {
			return a.String() == b.String() // of a line that makes several rules
		})
	}
}
