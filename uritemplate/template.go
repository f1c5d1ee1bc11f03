package uritemplate

// Template is a parsed template. It is immutable and safe for concurrent use.
type Template struct {
	source string
	parts  []Part
	names  []string
}

// Part is a literal or an expression.
type Part struct {
	// Literal is the text of a literal as in URIs.
	Literal string
	// Expression is nil for a literal.
	Expression *Expression
	// Offset is the place of the part in the template, in bytes.
	Offset int
}

// Expression is a list of variables with an operator.
type Expression struct {
	Operator  Operator
	Variables []Variable
}

// Variable is a variable of an expression.
type Variable struct {
	Name string
	// Slot is the index of the variable's value among the values. A name that occurs twice has one
	// slot.
	Slot int
	// Prefix is the number of characters of a value to expand, 0 for all.
	Prefix int
	// Explode makes each member of a list or pair a value of its own.
	Explode bool
}

// String returns the template as it was written.
func (t *Template) String() string { return t.source }

// Parts returns the literals and expressions in their order. They must not be changed.
func (t *Template) Parts() []Part { return t.parts }

// Names returns the names of the variables, by slot. They must not be changed.
func (t *Template) Names() []string { return t.names }
