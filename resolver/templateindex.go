package resolver

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// templateIndex finds the template that a path matches best. It is a tree of segments: a path is compared with those parts of it alone that it
// can match, each once.
type templateIndex struct {
	rules    []*templateRule
	byKey    map[string]*templateRule
	root     templateNode
	foldCase bool
}

// templateNode is what keys have behind the same first segments.
type templateNode struct {
	literals map[string]*templateNode
	patterns patternEdges
	span     *templateNode // what keys have behind an expression that spans segments
	rule     *templateRule // whose key ends here
}

// templateMatch is the best match among templates.
type templateMatch struct {
	rule *templateRule // nil for none
	// segments is how many segments of the path the key's own ones take.
	segments  int
	remaining string
	captures  []string
}

// add adds a rule, and returns the one that is there already with the same segments.
func (x *templateIndex) add(t *templateRule) (there *templateRule) {
	node := &x.root
	for i := range t.segments {
		node = node.child(&t.segments[i], i == t.span)
	}
	if node.rule != nil {
		return node.rule
	}
	node.rule = t
	return nil
}

// child returns the node behind a segment, which it makes if there is none.
func (n *templateNode) child(p *segmentPattern, spans bool) *templateNode {
	switch {
	case spans:
		if n.span == nil {
			n.span = &templateNode{}
		}
		return n.span
	case !p.isLiteral():
		return n.patterns.edge(p)
	case n.literals == nil:
		n.literals = map[string]*templateNode{}
	}
	if n.literals[p.prefix] == nil {
		n.literals[p.prefix] = &templateNode{}
	}
	return n.literals[p.prefix]
}

// sort finds out which templates are better than others.
func (x *templateIndex) sort() {
	sorted := slices.SortedFunc(slices.Values(x.rules), compareTemplates)
	for i, t := range sorted {
		t.order = i
	}
}

// match returns the best match of a pathname.
func (x *templateIndex) match(pathname string) templateMatch {
	if len(pathname) < 2 {
		return templateMatch{}
	}
	s := templateSearch{index: x, path: pathname[1:]}
	s.visit(&x.root, 0, 0)
	if s.best.rule != nil {
		s.best.captures = x.capture(s.best.rule, s.path, s.best.remaining)
		if s.best.rule.rule.Exact {
			s.best.remaining = "" // one slash, which is not appended
		}
	}
	return s.best
}

// all returns the templates in the order in which they were added.
func (x *templateIndex) all() []*templateRule {
	if x == nil {
		return nil
	}
	return x.rules
}

// of returns the template with a canonical key, or nil.
func (x *templateIndex) of(key string) *templateRule {
	if x == nil {
		return nil
	}
	return x.byKey[key]
}

