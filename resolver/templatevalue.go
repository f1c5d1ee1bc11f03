package resolver

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/uritemplate"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// templateValue is the value of a rule whose key is a template. It is that of an absolute
// destination, of an internal redirect, or an outcome.
type templateValue struct {
	internal bool
	outcome  string // GoneValue or PassValue, "" for a destination
	origin   string // of an absolute destination
	host     string
	// path, query and fragment are literal text and captures; query and fragment without what they
	// begin with.
	path, query, fragment []valuePiece
	hasQuery, hasFragment bool
	// unsafeText tells that the path is what R14 refuses in requests, whatever is captured. As in
	// other values that is the author's affair.
	unsafeText bool
}

// valuePiece is literal text and the capture behind it.
type valuePiece struct {
	literal  string
	slot     int // -1 for none
	operator uritemplate.Operator
	// segments are those of the literal text, with a "/" in front of it, in the path of an internal
	// value.
	segments []segment
	common   facts // that they have
}

// marker stands for a capture while a value is parsed as a URL. It is of no use in one, and comes
// out percent-encoded in paths.
const (
	marker        = "\uE000"
	encodedMarker = "%EE%80%80"
)

// parseTemplateValue parses a value with the variables of a key, or says what is wrong with it.
func parseTemplateValue(value string, names []string) (v templateValue, err error) {
	parts, err := parseTemplate(value)
	if err != nil {
		return v, fmt.Errorf("the destination: %w", err)
	}
	if strings.Contains(value, marker) || strings.Contains(strings.ToUpper(value), encodedMarker) {
		return v, errors.New("the destination holds the character U+E000, which means " +
			"nothing; remove it")
	}
	var marked strings.Builder
	var captures []valuePiece
	for _, part := range parts {
		if part.name == "" {
			marked.WriteString(part.literal)
			continue
		}
		slot := slices.Index(names, part.name)
		if slot < 0 {
			return v, errors.New("the key has no variable " + part.name + "; it has " +
				strings.Join(names, ", ") + " (Caddy's placeholders are not replaced in rules)")
		}
		if !reachesPath(marked.String()) {
			return v, errors.New(variableInHost)
		}
		marked.WriteString(marker)
		operator := uritemplate.Simple
		if part.reserved {
			operator = uritemplate.Reserved
		}
		captures = append(captures, valuePiece{slot: slot, operator: operator})
	}
	if v, err = assembleValue(marked.String(), captures); err == nil {
		v.unsafeText = unsafePath(v.pathOf(slices.Repeat([]capture{{text: "x"}}, len(names))), nil)
	}
	return v, err
}

const variableInHost = "an expression stands in the scheme or the host of the destination, " +
	"which no request may choose; name the host in full: variables may stand in the path, the " +
	"query and the fragment"

// reachesPath reports whether a value that begins so is past its host. Slashes in front of the host
// do not count, however many (URL Standard, special authority ignore slashes state).
func reachesPath(start string) bool {
	if isInternal(start) {
		return true
	}
	_, rest, ok := strings.Cut(start, "://")
	return ok && strings.ContainsAny(strings.TrimLeft(rest, `/\`), "/?#")
}

// assembleValue parses a value with markers, and puts captures in their places.
func assembleValue(marked string, captures []valuePiece) (v templateValue, err error) {
	parsed, err := parseValue(marked)
	if err != nil {
		return v, errors.New(strings.ReplaceAll(err.Error(), marker, "{…}"))
	}
	if parsed.outcome != "" {
		return templateValue{outcome: parsed.outcome}, nil
	}
	path, query, fragment := parsed.path.path, parsed.path.query, parsed.path.fragment
	if v.internal = parsed.internal; !v.internal {
		v.origin, v.host = parsed.url.Origin(), parsed.url.Host
		path, query, fragment = parsed.url.Path, parsed.url.Search(), parsed.url.Hash()
	}
	v.hasQuery, v.hasFragment = query != "", fragment != ""
	for _, text := range []struct {
		pieces *[]valuePiece
		text   string
	}{
		{&v.path, path}, {&v.query, strings.TrimPrefix(query, "?")},
		{&v.fragment, strings.TrimPrefix(fragment, "#")},
	} {
		literals := strings.Split(strings.ReplaceAll(text.text, encodedMarker, marker), marker)
		for i, literal := range literals {
			piece := valuePiece{literal: literal, slot: -1}
			if i < len(literals)-1 {
				piece.slot, piece.operator = captures[0].slot, captures[0].operator
				captures = captures[1:]
			}
			*text.pieces = append(*text.pieces, piece)
		}
	}
	if len(captures) > 0 {
		return v, errors.New("an expression stands in a \"..\" or \".\" segment of the " +
			"destination; remove it")
	}
	return v, nil
}

// appendPieces appends pieces with captures in their places: raw, and encoded where the operator
// may not emit them.
func appendPieces(dst []byte, pieces []valuePiece, captures []capture) []byte {
	for i := range pieces {
		dst = append(dst, pieces[i].literal...)
		if pieces[i].slot >= 0 {
			dst = pieces[i].operator.AppendRaw(dst, captures[pieces[i].slot].text)
		}
	}
	return dst
}

// pathOf returns the path with captures in their places.
func (v *templateValue) pathOf(captures []capture) string {
	return string(appendPieces(make([]byte, 0, 128), v.path, captures))
}

// isTooLong reports whether captures would make the value longer than destinations are: they can
// stand in it again and again.
func (v *templateValue) isTooLong(captures []capture) bool {
	n := 0
	for _, pieces := range [...][]valuePiece{v.path, v.query, v.fragment} {
		for i := range pieces {
			if n += len(pieces[i].literal); pieces[i].slot >= 0 {
				n += len(captures[pieces[i].slot].text)
			}
		}
	}
	return n > maxDestination
}

// number takes the literal text of an internal value's path apart. It gives its segments the
// numbers that they have among those of keys.
func (v *templateValue) number(x *templateIndex) {
	if !v.internal {
		return
	}
	for i := range v.path {
		literal := splitPath{text: v.path[i].literal}
		if i > 0 {
			literal.text = "/" + literal.text
		}
		w := unlimitedWork()
		literal.examine(0, literal.split(w), w)
		x.numberAll(&literal, w)
		v.path[i].common = literal.common
		v.path[i].segments = literal.segments
	}
}

// textOf returns the value with captures in their places.
func (v *templateValue) textOf(captures []capture) string {
	if v.outcome != "" {
		return v.outcome
	}
	text := v.origin + v.pathOf(captures)
	if v.hasQuery {
		text += "?" + v.queryOf(captures)
	}
	return text + v.fragmentOf(captures)
}

// queryOf returns the query with captures in their places, and fragmentOf the fragment, with its
// "#".
func (v *templateValue) queryOf(captures []capture) string {
	query := string(appendPieces(nil, v.query, captures))
	return string(weburl.AppendEncoded(nil, query, weburl.QuerySet))
}

func (v *templateValue) fragmentOf(captures []capture) string {
	if !v.hasFragment {
		return ""
	}
	return string(appendPieces([]byte("#"), v.fragment, captures))
}
