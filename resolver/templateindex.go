package resolver

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// templateIndex finds the template that a path matches best. It is a tree of segments: a path is
// compared with those parts of it alone that it can match, each once.
type templateIndex struct {
	rules    []*templateRule
	byKey    map[string]*templateRule
	root     *templateNode
	foldCase bool
	// literals are the literal segments of keys; longest is how long the longest of them is with
	// each octet percent-encoded.
	literals literalTable
	longest  int
}

// emptySegment is the number of the literal segment "".
const emptySegment = 1

// templateNode is what keys have behind the same first segments.
type templateNode struct {
	run      []segmentPattern // what all of them have next
	rule     *templateRule    // whose key ends behind the run
	literals numberTable      // of the nodes behind literal segments, from 1 on
	nodes    []*templateNode
	patterns patternEdges
	span     *templateSpan
	// deepest is how many segments the longest key has, and first the order of the best one. spans
	// tells whether one has an expression that spans segments.
	deepest, first int
	spans          bool
}

// templateFound is the best match among templates. It holds nothing of the path, so that a path
// that only rules of the table match need not outlive the search.
type templateFound struct {
	rule *templateRule // nil for none
	// segments is how many segments of the path the key's own ones take, of which the last one ends
	// in front of the to-th of the path's; 0 stands for what has not been counted.
	segments, to int
	end          int // in the path's text
	leaves       int
}

// templateMatch is a match with what it takes of a path, and leaves of it.
type templateMatch struct {
	templateFound
	remaining string
	captures  []capture
}

// capture is what a variable takes of a path.
type capture struct {
	text     string
	from, to int  // the segments that it is, 0 for what has not been counted
	isPart   bool // of one segment
	facts    facts
}

// build makes the tree, and finds out which templates are better than others.
func (x *templateIndex) build() {
	sorted := slices.SortedFunc(slices.Values(x.rules), compareTemplates)
	numbers := map[string]uint32{"": emptySegment}
	for i, t := range sorted {
		t.order = i
		if t.span >= 0 {
			// These come first, as low numbers are found faster.
			x.numberPatterns(t.segments[t.span:], numbers)
		}
	}
	for _, t := range sorted {
		x.numberPatterns(t.segments, numbers)
	}
	x.literals = newLiteralTable(numbers)
	for _, t := range sorted {
		t.value.number(x)
	}
	x.root = x.node(sorted, 0)
}

// numberPatterns gives the literal segments of a key their numbers.
func (x *templateIndex) numberPatterns(patterns []segmentPattern, numbers map[string]uint32) {
	for i := range patterns {
		p := &patterns[i]
		if !p.IsLiteral() {
			continue
		}
		if numbers[p.Prefix] == 0 {
			numbers[p.Prefix] = uint32(len(numbers) + 1)
			x.longest = max(x.longest, len("%XX")*len(p.Prefix))
		}
		p.literal = numbers[p.Prefix]
	}
}

// node returns what keys, the best one first, have behind their first segments, which are the same.
func (x *templateIndex) node(rules []*templateRule, from int) *templateNode {
	n := &templateNode{first: rules[0].order}
	end := sameUpTo(rules, from)
	n.run = rules[0].segments[from:end]
	groups := templateGroups{}
	for _, t := range rules {
		n.deepest = max(n.deepest, t.OwnSegments())
		n.spans = n.spans || t.span >= 0
		if end == len(t.segments) {
			n.rule = t
			continue
		}
		groups.add(t, end)
	}
	if len(groups.literals) > 0 {
		n.addLiterals(x, groups.literals, end+1)
	}
	for _, text := range groups.texts {
		rules := groups.patterns[text]
		n.patterns.add(&patternEdge{rules[0].segments[end], x.node(rules, end+1)})
	}
	if len(groups.spans) > 0 {
		n.span = newTemplateSpan(groups.spans, end)
	}
	return n
}

