package uritemplate

// Value is the value of a variable: a string, a list of strings, or pairs of strings. The zero
// Value is undefined.
type Value struct {
	kind kind
	raw  bool
	text string
	// list are the members of a list, or names and values of pairs in turn.
	list []string
}

type kind uint8

const (
	undefined kind = iota
	text
	list
	pairs
)

// String returns a string of data. Operators encode the characters that they may not emit, and
// percent signs.
func String(s string) Value { return Value{kind: text, text: s} }

// Raw returns a part of a URI: its percent-encoded triplets stay as they are.
func Raw(s string) Value { return Value{kind: text, text: s, raw: true} }

// List returns a list of data. An empty one is undefined (RFC 6570 2.3).
func List(members ...string) Value { return Value{kind: list, list: members} }

// RawList returns a list of parts of a URI.
func RawList(members ...string) Value { return Value{kind: list, list: members, raw: true} }

// Pairs returns pairs of names and values, in turn: an ordered associative array. Without pairs it
// is undefined.
func Pairs(namesAndValues ...string) Value { return Value{kind: pairs, list: namesAndValues} }

// RawPairs returns pairs of parts of a URI.
func RawPairs(namesAndValues ...string) Value {
	return Value{kind: pairs, list: namesAndValues, raw: true}
}

// Defined reports whether there is a value: lists and pairs need a member (RFC 6570 2.3).
func (v Value) Defined() bool {
	return v.kind == text || v.kind != undefined && len(v.list) > 0
}

// Text returns the text of a string. ok is false for other values.
func (v Value) Text() (s string, ok bool) { return v.text, v.kind == text }

// Members returns the members of a list. ok is false for other values.
func (v Value) Members() (members []string, ok bool) { return v.list, v.kind == list }

// NamesAndValues returns pairs as names and values in turn. ok is false for other values.
func (v Value) NamesAndValues() (all []string, ok bool) { return v.list, v.kind == pairs }
