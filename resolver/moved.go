package resolver

// moved are the places of rules without variables that stand elsewhere in their source than when
// they were compiled, by number. A line that is inserted above changes nothing else of a rule.
type moved struct {
	places pages[place] // without any page where none has moved
	// changes is how many places have been set since the branch was made.
	changes int
}

// place is 1 more than a line and a column in one number, 0 where a rule has not moved.
type place uint64

// columnBits are enough for a file of which all is one line.
const columnBits = 32

func newPlace(at Position) place {
	return place(at.Line)<<columnBits + min(place(at.Column), 1<<columnBits-2) + 1
}

// branch returns the same places, which can change without those of m, as long as m does not change
// any more.
func (m *moved) branch() moved { return moved{places: m.places.branch()} }

// hasAny reports whether rules may have moved.
func (m *moved) hasAny() bool { return m.places.all != nil }

// at returns the place of the rule in a slot.
func (m *moved) at(i int) place {
	if !m.hasAny() || m.places.all[i>>pageBits] == nil {
		return 0
	}
	return m.places.at(i)
}

// apply puts the place of the rule in a slot, if it has moved, into its position.
func (m *moved) apply(i int, at *Position) {
	if to := m.at(i); to != 0 {
		to--
		at.Line, at.Column = int(to>>columnBits), int(to&(1<<columnBits-1))
	}
}

// set sets the place of the rule in a slot, 0 for that of its record.
func (m *moved) set(i int, to place) {
	if m.at(i) == to {
		return
	}
	m.changes++
	if !m.hasAny() {
		m.places = makeEmpty[place](m.places.n)
	}
	m.places.set(i, to)
}
