package resolver

import (
	"slices"
	"strings"
)

// numbering gives rules with variables their numbers. They follow those of the slots, which are
// the numbers of the rules in the table.
type numbering struct {
	// keys are the keys of templates by number, also of those that are gone. There may be as many
	// as there is room for.
	keys      []string
	room      int
	templates []int32 // by number: their indexes, -1 for none
	lineage   *lineage
}

// lineage is shared by rulesets in which rules keep their numbers: all are derived from one.
type lineage struct{ _ byte }

// templateRoom is how many templates more than it has a ruleset can have before others are derived
// with other numbers.
const templateRoom = 16

// assign gives templates the numbers that their keys have had before, and new ones the next ones.
// Where there is no room for those, all get other numbers, and so do the rules in the table.
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
