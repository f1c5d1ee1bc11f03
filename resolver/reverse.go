package resolver

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// reverseIndex finds for a page the keys that lead to it. Rules that are unlisted are left out.
//
// A key can lead to a page in three ways: its destination is the page; its destination lies above
// the page, and the rest of the path is appended; or it is a template. What is found so is a
// candidate: it is a short URL only if it leads to the page when it is resolved.
type reverseIndex struct {
	ruleset *Ruleset
	// heads are the first rules with a destination, by its hash; next are those that follow each, by
	// number. Rules have the numbers of Result plus 1, and 0 is none. The better short URL comes
	// first.
	heads heads
	next  pages[uint32]
	// templates are those whose destination begins with whole segments that have a hash.
	templates map[pageHash][]*reverseTemplate
	// leadOn tells that a template leads to another key, so that any rule may change where it ends.
	leadOn bool
	// origins are those that destinations have, newOrigins those of rules that came later. There may
	// be some that no rule leads to any more.
	origins, newOrigins map[string]bool
	// internal tells that there are destinations with the origin of the request, slashed those
	// whose path ends in "/".
	internal, slashed bool
	searches          *sync.Pool // of *reverseSearch
	steps             int        // how many rules have been passed over to derive it
}

func newReverseIndex(rs *Ruleset) *reverseIndex {
	x := &reverseIndex{
		ruleset: rs, heads: newHeads(rs.Len()), next: makePages[uint32](rs.table.slots.n + 1),
		origins: map[string]bool{}, searches: new(sync.Pool),
	}
	x.newOrigins = x.origins
	for n, s := range rs.table.entries(&rs.opts) {
		if hash, ok := x.noteRule(s.ref()); ok {
			number := uint32(n + 1)
			x.next.set(int(number), x.heads.swap(hash, number))
		}
	}
	x.newOrigins = nil
	x.sort()
	x.indexTemplates()
	return x
}

func (x *reverseIndex) indexTemplates() {
	x.templates, x.leadOn = map[pageHash][]*reverseTemplate{}, false
	for n, t := range x.ruleset.templates.all() {
		x.ruleset.opts.pauseAfter(n)
		if !t.rule.Unlisted {
			x.leadOn = x.leadOn || t.value.internal
			x.addTemplate(t)
		}
	}
}

// reverseOf derives the index of a ruleset from that of the one that it is derived from, as some
// slots have changed.
func (x *reverseIndex) reverseOf(rs *Ruleset, slots []int) *reverseIndex {
	if !x.heads.haveRoom(len(slots)) || len(x.newOrigins)+len(slots) > mostNewOrigins {
		return newReverseIndex(rs)
	}
	y := *x
	y.ruleset, y.heads, y.next = rs, x.heads.branch(), x.next.branch()
	y.newOrigins, y.steps = maps.Clone(x.newOrigins), 0
	if !y.takeOver(x, slots) {
		return newReverseIndex(rs)
	}
	if x.leadOn || rs.templates != x.ruleset.templates {
		y.indexTemplates()
	}
	return &y
}

// takeOver takes out what the rules of slots were in the index before, and puts in what they are
// now. ok is false where it is cheaper to make the index anew: very many keys can lead to one page.
func (x *reverseIndex) takeOver(before *reverseIndex, slots []int) (ok bool) {
	for _, slot := range slots {
		if old := before.ruleset.table.slots.at(slot); old.hasRule() {
			if hash, ok := before.hashOfRule(old.ref()); ok {
				x.take(hash, uint32(slot+1))
			}
		}
	}
	for _, slot := range slots {
		if x.steps > x.ruleset.Len() {
			return false
		}
		if now := x.ruleset.table.slots.at(slot); now.hasRule() {
			if hash, ok := x.noteRule(now.ref()); ok {
				x.put(hash, uint32(slot+1))
			}
		}
	}
	return true
}

// step counts a rule that is passed over.
func (x *reverseIndex) step() {
	x.steps++
	x.ruleset.opts.pauseAfter(x.steps)
}

// mostNewOrigins is how many origins are copied with each change at most.
const mostNewOrigins = 2000

// take takes a rule out of those with a destination.
func (x *reverseIndex) take(hash uint64, number uint32) {
	first := x.heads.first(hash)
	if first == number {
		x.heads.swap(hash, x.next.at(int(number)))
		return
	}
	for at := first; at != 0 && x.steps <= x.ruleset.Len(); at = x.next.at(int(at)) {
		x.step()
		if x.next.at(int(at)) == number {
			x.next.set(int(at), x.next.at(int(number)))
			return
		}
	}
}

// put puts a rule among those with a destination.
func (x *reverseIndex) put(hash uint64, number uint32) {
	before, at := uint32(0), x.heads.first(hash)
	for at != 0 && compareShort(x.key(at), x.key(number)) < 0 {
		x.step()
		before, at = at, x.next.at(int(at))
	}
	x.next.set(int(number), at)
	if before == 0 {
		x.heads.swap(hash, number)
	} else {
		x.next.set(int(before), number)
	}
}

