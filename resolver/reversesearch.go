package resolver

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// AppendShortURL appends the best short URL of a page to dst. The best has the fewest octets, then
// the fewest segments, and then comes first in alphabetical order. ok is false where there is none,
// and where the options do not ask for [Options.Reverse]. page is a request that passes. short is
// the origin of short URLs, as the URL Standard serialises it, "" for that of the page.
//
// A short URL leads to exactly this page when it is resolved by the same rules, has no characters
// that have to be escaped in a header, and is shorter than the page's where a part of that is in
// it. Of templates it is the shortest one that the page's own spelling of values gives. Nothing is
// allocated where there is none, and the page's path has 512 bytes at most.
func (rs *Ruleset) AppendShortURL(dst []byte, page *Request, short string) (url []byte, ok bool) {
	x := rs.reverse
	if x == nil {
		return dst, false
	}
	s, _ := x.searches.Get().(*reverseSearch)
	if s == nil {
		s = new(reverseSearch)
	}
	s.index = x
	defer s.end()
	if !s.begin(page, short) {
		return dst, false
	}
	if x.internal && s.isOwn {
		s.look(nil)
	}
	if x.hasOrigin(text(s.origin)) {
		s.look(s.origin)
	}
	if len(s.best) == 0 {
		return dst, false
	}
	if short == "" {
		dst = append(dst, s.origin...)
	}
	return append(append(dst, short...), s.best...), true
}

// reverseSearch looks for the best short URL of a page.
type reverseSearch struct {
	index *reverseIndex
	page
	searchHash pageHash
	// unsafe tells that no short URL can have a part of the page's path in it (R14).
	unsafe bool
	// isOwn tells that the page has the origin of short URLs.
	isOwn bool
	// request is for a short URL; its Pathname is that of the candidate.
	request Request
	// room is how long the path of a short URL may be that has a part of the page's in it.
	room int
	// steps and proofs are how many rules may still be looked at, and how many candidates resolved.
	steps, proofs int
	// best and candidate are paths.
	best, candidate, destination, canonical []byte
	// memory is where all of them lie, unless they are longer.
	memory [6][512]byte
}

// The most that is done for a page. Where more rules lead to it than anybody needs, most of which
// are shadowed, it may get no short URL.
const (
	mostSteps  = 1000
	mostProofs = 50
)

// begin sets up a search. ok is false where the page has no origin that can be in a header.
func (s *reverseSearch) begin(page *Request, short string) (ok bool) {
	if s.origin, ok = weburl.AppendOrigin(s.memory[0][:0], page.Scheme, page.Host); !ok {
		return false
	}
	s.search, s.searchHash = page.Target.Search, hashOf(nil).add([]byte(page.Target.Search))
	s.path = weburl.AppendCanonicalPath(s.memory[1][:0], page.Target.Pathname)
	s.best, s.candidate = s.memory[2][:0], s.memory[3][:0]
	s.destination, s.canonical = s.memory[4][:0], s.memory[5][:0]
	s.unsafe = unsafePath(page.Target.Pathname, s.destination)
	s.steps, s.proofs = mostSteps, mostProofs
	s.isOwn = short == "" || short == string(s.origin)
	s.request = Request{Scheme: page.Scheme, Host: page.Host, OverHTTP: true}
	s.room = len(s.path) + len(s.search)
	if short == "" {
		return isPlainOrigin(s.origin)
	}
	s.request.Scheme, s.request.Host, _ = strings.Cut(short, "://")
	s.room += len(s.origin) - len(short)
	return true
}

// end leaves the search to others, without what it knows of the request.
func (s *reverseSearch) end() {
	s.search, s.request = "", Request{}
	s.origin, s.path, s.best, s.candidate, s.destination, s.canonical = nil, nil, nil, nil, nil, nil
	searches := s.index.searches
	s.index = nil
	searches.Put(s)
}

// look tries the rules whose destinations have an origin, nil for that of the request, and a path
// that is the page's or above it.
func (s *reverseSearch) look(origin []byte) {
	hash := hashOf(origin)
	for i, b := range s.path {
		if b == '/' {
			if i > 0 {
				s.tryRules(hash, s.path[i:])
			}
			if len(s.index.templates) > 0 {
				s.tryTemplates(hash)
			}
		}
		hash = hash.addByte(b)
		if isLast := i == len(s.path)-1; isLast {
			s.tryRules(hash, nil)
		} else if b == '/' && s.index.slashed {
			s.tryRules(hash, s.path[i:]) // one of the two slashes there goes (R6)
		}
	}
}

