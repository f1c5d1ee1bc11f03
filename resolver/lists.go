package resolver

import (
	"iter"
	"slices"
)

// pages is an array in pages, which derived rulesets share. A page is copied before the first
// change, unless no other ruleset has it.
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

// branch returns an array with the same values, for changes that p does not see. p must not change
// any more.
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

// differing yields the indexes at which p and other differ. One of them is a branch of the other.
// Pages that both share are skipped.
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

// pieces is a list in pieces. One slice that grows would leave as much garbage as it holds.
type pieces[T any] struct {
	all [][]T
	n   int
}

// pieceLength is the number of values in a piece.
const pieceLength = 1 << 14

func (p *pieces[T]) add(value T) {
	last := len(p.all) - 1
	if p.n%pieceLength == 0 {
		p.all = append(p.all, nil)
		if last++; last > 0 {
			p.all[last] = make([]T, 0, pieceLength)
		}
	}
	p.all[last] = append(p.all[last], value)
	p.n++
}

// at returns the i-th value.
func (p *pieces[T]) at(i int) *T { return &p.all[i/pieceLength][i%pieceLength] }

// each yields the values in order.
func (p *pieces[T]) each() iter.Seq2[int, *T] {
	return func(yield func(int, *T) bool) {
		for i := range p.n {
			if !yield(i, p.at(i)) {
				return
			}
		}
	}
}

// numbered is a list of distinct values, in the order in which they were added. The zero value is
// empty.
type numbered[T comparable] struct {
	all     []T
	numbers map[T]int // the indexes of all
}

// numberedOf returns a list of distinct values. Adding to it does not change all.
func numberedOf[T comparable](all []T) numbered[T] {
	n := numbered[T]{all: slices.Clip(all), numbers: make(map[T]int, len(all))}
	for i, value := range all {
		n.numbers[value] = i
	}
	return n
}

// number returns the index of a value. A new value is added.
func (n *numbered[T]) number(value T) int {
	i, known := n.numbers[value]
	if known {
		return i
	}
	if n.numbers == nil {
		n.numbers = map[T]int{}
	}
	i = len(n.all)
	n.all = append(n.all, value)
	n.numbers[value] = i
	return i
}
