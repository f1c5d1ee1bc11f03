package near

// allowed is by how many bytes a text of some length may differ from what was meant. Short texts
// are similar to too many others.
func allowed(length int) int { return min(2, length/3) }

// allowedDistance returns the distance from a text to one that was perhaps meant. ok is false if
// that is more than allowed.
func allowedDistance(text, meant []byte) (n int, ok bool) {
	most := allowed(len(meant))
	n = distance(text, meant, most)
	return n, n <= most
}

// distance returns in how many bytes two texts differ, or a number above most. A replaced, missing
// or extra byte counts as one, and so do two swapped neighbours. Behind the common beginning it
// tries all ways to go on: there are few, because most is small.
func distance(a, b []byte, most int) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(b) == 0 || len(a)-len(b) > most || most == 0 {
		return min(max(len(a), len(b)), most+1)
	}
	least := min(distance(a[1:], b[1:], most-1),
		distance(a[1:], b, most-1), distance(a, b[1:], most-1))
	if len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		least = min(least, distance(a[2:], b[2:], most-1))
	}
	return 1 + least
}
