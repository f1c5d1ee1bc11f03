package uritemplate

import (
	"slices"
	"unicode/utf8"
)

// Decoded returns a raw value as data, with its percent-encoded triplets decoded once. ok is false
// if the result is not UTF-8.
func (v Value) Decoded() (decoded Value, ok bool) {
	if !v.raw {
		return v, true
	}
	decoded = Value{kind: v.kind}
	if decoded.text, ok = decodeText(v.text); !ok {
		return decoded, false
	}
	for _, member := range v.list {
		text, ok := decodeText(member)
		if !ok {
			return decoded, false
		}
		decoded.list = append(decoded.list, text)
	}
	return decoded, true
}

func decodeText(s string) (text string, ok bool) {
	var b []byte
	start := 0
	for i := 0; i < len(s); i++ {
		if isTriplet(s, i) {
			b = append(append(b, s[start:i]...), octet(s, i))
			start = i + 3
			i += 2
		}
	}
	if start == 0 {
		return s, utf8.ValidString(s)
	}
	b = append(b, s[start:]...)
	return string(b), utf8.Valid(b)
}

// Cooked finds the values of a URI as data, decoded once. ok is false if [Matcher.Match] finds
// none, or a value is not UTF-8. It is also false if the expansion of the values does not match
// with the same values again: they would not mean the same.
func (m *Matcher) Cooked(uri string) (values []Value, ok bool) {
	values, ok = m.decoded(uri)
	if !ok {
		return nil, false
	}
	expanded, err := m.template.AppendExpand(nil, values)
	if err != nil {
		return nil, false
	}
	again, ok := m.decoded(string(expanded))
	if !ok || !slices.EqualFunc(values, again, sameValue) {
		return nil, false
	}
	return values, true
}

func (m *Matcher) decoded(uri string) ([]Value, bool) {
	found, ok := m.Match(uri, nil)
	if !ok {
		return nil, false
	}
	for i, value := range found {
		if found[i], ok = value.Decoded(); !ok {
			return nil, false
		}
	}
	return found, true
}

func sameValue(a, b Value) bool {
	return a.kind == b.kind && a.text == b.text && a.raw == b.raw && slices.Equal(a.list, b.list)
}
