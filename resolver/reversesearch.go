package resolver

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// AppendShortURL appends the best short URL of a page to dst: fewest octets, then fewest segments, then in alphabetical order. ok is false
// where there is none: a URL that leads to exactly this page when it is resolved by the same rules, which has no characters that have to be
// escaped in a header, and which is shorter than the page's where a part of that is in it. page is a request that passes. short is the
// origin of short URLs, as the URL Standard serialises it, "" for that of the page. Nothing is allocated where there is none.
func (x *Reverse) AppendShortURL(dst []byte, page *Request, short string) (url []byte, ok bool) {
	s, _ := x.searches.Get().(*reverseSearch)
	if s == nil {
		s = &reverseSearch{index: x}
	}
	defer s.end()
	if !s.begin(page, short) {
		return dst, false
	}
	if x.internal && s.isOwn {
		s.look(nil)
	}
	if x.origins[string(s.origin)] {
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
	index *Reverse
	// page is what has to be led to: origin, canonical path, and query with its "?".
	origin, path []byte
	search       string
	searchHash   pageHash
	// isOwn tells that the page has the origin of short URLs.
	isOwn bool
	// request is for a short URL; its Pathname is that of the candidate.
	request Request
	// room is how long the path of a short URL may be that has a part of the page's in it.
	room int
	// best and candidate are paths.
	best, candidate, destination, canonical []byte
	// memory is where all of them lie, unless they are longer.
	memory [6][160]byte
}

// begin sets up a search. ok is false where the page has no origin that can be in a header.
func (s *reverseSearch) begin(page *Request, short string) (ok bool) {
	if s.origin, ok = weburl.AppendOrigin(s.memory[0][:0], page.Scheme, page.Host); !ok {
		return false
	}
	s.search, s.searchHash = page.Target.Search, hashOf(nil).add([]byte(page.Target.Search))
	s.path = weburl.AppendCanonicalPath(s.memory[1][:0], page.Target.Pathname)
	s.best, s.candidate, s.destination, s.canonical = s.memory[2][:0], s.memory[3][:0], s.memory[4][:0], s.memory[5][:0]
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
	s.index.searches.Put(s)
}

// look tries the rules whose destinations have an origin, nil for that of the request, and a path that is the page's or above it.
func (s *reverseSearch) look(origin []byte) {
	hash := hashOf(origin)
	for i, b := range s.path {
		if b == '/' {
			if i > 0 {
				s.tryRules(hash, s.path[i:], "")
			}
			if len(s.index.templates) > 0 {
				s.tryTemplates(hash)
			}
		}
		if hash = hash.addByte(b); b == '/' && s.index.slashed {
			s.tryRules(hash, s.path[i+1:], "/")
		}
	}
	if s.path[len(s.path)-1] != '/' {
		s.tryRules(hash, nil, "")
	}
}

// tryRules tries the rules whose destination has a hash and is the page's path but for rest; seam is the slash that goes where a path is
// appended to a base that ends in one (R6).
func (s *reverseSearch) tryRules(hash pageHash, rest []byte, seam string) {
	for number := s.index.heads[hash.page(s.searchHash)]; number != 0; number = s.index.next[number] {
		s.candidate = append(append(s.candidate[:0], '/'), s.index.key(number)...)
		if len(rest) > 0 {
			s.candidate = append(append(s.candidate, seam...), rest...)
		}
		if s.isTooLong(len(rest) > 0) {
			return // the keys that follow are not shorter
		}
		s.try(len(rest) > 0)
	}
}

// try takes the candidate if it is better than the best short URL so far, and leads to the page. hasPart tells that a part of the page's path is
// in it.
func (s *reverseSearch) try(hasPart bool) {
	if s.index.ruleset.opts.foldCase {
		s.canonical = weburl.AppendCanonicalPath(s.canonical[:0], text(s.candidate)) // folded triplets are in lower case
		s.candidate, s.canonical = s.canonical, s.candidate
	}
	if s.isTooLong(hasPart) || len(s.best) > 0 && compareShort(text(s.candidate), text(s.best)) >= 0 {
		return
	}
	if s.isOwn && bytes.Equal(s.candidate, s.path) {
		return // in another spelling it is the page itself
	}
	if isPlainPath(s.candidate) && s.leadsToPage() {
		s.best = append(s.best[:0], s.candidate...)
	}
}

// isTooLong reports whether the candidate cannot be the best short URL, for its length alone.
func (s *reverseSearch) isTooLong(hasPart bool) bool {
	return len(s.best) > 0 && len(s.candidate) > len(s.best) || hasPart && len(s.candidate) >= s.room
}

// leadsToPage resolves the candidate.
func (s *reverseSearch) leadsToPage() bool {
	s.request.Target.Pathname = text(s.candidate)
	destination, result := s.index.ruleset.AppendDestination(s.destination[:0], &s.request)
	s.destination = destination[:0]
	path, ok := bytes.CutPrefix(destination, s.origin)
	if result.Outcome != Redirect || s.index.ruleset.isUnlisted(result.Rule) || !ok || bytes.IndexByte(path, '#') >= 0 {
		return false
	}
	var search []byte
	if query := bytes.IndexByte(path, '?'); query >= 0 {
		path, search = path[:query], path[query:]
	}
	s.canonical = weburl.AppendCanonicalPath(s.canonical[:0], text(path))
	return string(search) == s.search && bytes.Equal(s.canonical, s.path)
}

// isUnlisted reports whether the rule that has a number is unlisted.
func (rs *Ruleset) isUnlisted(number int) bool {
	if t := rs.template(number); t != nil {
		return t.rule.Unlisted
	}
	b := rs.table.arena.bytes(rs.table.slots[number].ref())
	return header(binary.LittleEndian.Uint64(b)).flags().has(unlisted)
}

// isPlainPath reports whether a path can stand in a Link header as it is: it holds nothing but what RFC 3986 has in paths, and no
// "," or ";", at which simple parsers cut.
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
	for _, c := range origin {
		if !isPlain[c] && c != '[' && c != ']' {
			return false
		}
	}
	return true
}

// isPlain tells which characters a path has in a Link header.
var isPlain = func() (is [256]bool) {
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+=:@/" {
		is[c] = true
	}
	return is
}()
