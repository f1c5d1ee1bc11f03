package uritemplate

import "strings"

// greedyLength returns how much of rest the i-th part matches, at most most. It ends before the
// next literal: at the last place of the literal if that is the last part, else at the first place.
func (m *Matcher) greedyLength(i int, rest string, most int) int {
	parts := m.template.parts
	next := i + 1
	for next < len(parts) && parts[next].Expression != nil {
		if first := parts[next].Expression.Operator.First(); first != 0 {
			if at := strings.IndexByte(rest[min(1, most):most], first); at >= 0 {
				return at + min(1, most)
			}
		}
		next++
	}
	if next == len(parts) {
		return most
	}
	literal := parts[next].Literal
	if next == len(parts)-1 {
		if at := len(rest) - len(literal); at >= 0 && at <= most {
			return at
		}
		return most
	}
	if at := strings.Index(rest, literal); at >= 0 && at <= most {
		return at
	}
	return most
}
