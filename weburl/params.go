package weburl

import "strings"

// Param is a query parameter, decoded.
type Param struct{ Name, Value string }

// Params is the list of a URLSearchParams object.
type Params []Param

// ParseParams parses a query, as new URLSearchParams(s) does. One leading "?" is dropped, empty
// pieces are skipped, "+" is a space. Every string is a query.
func ParseParams(s string) Params {
	var params Params
	s = strings.TrimPrefix(s, "?")
	for {
		name, value, rest, ok := NextPiece(s)
		if !ok {
			return params
		}
		params = append(params, Param{Name: decodedForm(name), Value: decodedForm(value)})
		s = rest
	}
}

// Set sets the value of the first parameter with that name, and removes the others. If there is
// none, it appends one. Names are compared by code points.
func (p *Params) Set(name, value string) {
	name, value = wellFormed(name), wellFormed(value)
	kept := (*p)[:0]
	found := false
	for _, param := range *p {
		if param.Name == name {
			if found {
				continue
			}
			found, param.Value = true, value
		}
		kept = append(kept, param)
	}
	if !found {
		kept = append(kept, Param{Name: name, Value: value})
	}
	*p = kept
}

// String serialises the list in its order, as toString does.
func (p Params) String() string {
	var b []byte
	for i, param := range p {
		if i > 0 {
			b = append(b, '&')
		}
		b = appendFormText(b, param.Name)
		b = append(b, '=')
		b = appendFormText(b, param.Value)
	}
	return string(b)
}

// appendFormText serialises decoded text.
func appendFormText(dst []byte, text string) []byte {
	for {
		before, after, found := strings.Cut(text, " ")
		dst = AppendEncoded(dst, before, formSet)
		if !found {
			return dst
		}
		dst = append(dst, '+')
		text = after
	}
}
