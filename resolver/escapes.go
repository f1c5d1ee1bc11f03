package resolver

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/near"
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
	form, hasReserved := near.WithoutEscapes(path)
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
	if !near.HasReserved(path) || !value.internal && !e.site.has(value.url.Origin()) {
		return ""
	}
	return strings.TrimSuffix(string(e.ruleset.opts.appendKey(nil, path[1:])), "/")
}

// addKey notes the key of an entry, if paths have its form.
func (e *escapes) addKey(at ref) {
	key := e.ruleset.table.key(at)
	if !near.HasReserved(key) {
		return
	}
	form, _ := near.WithoutEscapes(key)
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