// addLiterals adds what keys have behind their literal segments.
func (n *templateNode) addLiterals(x *templateIndex, rules map[uint32][]*templateRule, at int) {
	behind := make(map[uint32]uint64, len(rules))
	for number, rules := range rules {
		n.nodes = append(n.nodes, x.node(rules, at))
		behind[number] = uint64(len(n.nodes))
	}
	n.literals = newNumberTable(behind, 0)
}

// templateGroups are templates by their segment at a place.
type templateGroups struct {
	literals map[uint32][]*templateRule
	patterns map[patternText][]*templateRule
	texts    []patternText // of the patterns, in the order in which they came
	spans    []*templateRule
}

// add adds a template that has a segment at a place.
func (g *templateGroups) add(t *templateRule, at int) {
	switch p := &t.segments[at]; {
	case at == t.span:
		g.spans = append(g.spans, t)
	case p.IsLiteral():
		if g.literals == nil {
			g.literals = map[uint32][]*templateRule{}
		}
		g.literals[p.literal] = append(g.literals[p.literal], t)
	default:
		text := patternText{p.Prefix, p.Suffix}
		if g.patterns[text] == nil {
			g.texts = append(g.texts, text)
		}
		if g.patterns == nil {
			g.patterns = map[patternText][]*templateRule{}
		}
		g.patterns[text] = append(g.patterns[text], t)
	}
}

// sameUpTo returns where keys whose segments are the same up to a place begin to differ. The end of
// the first one, and an expression that spans segments, are such places, too.
func sameUpTo(rules []*templateRule, from int) int {
	for end := from; ; end++ {
		for _, t := range rules {
			ends := end == len(t.segments) || end == t.span
			if ends || !t.segments[end].isLike(&rules[0].segments[end]) {
				return end
			}
		}
	}
}

// search finds the best match of a path.
func (x *templateIndex) search(p *splitPath, w *work, best *templateFound) {
	if len(p.text) < 2 {
		return // R4
	}
	s := templateSearch{index: x, path: p, work: w, best: best}
	if s.visit(x.root, 0); w.isSpent() {
		*best = templateFound{}
	}
}

// all returns the templates in the order in which they were added.
func (x *templateIndex) all() []*templateRule {
	if x == nil {
		return nil
	}
	return x.rules
}

// hasInternal reports whether a template leads to other rules.
func (x *templateIndex) hasInternal() bool {
	return slices.ContainsFunc(x.all(), func(t *templateRule) bool { return t.value.internal })
}

// byCanonicalKey returns the template with a canonical key, or nil.
func (x *templateIndex) byCanonicalKey(key string) *templateRule {
	if x == nil {
		return nil
	}
	return x.byKey[key]
}

