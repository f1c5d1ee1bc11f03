package rulefile

import "github.com/caddy-shortlink/shortlink/resolver"

// leftOut is a line that is left out, with what it would have taken.
type leftOut struct {
	line int
	at   resolver.Position
	why  string
	sets []pathSet
	next int // the first line behind it that gets requests of it, 0 for none
}

// noteLeftOut takes down which lines that are left out the i-th one gets requests of.
func (f *redirectsFile) noteLeftOut(i int, t *translation) {
	const mostCompared = 1 << 22
	for n := range f.left {
		left := &f.left[n]
		if f.compared++; left.next > 0 || f.compared > mostCompared {
			continue
		}
		for j := range left.sets {
			if left.sets[j].overlapsAny(t.sets) {
				left.next = i
				break
			}
		}
	}
}

// overlapsAny reports whether a set has a path in common with one of several.
func (s *pathSet) overlapsAny(others []pathSet) bool {
	for i := range others {
		if len(s.and(&others[i])) > 0 {
			return true
		}
	}
	return false
}

// warnOfLeftOut warns of the lines that are left out.
func (f *redirectsFile) warnOfLeftOut() {
	for _, left := range f.left {
		message := left.why + "; the line is left out"
		if left.next > 0 {
			message += ", and the line at " + f.placeOf(left.next).String() + " gets requests that it " +
				"would have taken"
		}
		f.warned.add(WarnLeftOut, left.at, "", "%s", message)
	}
}