// tryRules tries the rules whose destination has a hash and is the page's path but for rest.
func (s *reverseSearch) tryRules(hash pageHash, rest []byte) {
	hasPart := len(rest) > 0
	if hasPart && s.unsafe {
		return
	}
	first := s.index.heads.first(hash.page(s.searchHash))
	for number := first; number != 0 && s.steps > 0; number = s.index.next.at(int(number)) {
		s.steps--
		at := s.index.ruleset.table.slots.at(int(number - 1)).ref()
		key := s.index.ruleset.table.key(at)
		if s.isTooLong(len("/")+len(key)+len(rest), hasPart) {
			return // the keys that follow are not shorter
		}
		if hasPart && s.index.ruleset.headerOf(at).flags().has(exactKey) {
			continue
		}
		s.candidate = appendCandidate(s.candidate[:0], key, rest)
		s.tryCandidate(hasPart)
	}
}

// tryCandidate takes the candidate if it is better than the best short URL so far, and leads to the
// page. hasPart tells that a part of the page's path is in it.
func (s *reverseSearch) tryCandidate(hasPart bool) {
	if s.index.ruleset.opts.foldCase {
		// Folded triplets are in lower case.
		s.canonical = weburl.AppendCanonicalPath(s.canonical[:0], text(s.candidate))
		s.candidate, s.canonical = s.canonical, s.candidate
	}
	if s.isTooLong(len(s.candidate), hasPart) ||
		len(s.best) > 0 && compareShort(text(s.candidate), text(s.best)) >= 0 {
		return
	}
	if s.isOwn && s.search == "" && bytes.Equal(s.candidate, s.path) {
		return // in another spelling it is the page itself
	}
	if isPlainPath(s.candidate) && s.proofs > 0 && s.leadsToPage() {
		s.best = append(s.best[:0], s.candidate...)
	}
}

// isTooLong reports whether a path of that length cannot be the best short URL.
func (s *reverseSearch) isTooLong(length int, hasPart bool) bool {
	return len(s.best) > 0 && length > len(s.best) || hasPart && length >= s.room
}

// tryTemplates tries the templates whose destination begins with the whole segments that have a
// hash.
func (s *reverseSearch) tryTemplates(hash pageHash) {
	for _, r := range s.index.templates[hash] {
		if s.steps--; s.steps < 0 {
			return
		}
		var values captured
		rest, ok := r.match(text(s.path), s.search, &values)
		if !ok {
			continue
		}
		s.tryTemplate(r, &values, rest)
		if r.shorten(&values) {
			s.tryTemplate(r, &values, rest)
		}
	}
}

func (s *reverseSearch) tryTemplate(r *reverseTemplate, values *captured, rest string) {
	s.candidate = r.rule.appendCandidate(s.candidate[:0], values, rest)
	s.tryCandidate(true)
}

// leadsToPage resolves the candidate.
func (s *reverseSearch) leadsToPage() bool {
	s.proofs--
	s.request.Target.Pathname = text(s.candidate)
	destination, result := s.index.ruleset.AppendDestination(s.destination[:0], &s.request)
	s.destination = destination[:0]
	if result.Outcome != Redirect || s.index.ruleset.isUnlisted(result.Rule) {
		return false
	}
	var search, fragment string
	s.canonical, search, fragment = s.cutDestination(s.canonical[:0], text(destination))
	return fragment == "" && search == s.search && bytes.Equal(s.canonical, s.path)
}

// isUnlisted reports whether the rule that has a number is unlisted.
func (rs *Ruleset) isUnlisted(number int) bool {
	if i, ok := rs.template(number); ok {
		return rs.templates.header(i).flags().has(unlisted)
	}
	return rs.headerOf(rs.table.slots.at(number).ref()).flags().has(unlisted)
}

// headerOf returns the header of an entry's record.
func (rs *Ruleset) headerOf(at ref) header {
	return header(binary.LittleEndian.Uint64(rs.table.arena.bytes(at)))
}

// isPlainPath reports whether a path can stand in a Link header as it is. It holds nothing but what
// RFC 3986 has in paths, and no "," or ";", at which simple parsers cut.
func isPlainPath(path []byte) bool {
	for i, c := range path {
		if c == '%' {
			if _, ok := weburl.Triplet(path, i); !ok {
				return false
			}
			continue
		}
		if !isPlain[c] {
			return false
		}
	}
	return true
}

// isPlainOrigin reports whether an origin can stand in a Link header as it is.
func isPlainOrigin(origin []byte) bool {
	return !bytes.ContainsFunc(origin, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("-._:/[]", r)
	})
}

// isPlain tells which characters a path has in a Link header.
var isPlain = func() (is [256]bool) {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	for _, c := range letters + strings.ToUpper(letters) + "0123456789-._~!$&'()*+=:@/" {
		is[c] = true
	}
	return is
}()
