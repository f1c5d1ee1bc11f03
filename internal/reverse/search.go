package reverse

import (
	"bytes"
	"errors"
	"net/url"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// AppendShortURL appends the best short URL of a page to dst. The best has the fewest octets, then
// the fewest segments, and then is first in alphabetical order. ok is false if there is none, or if
// x is nil. page is a request that passes. short is the origin of short URLs, as the URL Standard
// serialises it, or "" for the origin of the page.
//
// A short URL leads to exactly this page when the same rules resolve it. It has no characters that
// must be escaped in a header. If it contains a part of the page's URL, it is shorter than that.
// The values of a template are tried as the page spells them and percent-decoded. Nothing is
// allocated if there is no short URL.
func (x *Index) AppendShortURL(
	dst []byte, page *resolver.Request, short string,
) (url []byte, ok bool) {
	if x == nil {
		return dst, false
	}
	s, _ := x.searches.Get().(*search)
	if s == nil {
		s = new(search)
	}
	s.index = x
	defer s.end()
	if !s.begin(page, short) {
		return dst, false
	}
	if s.isOwn {
		s.look(nil)
	}
	s.look(s.origin)
	if len(s.best) == 0 {
		return dst, false
	}
	if short == "" {
		dst = append(dst, s.origin...)
	}
	return append(append(dst, short...), s.best...), true
}

// search looks for the best short URL of a page. Its buffers are reused.
type search struct {
	index *Index
	page
	searchHash pageHash
	// err is why the last candidate has no destination, nil if it has one.
	err error
	// isOwn is set if the page has the origin of short URLs.
	isOwn bool
	// request is for a short URL; its Pathname is that of the candidate.
	request resolver.Request
	// room is the maximum length of a short URL's path that contains a part of the page's path.
	room int
	// steps is how many more rules may be tried, and proofs how many more candidates may be resolved.
	steps, proofs int
	// best and candidate are paths.
	best, candidate, destination, canonical []byte
}

// The maximum work for a page. If far more rules lead to it, and most of them are shadowed, it may
// get no short URL.
const (
	mostSteps  = 1000
	mostProofs = 50
)

// begin prepares a search. ok is false if the page's origin cannot be in a header.
func (s *search) begin(page *resolver.Request, short string) (ok bool) {
	if s.origin, ok = weburl.AppendOrigin(s.origin[:0], page.Scheme, page.Host); !ok {
		return false
	}
	s.search, s.searchHash = page.Target.Search, hashOf(page.Target.Search)
	s.path = weburl.AppendCanonicalPath(s.path[:0], page.Target.Pathname)
	s.best, s.err = s.best[:0], nil
	s.steps, s.proofs = mostSteps, mostProofs
	s.isOwn = short == "" || short == string(s.origin)
	s.request = resolver.Request{Scheme: page.Scheme, Host: page.Host, OverHTTP: true}
	s.room = len(s.path) + len(s.search)
	if short == "" {
		return isPlain(s.origin, "[]")
	}
	s.request.Scheme, s.request.Host, _ = strings.Cut(short, "://")
	s.room += len(s.origin) - len(short)
	return true
}

// end returns the search to the pool, without the request.
func (s *search) end() {
	searches := s.index.searches
	s.index, s.search, s.request = nil, "", resolver.Request{}
	searches.Put(s)
}

// look tries the rules whose destination is at or above the page's path and has an origin, nil for
// that of the request.
func (s *search) look(origin []byte) {
	hash := hashOf(text(origin))
	if !s.index.origins.has(hash) {
		return
	}
	hasTemplates := len(s.index.templates) > 0
	for i, b := range s.path {
		if b == '/' {
			if i > 0 {
				s.tryRules(hash, s.path[i:])
			}
			if hasTemplates {
				s.tryTemplates(hash)
			}
		}
		hash = hash.addByte(b)
		if isLast := i == len(s.path)-1; isLast {
			s.tryRules(hash, nil)
			if hasTemplates {
				s.tryTemplates(hash)
			}
		} else if b == '/' && s.index.slashed {
			s.tryRules(hash, s.path[i:]) // one of the two slashes there goes (R6)
		}
	}
}

// tryRules tries the rules whose destination has a hash. The page's path ends in rest after the
// destination.
func (s *search) tryRules(page pageHash, rest []byte) {
	hasPart := len(rest) > 0
	hash := page.sum(s.searchHash)
	for _, e := range s.index.table.from(hash) {
		if e.hash() != hash || s.steps == 0 {
			return
		}
		s.steps--
		key := s.index.ruleset.KeyOf(e.number())
		if s.isTooLong(len("/")+len(key)+len(rest), hasPart) {
			return // the keys that follow are not shorter
		}
		if hasPart && e.isExact() {
			continue
		}
		s.candidate = append(s.candidate[:0], '/')
		if strings.IndexByte(key, '%') >= 0 { // folded triplets are in lower case
			s.candidate = weburl.AppendCanonicalPath(s.candidate, key)
		} else {
			s.candidate = append(s.candidate, key...)
		}
		s.candidate = append(s.candidate, rest...)
		if s.tryCandidate(e, hasPart); hasPart && errors.Is(s.err, resolver.ErrUnsafePath) {
			return // nor can another short URL have this part of the page's path in it (R14)
		}
	}
}

// tryTemplates tries the templates whose destination begins with the segments that have a hash.
func (s *search) tryTemplates(page pageHash) {
	hash := page.sum(templatesHash)
	for _, e := range s.index.table.from(hash) {
		if e.hash() != hash || s.steps == 0 {
			return
		}
		s.steps--
		var values values
		t := s.index.templates[e.number()]
		if t == nil {
			continue // the hash is that of another page by chance
		}
		if rest, ok := t.match(text(s.path), s.search, &values); ok {
			s.tryTemplate(t, &values, rest)
		}
	}
}

// tryTemplate tries the key of a template with values, as the page spells them and decoded: its
// destination may escape what the key need not.
func (s *search) tryTemplate(t *template, values *values, rest string) {
	s.candidate = appendFilled(append(s.candidate[:0], '/'), t.key, values)
	s.candidate = append(s.candidate, rest...)
	if s.proofs == 0 || bytes.IndexByte(s.candidate, '%') < 0 {
		s.tryCandidate(t.entry, true)
		return
	}
	spelled := string(s.candidate)
	decoded, _ := url.PathUnescape(spelled) // a bad path for one that cannot be decoded
	for _, path := range [...]string{spelled, decoded} {
		s.candidate = weburl.AppendCanonicalPath(s.candidate[:0], path)
		s.tryCandidate(t.entry, true)
	}
}

// tryCandidate accepts the candidate if it is better than the best short URL so far, and leads to
// the page. hasPart is set if it contains a part of the page's path.
func (s *search) tryCandidate(e entry, hasPart bool) {
	s.err = nil
	switch {
	case s.proofs == 0, s.isTooLong(len(s.candidate), hasPart):
	case len(s.best) > 0 && compareShort(text(s.candidate), text(s.best)) >= 0:
	case s.isOwn && s.search == "" && bytes.Equal(s.candidate, s.path):
		// in another spelling it is the page itself
	case isPlain(s.candidate, "") && s.leadsToPage(e):
		s.best = append(s.best[:0], s.candidate...)
	}
}

// isTooLong reports whether a path of this length cannot be the best short URL.
func (s *search) isTooLong(length int, hasPart bool) bool {
	return len(s.best) > 0 && length > len(s.best) || hasPart && length >= s.room
}

// leadsToPage resolves the candidate of an entry.
func (s *search) leadsToPage(e entry) bool {
	s.proofs--
	s.request.Target.Pathname = text(s.candidate)
	destination, result := s.index.ruleset.AppendDestination(s.destination[:0], &s.request)
	s.destination, s.err = destination, result.Err
	if result.Outcome != resolver.Redirect {
		return false
	}
	if result.Rule != e.number() { // else it is listed
		if rule, _ := s.index.ruleset.Numbered(result.Rule); rule.Unlisted {
			return false
		}
	}
	var search, fragment string
	s.canonical, search, fragment = s.cutDestination(s.canonical[:0], text(destination))
	return fragment == "" && search == s.search && bytes.Equal(s.canonical, s.path)
}

// isPlain reports whether a path can be in a Link header as it is; an origin may have more
// characters. The path may only contain what RFC 3986 allows in paths, without "," and ";", at
// which simple parsers split.
func isPlain(part []byte, more string) bool {
	for i, c := range part {
		if plain[c] || strings.IndexByte(more, c) >= 0 {
			continue
		}
		if _, ok := weburl.Triplet(part, i); !ok {
			return false
		}
	}
	return true
}

// plain has the characters that a path may have in a Link header.
var plain = func() (is [256]bool) {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	for _, c := range letters + strings.ToUpper(letters) + "0123456789-._~!$&'()*+=:@/" {
		is[c] = true
	}
	return is
}()
