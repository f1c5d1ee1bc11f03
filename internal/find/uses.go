package find

import (
	"cmp"
	"math"
	"slices"
)

// In the order of uses, rules are searched run by run. A run has the rules that were used equally
// often, in the order of keys. Most rules were never used, so that there is one long run at the end:
//
//	uses | 907 | 311 | 20 20 | 7 | ... | 1 1 1 1 1 | 0 0 0 0 0 0 0 0 ...
//	     |<----- sorted, a part at a time -------->|<- a filter of all keys
//
// A run that is too long to be sorted is found like the last one.

// mostSorted is how many rules are sorted at a time: keys are compared for that.
const mostSorted = 16 << 10

// inOrderOfUses searches all numbers, which are in the order of keys. Those from at on are behind
// the key where the search goes on.
func (s *search) inOrderOfUses(numbers []uint32, at int) {
	most := uint64(math.MaxUint64)
	if s.goesOn() {
		most = s.Behind.Uses
	}
	for !s.found.AtLeast {
		part, floor, isLong := s.mostUsed(most)
		s.examine(part)
		if isLong || floor == 0 {
			if !s.goesOn() || floor != s.Behind.Uses {
				at = 0
			}
			s.examineRun(numbers[at:], floor)
			floor--
		}
		if most = floor; most == math.MaxUint64 {
			return // the run of those that were not used is over
		}
	}
}

// goesOn reports whether the search goes on behind a place.
func (s *search) goesOn() bool { return s.Behind != (Place{}) }

// examineRun examines the rules among some that were used equally often.
func (s *search) examineRun(numbers []uint32, uses uint64) {
	s.inRun, s.run = true, uses
	s.examine(numbers)
	s.inRun = false
}

// mostUsed returns the numbers of the rules that were used more often than floor, and at most most
// times, in their order. Floor is 0 unless these would be too many. isLong says that the run of
// floor alone would be.
func (s *search) mostUsed(most uint64) (part []uint32, floor uint64, isLong bool) {
	var used []counted
	for n := range s.ruleset.Numbers() {
		uses := s.Uses(n)
		if uses <= floor || uses > most {
			continue
		}
		if used = append(used, counted{uint32(n), uses}); len(used) == 2*mostSorted {
			s.pause()
			slices.SortFunc(used, byUses)
			floor = used[mostSorted].uses
			end, _ := slices.BinarySearchFunc(used, counted{uses: floor}, byUses)
			used = used[:end]
		}
	}
	slices.SortFunc(used, func(a, b counted) int {
		return cmp.Or(byUses(a, b), s.comparePlaces(a.number, b.number))
	})
	for _, u := range used {
		if !s.isPassed(u) {
			part = append(part, u.number)
		}
	}
	return part, floor, len(used) == 0
}

// counted is the number of a rule, and how often it was used.
type counted struct {
	number uint32
	uses   uint64
}

func byUses(a, b counted) int { return cmp.Compare(b.uses, a.uses) }

// comparePlaces compares the places of two rules that were used equally often.
func (s *search) comparePlaces(a, b uint32) int {
	if s.isStored {
		return cmp.Compare(a, b)
	}
	return compareKeys(s.ruleset.KeyOf(int(a)), s.ruleset.KeyOf(int(b)))
}

// isPassed reports whether a rule that was used at most as often as the one before the place is not
// behind it.
func (s *search) isPassed(u counted) bool {
	switch {
	case !s.goesOn() || u.uses != s.Behind.Uses:
		return false
	case s.isStored:
		return int(u.number) < s.Behind.Stored
	}
	return compareKeys(s.ruleset.KeyOf(int(u.number)), s.after) <= 0
}
