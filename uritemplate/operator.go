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

// First returns the character that an expression begins with if anything is defined, 0 for none.
func (o Operator) First() byte {
	if o == Simple || o == Reserved {
		return 0
	}
	return byte(o)
}

// Separator returns what stands between values.
func (o Operator) Separator() byte {
	switch o {
	case Label, Path, Parameter:
		return byte(o)
	case Query, Continuation:
		return '&'
	}
	return ','
}

// Named reports whether values stand behind their names.
func (o Operator) Named() bool { return o == Parameter || o == Query || o == Continuation }

// AllowsReserved reports whether values may hold reserved characters and percent-encoded triplets.
func (o Operator) AllowsReserved() bool { return o == Reserved || o == Fragment }

// ifEmpty is what stands behind the name of an empty value.
func (o Operator) ifEmpty() string {
	if o == Parameter {
		return ""
	}
	return "="
}
