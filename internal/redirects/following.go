package redirects

import (
	"maps"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// A client follows one line after the other, where a ruleset answers with the end of the chain. So
// a rule has to leave to the next one what the line leaves to the next line, and two things differ:
// of a chain of lines the last query and the last fragment win, and of rules the first one's query
// mode counts for all, and the first fragment wins.

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
	hasQuery, hasFragment := m.chainEndOf(path)
	if hasQuery {
		rule.Query = resolver.QueryIgnore
	}
	if query, _, ok := strings.Cut(rest, "#"); ok && hasFragment {
		rule.Value = path + query
	}
}

// longestWalked is the length of the longest path from which a chain is followed. Lines that repeat
// what they capture double it with each step.
const longestWalked = 1 << 13

// chainEndOf reports whether the lines that a path leads through have a query and a fragment.
func (m *maker) chainEndOf(path string) (hasQuery, hasFragment bool) {
	for n := 0; n < resolver.MaxRedirects && len(path) <= longestWalked; n++ {
		to, next, ok := m.nextOf(m.keyOf(path))
		if !ok {
			break
		}
		var rest string
		path, rest = cutPath(to)
		query, _, isCut := strings.Cut(rest, "#")
		mode := m.lines[next].query
		addsQuery := mode == resolver.QueryPreserve || mode == resolver.QueryMerge
		hasQuery = hasQuery || query != "" && !addsQuery
		hasFragment = hasFragment || isCut
		if isURL(to) {
			break
		}
	}
	return hasQuery, hasFragment
}

// nextOf returns where the first line without variables leads that takes a path, and the line.
func (m *maker) nextOf(key string) (to string, line int, ok bool) {
	if line, _ = m.owners.of(len(m.lines), key, false); line == none {
		return "", none, false
	}
	t := m.translationOf(line)
	for i := range t.sets {
		own := t.sets[i].key()
		below, isBelow := strings.CutPrefix("/"+key, strings.TrimRight("/"+own, "/")+"/")
		switch {
		case t.outcome() != "":
		case own == key:
			return t.target.withoutSplat(), line, true
		case t.sets[i].below && isBelow:
			rest := []Piece{{Text: below}}
			return t.target.write(false, func(string) []Piece { return rest }), line, true
		}
	}
	return "", none, false
}

// findFollowing finds out which lines for all below a path lead to where other lines are. Their
// rules leave all of a path to those. Only lines are compared whose paths can begin alike. Where
// that takes too long, all lead to others: that is more rules, and no other answers.
func (m *maker) findFollowing() {
	const mostCompared = 1 << 20
	targets := make(byFirstText[target])
	for _, i := range m.leading {
		t := m.lines[i].translation
		set, ok := t.target.paths(false)
		if !ok {
			t.follows = followsOthers
			continue
		}
		first := firstTextOf(set.key())
		targets[first] = append(targets[first], target{i, t, []paths{set}})
	}
	compared := 0
	for j := range m.lines {
		if len(targets) == 0 || m.lines[j].refused != nil {
			continue
		}
		for _, same := range targets.alike(m.firstText(j)) {
			if compared += len(same); compared > mostCompared {
				for _, i := range m.leading {
					m.lines[i].translation.follows = followsOthers
				}
				return
			}
			for k := range same {
				m.compareTarget(&same[k], j)
			}
		}
	}
}

// target is where a line leads.
type target struct {
	line int
	t    *translation
	sets []paths // one
}

// byFirstText is something by the text of the first segment of its path, "" for a variable.
type byFirstText[T any] map[string][]T

// alike returns what can have a path in common with one that begins with a text, "" for any.
func (b byFirstText[T]) alike(first string) [][]T {
	if first == "" {
		return slices.Collect(maps.Values(b))
	}
	return [][]T{b[""], b[first]}
}

// firstText returns the text of the first segment of a line's path, "" for a variable.
func (m *maker) firstText(i int) string {
	if key := m.lines[i].key; key != "" {
		return firstTextOf(key)
	}
	return firstTextOf(m.lines[i].translation.sets[0].key())
}

// firstTextOf returns the text of the first segment of a key, "" for a variable.
func firstTextOf(key string) string {
	first, _, _ := strings.Cut(key, "/")
	if strings.IndexByte(first, '{') >= 0 {
		return ""
	}
	return canonical(first)
}

// compareTarget notes if a line leads to where another one is, and that is reached.
func (m *maker) compareTarget(of *target, other int) {
	if of.t.follows == followsOthers {
		return
	}
	next := m.translationOf(other)
	switch {
	case !overlap(of.sets, next.sets) || m.isHidden(other, next, of.line):
	case next.outcome() == "" && next.target.appendsSplat() && len(next.sets) == 1 &&
		next.sets[0].below:
		of.t.follows = max(of.t.follows, followsBelow)
	default:
		of.t.follows = followsOthers
	}
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
	m.isCompared = m.isDynamic || keepsSlashes || isKept && len(m.owners.below.first) > 0
	m.isSlashed = keepsSlashes || isKept
}