// hashOfRule returns the hash of the destination of an entry's rule, if a page can be that.
// Fragments are not sent to servers, so that no page has one.
func (x *reverseIndex) hashOfRule(at ref) (hash uint64, ok bool) {
	origin, canonical, query, ok := x.destinationOf(at, nil)
	return hashOf([]byte(origin)).add(canonical).page(hashOf([]byte(searchOf(query)))), ok
}

// noteRule is hashOfRule for a rule that is added.
func (x *reverseIndex) noteRule(at ref) (hash uint64, ok bool) {
	var memory [128]byte
	origin, canonical, query, ok := x.destinationOf(at, memory[:0])
	if !ok {
		return 0, false
	}
	x.noteOrigin(origin)
	x.slashed = x.slashed || bytes.HasSuffix(canonical, []byte("/"))
	return hashOf([]byte(origin)).add(canonical).page(hashOf([]byte(searchOf(query)))), true
}

// destinationOf returns the destination of an entry's rule, its canonical path appended to dst.
func (x *reverseIndex) destinationOf(at ref, dst []byte) (
	origin string, path []byte, query string, ok bool,
) {
	var r record
	r.decodeAnswer(&x.ruleset.table.arena, x.ruleset.table.arena.bytes(at))
	if r.flags.has(noDestination) || r.flags.has(unlisted) || r.fragment != "" {
		return "", nil, "", false
	}
	origin, written := cutOrigin(r.base)
	return origin, weburl.AppendCanonicalPath(dst, written), r.query, true
}

func (x *reverseIndex) noteOrigin(origin string) {
	switch {
	case origin == "":
		x.internal = true
	case !x.hasOrigin(origin):
		if x.newOrigins == nil {
			x.newOrigins = map[string]bool{}
		}
		x.newOrigins[strings.Clone(origin)] = true
	}
}

// hasOrigin reports whether a destination may have an origin.
func (x *reverseIndex) hasOrigin(origin string) bool {
	return x.origins[origin] || x.newOrigins[origin]
}

// sort puts the better short URL first where several rules have one destination.
func (x *reverseIndex) sort() {
	n := 0
	var rules []uint32
	for at, first := range x.heads.each() {
		n++
		x.ruleset.opts.pauseAfter(n)
		if x.next.at(int(first)) == 0 {
			continue
		}
		rules = rules[:0]
		for number := first; number != 0; number = x.next.at(int(number)) {
			rules = append(rules, number)
		}
		slices.SortFunc(rules, func(a, b uint32) int { return compareShort(x.key(a), x.key(b)) })
		x.heads.setFirst(at, rules[0])
		for i, number := range rules {
			x.next.set(int(number), 0)
			if i > 0 {
				x.next.set(int(rules[i-1]), number)
			}
		}
	}
}

// key returns the canonical key of a rule.
func (x *reverseIndex) key(number uint32) string {
	return x.ruleset.table.key(x.ruleset.table.slots.at(int(number - 1)).ref())
}

// compareShort puts the better of two paths or keys first: fewest octets, then fewest segments,
// then in alphabetical order.
func compareShort(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return cmp.Or(strings.Count(a, "/")-strings.Count(b, "/"), strings.Compare(a, b))
}

// cutOrigin cuts a base into its origin, "" for that of the request, and its path.
func cutOrigin(base string) (origin, path string) {
	if strings.HasPrefix(base, "/") {
		return "", base
	}
	_, rest, _ := strings.Cut(base, "://")
	slash := len(base) - len(rest) + strings.IndexByte(rest, '/')
	return base[:slash], base[slash:]
}

func searchOf(query string) string {
	if query == "" {
		return ""
	}
	return "?" + query
}

// pageHash is the FNV-1a hash of an origin and of a path, or of what it begins with.
type pageHash uint64

func hashOf(text []byte) pageHash { return pageHash(14695981039346656037).add(text) }

func (h pageHash) addByte(b byte) pageHash { return (h ^ pageHash(b)) * 1099511628211 }

func (h pageHash) add(text []byte) pageHash {
	for _, b := range text {
		h = h.addByte(b)
	}
	return h
}

// page returns the hash of a page with a query.
func (h pageHash) page(query pageHash) uint64 { return uint64(h ^ query<<1) }

// page is a URL that keys may lead to: its origin, canonical path, and query with its "?".
type page struct {
	origin, path []byte
	search       string
}

// cutDestination takes a destination of the page's origin apart, and appends its canonical path to
// dst, nothing for another origin.
func (p *page) cutDestination(dst []byte, destination string) (
	path []byte, search, fragment string,
) {
	rest, ok := strings.CutPrefix(destination, text(p.origin))
	if !ok {
		return dst, "", ""
	}
	rest, fragment = cutBefore(rest, '#')
	rest, search = cutBefore(rest, '?')
	return weburl.AppendCanonicalPath(dst, rest), search, fragment
}

// appendCandidate appends a path that may lead to a page. The path is a key, and the rest of the
// page's path behind the key's destination.
func appendCandidate(dst []byte, key string, rest []byte) []byte {
	return append(append(append(dst, '/'), key...), rest...)
}
