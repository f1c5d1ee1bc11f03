package resolver

import (
	"hash/maphash"
	"iter"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/caddy-shortlink/shortlink/resolver/pattern"
)

// templateIndex holds the rules whose keys are templates, and a tree of the segments of their keys.
// Its parts have no pointers to rules.
//
//	keys    gh/{1}/{2}   gh/{1}/pr-{2}   {+1}/edit   {+1}/{2}/edit
//	tree    root - gh - {} - {}
//	                     \-- pr-{}
//	        root - {+} - edit - {}      behind {+} the last segment comes first
type templateIndex struct {
	opts    options
	sources []source
	// records are the rules as [record]s, with placeholders for captures. entries are the rules that
	// serve, in the order of [options.compareRules].
	records arena
	entries []templateEntry

	nodes []templateNode // the first one is the root
	texts arena          // of segments
	ends  []spanEnds     // of expressions that span segments
	// edges is an open-addressed hash table that is never full; its length is a power of two. It leads
	// from a node and the text of a segment to another node.
	edges []templateEdge
	taken int
	seed  maphash.Seed
	// lengths are the lengths of text around expressions, for nodes with more than a few such
	// segments.
	lengths map[uint32]*textLengths
}

// templateEntry is a rule that serves.
type templateEntry struct {
	at ref
	// order ranks the rule among all of them, the better ones first. It decides between matches that
	// are equally long and leave equally much of a path.
	order  uint32
	number uint32 // behind those of the slots
}

// templateNode stands for all keys that begin with the same segments. 0 is no node, because nothing
// leads to the root.
type templateNode struct {
	// parent is the node before the segment that leads here.
	parent uint32
	// text is the literal text of that segment, or the text around its expression. If the expression
	// spans segments, it is the index of its ends.
	text           ref
	prefix, suffix uint32 // bytes of the text
	kind           segmentKind
	flags          nodeFlags
	longest        uint32 // of the literal segments behind it, each octet percent-encoded
	// deepest is the number of segments of the longest key, and best the order of the best one.
	deepest uint8
	best    uint32
	rule    uint32 // the number of the entry whose key ends here, from 1 on
	whole   uint32 // the node behind an expression that is a whole segment
	span    uint32 // the node behind an expression that spans segments
	// around is the first node for an expression with text around it. next is the next such node after
	// this one, as long as there are only a few.
	around, next uint32
}

type segmentKind uint8

const (
	literalSegment segmentKind = iota
	wholeSegment
	spanOfSegments
	aroundExpression
)

type nodeFlags uint8

const (
	hasLiterals nodeFlags = 1 << iota
	hasMany               // expressions with text around them
	// mayLeaveLess is set if two keys below with equally many segments can leave different parts of a
	// path.
	mayLeaveLess
)

type templateEdge struct{ hash, node uint32 }

// spanEnds describes the segments after an expression that spans segments, at the end of keys. It
// has a bit for each last octet and for each length, by the lowest six bits of both. If one of
// these segments has an expression, all bits are set.
type spanEnds struct{ octets, lengths uint64 }

func (e *spanEnds) add(s treeSegment) {
	if s.kind != literalSegment {
		*e = spanEnds{math.MaxUint64, math.MaxUint64}
		return
	}
	e.lengths |= 1 << (len(s.prefix) & 63)
	e.octets |= 1 << (lastOctet(s.prefix) & 63)
}

// lastOctet returns the last octet of a text, or 0 if it is empty.
func lastOctet(text string) byte {
	if text == "" {
		return 0
	}
	return text[len(text)-1]
}

// textLengths are the lengths of text around the expressions of a node.
type textLengths struct {
	all  []textLength
	most textLength // of either text
	seen map[textLength]bool
	// beginnings are nodes sorted by the text before their expressions. If one text begins with
	// another, only the shorter one is here.
	beginnings []uint32
}

type textLength struct{ prefix, suffix int }

// few is how many segments with an expression are tried one by one.
const few = 4

// newTemplateIndex returns an index without entries, for rules with these records.
func newTemplateIndex(opts *options, sources []source, records arena) *templateIndex {
	x := &templateIndex{
		opts: *opts, sources: sources, records: records,
		nodes: []templateNode{{best: math.MaxUint32}}, edges: make([]templateEdge, 4),
		seed: maphash.MakeSeed(), lengths: map[uint32]*textLengths{},
	}
	x.opts.noLines = false // until all has been said that names a line
	return x
}

// len returns the number of templates.
func (x *templateIndex) len() int {
	if x == nil {
		return 0
	}
	return len(x.entries)
}

// size returns the bytes that the index holds, without the lengths of text around expressions.
func (x *templateIndex) size() int {
	if x == nil {
		return 0
	}
	return x.records.size() + x.texts.size() + sizeOf(x.entries) + sizeOf(x.nodes) +
		sizeOf(x.ends) + sizeOf(x.edges)
}

func sizeOf[T any](list []T) int {
	var value T
	return cap(list) * int(unsafe.Sizeof(value))
}

