package resolver

import "slices"

// numbered are values, each of them once, in the order in which they came. The zero value is empty.
type numbered[T comparable] struct {
	all     []T
	numbers map[T]int // the indexes of all
}

// numberedOf returns values that are each there once, for more behind them.
func numberedOf[T comparable](all []T) numbered[T] {
	n := numbered[T]{all: slices.Clip(all), numbers: make(map[T]int, len(all))}
	for i, value := range all {
		n.numbers[value] = i
	}
	return n
}

// number returns the index of a value, which is added where it is new.
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
