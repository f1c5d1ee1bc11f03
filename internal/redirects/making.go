package redirects

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// makeLine passes on the rules of a line, or reports why it has none.
func (m *maker) makeLine(i int, t *translation) error {
	switch {
	case m.catchAll != noLine:
		m.reportOwned(i, m.catchAll)
		return nil
	case t.takesAll() && t.passes():
		m.catchAll = i
		m.reportNotes(t)
		m.noteLeftOut(i, t)
		return nil
	}
	made, owner, err := m.rulesOf(i, t)
	switch {
	case err != nil:
		return err
	case len(made) == 0:
		m.reportOwned(i, owner)
		return nil
	}
	ends, err := m.rulesOfEnds(i, t)
	if err != nil {
		return err
	}
	m.reportNotes(t)
	if first, isMade := m.passOn(ends); isMade {
		how := "would never end"
		if m.EndsThere {
			how = "ends at the service, too"
		}
		m.Approximate(t.At, "the line leads to paths that it matches itself, which "+how+": the next "+
			"handler answers at /"+first)
	}
	for _, rule := range made {
		if m.Slashes == SlashesKept && rule.line == i && !rule.isOfAll && rule.set.isUnslashed() {
			m.unslashed = append(m.unslashed, rule)
		}
	}
	m.passOn(made)
	if t.takesAll() {
		m.catchAll = i
	}
	m.noteLeftOut(i, t)
	return nil
}

// rulesOf returns the rules of a line, and those that earlier lines need beside them; or the line
// that matches all of its paths.
func (m *maker) rulesOf(i int, t *translation) (made []madeRule, owner int, err error) {
	owner, m.ofLine = noLine, 0
	sets := slices.Clone(t.sets)
	for j := 0; j < len(sets); j++ {
		set := &sets[j]
		by, has, err := m.ownerOfAny(i, t, set)
		if err != nil {
			return nil, noLine, err
		}
		if has == sharePath && t.slashes == SlashesKept && set.endsInSplat() {
			// the earlier line does not match the path with a slash
			path := set.itself()
			slashed := path.slashed()
			if !slashed.isWithinAny(m.translationOf(by).sets) {
				sets = append(sets, slashed)
				set = &sets[j]
			}
		}
		if has == shareAll {
			owner = by
			continue
		}
		for _, rule := range t.rules(set, true, has == sharePath && !t.together) {
			rule.line = i
			more, by, err := m.completed(rule)
			if err != nil {
				return nil, noLine, err
			}
			made, owner = append(made, more...), max(owner, by)
		}
	}
	return made, owner, nil
}

// rulesOfEnds returns the rules that end a line's chain to itself. There are none if an earlier
// line matches some of the paths in a way that no rule can express: the chain does not end there.
func (m *maker) rulesOfEnds(i int, t *translation) (made []madeRule, err error) {
	for _, end := range t.ends() {
		more, err := m.rulesWithin(i, &end, &end.sets[0])
		if err != nil && !m.pay(0) {
			return nil, err
		}
		made = append(made, more...)
	}
	return made, nil
}

// passOn passes on rules with new keys. It returns the key of the first one.
func (m *maker) passOn(rules []madeRule) (first string, isMade bool) {
	for _, rule := range rules {
		if _, there := m.lineOfKey(rule.rule.Key); !there {
			m.remember(rule)
			m.adaptToChain(rule.line, &rule.rule)
			m.emit(&rule)
			if !isMade {
				first, isMade = rule.rule.Key, true
			}
		}
	}
	return first, isMade
}

// addSlashHoles adds a pass rule for the slashed form of each unslashed path that its line does not
// match with a slash.
func (m *maker) addSlashHoles() {
	for _, path := range m.unslashed {
		set := path.set.slashed()
		if _, isMade := m.lineOfKey(set.key()); isMade {
			continue
		}
		m.ofLine = 0
		made, owner, err := m.completed(madeRule{set: set, line: len(m.lines), isExtra: true,
			rule: resolver.Rule{
				Position: path.rule.Position, Key: set.key(), Value: resolver.PassValue, Exact: true,
			}})
		if owner != noLine {
			made, err = m.rulesAt(owner, &set)
		}
		if err != nil {
			m.Approximate(path.rule.Position, "the rule matches the path with a slash at its end, too: "+
				err.Error())
			continue
		}
		m.passOn(made)
	}
}

// pairOf returns the next line if it could make one rule with the i-th one.
func (m *maker) pairOf(i int) *translation {
	if !m.PairsBelow || i+1 == len(m.lines) {
		return nil
	}
	if next := m.lines[i+1].translation; next != nil && next.spans {
		return next
	}
	return nil
}

// isTogetherWithNext reports whether the next line, for all below the path of a line, continues its
// destination: then the next one makes one rule for both.
func (m *maker) isTogetherWithNext(i int, t *translation) bool {
	next := m.pairOf(i)
	if next == nil || t.outcome() != "" || next.outcome() != "" || next.Status != t.Status ||
		!slices.Equal(next.Path, Below(t.Path)) || !goesOn(t.To, next.To) ||
		!next.isAppended(&next.sets[0]) || m.catchAll != noLine {
		return false
	}
	if _, has := m.ownerOf(i, &t.sets[0]); has != shareNone {
		return false
	}
	itself := t.rules(&t.sets[0], true, false)[0]
	itself.line, m.ofLine = i, 0
	if owner, _, err := m.inFront(&itself); owner != noLine || err != nil {
		return false
	}
	next.ofItself, next.goesOnThere, next.together = &t.target, true, true
	return true
}

