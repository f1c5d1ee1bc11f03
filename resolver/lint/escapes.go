package lint

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/near"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// escapes finds paths of the site that rules lead to and that are no keys, but would be if a
// reserved character equalled its escape, as ( and %28. Paths and keys are compared in a form
// without such escapes, in time proportional to their length.
type escapes struct {
	*resolver.Ruleset
	site     *Site
	foldCase bool
	forms    map[string]*escapedForm
}

// escapedForm is a form that paths and keys share if they differ only in such escapes.
type escapedForm struct {
	paths []escapedPath
	key   resolver.Rule // the rule of the first key in alphabetical order, if there is one
}

// escapedPath is a path that a rule leads to, in the form of keys.
type escapedPath struct {
	path string
	rule resolver.Rule
}

// add adds the path of the site that a value leads to, if there is one.
func (e *escapes) add(rule resolver.Rule) {
	path := e.pathOf(rule.Value)
	if path == "" || e.isKey(path) {
		return
	}
	form, hasReserved := near.WithoutEscapes(path)
	if !hasReserved {
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

// isKey reports whether a rule without variables has this canonical key.
func (e *escapes) isKey(key string) bool {
	number, ok := e.NumberOf(key)
	if ok {
		_, ok = e.Numbered(number)
	}
	return ok
}

// pathOf returns the path of the site that a value leads to, in the form of keys. It is "" if there
// is none, or if it has no reserved characters.
func (e *escapes) pathOf(value string) (path string) {
	switch {
	case isOutcome(value):
		return ""
	case isInternal(value):
		path = pathOf(value)
	default:
		if path, _, _ := cutParts(behindHost(value)); !near.HasReserved(path) {
			return "" // as most have none, and need not be parsed
		}
		u, err := weburl.Parse(value)
		if err != nil || !e.site.has(u.Origin()) {
			return ""
		}
		path = u.Path
	}
	if !near.HasReserved(path) {
		return ""
	}
	return strings.TrimSuffix(resolver.CanonicalKey(path[1:], e.foldCase), "/")
}

// addKey adds the key of the rule with a number, if paths have the same form.
func (e *escapes) addKey(number int, key string) {
	if !near.HasReserved(key) {
		return
	}
	form, _ := near.WithoutEscapes(key)
	if found := e.forms[form]; found != nil {
		rule, _ := e.Numbered(number)
		if found.key.Key == "" || rule.Key < found.key.Key {
			found.key = rule
		}
	}
}

// report reports each path that differs from a key in escapes. It leaves out a path to which the
// key's own rule leads, which is a page then, and a key whose rule leads nowhere.
func (e *escapes) report(do func(rule resolver.Rule, message string)) {
	if e.forms == nil {
		return
	}
	for number, key := range e.Keys() {
		e.addKey(number, key)
	}
	for _, found := range e.forms {
		if found.key.Key == "" || isOutcome(found.key.Value) {
			continue
		}
		page := e.pathOf(found.key.Value)
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
