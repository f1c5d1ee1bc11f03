package resolver

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// escapes are the paths of the site that rules lead to and that are no keys, but would be if a
// reserved character and its escape were the same, as ( and %28. Paths and keys are compared by the
// form without such escapes, which takes time in proportion to their length.
type escapes struct {
	ruleset *Ruleset
	site    *Site
	forms   map[string]*escapedForm
}

// escapedForm is what paths and keys have in common that differ in such escapes.
type escapedForm struct {
	paths []escapedPath
	key   Rule // the rule of the first key in alphabetical order, if there is one
}

// escapedPath is a path that a rule leads to, in the form of keys.
type escapedPath struct {
	path string
	rule Rule
}

// add notes the path of the site that a value leads to, if it does.
func (e *escapes) add(rule Rule, value parsedValue) {
	path := e.pathOf(value)
	form, hasReserved := withoutEscapes(path)
	if !hasReserved || e.ruleset.entryOf(path) != 0 {
		return
	}
	if e.forms == nil {
		e.forms = map[string]*escapedForm{}
	}
	if e.forms[form] == nil {
		e.forms[form] = &escapedForm{}
	}
	e.forms[form].paths = append(e.forms[form].paths, escapedPath{path, rule})
}

// pathOf returns the path of the site that a value leads to, in the form of keys. It is "" where
// there is none, or none that may have reserved characters.
func (e *escapes) pathOf(value parsedValue) string {
	path := value.path.path
	if !value.internal {
		path = value.url.Path
	}
	if !mayHaveReserved(path) || !value.internal && !e.site.has(value.url.Origin()) {
		return ""
	}
	return strings.TrimSuffix(string(e.ruleset.opts.appendKey(nil, path[1:])), "/")
}

// addKey notes the key of an entry, if paths have its form.
func (e *escapes) addKey(at ref) {
	key := e.ruleset.table.key(at)
	if !mayHaveReserved(key) {
		return
	}
	form, _ := withoutEscapes(key)
	if found := e.forms[form]; found != nil {
		rule := e.ruleset.rule(at)
		if found.key.Key == "" || rule.Key < found.key.Key {
			found.key = rule
		}
	}
}

// report reports each path that differs from a key in escapes. It does not where the key's own rule
// leads to the path, which is a page then, or where that rule leads nowhere.
func (e *escapes) report(do func(rule Rule, message string)) {
	if e.forms == nil {
		return
	}
	e.ruleset.eachEntry(e.addKey)
	for _, found := range e.forms {
		if found.key.Key == "" || isOutcome(found.key.Value) {
			continue
		}
		value, _ := parseValue(found.key.Value)
		page := e.pathOf(value)
		for _, p := range found.paths {
			if p.path != page {
				do(p.rule, escapeMessage(p.rule.Value, found.key.Key))
			}
		}
	}
}

func escapeMessage(value, key string) string {
	path := behindHost(value)
	origin, behind := strings.TrimSuffix(value, path), ""
	if end := strings.IndexAny(path, "?#"); end >= 0 {
		behind = path[end:]
	}
	return "the destination's path is no key, and differs from the key " + quote(key) +
		" in the escape of a reserved character, which counts as another character; write " +
		origin + "/" + key + behind + ", unless the path is a page of the site"
}

// withoutEscapes returns a path in the form of keys without escapes of reserved characters. It
// reports whether the path has any such character.
func withoutEscapes(path string) (form string, hasReserved bool) {
	decoded := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		c := path[i]
		if octet, ok := weburl.Triplet(path, i); ok && isReserved(octet) {
			c = octet
			i += len("%XX") - 1
		}
		hasReserved = hasReserved || isReserved(c)
		decoded = append(decoded, c)
	}
	return string(decoded), hasReserved
}

// mayHaveReserved reports whether a path has a reserved character, or an escape of any.
func mayHaveReserved(path string) bool {
	for i := range len(path) {
		if path[i] == '%' || isReserved(path[i]) {
			return true
		}
	}
	return false
}

// isReserved reports whether a character and its escape are both found in paths, and told apart. A
// "/" separates segments, as its escape does not on purpose.
func isReserved(c byte) bool {
	const (
		low uint64 = 1<<'!' | 1<<'$' | 1<<'&' | 1<<'\'' | 1<<'(' | 1<<')' | 1<<'*' | 1<<'+' |
			1<<',' | 1<<':' | 1<<';' | 1<<'='
		high uint64 = 1<<('@'-64) | 1<<('['-64) | 1<<(']'-64) | 1<<('|'-64)
	)
	if c < 64 {
		return low>>c&1 != 0
	}
	return high>>(c-64)&1 != 0 // which is 0 for what is not ASCII
}
