package resolver

import "strings"

// warnOfMisspelt warns of new rules that lead to a path which no key answers. It does where that
// path is one letter away from a key.
func (c *Compiler) warnOfMisspelt() {
	m := c.unmatchedPaths()
	if len(m.paths) == 0 {
		return
	}
	for _, s := range c.table.entries(&c.opts) {
		at := s.ref()
		key := c.table.key(at)
		m.find(key, func(p *unmatchedPath) {
			near := c.rankedAt(at)
			isFirst := p.near.rule.Key == "" || c.opts.compareRanked(near, p.near) < 0
			if isFirst && !c.leadsToPath(at, p.path) {
				p.near = near
			}
		})
	}
	for _, p := range m.paths {
		if p.near.rule.Key == "" {
			continue
		}
		for _, this := range p.rules {
			c.warnAbout(this.rule, c.rankOfSource(this.source),
				Warning{Kind: WarnMisspelt, Message: misspeltMessage(this, p.near.rule.Key)})
		}
	}
}

// unmatchedPath is a path that rules lead to and no key answers, in the form of keys.
type unmatchedPath struct {
	path  string
	rules []*internalRule
	// near is the first rule, in the order of [options.compareRules], whose key is one letter away.
	near rankedRule
}

// unmatchedPaths returns the first of the paths that new rules lead to and no key answers.
func (c *Compiler) unmatchedPaths() *nearPaths {
	m := &nearPaths{base: c.table.seed | 1, last: map[uint64]int32{}}
	known := map[string]*unmatchedPath{}
	for i, this := range c.table.internalRules.newInOrder() {
		c.opts.pauseAfter(i)
		if this.state != endUnmatched {
			continue
		}
		if end := c.opts.endOf(this); end.passed || end.hops > 1 {
			continue
		}
		path := c.pathOf(this)
		if known[path] == nil {
			if len(m.remnants) > mostRemnants {
				break
			}
			known[path] = &unmatchedPath{path: path}
			m.add(known[path])
		}
		known[path].rules = append(known[path].rules, this)
	}
	return m
}

// pathOf returns the path that a chain without a match ends at, in the form of keys.
func (c *Compiler) pathOf(this *internalRule) string {
	end := c.opts.endOf(this)
	path := appendAtSeam([]byte(end.base), end.appended)
	return strings.TrimSuffix(string(c.opts.appendKey(nil, string(path[1:]))), "/")
}

// leadsToPath reports whether a rule leads to a path of the site, or leads nowhere. The path is a
// page then, and does not mean the rule's key.
func (c *Compiler) leadsToPath(at ref, path string) bool {
	if at&internalRef == 0 {
		return c.table.outcomeOf(at) != ""
	}
	this := c.table.internal(at)
	return this.state == endUnmatched && c.pathOf(this) == path
}

func misspeltMessage(this *internalRule, key string) string {
	behind := this.value.query + this.value.fragment
	path := strings.TrimSuffix(this.rule.Value, behind)
	return "no key answers " + path + ", and the key " + quote(key) + " is one letter away; " +
		"write /" + key + behind + ", unless " + path + " is a page of the site"
}

// nearPaths are paths in which those are found that are one letter away from a key. If two paths
// differ in one letter, or in the order of two, they are equal without one letter, or one of
// them is equal to the other without a letter. So what remains of each path without a letter is
// noted by its hash, and what remains of each key is looked up: that takes time in proportion to
// the length of all paths and keys.
type nearPaths struct {
	paths    []*unmatchedPath
	remnants []remnant
	last     map[uint64]int32 // of the remnants with a hash, by number from 1 on
	filter   []uint64         // has a bit for each hash that there may be
	base     uint64
	prefixes []uint64 // scratch memory
}

// remnant is what remains of a path, or the whole path.
type remnant struct {
	path     *unmatchedPath
	previous int32 // with the same hash, 0 for none
}

// mostRemnants bounds the memory: some ten thousand paths have as many.
const mostRemnants = 1 << 18

func (m *nearPaths) add(p *unmatchedPath) {
	m.paths = append(m.paths, p)
	if m.filter == nil {
		m.filter = make([]uint64, 1<<16)
	}
	m.eachRemnant(p.path, func(hash uint64) {
		m.remnants = append(m.remnants, remnant{p, m.last[hash]})
		m.last[hash] = int32(len(m.remnants))
		word, bit := filterBit(hash)
		m.filter[word] |= bit
	})
}

func filterBit(hash uint64) (word int, bit uint64) {
	return int(hash >> 48), 1 << (hash >> 42 & 63)
}

// find calls found with each path that is one letter away from a key, perhaps several times.
func (m *nearPaths) find(key string, found func(*unmatchedPath)) {
	m.eachRemnant(key, func(hash uint64) {
		if word, bit := filterBit(hash); m.filter[word]&bit == 0 {
			return
		}
		for at := m.last[hash]; at != 0; at = m.remnants[at-1].previous {
			if p := m.remnants[at-1].path; oneLetterAway(key, p.path) {
				found(p)
			}
		}
	})
}

// eachRemnant calls do with the hashes of a path and of the path without each of its letters. A
// hash is that of the value of a polynomial, so that each takes but a few steps.
func (m *nearPaths) eachRemnant(path string, do func(hash uint64)) {
	m.prefixes = append(m.prefixes[:0], 0)
	for i := range len(path) {
		m.prefixes = append(m.prefixes, m.prefixes[i]*m.base+uint64(path[i])+1)
	}
	do(mix(m.prefixes[len(path)], m.base))
	suffix, power := uint64(0), uint64(1)
	for i := len(path) - 1; i >= 0; i-- {
		if isLetter(path[i]) {
			do(mix(m.prefixes[i]*power+suffix, m.base))
		}
		suffix += (uint64(path[i]) + 1) * power
		power *= m.base
	}
}

// shortestWord is the length of the shortest word in which a letter more or less, or another one,
// is taken for a slip.
const shortestWord = 4

// oneLetterAway reports whether two paths differ in one letter, or in the order of two. The word in
// which they do is not short. Other characters, such as digits, tell pages apart on purpose.
func oneLetterAway(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(a) > len(b)+1 {
		return false
	}
	start := 0
	for start < len(b) && a[start] == b[start] {
		start++
	}
	endA, endB := len(a), len(b)
	for endB > start && a[endA-1] == b[endB-1] {
		endA, endB = endA-1, endB-1
	}
	longer, other := a[start:endA], b[start:endB]
	swapped := len(longer) == 2 && len(other) == 2 && longer[0] == other[1] && longer[1] == other[0]
	if len(longer) != 1 && !swapped || !isWord(longer) || !isWord(other) {
		return false
	}
	from, to := start, endA
	for from > 0 && isLetter(a[from-1]) {
		from--
	}
	for to < len(a) && isLetter(a[to]) {
		to++
	}
	return to-from >= shortestWord
}

func isWord(s string) bool {
	for i := range len(s) {
		if !isLetter(s[i]) {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