// below returns the templates with a canonical key or below it, or all if it is empty, sorted by key.
func (x *templateIndex) below(above string) []*templateRule {
	var found []*templateRule
	for _, t := range x.all() {
		if above == "" || t.key == above || strings.HasPrefix(t.key, above+"/") {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, func(a, b *templateRule) int { return strings.Compare(a.key, b.key) })
	return found
}

// templateSearch looks for the best match of a path.
type templateSearch struct {
	index *templateIndex
	path  string
	best  templateMatch
}

// visit looks at what keys have behind their first segments, which the path has up to start.
func (s *templateSearch) visit(n *templateNode, segments, start int) {
	if n.rule != nil {
		s.offer(n.rule, segments, s.remaining(start))
	}
	if start > len(s.path) {
		return
	}
	segment, _, _ := strings.Cut(s.path[start:], "/")
	next := start + len(segment) + 1
	if len(n.literals) > 0 || n.patterns.areMany() {
		canonical := s.canonical(segment)
		if child := n.literals[canonical]; child != nil {
			s.visit(child, segments+1, next)
		}
		if n.patterns.areMany() {
			if weburl.MalformedTriplet(segment) >= 0 {
				canonical = s.index.canonicalUnits(segment)
			}
			for child := range n.patterns.among(canonical) {
				s.visitPattern(child, segment, segments, next)
			}
			s.visitSpan(n.span, segments, start)
			return
		}
	}
	for _, edge := range n.patterns.all {
		s.visitPattern(edge, segment, segments, next)
	}
	s.visitSpan(n.span, segments, start)
}

// remaining returns what is left of the path where a key ends in front of start.
func (s *templateSearch) remaining(start int) string {
	if start == 0 || start > len(s.path) {
		return ""
	}
	return s.path[start-1:] // with the "/" in front
}

// canonical returns the form of a segment that keys have.
func (s *templateSearch) canonical(segment string) string {
	if strings.IndexByte(segment, '%') < 0 && !s.index.foldCase {
		return segment
	}
	return CanonicalKey(segment, s.index.foldCase)
}

// visitPattern looks behind a segment with an expression, if the path's segment has the text around it.
func (s *templateSearch) visitPattern(edge *patternEdge, segment string, segments, next int) {
	if _, ok := s.index.matchSegment(&edge.pattern, segment); ok {
		s.visit(&edge.node, segments+1, next)
	}
}

// visitSpan looks at what keys have behind an expression that spans segments, the first of which begins at start: all the rest of the
// path but for a "/" at its end, or what is in front of each "/". The last one at which a key matches leaves least of the path.
func (s *templateSearch) visitSpan(n *templateNode, segments, start int) {
	if n == nil {
		return
	}
	if rest := strings.TrimSuffix(s.path[min(start, len(s.path)):], "/"); n.rule != nil && rest != "" {
		s.offer(n.rule, segments, s.path[start+len(rest):])
	}
	if len(n.literals) == 0 && len(n.patterns.all) == 0 {
		return
	}
	for at := strings.LastIndexByte(s.path, '/'); at > start; at = strings.LastIndexByte(s.path[:at], '/') {
		s.visit(n, segments, at+1)
	}
}

// offer takes a match if it is better than the best one so far: longer, or of those as long one that takes more of the path, or of those
// that take as much the better template.
func (s *templateSearch) offer(rule *templateRule, segments int, remaining string) {
	if rule.rule.Exact && remaining != "" && remaining != "/" {
		return
	}
	if best := s.best.rule; best != nil {
		worse := cmp.Or(cmp.Compare(s.best.segments, segments), cmp.Compare(leaves(remaining), leaves(s.best.remaining)), cmp.Compare(rule.order, best.order)) > 0
		if worse {
			return
		}
	}
	s.best = templateMatch{rule: rule, segments: segments, remaining: remaining}
}

// matchSegment reports whether a segment of a path has the text around an expression, and returns what that captures, as the path spells it.
func (x *templateIndex) matchSegment(p *segmentPattern, segment string) (captured string, ok bool) {
	start, ok := x.cutPrefix(segment, p.prefix)
	if !ok {
		return "", false
	}
	end, ok := x.cutSuffix(segment, p.suffix)
	return segment[start:max(start, end)], ok && end > start
}

// cutPrefix reports whether a segment begins with canonical text, however it is spelled, and where that ends.
func (x *templateIndex) cutPrefix(segment, prefix string) (end int, ok bool) {
	if strings.HasPrefix(segment, prefix) && !isWithinTriplet(segment, len(prefix)) {
		return len(prefix), true
	}
	for prefix != "" {
		unit := nextUnit(segment[end:])
		if unit == 0 {
			return 0, false
		}
		canonical := x.canonicalUnit(segment[end : end+unit])
		if !strings.HasPrefix(prefix, canonical) {
			return 0, false
		}
		prefix, end = prefix[len(canonical):], end+unit
	}
	return end, true
}

// cutSuffix reports whether a segment ends in canonical text, however it is spelled, and where that begins.
func (x *templateIndex) cutSuffix(segment, suffix string) (start int, ok bool) {
	if start = len(segment) - len(suffix); strings.HasSuffix(segment, suffix) && !isWithinTriplet(segment, start) {
		return start, true
	}
	for start = len(segment); suffix != "" && start > 0; {
		unit := 1
		if _, ok := weburl.Triplet(segment, max(0, start-3)); ok && start >= 3 {
			unit = 3
		}
		canonical := x.canonicalUnit(segment[start-unit : start])
		rest, ok := strings.CutSuffix(suffix, canonical)
		if !ok {
			return 0, false
		}
		suffix, start = rest, start-unit
	}
	return start, suffix == ""
}

// canonicalUnit returns the canonical form of what stands for one octet.
func (x *templateIndex) canonicalUnit(unit string) string {
	if len(unit) == 1 && !x.foldCase {
		return unit
	}
	return CanonicalKey(unit, x.foldCase)
}

// canonicalUnits returns the form of a segment in which each octet is canonical by itself, also where a "%" is none's.
func (x *templateIndex) canonicalUnits(segment string) string {
	var b strings.Builder
	for at := 0; at < len(segment); {
		unit := nextUnit(segment[at:])
		b.WriteString(x.canonicalUnit(segment[at : at+unit]))
		at += unit
	}
	return b.String()
}

// isWithinTriplet reports whether a place in a path is between the characters of a triplet.
func isWithinTriplet(path string, at int) bool {
	for start := max(0, at-2); start < at; start++ {
		if _, ok := weburl.Triplet(path, start); ok && start+3 > at {
			return true
		}
	}
	return false
}

// nextUnit returns the length of what stands for one octet of a path, or 0 at its end.
func nextUnit(path string) int {
	if _, ok := weburl.Triplet(path, 0); ok {
		return 3
	}
	return min(1, len(path))
}

// capture returns what the expressions of a key take of a path that it matches, by slot.
func (x *templateIndex) capture(t *templateRule, path, remaining string) []string {
	captures := make([]string, len(t.names))
	path = path[:len(path)-len(remaining)]
	segments := t.segments
	if t.span >= 0 {
		segments = segments[:t.span]
	}
	path = x.captureSegments(segments, path, captures)
	if t.span < 0 {
		return captures
	}
	tail := t.segments[t.span+1:]
	end := len(path)
	for range tail {
		end = strings.LastIndexByte(path[:end], '/')
	}
	captures[t.segments[t.span].slot] = path[:end]
	if len(tail) > 0 {
		x.captureSegments(tail, path[end+1:], captures)
	}
	return captures
}

// captureSegments captures the expressions of segments, and returns the path behind them.
func (x *templateIndex) captureSegments(segments []segmentPattern, path string, captures []string) (rest string) {
	for i := range segments {
		var segment string
		segment, path, _ = strings.Cut(path, "/")
		if p := &segments[i]; !p.isLiteral() {
			captures[p.slot], _ = x.matchSegment(p, segment)
		}
	}
	return path
}
