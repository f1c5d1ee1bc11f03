package redirects

import (
	"maps"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// A client follows a chain of lines step by step, but a ruleset answers with the end of the chain.
// So a rule must pass on to the next rule what its line passes on to the next line. Two things
// differ. In a chain of lines, the last query and the last fragment win. In a chain of rules, the
// first rule's query mode applies to all, and the first fragment wins.

// adaptToChain gives a rule the query and the fragment that clients end up with. It considers only
// lines without variables.
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
// their captures can double it at each step.
const longestWalked = 1 << 13

// chainEndOf reports whether the lines of the chain from a path have a query and a fragment.
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
		if IsURL(to) {
			break
		}
	}
	return hasQuery, hasFragment
}

// nextOf returns the destination of the first line without variables that matches a path, and the
// line.
func (m *maker) nextOf(key string) (to string, line int, ok bool) {
	if line, _ = m.owners.ownerOf(len(m.lines), key, false); line == noLine {
		return "", noLine, false
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
	return "", noLine, false
}

// findFollowing finds the lines for all below a path that lead to paths of other lines. Their rules
// leave the whole path to those. Only lines whose paths can begin alike are compared. If that takes
// too long, all are treated as leading to others: that makes more rules, but no other answers.
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

// target is the destination of a line.
type target struct {
	line int
	t    *translation
	sets []paths // one
}

// byFirstText groups values by the text of the first segment of their path, "" for a variable.
type byFirstText[T any] map[string][]T

// alike returns the values that can share a path with one that begins with a text, "" for any.
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

// compareTarget records that a line leads to a path of another line that is reached.
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

// decideSlashes decides whether rules must be compared because of slashes at the end of paths, and
// whether that takes reasonable time.
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
