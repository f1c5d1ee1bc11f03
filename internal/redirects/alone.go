package redirects

import (
	"fmt"
	"slices"
)

// alone are the lines without captures, for a path without a slash at its end.
type alone struct {
	byKey map[string]int // the line by its canonical key
	keys  []string
	// compared is how often keys were compared with a path that has variables.
	compared int
}

// findAlone returns the lines for a path alone, if there are lines that could leave it to them.
func (m *maker) findAlone() (found alone) {
	if !slices.ContainsFunc(m.lines, func(l storedLine) bool { return l.leavesPath() }) {
		return found
	}
	found.byKey = make(map[string]int)
	for i := range m.lines {
		l := &m.lines[i]
		key := l.key
		if t := l.translation; t != nil && len(t.sets) == 1 && t.sets[0].isLiteral() && !t.sets[0].below {
			key = t.sets[0].key()
		}
		if key = canonical(key); key == "" || l.hasSlash || l.onward != Stays {
			continue
		}
		if _, there := found.byKey[key]; !there {
			found.byKey[key] = i
			found.keys = append(found.keys, key)
		}
	}
	return found
}

// leavesPath reports whether a line for all below a path does not match the path without a slash.
func (l *storedLine) leavesPath() bool {
	t := l.translation
	if t == nil || !t.NeedsSlash || t.Itself != nil || t.slashes == SlashesKept || len(t.Path) < 2 {
		return false
	}
	last := &t.Path[len(t.Path)-1]
	return last.Spans == Rest && last.Before == ""
}

// leavePaths lets lines for all below a path, behind a slash, leave the path to a later line that
// is for it alone.
func (m *maker) leavePaths() {
	alone := m.findAlone()
	for i := range m.lines {
		l := &m.lines[i]
		if len(alone.keys) == 0 || !l.leavesPath() {
			continue
		}
		key, later, ok := alone.lineOf(&l.translation.sets[0], i)
		if !ok || m.placeOf(later) == m.placeOf(i) {
			continue
		}
		line := *l.translation.Line
		line.Path = slices.Clone(line.Path)
		line.Path[len(line.Path)-1].Spans = Some
		if to := DestinationText(m.translationOf(later).To); to != l.translation.target.withoutSplat() {
			line.Notes = append(slices.Clip(line.Notes), fmt.Sprintf("a rule matches a path with and "+
				"without a slash at its end: /%s/ leads where the line at %s leads", key,
				m.placeOf(later)))
		}
		if t, err := translate(&line, m.Slashes); err == nil {
			l.translation = t
		}
	}
}

// lineOf returns a line behind the i-th one that is for a path of a set alone, and its key.
func (a *alone) lineOf(set *paths, i int) (key string, line int, ok bool) {
	if set.isLiteral() {
		key = canonical(set.key())
		line, ok = a.byKey[key]
		return key, line, ok && line > i
	}
	path := set.itself()
	for _, key := range a.keys {
		if a.compared++; a.compared > mostCompared {
			break
		}
		single := pathsOf(Text("/"+key), SlashesIgnored)[0]
		if line = a.byKey[key]; line > i && single.isWithin(&path) {
			return key, line, true
		}
	}
	return "", noLine, false
}
