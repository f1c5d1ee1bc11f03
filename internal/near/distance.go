package near

import "bytes"

// allowed is by how many bytes a text of some length may differ from what was meant: short texts
// are near to too many.
func allowed(length int) int { return min(2, length/3) }

// allowedDistance is the distance from a text to one that was perhaps meant, and 3 if that is more
// than allowed.
func allowedDistance(text, meant []byte) int {
	most := allowed(len(meant))
	if n := distance(text, meant, most); n <= most {
		return n
	}
	return 3
}

// distance returns the Levenshtein distance of two texts in bytes, or more than most. Where only
// two neighbours have changed places it is 1.
func distance(a, b []byte, most int) int {
	n := levenshtein(a, b, most)
	if n > 1 && most > 0 && isSwapped(a, b) {
		return 1
	}
	return n
}

// levenshtein returns the distance without swaps. Behind what the texts have in common it tries all
// ways to go on: there are few, as most is small.
func levenshtein(a, b []byte, most int) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(b) == 0 || len(a)-len(b) > most || most == 0 {
		return min(max(len(a), len(b)), most+1)
	}
	return 1 + min(levenshtein(a[1:], b[1:], most-1),
		levenshtein(a[1:], b, most-1), levenshtein(a, b[1:], most-1))
}

// isSwapped reports whether two texts differ in the order of two bytes.
func isSwapped(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && bytes.Equal(a[i+2:], b[i+2:])
		}
	}
	return false
}