// refuse reports that a line has no equivalent: as an error, or after all rules have been made.
func (m *maker) refuse(i int, r *refusedLine) {
	m.lines[i].refused = r
	if m.RefusedIsWrong {
		m.wrong++
		m.Report(Report{Unsupported, r.at, r.why.Error()})
		return
	}
	m.leftOut = append(m.leftOut, i)
}

// reportOwned reports a line whose paths another one matches.
func (m *maker) reportOwned(i, owner int) {
	isApart, isSame := m.slashApart(i, owner)
	switch {
	case isSame: // the rule of the other line does both
		return
	case isApart:
		m.Report(Report{LeftOut, m.placeOf(i), fmt.Sprintf("a rule matches a path with and without a "+
			"slash at its end, but the line at %s has this one already, and leads elsewhere; use "+
			"Caddy's redir for one of the two; the line is left out", m.placeOf(owner))})
		return
	}
	m.lines[i].isOwned = true
	m.owned = append(m.owned, [2]int{i, owner})
}

// reportAllOwned reports the lines that no request reaches. A line of which another part is
// reached, or refused, is none of them.
func (m *maker) reportAllOwned() {
	for _, pair := range m.owned {
		if i := pair[0]; m.isOwnedWhole(i, -1) && m.isOwnedWhole(i, 1) {
			m.reportNeverReached(i, pair[1])
		}
	}
}

// isOwnedWhole reports whether all parts of a line are owned, from the i-th one on in a direction.
func (m *maker) isOwnedWhole(i, direction int) bool {
	at := m.placeOf(i)
	for i >= 0 && i < len(m.lines) && m.placeOf(i) == at {
		if !m.lines[i].isOwned {
			return false
		}
		i += direction
	}
	return true
}

func (m *maker) reportNeverReached(i, owner int) {
	remedy := "put this line before it"
	if m.LaterRemedy != "" && owner < m.firstLater && i >= m.firstLater {
		remedy = m.LaterRemedy
	}
	m.Report(Report{NeverReached, m.placeOf(i), fmt.Sprintf("no request reaches this line: the line "+
		"at %s comes first and matches all of its paths; %s, or remove one of the two",
		m.placeOf(owner), remedy)})
}

// slashApart reports whether two lines differ only in a slash at the end of their paths, and
// whether both have the same answer.
func (m *maker) slashApart(i, other int) (isApart, isSame bool) {
	if m.Slashes != SlashesMerged || other == noLine ||
		m.lines[i].hasSlash == m.lines[other].hasSlash {
		return false, false
	}
	a, b := m.translationOf(i), m.translationOf(other)
	if a.endsInRest() || b.endsInRest() {
		return false, false
	}
	isVariable := func(p Piece) bool { return p.Variable != "" }
	isSamePath := m.keyOf(pathText(a.Path)) == m.keyOf(pathText(b.Path))
	isSame = (isSamePath || !slices.ContainsFunc(a.To, isVariable)) &&
		slices.Equal(a.To, b.To) && slices.Equal(a.Itself, b.Itself) && a.Answer == b.Answer &&
		a.Status == b.Status && a.Query == b.Query
	return true, isSame
}

// warnOfSlash warns of a destination that another line matches only here, because the program tells
// the two paths apart by a slash at the end.
func (m *maker) warnOfSlash(to string, next int, at resolver.Position) {
	if m.Slashes != SlashesMerged || m.lines[next].hasSlash == strings.HasSuffix(to, "/") {
		return
	}
	if t := m.lines[next].translation; t != nil && t.endsInRest() {
		return
	}
	m.Approximate(at, fmt.Sprintf("the line at %s matches the destination here, because a "+
		"slash at the end of a path makes no difference; elsewhere clients stay at %s",
		m.placeOf(next), to))
}

// reportNotes reports how the meaning of a line differs here.
func (m *maker) reportNotes(t *translation) {
	switch {
	case t.Answer == Passes && len(t.Notes) == 0 && !m.PassesThere:
		m.Approximate(t.At, "the line does not redirect its requests: the next handler answers them")
	case t.Answer == Passes:
	case t.isIdle:
		m.Approximate(t.At, "the line leads to itself, or to itself with a slash: the next handler "+
			"answers its requests; remove the line")
	case t.takesAll():
		m.Approximate(t.At, "no rule can match \"/\", so this line matches every other path; use "+
			"Caddy's redir for it")
	}
	for _, note := range t.Notes {
		m.Approximate(t.At, note)
	}
}

// mostCompared is how often lines are compared one by one.
const mostCompared = 1 << 22

// noteLeftOut records that the i-th line gets requests of lines that are left out.
func (m *maker) noteLeftOut(i int, t *translation) {
	for _, n := range m.leftOut {
		left := m.lines[n].refused
		m.compared++
		if left.next != 0 || m.compared > mostCompared || m.placeOf(n) == m.placeOf(i) {
			continue
		}
		if overlap(left.sets, t.sets) {
			left.next = i
		}
	}
}

// reportLeftOut reports the lines that are left out.
func (m *maker) reportLeftOut() {
	for _, n := range m.leftOut {
		left := m.lines[n].refused
		message := left.why.Error() + "; the line is left out"
		if left.next > 0 {
			message += ", and the line at " + m.placeOf(left.next).String() + " gets some of its " +
				"requests"
		}
		m.Report(Report{LeftOut, left.at, message})
	}
}
