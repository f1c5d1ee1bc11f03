package resolver

import (
	"bytes"
	"cmp"
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
	// heads are the first rules with a destination, by its hash; next are those that follow each.
	// Rules have the numbers of Result plus 1, and 0 is none. The better short URL comes first.
	heads map[uint64]uint32
	next  []uint32
	// templates are those whose destination begins with whole segments that have a hash.
	templates map[pageHash][]*reverseTemplate
	// origins are those that destinations have.
	origins map[string]bool
	// internal tells that there are destinations with the origin of the request, slashed those
	// whose path ends in "/".
	internal, slashed bool
	searches          sync.Pool // of *reverseSearch
}

func newReverseIndex(rs *Ruleset) *reverseIndex {
	x := &reverseIndex{
		ruleset: rs, heads: make(map[uint64]uint32, rs.rules),
		next:      make([]uint32, rs.table.slots.n+1),
		templates: map[pageHash][]*reverseTemplate{}, origins: map[string]bool{},
	}
	for n, s := range rs.table.entries() {
		x.add(n, s.ref())
		rs.opts.pauseAfter(n)
	}
	x.sort()
	for n, t := range rs.templates.all() {
		rs.opts.pauseAfter(n)
		if !t.rule.Unlisted {
			x.addTemplate(t)
		}
	}
	return x
}

// add adds the rule in a slot, if a page can be its destination. Fragments are not sent to servers,
// so that no page has one.
func (x *reverseIndex) add(n int, at ref) {
	var r record
	r.decodeAnswer(&x.ruleset.table.arena, x.ruleset.table.arena.bytes(at))
	if r.flags.has(noDestination) || r.flags.has(unlisted) || r.fragment != "" {
		return
	}
	origin, path := cutOrigin(r.base)
	var memory [128]byte
	canonical := weburl.AppendCanonicalPath(memory[:0], path)
	hash := hashOf([]byte(origin)).add(canonical).page(hashOf([]byte(searchOf(r.query))))
	number := uint32(n + 1)
	x.next[number] = x.heads[hash]
	x.heads[hash] = number
	x.noteOrigin(origin)
	x.slashed = x.slashed || bytes.HasSuffix(canonical, []byte("/"))
}

func (x *reverseIndex) noteOrigin(origin string) {
	if origin == "" {
		x.internal = true
	} else if !x.origins[origin] {
		x.origins[strings.Clone(origin)] = true
	}
}

// sort puts the better short URL first where several rules have one destination.
func (x *reverseIndex) sort() {
	n := 0
	var rules []uint32
	for hash, first := range x.heads {
		n++
		x.ruleset.opts.pauseAfter(n)
		if x.next[first] == 0 {
			continue
		}
		rules = rules[:0]
		for number := first; number != 0; number = x.next[number] {
			rules = append(rules, number)
		}
		slices.SortFunc(rules, func(a, b uint32) int { return compareShort(x.key(a), x.key(b)) })
		x.heads[hash] = rules[0]
		for i, number := range rules {
			x.next[number] = 0
			if i > 0 {
				x.next[rules[i-1]] = number
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
