package resolver

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/uritemplate"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// templateValue is the value of a rule whose key is a template. Its texts have placeholders for
// captures. Each has two bytes: placeMark, and the number of a variable with its operator.
//
//	key    gh/{owner}/{+path}
//	value  https://github.com/{owner}?p={+path}
//	base   https://github.com/ \x00 \x00
//	query  ?p= \x00 \x81
type templateValue struct {
	internal bool
	outcome  string // GoneValue or PassValue, "" for a destination
	// base is origin and path of a URL, or a path. query and fragment include their "?" and "#".
	base, query, fragment string
}

// placeMark begins a placeholder. No value contains a control character (R10).
const placeMark = 0

// reservedPlace marks the number of a variable whose reserved characters stay as they are.
const reservedPlace = 0x80

// newTemplateValue returns the value that a record has.
func newTemplateValue(r *record) (v templateValue) {
	if r.flags.has(noDestination) {
		return templateValue{outcome: r.base}
	}
	v.base, v.query, v.fragment = r.base, r.query, r.fragment
	v.internal = isInternal(r.base)
	return v
}

// cutPlace splits a text around its first placeholder. slot is -1 if there is none.
func cutPlace(text string) (literal string, slot int, operator uritemplate.Operator, rest string) {
	at := strings.IndexByte(text, placeMark)
	if at < 0 {
		return text, -1, operator, ""
	}
	operator = uritemplate.Simple
	place := text[at+1]
	if place&reservedPlace != 0 {
		operator = uritemplate.Reserved
	}
	return text[:at], int(place &^ reservedPlace), operator, text[at+2:]
}

// appendFilled appends a text with captures instead of placeholders. Captures are raw, and encoded
// if the operator may not emit them.
func appendFilled(dst []byte, text string, captures []string) []byte {
	var memory [8]textRange
	filled, _ := appendPlaced(dst, memory[:0], text, captures)
	return filled
}

// textRange is where a capture is in a text.
type textRange struct{ from, to int }

// appendPlaced is appendFilled that also appends the places of the captures.
func appendPlaced(
	dst []byte, places []textRange, text string, captures []string,
) ([]byte, []textRange) {
	for {
		literal, slot, operator, rest := cutPlace(text)
		if dst = append(dst, literal...); slot < 0 {
			return dst, places
		}
		from := len(dst)
		dst = operator.AppendRaw(dst, captures[slot])
		places = append(places, textRange{from, len(dst)})
		text = rest
	}
}

// marker stands for a capture while a value is parsed as a URL. It has no meaning in URLs, and the
// result has it percent-encoded in paths.
const (
	marker        = "\uE000"
	encodedMarker = "%EE%80%80"
)

// parseTemplateValue parses a value with the variables of a key, or says what is wrong with it.
func parseTemplateValue(value string, names []string) (
	v templateValue, parsed parsedValue, err error,
) {
	parts, err := parseTemplate(value)
	if err != nil {
		return v, parsed, fmt.Errorf("the destination: %w", err)
	}
	if strings.Contains(value, marker) || strings.Contains(strings.ToUpper(value), encodedMarker) {
		return v, parsed, errors.New("the destination holds the character U+E000, which means " +
			"nothing; remove it")
	}
	var marked strings.Builder
	var places []byte
	for _, part := range parts {
		if part.name == "" {
			marked.WriteString(part.literal)
			continue
		}
		slot := slices.Index(names, part.name)
		if slot < 0 {
			return v, parsed, errors.New("the key has no variable " + part.name + "; it has " +
				strings.Join(names, ", ") + " (Caddy's placeholders are not replaced in rules)")
		}
		if !reachesPath(marked.String()) {
			return v, parsed, errors.New(variableInHost)
		}
		marked.WriteString(marker)
		place := byte(slot)
		if part.reserved {
			place |= reservedPlace
		}
		places = append(places, place)
	}
	return assembleValue(marked.String(), places)
}

const variableInHost = "an expression stands in the scheme or the host of the destination, " +
	"which no request may choose; name the host in full: variables may stand in the path, the " +
	"query and the fragment"

// reachesPath reports whether this beginning of a value includes the host. The number of slashes in
// front of the host does not matter (URL Standard, special authority ignore slashes state).
func reachesPath(start string) bool {
	if isInternal(start) {
		return true
	}
	_, rest, ok := strings.Cut(start, "://")
	return ok && strings.ContainsAny(strings.TrimLeft(rest, `/\`), "/?#")
}

// assembleValue parses a value with markers, and replaces them with placeholders.
func assembleValue(marked string, places []byte) (v templateValue, parsed parsedValue, err error) {
	parsed, err = parseValue(marked)
	if err != nil {
		return v, parsed, errors.New(strings.ReplaceAll(err.Error(), marker, "{…}"))
	}
	if parsed.outcome != "" {
		return templateValue{outcome: parsed.outcome}, parsed, nil
	}
	v.base, v.query, v.fragment = parsed.path.path, parsed.path.query, parsed.path.fragment
	if v.internal = parsed.internal; !v.internal {
		v.base = parsed.url.Origin() + parsed.url.Path
		v.query, v.fragment = parsed.url.Search(), parsed.url.Hash()
	}
	for _, text := range [...]*string{&v.base, &v.query, &v.fragment} {
		*text, places = withPlaces(*text, places)
	}
	if len(places) > 0 {
		return v, parsed, errors.New("an expression stands in a \"..\" or \".\" segment of the " +
			"destination; remove it")
	}
	return v, parsed, nil
}

// withPlaces replaces the markers of a text with the first placeholders.
func withPlaces(text string, places []byte) (filled string, rest []byte) {
	literals := strings.Split(strings.ReplaceAll(text, encodedMarker, marker), marker)
	if len(literals) == 1 {
		return text, places
	}
	var b strings.Builder
	for i, literal := range literals {
		if b.WriteString(literal); i < len(literals)-1 {
			b.WriteByte(placeMark)
			b.WriteByte(places[i])
		}
	}
	return b.String(), places[len(literals)-1:]
}

// isTooLong reports whether captures would make the value longer than destinations may be: a value
// can contain them several times.
func (v *templateValue) isTooLong(captures []string) bool {
	n := 0
	for _, text := range [...]string{v.base, v.query, v.fragment} {
		for slot := 0; slot >= 0; {
			var literal string
			literal, slot, _, text = cutPlace(text)
			if n += len(literal); slot >= 0 {
				n += len(captures[slot])
			}
		}
	}
	return n > maxDestination
}

// baseOf returns origin and path with captures.
func (v *templateValue) baseOf(captures []string) string {
	return string(appendFilled(make([]byte, 0, 128), v.base, captures))
}

// textOf returns the value with captures.
func (v *templateValue) textOf(captures []string) string {
	if v.outcome != "" {
		return v.outcome
	}
	text := v.baseOf(captures)
	if v.query != "" {
		text += "?" + v.queryOf(captures)
	}
	return text + v.fragmentOf(captures)
}

// queryOf returns the query with captures, without its "?".
func (v *templateValue) queryOf(captures []string) string {
	query := string(appendFilled(nil, strings.TrimPrefix(v.query, "?"), captures))
	return string(weburl.AppendEncoded(nil, query, weburl.QuerySet))
}

// fragmentOf returns the fragment with captures.
func (v *templateValue) fragmentOf(captures []string) string {
	return string(appendFilled(nil, v.fragment, captures))
}
