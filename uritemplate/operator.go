package uritemplate

// Operator is the operator of an expression: its character, or 0 for simple expansion.
type Operator byte

// The operators (RFC 6570 3.2).
const (
	Simple       Operator = 0
	Reserved     Operator = '+'
	Fragment     Operator = '#'
	Label        Operator = '.'
	Path         Operator = '/'
	Parameter    Operator = ';'
	Query        Operator = '?'
	Continuation Operator = '&'
)

// First returns the first character of an expansion that is not empty, or 0 for none.
func (o Operator) First() byte {
	if o == Simple || o == Reserved {
		return 0
	}
	return byte(o)
}

// Separator returns the character between values.
func (o Operator) Separator() byte {
	switch o {
	case Label, Path, Parameter:
		return byte(o)
	case Query, Continuation:
		return '&'
	}
	return ','
}

// Named reports whether values follow their names.
func (o Operator) Named() bool { return o == Parameter || o == Query || o == Continuation }

// AllowsReserved reports whether values may contain reserved characters and triplets.
func (o Operator) AllowsReserved() bool { return o == Reserved || o == Fragment }

// ifEmpty returns the text after the name of an empty value.
func (o Operator) ifEmpty() string {
	if o == Parameter {
		return ""
	}
	return "="
}
