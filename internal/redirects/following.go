package redirects

import (
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// A client follows one line after the other, where a ruleset answers with the end of the chain. So a
// rule has to leave to the next one what the line leaves to the next line, and two things differ: of
// a chain of lines the last query and the last fragment win, and of rules the first one's query mode
// counts for all, and the first fragment wins.

// chainEnd is what the lines have that a destination leads through.
type chainEnd struct{ hasQuery, hasFragment bool }

// adaptToChain gives a rule the query and the fragment that clients end up with. It knows the lines
// without variables alone.
func (m *maker) adaptToChain(i int, rule *resolver.Rule) {
	if !rule.Exact || !strings.HasPrefix(rule.Value, "/") || resolver.IsTemplate(rule.Key) {
		return
	}
	path, rest := cutPath(rule.Value)
	_, next, ok := m.nextOf(m.keyOf(path))
	if !ok || next == i {
		return
	}
	m.warnOfSlash(path, next, rule.Position)
	if !m.hasTails {
		return
	}
	end := m.chainEndOf(path)
	if end.hasQuery {
		rule.Query = resolver.QueryIgnore
	}
	if query, _, ok := strings.Cut(rest, "#"); ok && end.hasFragment {
		rule.Value = path + query
	}
}

// longestWalked is the length of the longest path from which a chain is followed. Lines that repeat
// what they capture double it with each step.
const longestWalked = 1 << 13

// chainEndOf returns what the lines have that a path leads through. What it finds out it keeps, so
// that long chains are walked once.
func (m *maker) chainEndOf(path string) (end chainEnd) {
	var walked []uint64
	var seen []chainEnd
	for range resolver.MaxRedirects {
		if len(path) > longestWalked {
			break
		}
		key := m.keyOf(path)
		hash := m.owners.hash(key)
		if known, ok := m.chainEnds[hash]; ok {
			end = known
			break
		}
		to, next, ok := m.nextOf(key)
		if !ok {
			break
		}
		m.chainEnds[hash] = chainEnd{} // for circles
		var rest string
		path, rest = cutPath(to)
		query, _, hasFragment := strings.Cut(rest, "#")
		mode := m.lines[next].query
		addsQuery := mode == resolver.QueryPreserve || mode == resolver.QueryMerge
		walked = append(walked, hash)
		seen = append(seen, chainEnd{query != "" && !addsQuery, hasFragment})
		if isURL(to) {
			break
		}
	}
	for i := len(walked) - 1; i >= 0; i-- {
		end.hasQuery = end.hasQuery || seen[i].hasQuery
		end.hasFragment = end.hasFragment || seen[i].hasFragment
		m.chainEnds[walked[i]] = end
	}
	return end
}

// nextOf returns where the first line without variables leads that takes a path, and the line.
func (m *maker) nextOf(key string) (to string, line int, ok bool) {
	first, ok := m.owners.first(key)
	if !ok {
		return "", none, false
	}
	t := m.translationOf(first)
	if t.Answer != Leads || t.passes() {
		return "", none, false
	}
	for i := range t.sets {
		own := t.sets[i].key()
		if own == key {
			return t.target.withoutSplat(), first, true
		}
		below, isBelow := strings.CutPrefix("/"+key, strings.TrimRight("/"+own, "/")+"/")
		if t.sets[i].below && isBelow {
			rest := []Piece{{Text: below}}
			return t.target.write(false, func(string) []Piece { return rest }), first, true
		}
	}
	return "", none, false
}

// findFollowing finds out which lines for all below a path lead to where other lines are. Their rules
// leave all of a path to those.
func (m *maker) findFollowing() {
	targets := make(map[uint64][]int) // the lines by the path that they lead to
	var others []int                  // those whose destination has variables
	for _, i := range m.leading {
		t := m.lines[i].translation
		set, ok := t.target.paths(false)
		switch {
		case !ok:
			t.follows = followsOthers
		case set.isLiteral() && len(set.segments) > 0:
			hash := m.owners.hash(set.key())
			targets[hash] = append(targets[hash], i)
			m.followAbove(i, set.key())
		default:
			others = append(others, i)
		}
	}
	if len(targets) > 0 {
		m.followBelow(targets)
	}
	m.followDynamic(others)
	m.decideSlashes()
}

// decideSlashes finds out whether rules have to be compared for the sake of slashes at the end of
// paths, and whether that takes reasonable time.
func (m *maker) decideSlashes() {
	const mostCompared = 1 << 22
	n := 0
	for _, i := range m.leading {
		if m.lines[i].translation.follows == followsOthers {
			n++
		}
	}
	keepsSlashes := n > 0 && n*len(m.lines) <= mostCompared
	for _, i := range m.leading {
		m.lines[i].translation.keepsSlashes = keepsSlashes
	}
	isKept := m.Slashes == SlashesKept
	m.isCompared = len(m.dynamic) > 0 || keepsSlashes || isKept && len(m.owners.below) > 0
	m.isSlashed = keepsSlashes || isKept
}

// followAbove notes which lines that take all below a path have the target of a line.
func (m *maker) followAbove(i int, target string) {
	for hash := range m.owners.above(target) {
		if above, there := m.owners.below[hash]; there {
			m.follow(i, above)
		}
	}
	if whole, there := m.owners.below[m.owners.hash("")]; there {
		m.follow(i, whole)
	}
}

// follow notes that a line leads to where another one is, if that is reached.
func (m *maker) follow(i, other int) {
	t, next := m.lines[i].translation, m.translationOf(other)
	switch {
	case m.isHidden(other, next, i):
	case next.Answer == Leads && !next.passes() && next.target.appendsSplat() &&
		len(next.sets) == 1 && next.sets[0].below:
		t.follows = max(t.follows, followsBelow)
	default:
		t.follows = followsOthers
	}
}

// followBelow finds the lines at or below the targets of others.
func (m *maker) followBelow(targets map[uint64][]int) {
	for i := range m.lines {
		if m.lines[i].refused != nil {
			continue
		}
		for hash := range m.owners.above(m.literalBeginning(i)) {
			for _, leading := range targets[hash] {
				if m.lines[leading].translation.follows != followsOthers {
					m.follow(leading, i)
				}
			}
		}
	}
}

// literalBeginning returns the segments of a path in front of the first with a variable.
func (m *maker) literalBeginning(i int) string {
	if key := m.lines[i].key; key != "" {
		return key
	}
	var texts []string
	for _, s := range m.lines[i].translation.Path {
		if !s.IsText() {
			break
		}
		texts = append(texts, s.Before)
	}
	return strings.Trim(strings.Join(texts, "/"), "/")
}

// followDynamic compares the targets of lines with the paths of those that have variables; and all
// targets that have variables themselves, of which there are few, with those of all lines.
func (m *maker) followDynamic(others []int) {
	const mostCompared = 1 << 20
	if len(m.leading)*len(m.dynamic)+len(others)*len(m.lines) > mostCompared {
		for _, i := range m.leading {
			m.lines[i].translation.follows = followsOthers
		}
		return
	}
	for _, i := range m.leading {
		m.followAmong(i, slices.Values(m.dynamic))
	}
	for _, i := range others {
		m.followAmong(i, func(yield func(int) bool) {
			for j := range m.lines {
				if m.lines[j].refused == nil && !yield(j) {
					return
				}
			}
		})
	}
}

// followAmong compares the target of a line with the paths of others.
func (m *maker) followAmong(i int, others func(func(int) bool)) {
	t := m.lines[i].translation
	target, ok := t.target.paths(false)
	if !ok {
		return
	}
	for other := range others {
		if t.follows == followsOthers {
			return
		}
		if target.overlapsAny(m.translationOf(other).sets) {
			m.follow(i, other)
		}
	}
}
