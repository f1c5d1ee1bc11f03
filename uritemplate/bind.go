package uritemplate

import "strings"

// bind sets the variables of the expression to their parts of a span, which is not empty.
func (e *Expression) bind(span string, found []Value) bool {
	if first := e.Operator.First(); first != 0 {
		if span[0] != first {
			return false
		}
		span = span[1:]
	}
	items := items{rest: span, separator: e.Operator.Separator(), more: true}
	if e.Operator.Named() {
		return e.bindNamed(&items, found)
	}
	e.bindUnnamed(&items, found)
	return true
}

// bindByChoice is bind, but it also finds values that bind misses.
func (e *Expression) bindByChoice(span string, found []Value) bool {
	if first := e.Operator.First(); first != 0 {
		if span[0] != first {
			return false
		}
		span = span[1:]
	}
	return e.assign(span, found)
}

// items are the parts of a span between separators.
type items struct {
	rest      string
	separator byte
	more      bool
}

// next returns the next item.
func (it *items) next() string {
	end := strings.IndexByte(it.rest, it.separator)
	if end < 0 {
		it.more = false
		return it.rest
	}
	item := it.rest[:end]
	it.rest = it.rest[end+1:]
	return item
}

// count returns the number of items that are left.
func (it *items) count() int {
	if !it.more {
		return 0
	}
	return strings.Count(it.rest, string(it.separator)) + 1
}

// take returns the next n items with the separators between them.
func (it *items) take(n int) string {
	span, length := it.rest, -1
	for range n {
		length += len(it.next()) + 1
	}
	return span[:length]
}

// bindUnnamed sets each variable to an item. An exploded one gets as many as the others leave, and
// the last one the rest.
func (e *Expression) bindUnnamed(it *items, found []Value) {
	for i := range e.Variables {
		v, behind := &e.Variables[i], len(e.Variables)-1-i
		switch {
		case !it.more:
			return
		case v.Explode:
			v.set(found, e.explode(it.take(max(1, it.count()-behind))))
		case behind == 0:
			v.set(found, e.value(it.rest))
			it.more = false
		default:
			v.set(found, e.value(it.next()))
		}
	}
}

// value returns the value of a variable that is not exploded. It is a list if it has commas,
// because the operator emits them only between members.
func (e *Expression) value(item string) Value {
	if !e.Operator.AllowsReserved() && strings.IndexByte(item, ',') >= 0 {
		return RawList(strings.Split(item, ",")...)
	}
	return Raw(item)
}

// explode returns the value of an exploded variable. A "=" means pairs if the operator emits it
// only between names and values.
func (e *Expression) explode(span string) Value {
	separator := e.Operator.Separator()
	first, _, _ := strings.Cut(span, string(separator))
	if e.Operator.AllowsReserved() || strings.IndexByte(first, '=') < 0 {
		return RawList(strings.Split(span, string(separator))...)
	}
	return e.explodePairs(span)
}

// explodePairs returns the value of an exploded variable as pairs.
func (e *Expression) explodePairs(span string) Value {
	separator := e.Operator.Separator()
	var namesAndValues []string
	for more := true; more; {
		var name, value string
		name, span, _ = strings.Cut(span, "=")
		value, span, more = cutPair(span, separator)
		namesAndValues = append(namesAndValues, name, value)
	}
	return RawPairs(namesAndValues...)
}

// cutPair cuts a value from the pairs after it. It may contain the separator of labels.
func cutPair(span string, separator byte) (value, rest string, more bool) {
	next := strings.IndexByte(span, '=')
	if next < 0 {
		return span, "", false
	}
	end := strings.LastIndexByte(span[:next], separator)
	if end < 0 {
		return span, "", false // the proof refuses it: no value has a "="
	}
	return span[:end], span[end+1:], true
}

// set sets the value of a variable. If it already has one from another place, a value without a
// prefix wins, and else the longer one. The proof shows whether it fits both places.
func (v *Variable) set(found []Value, value Value) {
	old := &found[v.Slot]
	if old.kind == undefined || v.Prefix == 0 || len(value.text) > len(old.text) {
		*old = value
	}
}

// bindNamed sets each variable to the items with its name, in the order of the variables.
func (e *Expression) bindNamed(it *items, found []Value) bool {
	for i := range e.Variables {
		v := &e.Variables[i]
		switch {
		case !it.more:
			return true
		case v.Explode:
			e.bindExploded(i, it, found)
		case it.name() == v.Name:
			_, value, _ := strings.Cut(it.next(), "=")
			v.set(found, e.value(value))
		}
	}
	return !it.more
}

// name returns the name of the next item.
func (it *items) name() string {
	for i := 0; i < len(it.rest); i++ {
		if c := it.rest[i]; c == '=' || c == it.separator {
			return it.rest[:i]
		}
	}
	return it.rest
}

// bindExploded sets an exploded variable to the items with its name, as a list. If there are none,
// it gets the items without the name of a later variable, as pairs.
func (e *Expression) bindExploded(i int, it *items, found []Value) {
	v := &e.Variables[i]
	var members []string
	for it.more && it.name() == v.Name {
		_, value, _ := strings.Cut(it.next(), "=")
		members = append(members, value)
	}
	if members != nil {
		v.set(found, RawList(members...))
		return
	}
	for it.more && !isNamed(e.Variables[i+1:], it.name()) {
		name, value, _ := strings.Cut(it.next(), "=")
		members = append(members, name, value)
	}
	if members != nil {
		v.set(found, RawPairs(members...))
	}
}

// isNamed reports whether one of the variables has this name.
func isNamed(variables []Variable, name string) bool {
	for i := range variables {
		if variables[i].Name == name {
			return true
		}
	}
	return false
}
