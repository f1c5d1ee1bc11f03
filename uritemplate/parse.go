package uritemplate

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SyntaxError is the error of a template that is not valid.
type SyntaxError struct {
	// Template is the whole template.
	Template string
	// Offset is the place of the error, in bytes.
	Offset int
	// Message says what is wrong, and what to write instead.
	Message string
}

// Error returns the place and the message.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("template %q, at byte %d: %s", e.Template, e.Offset+1, e.Message)
}

// MaxPrefix is the largest prefix of a variable (RFC 6570 2.4.1).
const MaxPrefix = 9999

// Parse parses a template (RFC 6570 2). The error is a [*SyntaxError].
func Parse(template string) (*Template, error) {
	p := &parser{t: &Template{source: template}, s: template}
	for p.at < len(p.s) {
		parse := p.literal
		if p.s[p.at] == '{' {
			parse = p.expression
		}
		if err := parse(); err != nil {
			return nil, err
		}
	}
	return p.t, nil
}

// parser parses a template from left to right.
type parser struct {
	t  *Template
	s  string
	at int
}

func (p *parser) fail(at int, format string, args ...any) error {
	return &SyntaxError{p.s, at, fmt.Sprintf(format, args...)}
}

// literal parses up to the next expression.
func (p *parser) literal() error {
	start := p.at
	var text []byte
	for p.at < len(p.s) && p.s[p.at] != '{' {
		var err error
		if text, err = p.character(text); err != nil {
			return err
		}
	}
	p.t.parts = append(p.t.parts, Part{Literal: string(text), Offset: start})
	return nil
}

// character parses a character of a literal, and appends it as URIs have it.
func (p *parser) character(text []byte) ([]byte, error) {
	c := p.s[p.at]
	switch {
	case hasClass(c, literal):
		p.at++
		return append(text, c), nil
	case isTriplet(p.s, p.at):
		p.at += 3
		return append(text, p.s[p.at-3:p.at]...), nil
	case c == '}':
		return nil, p.fail(p.at, `a "}" without its "{"; write %%7D for the character`)
	case c == '%':
		return nil, p.fail(p.at, `a "%%" without two hex digits; write %%25 for a percent sign`)
	case c < utf8.RuneSelf:
		return nil, p.fail(p.at, "%q is not allowed in a URI; write it percent-encoded", rune(c))
	}
	r, size := utf8.DecodeRuneInString(p.s[p.at:])
	if r == utf8.RuneError && size == 1 || unicode.IsControl(r) || isNoncharacter(r) {
		return nil, p.fail(p.at, "not a Unicode character; write its bytes percent-encoded")
	}
	for range size {
		text = appendTriplet(text, p.s[p.at])
		p.at++
	}
	return text, nil
}

func isNoncharacter(r rune) bool { return r&0xFFFE == 0xFFFE || 0xFDD0 <= r && r <= 0xFDEF }

// expression parses from "{" to "}".
func (p *parser) expression() error {
	start := p.at
	end := strings.IndexAny(p.s[start+1:], "{}")
	if end < 0 {
		return p.fail(start, `this "{" has no "}"`)
	}
	end += start + 1
	if p.s[end] == '{' {
		return p.fail(end, `a "{" inside an expression`)
	}
	p.at++
	e := &Expression{}
	if err := p.operator(e, end); err != nil {
		return err
	}
	for more := true; more; {
		variable, err := p.variable(end)
		if err != nil {
			return err
		}
		e.Variables = append(e.Variables, variable)
		more = p.at < end
		if more {
			p.at++ // the comma
		}
	}
	p.at = end + 1
	p.t.parts = append(p.t.parts, Part{Expression: e, Offset: start})
	return nil
}

// operator parses the operator of an expression that ends at end.
func (p *parser) operator(e *Expression, end int) error {
	c := p.s[p.at]
	switch {
	case p.at == end:
		return p.fail(p.at, "the expression is empty; write the name of a variable")
	case strings.IndexByte("+#./;?&", c) >= 0:
		e.Operator = Operator(c)
		p.at++
	case strings.IndexByte("=,!@|", c) >= 0:
		return p.fail(p.at, "the operator %q is reserved; write one of + # . / ; ? &", rune(c))
	}
	return nil
}

// variable parses a variable of an expression that ends at end, with its modifier.
func (p *parser) variable(end int) (v Variable, err error) {
	if v.Name, err = p.name(end); err != nil {
		return v, err
	}
	v.Slot = p.slot(v.Name)
	if p.at < end {
		switch p.s[p.at] {
		case '*':
			v.Explode = true
			p.at++
		case ':':
			if v.Prefix, err = p.prefix(end); err != nil {
				return v, err
			}
		}
	}
	if p.at < end && p.s[p.at] != ',' {
		r, _ := utf8.DecodeRuneInString(p.s[p.at:])
		return v, p.fail(p.at, "%q after a variable; separate variables by commas, and write one "+
			"modifier, \"*\" or \":\" with a number", r)
	}
	return v, nil
}

// name parses the name of a variable: letters, digits, "_" and triplets, with single dots between.
func (p *parser) name(end int) (string, error) {
	start, afterDot := p.at, true
	for p.at < end {
		switch {
		case hasClass(p.s[p.at], nameStart):
			p.at++
			afterDot = false
			continue
		case isTriplet(p.s[:end], p.at):
			p.at += 3
			afterDot = false
			continue
		case p.s[p.at] == '.' && !afterDot:
			p.at++
			afterDot = true
			continue
		}
		break
	}
	if afterDot {
		return "", p.fail(p.at, "the name of a variable is missing; write letters, digits, \"_\" and "+
			"percent-encoded characters, with single dots between them")
	}
	return p.s[start:p.at], nil
}

// prefix parses ":" and a number from 1 to 9999.
func (p *parser) prefix(end int) (int, error) {
	p.at++
	n, start := 0, p.at
	for p.at < end && '0' <= p.s[p.at] && p.s[p.at] <= '9' {
		if n = 10*n + int(p.s[p.at]-'0'); n == 0 || n > MaxPrefix {
			break
		}
		p.at++
	}
	if n == 0 || n > MaxPrefix {
		return 0, p.fail(start, "a prefix is a number from 1 to %d, without leading zeros", MaxPrefix)
	}
	return n, nil
}

// slot returns the slot of a name.
func (p *parser) slot(name string) int {
	if slot := slices.Index(p.t.names, name); slot >= 0 {
		return slot
	}
	p.t.names = append(p.t.names, name)
	return len(p.t.names) - 1
}