// each yields the rules of the templates with the precedence of their sources, in the order of
// [options.compareRules].
func (x *templateIndex) each() iter.Seq2[int, rankedRule] {
	return func(yield func(int, rankedRule) bool) {
		for i := range x.len() {
			if !yield(i, x.ruleAt(i)) {
				return
			}
		}
	}
}

// template decodes the i-th template.
func (x *templateIndex) template(i int) *templateRule {
	var r record
	r.decode(&x.records, x.records.bytes(x.entries[i].at))
	rule := x.opts.placed(r.rule(x.sources))
	key, _ := x.opts.parseTemplateKey(rule.Key)
	t := newTemplateRule(key, rule.Exact)
	t.rule, t.source, t.value, t.index = rule, r.position.source, newTemplateValue(&r), i
	return t
}

// ruleAt returns the rule of the i-th template.
func (x *templateIndex) ruleAt(i int) rankedRule {
	var r record
	r.decode(&x.records, x.records.bytes(x.entries[i].at))
	return rankedRule{x.sources[r.position.source].rank, x.opts.placed(r.rule(x.sources))}
}

// key returns the canonical key of the i-th template.
func (x *templateIndex) key(i int) string {
	return recordKey(x.records.bytes(x.entries[i].at))
}

// header returns the header of the record of the i-th template.
func (x *templateIndex) header(i int) header {
	return headerOf(x.records.bytes(x.entries[i].at))
}

// value returns the value of the i-th template.
func (x *templateIndex) value(i int) templateValue {
	var r record
	r.decodeAnswer(&x.records, x.records.bytes(x.entries[i].at))
	return newTemplateValue(&r)
}

// hasInternal reports whether a template leads to other rules.
func (x *templateIndex) hasInternal() bool {
	for i := range x.len() {
		if v := x.value(i); v.internal {
			return true
		}
	}
	return false
}

// find returns the number of the template with a canonical key.
func (x *templateIndex) find(key string) (i int, ok bool) {
	if x.len() == 0 || !IsTemplate(key) {
		return 0, false
	}
	p := pattern.Parse(key, false)
	node := uint32(0)
	for _, s := range inTreeOrder(p) {
		if node = x.child(node, s); node == 0 {
			return 0, false
		}
	}
	// The variables can have other names than in a canonical key.
	i = int(x.nodes[node].rule) - 1
	return i, i >= 0 && x.key(i) == key
}

// below returns the templates with a canonical key or below it, or all if it is empty, sorted by
// key.
func (x *templateIndex) below(above string) []*templateRule {
	var found []*templateRule
	for i := range x.len() {
		if key := x.key(i); above == "" || key == above || strings.HasPrefix(key, above+"/") {
			found = append(found, x.template(i))
		}
	}
	slices.SortFunc(found, func(a, b *templateRule) int {
		return strings.Compare(a.Key(), b.Key())
	})
	return found
}

// treeSegment is a segment in the form of the tree: its text, or the text around its expression.
type treeSegment struct {
	kind           segmentKind
	prefix, suffix string
}

// inTreeOrder returns the segments of a key. Those after an expression that spans segments are in
// reverse order.
func inTreeOrder(p *pattern.Pattern) []treeSegment {
	segments := make([]treeSegment, len(p.Segments()))
	for i, s := range p.Segments() {
		kind := aroundExpression
		switch {
		case i == p.Span():
			kind = spanOfSegments
		case s.IsLiteral():
			kind = literalSegment
		case s.LiteralLength() == 0:
			kind = wholeSegment
		}
		segments[i] = treeSegment{kind, s.Prefix, s.Suffix}
	}
	if p.Span() >= 0 {
		slices.Reverse(segments[p.Span()+1:])
	}
	return segments
}

// insert adds the key of an entry to the tree. Better keys must be added first.
func (x *templateIndex) insert(p *pattern.Pattern, entry int) {
	node := uint32(0)
	x.note(node, p, entry)
	for _, s := range inTreeOrder(p) {
		parent := node
		if node = x.child(parent, s); node == 0 {
			node = x.grow(parent, s)
		}
		x.note(node, p, entry)
		if x.nodes[parent].kind == spanOfSegments {
			x.ends[x.nodes[parent].text].add(s)
		}
	}
	x.nodes[node].rule = uint32(entry + 1)
}

// note updates a node that a key passes through.
func (x *templateIndex) note(node uint32, p *pattern.Pattern, entry int) {
	n := &x.nodes[node]
	n.best = min(n.best, x.entries[entry].order)
	n.deepest = max(n.deepest, uint8(p.OwnSegments()))
	if p.Span() >= 0 {
		n.flags |= mayLeaveLess
	}
}

