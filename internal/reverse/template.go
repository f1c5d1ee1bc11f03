package reverse

import (
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/pattern"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// template is a rule with variables the other way round. Its destination is what is matched, and
// its key what is put together. In both, two bytes stand for a variable:
//
//	story/{+2}.html   story/ | spanning | '0' + 1 | .html
type template struct {
	key    string
	origin string // of the destination
	// path and search are the destination's in canonical form. A slash at the end of the path is cut
	// off and told by isSlashed.
	path, search string
	isSlashed    bool
	fragment     string
	sampled      string // the destination of samples, without its fragment
	leadsOn      bool   // to another key
	entry        entry  // in an index, 0 for none
}

// The bytes that variables begin with: a spanning one may stand for several segments.
const (
	single   = '\x01'
	spanning = '\x02'
)

// values are those of the variables of a key.
type values [pattern.MaxSegments]string

// samples are values that no key has.
var samples = func() (v values) {
	for slot := range v {
		v[slot] = resolver.SampleValue(slot)
	}
	return v
}()

// variables puts them in the places of expressions in keys and of samples in destinations.
var variables = func() *strings.Replacer {
	var pairs []string
	for slot := range samples {
		n := strconv.Itoa(slot + 1)
		simple, reserved := resolver.SampleSpellings(slot)
		one, several := variable(single, slot), variable(spanning, slot)
		pairs = append(pairs, "{"+n+"}", one, "{+"+n+"}", several, simple, one, reserved, several)
	}
	return strings.NewReplacer(pairs...)
}()

func variable(kind byte, slot int) string { return string([]byte{kind, '0' + byte(slot)}) }

// cutVariable cuts a text at its first variable, whose slot is -1 for none.
func cutVariable(text string) (literal string, slot int, spans bool, rest string) {
	for i := range len(text) {
		if text[i] <= spanning {
			return text[:i], int(text[i+1] - '0'), text[i] == spanning, text[i+2:]
		}
	}
	return text, -1, false, ""
}

// appendFilled appends a text with values in the places of its variables.
func appendFilled(dst []byte, text string, values *values) []byte {
	for slot := 0; slot >= 0; {
		var literal string
		literal, slot, _, text = cutVariable(text)
		if dst = append(dst, literal...); slot >= 0 {
			dst = append(dst, values[slot]...)
		}
	}
	return dst
}

// newTemplate returns a template as far as it is known. ok is false where it leads nowhere. Sample
// values tell its destination, so that the rest of a chain is known, too. request names the site.
func newTemplate(
	ruleset *resolver.Ruleset, number int, request resolver.Request,
) (t *template, ok bool) {
	rule, _ := ruleset.Numbered(number)
	t = &template{
		key:     variables.Replace(ruleset.KeyOf(number)),
		leadsOn: strings.HasPrefix(rule.Value, "/"),
	}
	request.Target.Pathname = t.request(&samples)
	destination, result := ruleset.AppendDestination(nil, &request)
	if result.Outcome != resolver.Redirect || result.Rule != number {
		return t, false
	}
	t.sampled, t.fragment = cutBefore(string(destination), '#')
	origin, search := cutBefore(t.sampled, '?')
	origin, path := cutOrigin(origin)
	t.origin, t.search = origin, t.marked(search)
	t.path = t.marked(string(weburl.AppendCanonicalPath(nil, path)))
	t.path, t.isSlashed = strings.CutSuffix(t.path, "/")
	return t, true
}

// request returns the path of a request for the key.
func (t *template) request(values *values) string {
	return string(appendFilled([]byte("/"), t.key, values))
}

// marked puts variables in the places of sample values. In the path, those span segments which do
// in the key.
func (t *template) marked(sampled string) string {
	marked := []byte(variables.Replace(sampled))
	for i, b := range marked {
		if b == spanning && !strings.Contains(t.key, string(marked[i:i+2])) {
			marked[i] = single
		}
	}
	return string(marked)
}

// beginning returns the whole segments that the destination's path begins with, whatever the
// values.
func (t *template) beginning() string {
	literal, slot, _, _ := cutVariable(t.path)
	if slot >= 0 {
		literal = literal[:strings.LastIndexByte(literal, '/')]
	}
	return literal
}

// isReversible reports whether a page tells the values of all variables.
func (t *template) isReversible() bool {
	for slot := range strings.Count(t.key, string(single)) + strings.Count(t.key, string(spanning)) {
		page := t.path + t.search
		if !strings.Contains(page, variable(single, slot)) &&
			!strings.Contains(page, variable(spanning, slot)) {
			return false
		}
	}
	return t.fragment == ""
}

// match takes the values of variables from a page. It returns what is left of its path, with the
// "/" that it begins with.
func (t *template) match(path, search string, values *values) (rest string, ok bool) {
	rest, ok = matchText(t.path, path, '/', values)
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	if t.isSlashed && rest == "/" {
		rest = ""
	} else if t.isSlashed && rest == "" {
		return "", false
	}
	left, ok := matchText(t.search, search, '&', values)
	return rest, ok && left == ""
}

// matchText takes values from what a text begins with, each up to the literal text behind it, or up
// to a separator. It takes the first way that there is, and goes back to none: the short URL that
// comes of it is resolved, and is not taken if it leads elsewhere.
func matchText(pattern, text string, separator byte, values *values) (rest string, ok bool) {
	literal, slot, spans, pattern := cutVariable(pattern)
	for {
		if text, ok = strings.CutPrefix(text, literal); !ok || slot < 0 {
			return text, ok
		}
		next, nextSlot, nextSpans, following := cutVariable(pattern)
		end := 0
		if spans && separator == '/' {
			end = strings.LastIndex(text, next)
		} else {
			end = valueEnd(text, next, nextSlot >= 0, separator)
		}
		if end <= 0 {
			return "", false
		}
		if values[slot] == "" {
			values[slot] = text[:end]
			if separator == '&' {
				values[slot] = strings.ReplaceAll(text[:end], "+", "%20")
			}
		}
		text, literal, slot, spans, pattern = text[end:], next, nextSlot, nextSpans, following
	}
}

// valueEnd returns where the value ends that a text begins with, 0 for nowhere. Literal text
// follows, and perhaps another variable.
func valueEnd(text, literal string, hasNext bool, separator byte) int {
	if end := strings.IndexByte(text, separator); end >= 0 {
		text = text[:end]
	}
	before, behind := cutBefore(literal, separator)
	if hasNext && behind == "" && text != "" { // another one stands in the same segment
		return 1 + strings.Index(text[1:], literal)
	}
	value, _ := strings.CutSuffix(text, before)
	if len(value)+len(before) != len(text) {
		return 0
	}
	return len(value)
}

// reaches reports whether the path of a destination can begin with that of a URL. It may be what is
// below the key, unless the rule is exact.
func (t *template) reaches(path string, isExact bool) bool {
	pattern, path := t.path, strings.TrimSuffix(path, "/")
	segments := strings.Count(path, "/")
	for i := range len(pattern) {
		if pattern[i] == spanning {
			pattern = pattern[:i+2]
			break
		}
		if pattern[i] != '/' {
			continue
		}
		if segments--; segments < 0 {
			pattern = pattern[:i]
			break
		}
	}
	rest, ok := matchText(pattern, path, '/', new(values))
	return ok && (rest == "" || rest[0] == '/' && !isExact)
}
