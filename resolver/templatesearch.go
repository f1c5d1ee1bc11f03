package resolver

import (
	"cmp"
	"sort"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver/pattern"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// maxTemplatePath is the maximum length of a path that begins as a template does (R9).
const maxTemplatePath = 8 << 10

// maxEffort is how many steps a search may take, and all searches of a chain together. A step goes
// to a node of the tree, or compares some text. Only templates that a path nearly matches at each
// of thousands of segments would take more.
const maxEffort = 10_000

// templateFound is the best match among templates, without any text of the path.
type templateFound struct {
	rule uint32 // the number of the entry, from 1 on; 0 for none
	// segments is how many segments of the path match segments of the key that do not span.
	segments int
	end      int // in the path's text
	leaves   int
}

// templateMatch is a match with its captures, and with the rest of the path.
type templateMatch struct {
	templateFound
	key       string // in the rule's spelling
	status    int
	mode      QueryMode
	isExact   bool
	value     templateValue
	remaining string
	captures  []string // by the number of the variable
}

// isTooLong reports whether a path begins as a template does and is too long for that.
func (x *templateIndex) isTooLong(path string) bool {
	return len(path) > maxTemplatePath && x != nil && x.begins(path)
}

// begins reports whether a path begins as a template does, up to its first variable.
func (x *templateIndex) begins(path string) bool {
	s := templateSearch{index: x, path: path}
	node := uint32(0)
	for at := 1; at <= len(path); {
		segment, next, _ := s.segment(at)
		n := &x.nodes[node]
		if n.whole > 0 || n.span > 0 || x.beginsAround(node, segment) {
			return true
		}
		if node = x.literal(node, segment); node == 0 {
			return false
		}
		at = next
	}
	return false
}

// beginsAround reports whether a segment begins with the text before an expression at a node.
func (x *templateIndex) beginsAround(node uint32, segment string) bool {
	n := &x.nodes[node]
	if n.flags&hasMany == 0 {
		for at := n.around; at > 0; at = x.nodes[at].next {
			if _, ok := x.cutPrefix(segment, x.prefix(&x.nodes[at])); ok {
				return true
			}
		}
		return false
	}
	lengths := x.lengths[node]
	canonical := x.canonicalEnds(lengths, segment)
	beginning := func(i int) string { return x.prefix(&x.nodes[lengths.beginnings[i]]) }
	// No beginning is the beginning of another one, so only the last one that is not greater can
	// match.
	i := sort.Search(len(lengths.beginnings), func(i int) bool { return beginning(i) > canonical })
	return i > 0 && strings.HasPrefix(canonical, beginning(i-1))
}

// search finds the best match of a path.
func (x *templateIndex) search(path string) (best templateFound, effort int) {
	s := templateSearch{index: x, path: path}
	if len(path) >= 2 { // R4
		s.visit(0, 0, 1)
	}
	return s.best, s.effort
}

// templateSearch looks for the best match of a path.
type templateSearch struct {
	index  *templateIndex
	path   string
	best   templateFound
	effort int
	// After an expression that spans segments, the path is read from its end. inTail is set then. end
	// is where the last segment ends, and from is where the first one may begin.
	inTail    bool
	end, from int
	// slashes are the places of the slashes before the segments that have been read, in reverse order.
	// Many keys can have text around expressions there, and each segment is read once for all.
	slashes [pattern.MaxSegments]int
	read    int
}

// segment returns the segment at a place, and the next place. A place is an offset in the path, or
// in the tail the number of segments after it.
func (s *templateSearch) segment(at int) (segment string, next int, ok bool) {
	if s.inTail {
		return s.segmentInFrontOf(at)
	}
	if at > len(s.path) {
		return "", 0, false
	}
	end := strings.IndexByte(s.path[at:], '/')
	if end < 0 {
		return s.path[at:], len(s.path) + 1, true
	}
	return s.path[at : at+end], at + end + 1, true
}

// segmentInFrontOf returns the segment before the last ones, and their number with it.
func (s *templateSearch) segmentInFrontOf(last int) (segment string, next int, ok bool) {
	end := s.slashes[last-1]
	if end < s.from {
		return "", 0, false
	}
	if last == s.read {
		s.slashes[last] = s.from + strings.LastIndexByte(s.path[s.from:end], '/')
		s.read++
	}
	return s.path[s.slashes[last]+1 : end], last + 1, true
}

// visit visits a node, and the nodes for the segments of the path from a place on. segments is how
// many segments of the path have been matched.
func (s *templateSearch) visit(node uint32, segments, at int) {
	n := &s.index.nodes[node]
	if s.effort > maxEffort || s.hasBetter(n) {
		return
	}
	if n.rule > 0 {
		end := at - 1
		if s.inTail {
			end = s.end
		}
		s.offer(n.rule, segments, end)
	}
	segment, next, ok := s.segment(at)
	if !ok {
		return
	}
	s.visitBehind(node, segment, segments, next)
	if n.span > 0 {
		s.visitSpan(n.span, segments, at)
	}
}

// visitBehind visits the nodes for a segment of the path; next is the place of the following
// segment.
func (s *templateSearch) visitBehind(node uint32, segment string, segments, next int) {
	n := &s.index.nodes[node]
	s.effort += 1 + s.index.readEffort(segment, int(n.longest))
	if n.flags&hasLiterals != 0 {
		if behind := s.index.literal(node, segment); behind > 0 {
			s.visit(behind, segments+1, next)
		}
	}
	s.visitAround(node, segment, segments, next)
	if n.whole > 0 && segment != "" {
		s.visit(n.whole, segments+1, next)
	}
}

// visitAround visits the nodes for expressions with text around them, if the segment has that text.
func (s *templateSearch) visitAround(node uint32, segment string, segments, next int) {
	x := s.index
	n := &x.nodes[node]
	if n.flags&hasMany == 0 {
		for at := n.around; at > 0; at = x.nodes[at].next {
			s.visitMatching(at, segment, segments, next)
		}
		return
	}
	lengths := x.lengths[node]
	canonical := x.canonicalEnds(lengths, segment)
	s.effort += x.readEffort(segment, len("%XX")*(lengths.most.sum()+1))
	for _, length := range lengths.all {
		if length.sum() >= len(canonical) {
			continue
		}
		if s.effort += 1 + length.sum()/bytesInStep; s.effort > maxEffort {
			return
		}
		around := treeSegment{aroundExpression, canonical[:length.prefix],
			canonical[len(canonical)-length.suffix:]}
		if at := x.child(node, around); at > 0 {
			s.visitMatching(at, segment, segments, next)
		}
	}
}

// How many bytes of a segment are read in the time of a step: unchanged, and in canonical form.
const bytesInStep, encodedInStep = 64, 8

// readEffort is the number of steps that reading so much of a segment in canonical form takes.
func (x *templateIndex) readEffort(segment string, n int) int {
	n = min(n, len(segment))
	if n >= encodedInStep && (x.opts.foldCase || strings.IndexByte(segment, '%') >= 0) {
		return n / encodedInStep
	}
	return n / bytesInStep
}

func (l textLength) sum() int { return l.prefix + l.suffix }

// visitMatching visits the node for an expression if a segment has the text around it.
func (s *templateSearch) visitMatching(node uint32, segment string, segments, next int) {
	n := &s.index.nodes[node]
	s.effort += 1 + s.index.readEffort(segment, len("%XX")*int(n.prefix+n.suffix))
	if _, ok := s.index.matchSegment(s.index.prefix(n), s.index.suffix(n), segment); ok {
		s.visit(node, segments+1, next)
	}
}

// visitSpan visits the node for an expression that spans segments and begins at a place. It matches
// the rest of the path except for a "/" at its end, or what comes before more text.
func (s *templateSearch) visitSpan(node uint32, segments, at int) {
	n := &s.index.nodes[node]
	rest := strings.TrimSuffix(s.path[at:], "/")
	if n.rule > 0 && rest != "" {
		s.offer(n.rule, segments, at+len(rest))
	}
	if s.index.ends[n.text] == (spanEnds{}) {
		return
	}
	first, from, ok := s.segment(at)
	if first == "" { // the expression takes something
		_, from, ok = s.segment(from)
	}
	if !ok || from > len(s.path) {
		return
	}
	s.effort += (len(s.path) - from) / bytesInStep
	s.inTail, s.from = true, from
	s.visitTails(node, segments)
	s.inTail = false
}

// visitTails searches for the segments after an expression that spans segments, from the end of the
// path: the last match leaves the least of it.
func (s *templateSearch) visitTails(node uint32, segments int) {
	n := &s.index.nodes[node]
	ends := &s.index.ends[n.text]
	for end := len(s.path); end >= s.from && s.effort <= maxEffort; {
		start, isEncoded := end, false
		for start > s.from && s.path[start-1] != '/' {
			start--
			isEncoded = isEncoded || s.path[start] == '%'
		}
		if segment := s.path[start:end]; s.index.mayEnd(ends, segment, isEncoded) {
			s.end, s.slashes[0], s.read = end, start-1, 1
			s.visitBehind(node, segment, segments, 1)
			if s.best.rule > 0 && s.best.segments >= int(n.deepest) &&
				leaves(s.path[end:]) > s.best.leaves {
				return
			}
		}
		end = start - 1
	}
}

// mayEnd reports whether a segment may be the last one of a key.
func (x *templateIndex) mayEnd(ends *spanEnds, segment string, isEncoded bool) bool {
	last := lastOctet(segment)
	if !isEncoded && !x.opts.foldCase {
		return hasBit(ends.octets, int(last)) && hasBit(ends.lengths, len(segment))
	}
	// A triplet stands for an octet or, in upper case, for itself.
	octet, ok := weburl.Triplet(segment, max(0, len(segment)-len("%XX")))
	return ends.mayBeLast(last) || ok && ends.mayBeLast(octet)
}

// mayBeLast reports whether an octet, in upper or lower case, may be the last one of a key.
func (e *spanEnds) mayBeLast(octet byte) bool {
	const toggled = 'a' - 'A' // which changes other octets than letters to no avail
	return hasBit(e.octets, int(octet)) || hasBit(e.octets, int(octet^toggled))
}

// hasBit reports whether a word has the bit for the lowest six bits of a number.
func hasBit(word uint64, number int) bool { return word>>(number&63)&1 != 0 }

// hasBetter reports whether no key below a node can be better than the best match so far. Keys with
// equally many segments, none of which spans, leave equally much of the path.
func (s *templateSearch) hasBetter(n *templateNode) bool {
	if s.best.rule == 0 || int(n.deepest) > s.best.segments {
		return false
	}
	return int(n.deepest) < s.best.segments ||
		n.flags&mayLeaveLess == 0 && n.best > s.index.entries[s.best.rule-1].order
}

// offer takes a match that ends at a place of the path if it is better than the best one so far. A
// longer one is better, then one that leaves less of the path, and then the better template.
func (s *templateSearch) offer(rule uint32, segments, end int) {
	x, leaves := s.index, leaves(s.path[end:])
	this := &x.entries[rule-1]
	if leaves > 0 && x.header(int(rule)-1).flags().has(exactKey) {
		return
	}
	if best := s.best.rule; best > 0 {
		compared := cmp.Or(
			cmp.Compare(s.best.segments, segments),
			cmp.Compare(leaves, s.best.leaves),
			cmp.Compare(this.order, x.entries[best-1].order),
		)
		if compared >= 0 { // of one rule, the first match leaves least
			return
		}
	}
	s.best = templateFound{rule, segments, end, leaves}
}

// leaves is how much of a path a match leaves. One slash at the end does not count, because exact
// keys match it.
func leaves(remaining string) int {
	if remaining == "/" {
		return 0
	}
	return len(remaining)
}

// precedes reports whether a template matches better than a literal key: it is longer, or leaves
// less of the path.
func (m *templateFound) precedes(found literalMatch, t *table) bool {
	if found.ref == 0 {
		return true
	}
	segments := strings.Count(t.key(found.ref), "/") + 1
	return m.segments > segments || m.segments == segments && m.leaves < leaves(found.remaining)
}

// match returns the captures of a match, and the rest of the path.
func (x *templateIndex) match(found templateFound, path string) (m templateMatch) {
	var r record
	r.decodeAnswer(&x.records, x.records.bytes(x.entries[found.rule-1].at))
	m = templateMatch{
		templateFound: found, key: r.spelledKey(), status: r.status, mode: r.mode,
		isExact: r.flags.has(exactKey), value: newTemplateValue(&r),
	}
	if !m.isExact {
		m.remaining = path[found.end:] // of which an exact key leaves a slash that is not appended
	}
	key, expressions := r.key, strings.Count(r.key, "{")
	m.captures = make([]string, 0, expressions)
	for start := 1; len(m.captures) < expressions; {
		segment, behind, isLast := cutSegment(key)
		prefix, expression, hasExpression := strings.Cut(segment, "{")
		end := found.end
		switch at := strings.IndexByte(path[start:end], '/'); {
		case strings.HasPrefix(expression, "+"):
			if !isLast {
				end = startOfLast(path[:end], strings.Count(behind, "/")+1)
			}
		case at >= 0:
			end = start + at
		}
		if hasExpression {
			taken := path[start:end]
			if _, suffix, _ := strings.Cut(expression, "}"); prefix != "" || suffix != "" {
				taken, _ = x.matchSegment(prefix, suffix, taken)
			}
			m.captures = append(m.captures, taken)
		}
		key, start = behind, end+1
	}
	return m
}

// cutSegment splits a key after its first segment.
func cutSegment(key string) (segment, behind string, isLast bool) {
	segment, behind, found := strings.Cut(key, "/")
	return segment, behind, !found
}

// startOfLast returns the place of the "/" before the last n segments of a path.
func startOfLast(path string, n int) int {
	for range n {
		path = path[:strings.LastIndexByte(path, '/')]
	}
	return len(path)
}

// literal returns the node for a literal segment in any spelling, or 0.
func (x *templateIndex) literal(node uint32, segment string) uint32 {
	if len(segment) > int(x.nodes[node].longest) {
		return 0
	}
	var memory [128]byte
	return x.child(node, treeSegment{literalSegment, x.canonical(memory[:0], segment), ""})
}

// canonical returns the canonical form of a segment (R3). It may use the memory after dst.
func (x *templateIndex) canonical(dst []byte, segment string) string {
	if !x.opts.foldCase && strings.IndexByte(segment, '%') < 0 {
		return segment
	}
	return text(x.opts.appendKey(dst, segment))
}

// canonicalEnds returns a segment with each octet in canonical form. Only as much of its beginning
// and end is returned as there is text around expressions.
func (x *templateIndex) canonicalEnds(lengths *textLengths, segment string) string {
	if !x.opts.foldCase && strings.IndexByte(segment, '%') < 0 {
		return segment
	}
	if len(segment) <= len("%XX")*(lengths.most.sum()+1) {
		return x.canonicalUnits(segment)
	}
	front, back := 0, len(segment)
	for range lengths.most.prefix + 1 {
		front += nextUnit(segment[front:])
	}
	for range lengths.most.suffix {
		back -= lastUnit(segment[:back])
	}
	return x.canonicalUnits(segment[:front]) + x.canonicalUnits(segment[back:])
}
