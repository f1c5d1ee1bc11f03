package uritemplate

import (
	"slices"
	"strings"
)

// assignment shares the items of a span among the variables of an expression. It is needed if bind
// finds nothing. It looks at each item once for each variable.
//
//	items      k=1   k2=2   x
//	b          .     .      .       from 0 it reaches 0: b is undefined
//	c*         [---------]  .       from 0 it reaches 1 and 2, as pairs
//	d          .     .      [-]     from 2 it reaches 3, the end
type assignment struct {
	expression *Expression
	items      []string
	separator  byte
	// from has, for each variable and each end of its items, where its items start, or -1 if they
	// cannot end there.
	from [][]int
}

// assign sets the variables of the expression to their parts of a span, without the first character
// of the expression. It reports whether there is a way.
func (e *Expression) assign(span string, found []Value) bool {
	separator := e.Operator.Separator()
	a := assignment{expression: e, items: strings.Split(span, string(separator)), separator: separator}
	reached := make([]bool, len(a.items)+1)
	reached[0] = true
	for i := range e.Variables {
		reached = a.reach(&e.Variables[i], reached)
	}
	end := len(a.items)
	if !reached[end] {
		return false
	}
	for i := len(e.Variables) - 1; i >= 0; i-- {
		start := a.from[i][end]
		if start < end {
			a.set(&e.Variables[i], start, end, found)
		}
		end = start
	}
	return true
}

// reach returns the places that are reached with another variable. If it is undefined, they are
// those before. If not, it consumes the following items that it can have made.
func (a *assignment) reach(v *Variable, before []bool) []bool {
	from := make([]int, len(before))
	reached := make([]bool, len(before))
	text, list, pairs := -1, -1, -1 // where a value of a kind can have started
	pair := -1                      // the last item that is a pair
	for end := range before {
		from[end] = -1
		if end > 0 {
			item := a.items[end-1]
			pairs = keepIf(pairs, a.isInPairs(item))
			if pairs < 0 && before[end-1] && a.isInPairs(item) {
				pairs = end - 1
			}
			if a.isPair(item) {
				pair = end - 1
			}
			text = a.begin(text, end, before, a.isText(v, item), a.isSingle(v))
			list = a.begin(list, end, before, a.isMember(v, item), false)
			if text >= 0 && v.Prefix > 0 && !a.fits(v, text, end) {
				text = keepIf(end-1, before[end-1] && a.isText(v, item) && a.fits(v, end-1, end))
			}
		}
		switch {
		case before[end]:
			from[end] = end
		case !v.Explode:
			from[end] = text
		case pairs >= 0 && pairs <= pair:
			from[end] = pairs
		default:
			from[end] = list
		}
		reached[end] = from[end] >= 0
	}
	a.from = append(a.from, from)
	return reached
}

// begin returns where a value can have started that ends at end, or -1. It starts at the last item,
// or at begun unless the value is a single item. fits tells that the last item can belong to it.
func (a *assignment) begin(begun, end int, before []bool, fits, single bool) int {
	switch {
	case !fits:
		return -1
	case before[end-1]:
		return end - 1
	case single:
		return -1
	}
	return begun
}

func keepIf(begun int, keep bool) int {
	if keep {
		return begun
	}
	return -1
}

// isSingle reports whether a value that is not exploded is always one item.
func (a *assignment) isSingle(v *Variable) bool {
	operator := a.expression.Operator
	return operator == Path || operator.Named() || operator == Simple && v.Prefix > 0
}

// isText reports whether an item can belong to a value that is not exploded.
func (a *assignment) isText(v *Variable, item string) bool {
	operator := a.expression.Operator
	switch {
	case operator.AllowsReserved():
		return true
	case operator.Named():
		name, _, _ := strings.Cut(item, "=")
		return name == v.Name
	}
	return strings.IndexByte(item, '=') < 0 && (v.Prefix == 0 || strings.IndexByte(item, ',') < 0)
}

// isMember reports whether an item can be a member of an exploded list.
func (a *assignment) isMember(v *Variable, item string) bool {
	operator := a.expression.Operator
	switch {
	case operator.AllowsReserved():
		return true
	case strings.IndexByte(item, ',') >= 0:
		return false
	case operator.Named():
		name, _, _ := strings.Cut(item, "=")
		return name == v.Name
	}
	return strings.IndexByte(item, '=') < 0
}

// isPair reports whether an item can only be one of exploded pairs.
func (a *assignment) isPair(item string) bool {
	operator := a.expression.Operator
	return !operator.AllowsReserved() && strings.IndexByte(item, ',') < 0 &&
		(operator == Parameter || strings.IndexByte(item, '=') >= 0)
}

// isInPairs reports whether an item can be one of exploded pairs. It can be a part of one if names
// and values may contain the separator.
func (a *assignment) isInPairs(item string) bool {
	return a.isPair(item) || a.expression.Operator == Label && strings.IndexByte(item, ',') < 0
}

// fits reports whether the items between two places are no longer than the variable's prefix.
func (a *assignment) fits(v *Variable, start, end int) bool {
	text := strings.Join(a.items[start:end], string(a.separator))
	if a.expression.Operator.Named() {
		_, text, _ = strings.Cut(text, "=")
	}
	return prefixLength(text, v.Prefix, true) == len(text)
}

// set sets the value of a variable to the items between two places.
func (a *assignment) set(v *Variable, start, end int, found []Value) {
	items := a.items[start:end]
	span := strings.Join(items, string(a.separator))
	switch named := a.expression.Operator.Named(); {
	case named && !v.Explode:
		_, value, _ := strings.Cut(span, "=")
		v.set(found, a.expression.value(value))
	case named:
		var namesAndValues []string
		for _, item := range items {
			name, value, _ := strings.Cut(item, "=")
			namesAndValues = append(namesAndValues, name, value)
		}
		v.set(found, RawPairs(namesAndValues...))
	case v.Explode && slices.ContainsFunc(items, a.isPair):
		v.set(found, a.expression.explodePairs(span))
	case v.Explode:
		v.set(found, RawList(items...))
	case v.Prefix > 0:
		v.set(found, Raw(span))
	default:
		v.set(found, a.expression.value(span))
	}
}
