package resolver

import (
	"slices"
	"strings"
)

// numbering assigns numbers to rules with variables. They follow the numbers of the slots, which
// are those of the rules in the table.
type numbering struct {
	// keys are the keys of templates by number, including those of removed templates. Their number is
	// limited by templateRoom.
	keys      []string
	room      int
	templates []int32 // by number: their indexes, -1 for none
	lineage   *lineage
}

// lineage is the same pointer in all rulesets with the same numbers, which were derived from one.
type lineage struct{ _ byte }

// templateRoom is how many templates can be added to a ruleset before derived ones get other
// numbers.
const templateRoom = 16

// assign gives templates the numbers that their keys had before, and new templates the next ones.
// If there is no room for these, all templates get other numbers, and so do the rules in the table.
func (n *numbering) assign(x *templateIndex) {
	if n.lineage == nil {
		*n = numbering{room: max(n.room, 2*x.len()+templateRoom), lineage: new(lineage)}
	}
	numbers := numberedOf(n.keys)
	for i := range x.len() {
		key := x.key(i)
		if _, known := numbers.numbers[key]; !known {
			key = strings.Clone(key) // or it would keep the records of this index in memory
		}
		x.entries[i].number = uint32(numbers.number(key))
	}
	if n.keys = numbers.all; len(n.keys) > n.room {
		*n = numbering{room: 2 * len(n.keys)}
		n.assign(x)
		return
	}
	n.templates = slices.Repeat([]int32{-1}, len(n.keys))
	for i := range x.len() {
		n.templates[x.entries[i].number] = int32(i)
	}
}
