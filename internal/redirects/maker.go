package redirects

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// maker makes the rules of a table's lines.
type maker struct {
	*Table
	owners *owners
	madeRules
	pass       func(resolver.Rule)
	leading    []int // lines that lead all below a path to another path of the site
	isDynamic  bool  // a line has variables in its path
	firstLater int
	catchAll   int  // the line that matches every path, or noLine
	hasTails   bool // a destination has a query or a fragment
	// unslashed are the rules for paths without a slash at the end, if that matters.
	unslashed []madeRule
	leftOut   []int    // the lines that are left out
	owned     [][2]int // lines all of whose paths another one matches, and that one
	compared  int      // how often these were compared with other lines
	isPlain   bool     // no line matches below a path
}

// Rules passes the rules of all lines to add, in the order of the lines.
func (t *Table) Rules(add func(resolver.Rule)) {
	m := &maker{
		Table: t, madeRules: newMadeRules(), pass: add, catchAll: noLine,
		firstLater: len(t.lines), isPlain: !t.TakesBelow,
	}
	m.slashes = t.Slashes
	m.owners = newOwners(func(line int) bool { return t.lines[line].refused != nil })
	for _, line := range t.laterLines() {
		t.store(&line)
	}
	m.leavePaths()
	for i := range t.lines {
		m.prepare(i)
	}
	m.findFollowing()
	m.decideSlashes()
	if !m.makeAll() {
		return
	}
	m.addSlashHoles()
	m.reportAllOwned()
	m.reportLeftOut()
	if t.Slashes == SlashesMerged && len(t.lines) > 0 {
		t.Remark("%s tells a path from that with a slash at its end, but rules match both", t.Program)
	}
}

// makeAll passes on the rules of all lines. It reports whether there were not too many errors.
func (m *maker) makeAll() bool {
	for i := range m.lines {
		if m.wrong >= MaxErrors && m.IsGivenUp(m.placeOf(i)) {
			return false
		}
		if m.makePlain(i) {
			continue
		}
		if refused := m.lines[i].refused; refused != nil {
			m.refuse(i, refused)
			continue
		}
		if t := m.translationOf(i); !m.isTogetherWithNext(i, t) {
			m.makeOrRefuse(i, t)
		}
	}
	return true
}

// makeOrRefuse passes on the rules of a line, or reports why it has none.
func (m *maker) makeOrRefuse(i int, t *translation) {
	err := m.makeLine(i, t)
	if err == nil {
		return
	}
	if t.together { // the previous line has no rule yet
		m.makeOrRefuse(i-1, m.translationOf(i-1))
	}
	m.refuse(i, &refusedLine{at: t.At, why: err, sets: t.sets})
}

// laterLines returns the lines that come after all others. If the last line wins, lines whose path
// a later one repeats, in either letter case, are left out.
func (t *Table) laterLines() (kept []Line) {
	if !t.LastCounts {
		return t.later
	}
	lastOf := make(map[string]resolver.Position, len(t.later))
	for _, line := range slices.Backward(t.later) {
		path := strings.ToLower(pathText(line.Path))
		if line.Refused != nil {
			kept = append(kept, line)
		} else if last, isReplaced := lastOf[path]; isReplaced {
			t.Report(Report{NeverReached, line.At, fmt.Sprintf("%s uses the last of several redirects "+
				"of a path, which is that at %s", t.Program, last)})
		} else {
			lastOf[path], kept = line.At, append(kept, line)
		}
	}
	slices.Reverse(kept)
	return kept
}

// prepare records what other lines need to know about a line.
func (m *maker) prepare(i int) {
	stored, t := &m.lines[i], m.lines[i].translation
	stored.status = cmp.Or(stored.status, int16(m.Status))
	if t == nil {
		m.hasTails = m.hasTails || strings.ContainsAny(stored.to, "?#")
		if stored.query == resolver.QueryDefault && !HasQuery(stored.to) {
			stored.query = m.Query
		}
		if stored.key != "" {
			m.owners.register(stored.key, false, i)
		}
		return
	}
	m.hasTails = m.hasTails || t.target.has(inQuery) || t.target.has(inFragment)
	t.Status = cmp.Or(t.Status, m.Status)
	if t.Query == resolver.QueryDefault && !t.target.has(inQuery) {
		t.Query = m.Query
	}
	stored.query = t.Query
	isBelow := false
	for j := range t.sets {
		set := &t.sets[j]
		isBelow = isBelow || set.below
		if set.isLiteral() {
			m.owners.register(set.key(), set.below, i)
		} else {
			m.isDynamic = true
		}
	}
	m.isPlain = m.isPlain && !isBelow
	if isBelow && t.Answer == Leads && t.target.isInternal && t.target.endsInSplat() {
		m.leading = append(m.leading, i)
	}
}

// translationOf returns the translation of a line.
func (m *maker) translationOf(i int) *translation {
	stored := &m.lines[i]
	if stored.translation != nil {
		return stored.translation
	}
	t, _ := translate(&Line{At: m.placeOf(i), Path: Text("/" + stored.key), To: Literal(stored.to),
		Answer: stored.answer, Status: int(stored.status), Query: stored.query}, m.Slashes)
	return t
}

// placeOf returns the position of a line.
func (m *maker) placeOf(i int) resolver.Position {
	stored := &m.lines[i]
	return resolver.Position{Source: m.source, Line: int(stored.line), Column: int(stored.column)}
}

// makePlain passes on the rule of a line that redirects a path without variables, in a table
// without any: the fast path of most lines. It reports whether it did.
func (m *maker) makePlain(i int) bool {
	stored := &m.lines[i]
	if stored.key == "" || stored.answer != Leads || m.isSlashed || m.catchAll != noLine ||
		len(m.leftOut) > 0 || m.isCompared || m.pairOf(i) != nil {
		return false
	}
	if owner, has := m.owners.ownerOf(i, stored.key, false); has != shareNone {
		m.reportOwned(i, owner)
		return true
	}
	rule := madeRule{line: i, rule: resolver.Rule{
		Position: m.placeOf(i), Key: stored.key, Value: stored.to, Status: int(stored.status),
		Exact: true,
	}}
	if leadsToItself(rule.rule) {
		return false
	}
	rule.rule.Query = queryOf(stored.query, stored.to)
	m.adaptToChain(i, &rule.rule)
	m.emit(&rule)
	return true
}

// emit passes on a rule, with what is below its path if its line goes on there. Below, the order of
// rules decides: the longest key wins.
func (m *maker) emit(made *madeRule) {
	rule := made.rule
	if rule.Value == resolver.PassValue {
		if !m.isPlain || m.isDynamic || !m.PassesThere {
			m.pass(rule)
		}
		return
	}
	onward := m.lines[made.line].onward
	if onward == Appends || m.TakesBelow && !m.captured[rule.Position] {
		rule.Exact = false
	}
	m.pass(rule)
	if onward == Swallows {
		rule.Key += "/{+_rest}"
		rule.Value = bracesEncoded.Replace(rule.Value)
		m.pass(rule)
	}
}