// below returns the templates with a canonical key or below it, or all if it is empty, sorted by
// key.
func (x *templateIndex) below(above string) []*templateRule {
	var found []*templateRule
	for _, t := range x.all() {
		if above == "" || t.Key() == above || strings.HasPrefix(t.Key(), above+"/") {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, func(a, b *templateRule) int { return strings.Compare(a.Key(), b.Key()) })
	return found
}

// templateSearch looks for the best match of a path.
type templateSearch struct {
	index *templateIndex
	path  *splitPath
	work  *work
	best  *templateFound
}

// visit looks at what keys have behind their first segments, which match those of the path up to
// the one at a place.
func (s *templateSearch) visit(n *templateNode, at int) {
	if !s.work.do(visitWork) || s.hasBetter(n) {
		return
	}
	for i := range n.run {
		if !s.matches(&n.run[i], at) {
			return
		}
		at++
	}
	if n.rule != nil {
		s.offer(n.rule, at, at, s.path.start(at)-1)
	}
	if !s.path.has(at) {
		return
	}
	if len(n.nodes) > 0 {
		if behind := n.literals.find(s.literal(at)); behind > 0 {
			s.visit(n.nodes[behind-1], at+1)
		}
	}
	s.visitPatterns(&n.patterns, at)
	if n.span != nil {
		s.visitSpan(n.span, at)
	}
}

// visitPatterns looks behind those segments with an expression that match the path's one at a
// place.
func (s *templateSearch) visitPatterns(edges *patternEdges, at int) {
	if !edges.areMany() {
		for _, edge := range edges.all {
			s.visitPattern(edge, at)
		}
		return
	}
	canonical := s.canonical(edges, at)
	s.work.do(len(edges.lengths))
	for _, length := range edges.lengths {
		if length.sum() >= len(canonical) {
			continue
		}
		if !s.work.do(4*compareWork + length.sum()) {
			return
		}
		if edge := edges.find(length, canonical); edge != nil {
			s.visitPattern(edge, at)
		}
	}
}

// hasBetter reports whether no key below a node can be better than the best match so far. Without
// expressions that span segments, keys of as many segments leave as much of the path.
func (s *templateSearch) hasBetter(n *templateNode) bool {
	if s.best.rule == nil || n.deepest > s.best.segments {
		return false
	}
	return n.deepest < s.best.segments || !n.spans && n.first > s.best.rule.order
}

// matches reports whether the path has a segment at a place that matches one of a key.
func (s *templateSearch) matches(p *segmentPattern, at int) bool {
	if !s.work.do(compareWork) || !s.path.has(at) {
		return false
	}
	if p.IsLiteral() {
		return s.literal(at) == p.literal
	}
	segment := s.path.segment(at)
	if p.LiteralLength() == 0 {
		return segment != ""
	}
	s.work.do(s.index.textWork(segment, p.LiteralLength()))
	_, ok := s.index.matchSegment(p, segment)
	return ok
}

// literal returns the number of the segment at a place among the literal ones of keys, 0 for none.
func (s *templateSearch) literal(at int) uint32 {
	found := &s.path.segments[at]
	if found.facts&isNumbered == 0 {
		s.index.number(found, s.path.segment(at), s.work)
	}
	return found.literal
}

// numberAll gives all segments of a path their numbers.
func (x *templateIndex) numberAll(p *splitPath, w *work) {
	if p.isNumbered {
		return
	}
	start := 1
	for i := range p.segments {
		s := &p.segments[i]
		switch end := start + int(s.length); {
		case s.length == 0:
			s.literal, s.facts = emptySegment, s.facts|isNumbered
		case s.length <= shortText && !x.foldCase:
			w.do(compareWork)
			key := shortKey(p.text, start, end)
			if hasPercent(key) {
				x.number(s, p.text[start:end], w)
			} else {
				s.literal, s.facts = x.literals.findShort(key), s.facts|isNumbered
			}
		default:
			x.number(s, p.text[start:end], w)
		}
		start += int(s.length) + 1
	}
	p.isNumbered = true
	w.do(len(p.segments))
}

// number gives a segment its number among the literal ones of keys, unless it has it.
func (x *templateIndex) number(s *segment, text string, w *work) {
	if s.facts&isNumbered == 0 && len(text) <= x.longest {
		s.literal = x.literalOf(text, w)
	}
	s.facts |= isNumbered
}

// literalOf returns the number of a segment among the literal ones of keys, 0 for none.
func (x *templateIndex) literalOf(segment string, w *work) uint32 {
	if !x.foldCase && strings.IndexByte(segment, '%') < 0 {
		w.do(numberWork + copyWork(len(segment)))
		return x.literals.find(segment)
	}
	w.do(numberWork + textWork(len(segment)))
	var memory [128]byte
	o := options{foldCase: x.foldCase}
	return x.literals.find(text(o.appendKey(memory[:0], segment)))
}

// textWork is what it takes to compare so many octets of a segment.
func (x *templateIndex) textWork(segment string, n int) int {
	n = min(n, len(segment))
	if x.foldCase || strings.IndexByte(segment, '%') >= 0 {
		return textWork(n)
	}
	return copyWork(n)
}

// canonical returns the segment at a place, each octet in its canonical form. A long one is cut to
// so much of its beginning and end as edges have text.
func (s *templateSearch) canonical(edges *patternEdges, at int) string {
	segment := s.path.segment(at)
	if strings.IndexByte(segment, '%') < 0 && !s.index.foldCase {
		return segment
	}
	most := len("%XX") * (edges.longest.prefix + edges.longest.suffix + 1)
	s.work.do(2 * textWork(min(len(segment), most)))
	if len(segment) <= most {
		return s.index.canonicalUnits(segment)
	}
	front, back := 0, len(segment)
	for range edges.longest.prefix + 1 {
		front += nextUnit(segment[front:])
	}
	for range edges.longest.suffix {
		back -= lastUnit(segment[:back])
	}
	return s.index.canonicalUnits(segment[:front]) + s.index.canonicalUnits(segment[back:])
}

// visitPattern looks behind a segment with an expression, if the path's segment has the text around
// it.
func (s *templateSearch) visitPattern(edge *patternEdge, at int) {
	if s.matches(&edge.pattern, at) {
		s.visit(edge.node, at+1)
	}
}

// visitSpan looks at what keys have from an expression on that spans segments, whose first one is
// at a place. It takes all the rest of the path but for a "/" at its end, or what is in front of
// more text.
func (s *templateSearch) visitSpan(n *templateSpan, at int) {
	start := s.path.start(at)
	rest := strings.TrimSuffix(s.path.text[start:], "/")
	if n.rule != nil && rest != "" {
		s.offer(n.rule, at, 0, start+len(rest))
	}
	if len(n.tails) > 0 {
		s.visitTails(n, at)
	}
}

// offer takes a match that ends at a place of the path if it is better than the best one so far. A
// longer one is better, then one that takes more of the path, and then the better template. It
// reports whether it is a match at all.
func (s *templateSearch) offer(rule *templateRule, segments, to, end int) bool {
	leaves := leaves(s.path.text[end:])
	if rule.rule.Exact && leaves > 0 {
		return false
	}
	if best := s.best.rule; best != nil {
		worse := cmp.Or(
			cmp.Compare(s.best.segments, segments),
			cmp.Compare(leaves, s.best.leaves),
			cmp.Compare(rule.order, best.order),
		) > 0
		if worse {
			return true
		}
	}
	*s.best = templateFound{rule, segments, to, end, leaves}
	return true
}

// matchSegment reports whether a segment of a path has the text around an expression. It returns
// what that captures, as the path spells it.
func (x *templateIndex) matchSegment(p *segmentPattern, segment string) (captured string, ok bool) {
	start, ok := x.cutPrefix(segment, p.Prefix)
	if !ok {
		return "", false
	}
	end, ok := x.cutSuffix(segment, p.Suffix)
	return segment[start:max(start, end)], ok && end > start
}

// cutPrefix reports whether a segment begins with canonical text, however it is spelled, and where
// that ends.
func (x *templateIndex) cutPrefix(segment, prefix string) (end int, ok bool) {
	if strings.HasPrefix(segment, prefix) && !isWithinTriplet(segment, len(prefix)) {
		return len(prefix), true
	}
	var memory [3]byte
	for prefix != "" {
		unit := nextUnit(segment[end:])
		if unit == 0 {
			return 0, false
		}
		canonical := x.appendUnit(memory[:0], segment[end:end+unit])
		if !strings.HasPrefix(prefix, text(canonical)) {
			return 0, false
		}
		prefix, end = prefix[len(canonical):], end+unit
	}
	return end, true
}

// cutSuffix reports whether a segment ends in canonical text, however it is spelled, and where that
// begins.
func (x *templateIndex) cutSuffix(segment, suffix string) (start int, ok bool) {
	start = len(segment) - len(suffix)
	if strings.HasSuffix(segment, suffix) && !isWithinTriplet(segment, start) {
		return start, true
	}
	var memory [3]byte
	for start = len(segment); suffix != "" && start > 0; {
		unit := lastUnit(segment[:start])
		canonical := x.appendUnit(memory[:0], segment[start-unit:start])
		if !strings.HasSuffix(suffix, text(canonical)) {
			return 0, false
		}
		suffix, start = suffix[:len(suffix)-len(canonical)], start-unit
	}
	return start, suffix == ""
}

// appendUnit appends the canonical form of what stands for one octet.
func (x *templateIndex) appendUnit(dst []byte, unit string) []byte {
	start := len(dst)
	dst = append(dst, unit...)
	if len(unit) == 3 {
		dst = dst[:start+len(weburl.NormalizeTriplets(dst[start:]))]
	}
	if x.foldCase {
		foldCase(dst[start:])
	}
	return dst
}

// canonicalUnits returns the form of a segment in which each octet is canonical by itself, also
// where a "%" is none's.
func (x *templateIndex) canonicalUnits(segment string) string {
	canonical := make([]byte, 0, len(segment))
	for at := 0; at < len(segment); {
		unit := nextUnit(segment[at:])
		canonical = x.appendUnit(canonical, segment[at:at+unit])
		at += unit
	}
	return text(canonical)
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

// lastUnit returns the length of what stands for the last octet of a path, or 0 if it is empty.
func lastUnit(path string) int {
	if n := len(path); n >= 3 && nextUnit(path[n-3:]) == 3 {
		return 3
	}
	return min(1, len(path))
}

// nextUnit returns the length of what stands for one octet of a path, or 0 at its end.
func nextUnit(path string) int {
	if _, ok := weburl.Triplet(path, 0); ok {
		return 3
	}
	return min(1, len(path))
}

// match returns what a match takes of a path, and leaves of it. The path's text is given apart, so
// that the path need not outlive the call as captures of its text do.
func (x *templateIndex) match(found templateFound, text string, p *splitPath) templateMatch {
	t := found.rule
	m := templateMatch{templateFound: found, captures: make([]capture, len(t.names))}
	if !t.rule.Exact {
		m.remaining = text[found.end:] // of which an exact key leaves a slash that is not appended
	}
	if t.span < 0 {
		x.capture(t.segments, 0, text, p, m.captures)
		return m
	}
	x.capture(t.segments[:t.span], 0, text, p, m.captures)
	span := capture{from: t.span}
	start, end := p.start(t.span), found.end
	if found.to > 0 {
		tail := t.segments[t.span+1:]
		span.to = found.to - len(tail)
		x.capture(tail, span.to, text, p, m.captures)
		end = p.start(span.to) - 1
	}
	span.text = text[start:end]
	m.captures[t.segments[t.span].Slot] = span
	return m
}

// capture captures the expressions of segments of a key that match those of a path from one at a
// place on.
func (x *templateIndex) capture(
	patterns []segmentPattern, at int, text string, p *splitPath, captures []capture,
) {
	for i := range patterns {
		own := &patterns[i]
		if own.IsLiteral() {
			continue
		}
		start := p.start(at + i)
		segment := text[start : start+int(p.segments[at+i].length)]
		taken, _ := x.matchSegment(own, segment)
		captures[own.Slot] = capture{
			text: taken, from: at + i, to: at + i + 1, isPart: len(taken) < len(segment),
		}
	}
}

// examine finds out what is known of a capture that is a part of a segment.
func (c *capture) examine(p *splitPath, w *work) {
	if c.facts = p.segments[c.from].facts & ofParts; c.facts&isExamined == 0 {
		c.facts = examine(c.text)
		w.do(examineWork(c.text, c.facts))
		return
	}
	if c.facts&isShallow == 0 {
		w.do(pathWork(c.text))
	}
	c.facts |= safety(c.text, c.facts)
}

// count finds out which segments a capture is that takes all the rest of a path, which is split.
func (c *capture) count(p *splitPath) {
	if c.to > 0 {
		return
	}
	if c.to = len(p.segments); p.start(c.from)+len(c.text) < len(p.text) {
		c.to-- // the empty one behind the "/" at its end
	}
}
