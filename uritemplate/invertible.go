package uritemplate

import "fmt"

// Invertible reports whether the template is of the class for which matching what was expanded gives the same values again
// ([Matcher.Cooked]), and if not, why. It does for values that are defined, and are strings of UTF-8, or non-empty lists where the variable is
// exploded, and that are not empty in expressions with the operators simple, reserved and fragment; under reserved and fragment they must hold no percent-encoded triplet.
//
// The class: the template can be matched; each variable stands once, and without a prefix; an expression without names has one
// variable, or several of which only the last is exploded, under simple or path; values under a label are excluded, as they can hold its dots; so are reserved and
// fragment with several variables, whose values can hold its commas; and an exploded variable under an operator without names, of which a
// member with "=" looks like a pair, only stands with simple or path, where that is encoded.
func (t *Template) Invertible() error {
	if _, err := t.Matcher(); err != nil {
		return err
	}
	seen := make([]bool, len(t.names))
	for i := range t.parts {
		if e := t.parts[i].Expression; e != nil {
			if why := e.notInvertible(seen); why != "" {
				return fmt.Errorf("template %q: the expression at byte %d cannot be undone: %s", t.source, t.parts[i].Offset+1, why)
			}
		}
	}
	return nil
}

// notInvertible says why matching could find other values than the expression was expanded from. seen are the slots of the variables in
// front of it.
func (e *Expression) notInvertible(seen []bool) string {
	for i, v := range e.Variables {
		switch {
		case seen[v.Slot]:
			return "the variable " + v.Name + " stands twice"
		case v.Prefix > 0:
			return "the variable " + v.Name + " is cut to a prefix"
		case v.Explode && e.Operator.AllowsReserved():
			return "what is exploded can hold commas"
		case v.Explode && !e.Operator.Named() && i < len(e.Variables)-1:
			return "an exploded variable stands in front of others"
		}
		seen[v.Slot] = true
	}
	switch {
	case e.Operator == Label:
		return "a value can hold dots, as the label does between values"
	case e.Operator.AllowsReserved() && len(e.Variables) > 1:
		return "a value can hold commas, as they stand between values"
	}
	return ""
}
