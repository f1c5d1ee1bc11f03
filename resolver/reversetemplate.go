package resolver

import (
	"bytes"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// reverseTemplate is a template the other way round: its destination is what is matched, and its key what is put together.
type reverseTemplate struct {
	rule *templateRule
	// path and search are the destination's in canonical form: literal text, and where the key's variables are.
	path, search []reversePiece
}

// reversePiece is literal text and the variable behind it.
type reversePiece struct {
	literal string
	slot    int // -1 for none
}

// maxReversed is how many variables a key has at most that is found for a page.
const maxReversed = 8

// captured are the values of a key's variables.
type captured [maxReversed][]byte

// addTemplate adds a template, if a page can be its destination.
func (x *Reverse) addTemplate(t *templateRule) {
	reversed, origin, ok := x.ruleset.reverseTemplate(t)
	if !ok {
		return
	}
	begin := hashOf([]byte(origin))
	if literal := reversed.path[0].literal; reversed.path[0].slot >= 0 { // else all variables are in the query
		begin = begin.add([]byte(literal[:strings.LastIndexByte(literal, '/')]))
	}
	x.templates[begin] = append(x.templates[begin], reversed)
	x.noteOrigin(origin)
}

// reverseTemplate turns a template round, and returns the origin of its destination. ok is false where a variable of its key is not in that, or a fragment is. It
// is asked where sample values lead, so that the rest of its chain is in the destination, too.
func (rs *Ruleset) reverseTemplate(t *templateRule) (reversed *reverseTemplate, origin string, ok bool) {
	answer := rs.sampleAnswer(t.samplePath())
	if answer.Outcome != Redirect || strings.Contains(answer.Destination, "#") || len(t.names) > maxReversed {
		return nil, "", false
	}
	origin, rest := cutOrigin(answer.Destination)
	path, query, hasQuery := strings.Cut(rest, "?")
	reversed = &reverseTemplate{rule: t, path: t.piecesOf(string(weburl.AppendCanonicalPath(nil, path)))}
	if hasQuery {
		reversed.search = t.piecesOf("?" + query)
	}
	return reversed, origin, reversed.hasAll(len(t.names))
}

// piecesOf cuts a text at sample values.
func (t *templateRule) piecesOf(sampled string) (pieces []reversePiece) {
	for {
		at, end, slot := len(sampled), len(sampled), -1
		for i := range t.names {
			for _, sample := range sampleSpellings(i) {
				if found := strings.Index(sampled, sample); found >= 0 && found < at {
					at, end, slot = found, found+len(sample), i
				}
			}
		}
		pieces = append(pieces, reversePiece{sampled[:at], slot})
		if slot < 0 {
			return pieces
		}
		sampled = sampled[end:]
	}
}

// hasAll reports whether all variables of the key are there.
func (r *reverseTemplate) hasAll(names int) bool {
	var has [maxReversed]bool
	for _, pieces := range [][]reversePiece{r.path, r.search} {
		for _, piece := range pieces {
			if piece.slot >= 0 && !has[piece.slot] {
				has[piece.slot] = true
				names--
			}
		}
	}
	return names == 0
}

// tryTemplates tries the templates whose destination begins with the whole segments that have a hash.
func (s *reverseSearch) tryTemplates(hash pageHash) {
	for _, r := range s.index.templates[hash] {
		var values captured
		rest, ok := r.match(s.path, []byte(s.search), &values)
		if !ok {
			continue
		}
		s.candidate = r.rule.appendKey(append(s.candidate[:0], '/'), &values)
		s.candidate = append(s.candidate, rest...)
		s.try(true)
	}
}

// match takes the values of the variables from a page, and returns what is left of its path.
func (r *reverseTemplate) match(path, search []byte, values *captured) (rest []byte, ok bool) {
	if rest, ok = r.matchPieces(r.path, path, "/", values); !ok || len(rest) > 0 && rest[0] != '/' {
		return nil, false
	}
	if len(r.search) == 0 {
		return rest, len(search) == 0
	}
	left, ok := r.matchPieces(r.search, search, "&", values)
	return rest, ok && len(left) == 0
}

// matchPieces takes values from a text, in which they end at a separator unless they span segments. What a variable may take is never settled by what
// follows further on: the short URL that comes of it is resolved, and is not taken if it leads elsewhere.
func (r *reverseTemplate) matchPieces(pieces []reversePiece, of []byte, separator string, values *captured) (rest []byte, ok bool) {
	rest = of
	for i, piece := range pieces {
		if rest, ok = bytes.CutPrefix(rest, []byte(piece.literal)); !ok {
			return nil, false
		}
		if piece.slot < 0 {
			return rest, true
		}
		end := r.endOf(piece.slot, rest, pieces[i+1].literal, separator)
		if end <= 0 {
			return nil, false
		}
		if values[piece.slot] == nil {
			values[piece.slot] = rest[:end]
			if separator == "&" && bytes.IndexByte(rest[:end], '+') >= 0 {
				values[piece.slot] = bytes.ReplaceAll(rest[:end], []byte("+"), []byte("%20"))
			}
		}
		rest = rest[end:]
	}
	return rest, true
}

// endOf returns where the value of a variable ends, with which text begins, as next follows it; -1 if that does not follow.
func (r *reverseTemplate) endOf(slot int, text []byte, next, separator string) int {
	if r.rule.span >= 0 && r.rule.segments[r.rule.span].slot == slot && separator == "/" {
		if next == "" {
			return len(text)
		}
		return bytes.LastIndex(text, []byte(next))
	}
	end := bytes.IndexByte(text, separator[0])
	if end < 0 {
		end = len(text)
	}
	suffix, _, _ := strings.Cut(next, separator)
	if !bytes.HasSuffix(text[:end], []byte(suffix)) {
		return -1
	}
	return end - len(suffix)
}

// appendKey appends the key with values in the place of its variables.
func (t *templateRule) appendKey(dst []byte, values *captured) []byte {
	for i, p := range t.segments {
		if i > 0 {
			dst = append(dst, '/')
		}
		if dst = append(dst, p.prefix...); !p.isLiteral() {
			dst = append(append(dst, values[p.slot]...), p.suffix...)
		}
	}
	return dst
}
