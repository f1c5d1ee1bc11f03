package resolver

import "iter"

// pieces are many values, in pieces: one slice that grows would leave as much garbage as it holds.
type pieces[T any] struct {
	all [][]T
	n   int
}

// pieceLength is how many values a piece has.
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

// each gives the values in their order.
func (p *pieces[T]) each() iter.Seq2[int, *T] {
	return func(yield func(int, *T) bool) {
		for i := range p.n {
			if !yield(i, p.at(i)) {
				return
			}
		}
	}
}
