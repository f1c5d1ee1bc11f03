package weburl

import "strings"

// Names is a set of decoded parameter names. The zero value and nil are empty.
type Names struct {
	all   bool
	forms map[string]struct{} // as AppendForm writes them
}

// NewNames returns the set of names; "*" stands for every name.
func NewNames(names ...string) *Names {
	set := &Names{forms: make(map[string]struct{}, len(names))}
	for _, name := range names {
		if name == "*" {
			set.all = true
		}
		set.forms[string(formOf(name))] = struct{}{}
	}
	return set
}

// Has reports whether the set has the decoded name.
func (n *Names) Has(name string) bool {
	return n != nil && n.has(formOf(name))
}

// formOf returns a decoded name as AppendForm writes it.
func formOf(name string) []byte {
	form := Params{{Name: name}}.String()
	return []byte(strings.TrimSuffix(form, "="))
}

func (n *Names) has(form []byte) bool {
	if n == nil {
		return false
	}
	if n.all {
		return true
	}
	_, ok := n.forms[string(form)]
	return ok
}
