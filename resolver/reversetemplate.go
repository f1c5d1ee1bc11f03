package resolver

import (
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver/pattern"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// reverseTemplate is a template the other way round. Its destination is what is matched, and its
// key what is put together.
type reverseTemplate struct {
	rule *templateRule
	// path and search are the destination's in canonical form: literal text, and where the key's
	// variables are.
	path, search []reversePiece
}

// reversePiece is literal text and the variable behind it.
type reversePiece struct {
	literal string
	slot    int  // -1 for none
	spans   bool // the variable may stand for several segments
	encoded bool // its reserved characters are escaped
}

// captured are the values of a key's variables.
type captured [pattern.MaxSegments]string

// addTemplate adds a template, if a page can be its destination.
func (x *reverseIndex) addTemplate(t *templateRule) {
	destination, ok := x.ruleset.sampleDestination(t)
	if !ok || strings.Contains(destination, "#") {
		return
	}
	origin, rest := cutOrigin(destination)
	reversed := t.reversed(rest)
	if !reversed.hasAll(len(t.names)) {
		return
	}
	begin := hashOf([]byte(origin))
	// Where the path has no variable, all are in the query.
	if literal := reversed.path[0].literal; reversed.path[0].slot >= 0 {
		begin = begin.add([]byte(literal[:strings.LastIndexByte(literal, '/')]))
	}
	x.templates[begin] = append(x.templates[begin], reversed)
	x.noteOrigin(origin)
}

// sampleDestination returns where sample values lead: so the rest of a chain is known, too.
func (rs *Ruleset) sampleDestination(t *templateRule) (destination string, ok bool) {
	result := rs.resultFor(t.sample().path, "", "")
	return result.Destination, result.Outcome == Redirect
}

// reversed returns a template the other way round; sampled is the path and query that sample values
// lead to.
func (t *templateRule) reversed(sampled string) *reverseTemplate {
	path, query, hasQuery := strings.Cut(sampled, "?")
	r := &reverseTemplate{rule: t, path: t.piecesOf(string(weburl.AppendCanonicalPath(nil, path)))}
	if hasQuery {
		r.search = t.piecesOf("?" + query)
	}
	return r
}

// piecesOf cuts a text at sample values.
func (t *templateRule) piecesOf(sampled string) (pieces []reversePiece) {
	for {
		piece, rest := t.cutPiece(sampled)
		if pieces = append(pieces, piece); piece.slot < 0 {
			return pieces
		}
		sampled = rest
	}
}

// cutPiece cuts a text behind its first sample value.
func (t *templateRule) cutPiece(sampled string) (piece reversePiece, rest string) {
	for at := 0; ; at += len(anySegment) {
		found := strings.Index(sampled[at:], anySegment)
		if found < 0 {
			return reversePiece{literal: sampled, slot: -1}, ""
		}
		at += found
		slot, ok := leadingNumber(sampled[at+len(anySegment):])
		if !ok || slot >= len(t.names) {
			continue
		}
		for i, sample := range sampleSpellings(slot) {
			if rest, ok := strings.CutPrefix(sampled[at:], sample); ok {
				piece = reversePiece{literal: sampled[:at], slot: slot, encoded: i > 0}
				piece.spans = i == 0 && t.span >= 0 && t.segments[t.span].Slot == slot
				return piece, rest
			}
		}
	}
}

// leadingNumber returns the number that a text begins with.
func leadingNumber(text string) (n int, ok bool) {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	n, err := strconv.Atoi(text[:digits])
	return n, err == nil
}

// hasAll reports whether all variables of the key are there.
func (r *reverseTemplate) hasAll(names int) bool {
	var has [pattern.MaxSegments]bool
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

// match takes the values of the variables from a page. It returns what is left of its path, with
// the "/" that it begins with.
func (r *reverseTemplate) match(path, search string, values *captured) (rest string, ok bool) {
	rest, ok = matchPieces(r.path, path, '/', values)
	last := r.path[len(r.path)-1].literal
	switch {
	case !ok:
		return "", false
	case rest != "" && rest[0] != '/' && !strings.HasSuffix(last, "/"):
		return "", false
	case rest != "" && strings.HasSuffix(last, "/"):
		rest = "/" + rest // the seam of R6
	}
	if len(r.search) == 0 {
		return rest, search == ""
	}
	left, ok := matchPieces(r.search, search, '&', values)
	return rest, ok && left == ""
}

// matchPieces takes values from a text, each up to the literal text behind it, or up to a
// separator. It takes the first way that there is, and goes back to none: the short URL that comes
// of it is resolved, and is not taken if it leads elsewhere.
func matchPieces(pieces []reversePiece, text string, separator byte, values *captured) (
	rest string, ok bool,
) {
	for i, piece := range pieces {
		if text, ok = strings.CutPrefix(text, piece.literal); !ok {
			return "", false
		}
		if piece.slot < 0 {
			return text, true
		}
		end := piece.endOf(text, &pieces[i+1], separator)
		if end <= 0 {
			return "", false
		}
		if values[piece.slot] == "" {
			values[piece.slot] = text[:end]
			if separator == '&' {
				values[piece.slot] = strings.ReplaceAll(text[:end], "+", "%20")
			}
		}
		text = text[end:]
	}
	return text, true
}

// endOf returns where the value of a variable ends, with which text begins. It returns -1 if the
// literal text of the next piece does not follow.
func (p *reversePiece) endOf(text string, next *reversePiece, separator byte) int {
	if p.spans && separator == '/' {
		if next.literal == "" {
			return len(text)
		}
		return strings.LastIndex(text, next.literal)
	}
	end := strings.IndexByte(text, separator)
	if end < 0 {
		end = len(text)
	}
	behind := strings.IndexByte(next.literal, separator)
	switch {
	case behind < 0 && next.slot >= 0: // another variable stands in the same segment
		if end == 0 {
			return -1
		}
		return 1 + strings.Index(text[1:end], next.literal)
	case behind < 0:
		behind = len(next.literal)
	}
	if !strings.HasSuffix(text[:end], next.literal[:behind]) {
		return -1
	}
	return end - behind
}

// appendCandidate appends a path that may lead to a page. The path is the key with values in the
// place of its variables, and the rest of the page's path.
func (t *templateRule) appendCandidate(dst []byte, values *captured, rest string) []byte {
	for _, p := range t.segments {
		dst = append(append(dst, '/'), p.Prefix...)
		if !p.IsLiteral() {
			dst = append(append(dst, values[p.Slot]...), p.Suffix...)
		}
	}
	return append(dst, rest...)
}

// shorten decodes in values what a destination escapes, and a key need not: they make a shorter
// URL. It reports whether there is anything of the kind.
func (r *reverseTemplate) shorten(values *captured) (shortened bool) {
	for _, pieces := range [...][]reversePiece{r.path, r.search} {
		for _, piece := range pieces {
			if piece.slot < 0 || !piece.encoded || strings.IndexByte(values[piece.slot], '%') < 0 {
				continue
			}
			if decoded := decodePlain(values[piece.slot]); decoded != values[piece.slot] {
				values[piece.slot], shortened = decoded, true
			}
		}
	}
	return shortened
}

// decodePlain decodes the triplets of characters that a segment can hold as they are.
func decodePlain(value string) string {
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		octet, ok := weburl.Triplet(value, i)
		if ok && isPlain[octet] && octet != '/' && octet != '.' {
			b.WriteByte(octet)
			i += 2
			continue
		}
		b.WriteByte(value[i])
	}
	return b.String()
}

// reaches reports whether the path of a destination can begin with segments.
func (r *reverseTemplate) reaches(segments []string) bool {
	patterns, spans := r.segments()
	for i, segment := range segments {
		switch {
		case i == len(segments)-1 && segment == "":
			return true // a slash at the end
		case i == len(patterns):
			return !r.rule.rule.Exact // what is below the key is appended
		case i == spans:
			return true
		case !hasParts(segment, patterns[i]):
			return false
		}
	}
	return true
}

// segments returns the literal parts of each segment of the destination's path, between which there
// are variables, and which segment has one that spans several, -1 for none.
func (r *reverseTemplate) segments() (patterns [][]string, spans int) {
	spans = -1
	parts := []string{""}
	for _, piece := range r.path {
		for i, literal := range strings.Split(piece.literal, "/") {
			if i > 0 {
				patterns, parts = append(patterns, parts), []string{""}
			}
			parts[len(parts)-1] += literal
		}
		if piece.spans {
			spans = len(patterns)
		}
		if piece.slot >= 0 {
			parts = append(parts, "")
		}
	}
	return append(patterns, parts), spans
}

// hasParts reports whether a segment consists of parts and something between each two of them.
func hasParts(segment string, parts []string) bool {
	rest, ok := strings.CutPrefix(segment, parts[0])
	for i, part := range parts[1:] {
		if !ok || rest == "" {
			return false
		}
		at := strings.Index(rest[1:], part)
		if i == len(parts)-2 {
			return strings.HasSuffix(rest[1:], part)
		}
		if ok = at >= 0; ok {
			rest = rest[1+at+len(part):]
		}
	}
	return ok && rest == ""
}