// grow adds the node for a segment.
func (x *templateIndex) grow(parent uint32, s treeSegment) uint32 {
	node := uint32(len(x.nodes))
	n := templateNode{parent: parent, kind: s.kind, best: math.MaxUint32}
	switch above := &x.nodes[parent]; s.kind {
	case wholeSegment:
		above.whole = node
	case spanOfSegments:
		above.span, n.text = node, ref(len(x.ends))
		x.ends = append(x.ends, spanEnds{})
	case literalSegment:
		above.flags |= hasLiterals
		above.longest = max(above.longest, uint32(len("%XX")*len(s.prefix)))
	}
	if s.prefix != "" || s.suffix != "" || s.kind == literalSegment {
		n.text = x.texts.add([]byte(s.prefix + s.suffix))
		n.prefix, n.suffix = uint32(len(s.prefix)), uint32(len(s.suffix))
	}
	x.nodes = append(x.nodes, n)
	switch s.kind {
	case literalSegment:
		x.addEdge(parent, s, node)
	case aroundExpression:
		x.addEdge(parent, s, node)
		x.addAround(parent, node)
	}
	return node
}

// addAround adds the node for an expression with text around it to its parent.
func (x *templateIndex) addAround(parent, node uint32) {
	if lengths := x.lengths[parent]; lengths != nil {
		lengths.add(&x.nodes[node])
		return
	}
	last, n := &x.nodes[parent].around, 0
	for ; *last > 0; n++ {
		last = &x.nodes[*last].next
	}
	if *last = node; n < few {
		return
	}
	lengths := &textLengths{seen: map[textLength]bool{}}
	for at := x.nodes[parent].around; at > 0; at = x.nodes[at].next {
		lengths.add(&x.nodes[at])
	}
	x.lengths[parent] = lengths
	x.nodes[parent].flags |= hasMany
}

// add adds the lengths of the text around an expression.
func (l *textLengths) add(n *templateNode) {
	length := textLength{int(n.prefix), int(n.suffix)}
	if !l.seen[length] {
		l.seen[length], l.all = true, append(l.all, length)
	}
	l.most.prefix = max(l.most.prefix, length.prefix)
	l.most.suffix = max(l.most.suffix, length.suffix)
}

// sortBeginnings sorts the texts before expressions, once all keys are in the tree.
func (x *templateIndex) sortBeginnings() {
	for node := range x.nodes {
		n := &x.nodes[node]
		if lengths := x.lengths[n.parent]; lengths != nil && n.kind == aroundExpression {
			lengths.beginnings = append(lengths.beginnings, uint32(node))
		}
	}
	beginning := func(node uint32) string { return x.prefix(&x.nodes[node]) }
	for _, lengths := range x.lengths {
		all := lengths.beginnings
		slices.SortFunc(all, func(a, b uint32) int {
			return strings.Compare(beginning(a), beginning(b))
		})
		kept := all[:1]
		for _, node := range all[1:] {
			if !strings.HasPrefix(beginning(node), beginning(kept[len(kept)-1])) {
				kept = append(kept, node)
			}
		}
		lengths.beginnings = slices.Clip(kept)
	}
}

// child returns the node for a segment, or 0.
func (x *templateIndex) child(parent uint32, s treeSegment) uint32 {
	switch s.kind {
	case wholeSegment:
		return x.nodes[parent].whole
	case spanOfSegments:
		return x.nodes[parent].span
	}
	hash := x.hash(parent, s)
	for at := int(hash); ; at++ {
		e := x.edges[at&(len(x.edges)-1)]
		if e.node == 0 || e.hash == hash && x.leads(parent, s, e.node) {
			return e.node
		}
	}
}

// leads reports whether an edge leads to the node for a segment.
func (x *templateIndex) leads(parent uint32, s treeSegment, node uint32) bool {
	n := &x.nodes[node]
	return n.parent == parent && n.kind == s.kind &&
		x.prefix(n) == s.prefix && x.suffix(n) == s.suffix
}

// addEdge adds an edge that does not exist yet.
func (x *templateIndex) addEdge(parent uint32, s treeSegment, node uint32) {
	if x.taken++; x.taken > len(x.edges)-len(x.edges)/4 {
		old := x.edges
		x.edges = make([]templateEdge, 2*len(old))
		for _, e := range old {
			if e.node > 0 {
				x.putEdge(e)
			}
		}
	}
	x.putEdge(templateEdge{x.hash(parent, s), node})
}

func (x *templateIndex) putEdge(e templateEdge) {
	at := int(e.hash)
	for x.edges[at&(len(x.edges)-1)].node > 0 {
		at++
	}
	x.edges[at&(len(x.edges)-1)] = e
}

func (x *templateIndex) hash(parent uint32, s treeSegment) uint32 {
	hash := maphash.String(x.seed, s.prefix)
	if s.suffix != "" {
		hash = mix(hash, maphash.String(x.seed, s.suffix)|1)
	}
	return uint32(mix(hash^uint64(parent)<<8^uint64(s.kind), 0x9e3779b97f4a7c15))
}

// prefix and suffix return the text of the segment that leads to a node.
func (x *templateIndex) prefix(n *templateNode) string {
	return text(x.texts.bytes(n.text)[:n.prefix])
}

func (x *templateIndex) suffix(n *templateNode) string {
	return text(x.texts.bytes(n.text)[n.prefix : n.prefix+n.suffix])
}
