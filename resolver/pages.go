package resolver

import (
	"iter"
	"slices"
)

// pages are values by number, in pages. Those that have been derived from one another share the
// pages that are alike: one that is not a ruleset's own is copied before something in it changes.
type pages[T comparable] struct {
	all []*[pageLength]T
	own []bool
	n   int
}

const (
	pageBits   = 10
	pageLength = 1 << pageBits
	pageMask   = pageLength - 1
)

// makePages returns n zero values.
func makePages[T comparable](n int) pages[T] {
	all := make([][pageLength]T, (n+pageMask)/pageLength)
	p := pages[T]{n: n}
	for i := range all {
		p.all, p.own = append(p.all, &all[i]), append(p.own, true)
	}
	return p
}

// branch returns the same values, which can change without those of p, as long as p does not
// change any more.
func (p *pages[T]) branch() pages[T] {
	return pages[T]{slices.Clone(p.all), make([]bool, len(p.all)), p.n}
}

// at returns the i-th value.
func (p *pages[T]) at(i int) T { return p.all[i>>pageBits][i&pageMask] }

// set sets the i-th value.
func (p *pages[T]) set(i int, value T) {
	page := i >> pageBits
	if !p.own[page] {
		own := *p.all[page]
		p.all[page], p.own[page] = &own, true
	}
	p.all[page][i&pageMask] = value
}

// differing gives the indexes of values that differ from those of other pages, of which p or other
// is a branch. It looks at those pages alone that they do not share.
func (p *pages[T]) differing(other *pages[T]) iter.Seq[int] {
	return func(yield func(int) bool) {
		for n, page := range p.all {
			old := other.all[n]
			if page == old {
				continue
			}
			for i := range page {
				if page[i] != old[i] && !yield(n*pageLength+i) {
					return
				}
			}
		}
	}
}
