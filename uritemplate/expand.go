package uritemplate

import (
	"fmt"
	"unicode/utf8"
)

// PrefixError is the error of a variable with a prefix whose value is not a string (RFC 6570
// 2.4.1).
type PrefixError struct{ Name string }

// Error returns the message.
func (e *PrefixError) Error() string {
	return fmt.Sprintf("variable %s: a prefix modifier needs a string value", e.Name)
}

// AppendExpand appends the expansion of the template to dst (RFC 6570 3). Values are by slot;
// missing ones at the end are undefined. Nothing is allocated if dst has room. The error is a
// [*PrefixError].
func (t *Template) AppendExpand(dst []byte, values []Value) ([]byte, error) {
	for i := range t.parts {
		part := &t.parts[i]
		if part.Expression == nil {
			dst = append(dst, part.Literal...)
			continue
		}
		var err error
		if dst, err = part.Expression.appendExpand(dst, values); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// Expand returns the expansion of the template with values by name.
func (t *Template) Expand(values map[string]Value) (string, error) {
	bySlot := make([]Value, len(t.names))
	for slot, name := range t.names {
		bySlot[slot] = values[name]
	}
	expanded, err := t.AppendExpand(nil, bySlot)
	return string(expanded), err
}

// appendExpand appends the expansion of the expression, as [Template.AppendExpand] does.
func (e *Expression) appendExpand(dst []byte, values []Value) ([]byte, error) {
	w := writer{dst: dst, operator: e.Operator, next: e.Operator.First()}
	for i := range e.Variables {
		v := &e.Variables[i]
		if v.Slot >= len(values) || !values[v.Slot].Defined() {
			continue
		}
		value := &values[v.Slot]
		switch {
		case value.kind == text:
			w.string(v, value)
		case v.Prefix > 0:
			return w.dst, &PrefixError{v.Name}
		case v.Explode:
			w.exploded(v, value)
		default:
			w.joined(v, value)
		}
	}
	return w.dst, nil
}

// writer writes the values of an expression.
type writer struct {
	dst      []byte
	operator Operator
	next     byte // to write before the next value; 0 for nothing
}

// begin writes the character before a value.
func (w *writer) begin() {
	if w.next != 0 {
		w.dst = append(w.dst, w.next)
	}
	w.next = w.operator.Separator()
}

// name writes the name of a value, and the character between them.
func (w *writer) name(name string, empty bool) {
	w.dst = append(w.dst, name...)
	if empty {
		w.dst = append(w.dst, w.operator.ifEmpty()...)
	} else {
		w.dst = append(w.dst, '=')
	}
}

func (w *writer) string(v *Variable, value *Value) {
	w.begin()
	s := value.text
	if v.Prefix > 0 {
		s = s[:prefixLength(s, v.Prefix, value.raw || w.operator.AllowsReserved())]
	}
	if w.operator.Named() {
		w.name(v.Name, s == "")
	}
	w.encoded(s, value.raw)
}

// joined writes a list or pairs as one value.
func (w *writer) joined(v *Variable, value *Value) {
	w.begin()
	if w.operator.Named() {
		w.name(v.Name, len(value.list) == 1 && value.list[0] == "")
	}
	for i, member := range value.list {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.encoded(member, value.raw)
	}
}

// exploded writes the members of a list, or pairs, as values of their own.
func (w *writer) exploded(v *Variable, value *Value) {
	if value.kind == list {
		for _, member := range value.list {
			w.begin()
			if w.operator.Named() {
				w.name(v.Name, member == "")
			}
			w.encoded(member, value.raw)
		}
		return
	}
	for i := 0; i+1 < len(value.list); i += 2 {
		w.begin()
		name, member := value.list[i], value.list[i+1]
		w.encoded(name, value.raw)
		if w.operator.Named() {
			w.name("", member == "")
		} else {
			w.dst = append(w.dst, '=')
		}
		w.encoded(member, value.raw)
	}
}

// encoded writes a string, and percent-encodes the characters that the operator may not emit.
func (w *writer) encoded(s string, raw bool) { w.dst = w.operator.appendEncoded(w.dst, s, raw) }

// AppendRaw appends a part of a URI as the operator emits it. Its percent-encoded triplets stay as
// they are, and characters that the operator may not emit are encoded.
func (o Operator) AppendRaw(dst []byte, part string) []byte {
	return o.appendEncoded(dst, part, true)
}

func (o Operator) appendEncoded(dst []byte, s string, raw bool) []byte {
	allowed, triplets := unreserved, raw
	if o.AllowsReserved() {
		allowed, triplets = unreserved|reserved, true
	}
	start := 0 // of the run that is copied unchanged
	for i := 0; i < len(s); i++ {
		c := s[i]
		if classes[c]&allowed != 0 || triplets && isTriplet(s, i) {
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = appendTriplet(dst, c)
		start = i + 1
	}
	return append(dst, s[start:]...)
}

// prefixLength returns the length of the first n characters of s. With triplets, those of a
// character count as one.
func prefixLength(s string, n int, triplets bool) int {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		if triplets && isTriplet(s, at) {
			at += encodedCharacter(s[at:])
			continue
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

// encodedCharacter returns the length of the triplets of the first character of s.
func encodedCharacter(s string) int {
	var bytes [utf8.UTFMax]byte
	n := 0
	for ; n < len(bytes) && isTriplet(s, 3*n); n++ {
		bytes[n] = octet(s, 3*n)
	}
	_, size := utf8.DecodeRune(bytes[:n])
	return 3 * size
}
