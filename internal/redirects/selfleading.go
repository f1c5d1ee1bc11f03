package redirects

import (
	"slices"
	"strings"
)

// A line can lead to a path that it matches itself. In its program, such a chain ends at once, or
// before a span.

// isNear reports whether a line could lead to a path that it matches itself.
func (t *translation) isNear() bool {
	first := &t.sets[0]
	return t.target.isInternal && (!first.isLiteral() ||
		strings.HasPrefix(canonical(DestinationText(t.To)), "/"+canonical(first.key())))
}

// passes reports whether a line leaves its requests to the next handler.
func (t *translation) passes() bool { return t.Answer == Passes || t.isIdle }

// takesAll reports whether a line matches every path.
func (t *translation) takesAll() bool { return len(t.sets[0].segments) == 0 }

// isIdentity reports whether a line leads every request to itself, perhaps with a slash more or
// less, or to where it leads again.
func (t *translation) isIdentity() bool {
	to, _ := cutPath(DestinationText(t.To))
	switch {
	case t.slashes == SlashesKept:
		return pathText(t.Path) == to
	case t.leadsWithin():
		return true
	}
	return strings.Trim(pathText(t.Path), "/") == strings.Trim(to, "/")
}

// leadsWithin reports whether a line for all below a path only leads to paths below it.
func (t *translation) leadsWithin() bool {
	if !t.spans || t.target.has(inQuery) || t.target.has(inFragment) {
		return false
	}
	front, ok := t.target.paths(true)
	target, isKnown := t.target.paths(false)
	if !ok || !isKnown || !front.isLiteral() {
		return false
	}
	takes := func(s paths) bool { return target.isWithin(&s) }
	isOutside := func(s paths) bool { return !s.isWithin(&front) }
	return slices.ContainsFunc(t.sets, takes) && !slices.ContainsFunc(t.sets, isOutside)
}

// ends returns the ends of a line's chain to itself, as lines that pass: paths that it leads to and
// matches. The next handler answers them.
func (t *translation) ends() (ends []translation) {
	if t.outcome() != "" || !t.isNear() {
		return nil
	}
	add := func(set paths, isPath bool) {
		if !isPath || !t.takesMoreThan(&set) {
			return
		}
		// a rule of this line for all below a key of this length would win against one for a path
		// and all below
		isShort := func(own paths) bool { return len(set.segments) <= len(own.segments) }
		ends = append(ends, translation{Line: &Line{At: t.At, Answer: Passes}, slashes: t.slashes,
			sets: []paths{set}, isApart: set.below && slices.ContainsFunc(t.sets, isShort)})
	}
	front, ok := t.target.paths(t.spans && t.sets[0].below && t.slashes != SlashesKept)
	path, _ := cutPath(DestinationText(t.To))
	if t.slashes == SlashesKept && !front.below && strings.HasSuffix(path, "/") {
		front = front.slashed()
	}
	add(front, ok)
	add(t.withoutSplat())
	return ends
}

// takesMoreThan reports whether a line matches the paths of a set, and others.
func (t *translation) takesMoreThan(set *paths) bool {
	isInside := false
	for i := range t.sets {
		if t.sets[i].isWithin(set) && set.isWithin(&t.sets[i]) {
			return false
		}
		isInside = isInside || set.isWithin(&t.sets[i])
	}
	return isInside && len(set.segments) > 0
}

// withoutSplat returns the path of the destination for an empty splat, if it is a single path.
func (t *translation) withoutSplat() (set paths, ok bool) {
	for _, p := range t.target.parts[inPath] {
		if p.Variable != "" && p.Variable != Splat {
			return set, false
		}
	}
	if splatsIn(t.target.parts[inPath]) == 0 {
		return set, false
	}
	path, _ := cutPath(t.target.withoutSplat())
	return pathsOf(Text(strings.Trim(path, "/")), SlashesKept)[0], true
}
