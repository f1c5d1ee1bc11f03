package reverse

import (
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/pattern"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// template is a rule with variables, read backwards: its destination is matched, and its key is
// filled in. Two bytes stand for a variable in both:
//
//	story/{+2}.html   story/ | spanning | '0' + 1 | .html
type template struct {
	key    string
	origin string // of the destination
	// path and search are those of the destination in canonical form. A slash at the end of the path
	// is removed, and isSlashed is set instead.
	path, search string
	isSlashed    bool
	fragment     string
	sampled      string // the destination of samples, without its fragment
	leadsOn      bool   // to another key
	entry        entry  // in an index, 0 for none
}

// The bytes that begin variables: a spanning one may stand for several segments.
const (
	single   = '\x01'
	spanning = '\x02'
)

// values are the values of a key's variables.
type values [pattern.MaxSegments]string

// samples are values that no key has.
var samples = func() (v values) {
	for slot := range v {
		v[slot] = resolver.SampleValue(slot)
	}
	return v
}()

// variables replaces the expressions of keys and the samples in destinations.
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

// cutVariable splits a text around its first variable, whose slot is -1 if there is none.
func cutVariable(text string) (literal string, slot int, spans bool, rest string) {
	for i := range len(text) {
		if text[i] <= spanning {
			return text[:i], int(text[i+1] - '0'), text[i] == spanning, text[i+2:]
		}
	}
	return text, -1, false, ""
}

// appendFilled appends a text with values instead of variables.
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

// newTemplate returns the template of a rule. ok is false if it leads nowhere. Its destination is
// found with sample values, which also shows whether it leads to another key. request names the
// site.
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

// marked replaces sample values with variables. In the path, a variable spans segments if it does
// so in the key.
func (t *template) marked(sampled string) string {
	marked := []byte(variables.Replace(sampled))
	for i, b := range marked {
		if b == spanning && !strings.Contains(t.key, string(marked[i:i+2])) {
			marked[i] = single
		}
	}
	return string(marked)
}

// beginning returns the whole segments at the beginning of the destination's path that do not
// depend on values.
func (t *template) beginning() string {
	literal, slot, _, _ := cutVariable(t.path)
	if slot >= 0 {
		literal = literal[:strings.LastIndexByte(literal, '/')]
	}
	return literal
}

// isReversible reports whether the values of all variables can be read from a page.
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

// match reads the values of variables from a page. It returns the rest of the page's path, with the
// "/" at its beginning.
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

// matchText reads values from the beginning of a text, each up to the next literal text or
// separator. It uses the first match and never backtracks: the short URL is resolved later, and
// dropped if it leads elsewhere.
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

// valueEnd returns the end of the value at the beginning of a text, or 0 if there is none. Literal
// text follows, and perhaps another variable.
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

// reaches reports whether the path of a destination can begin with that of a URL. It may be a path
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
