package find

import (
	"github.com/caddy-shortlink/shortlink/internal/near"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Listed are the keys of a ruleset that may be suggested to anybody, as [near.Texts]. Keys with
// variables, unlisted keys, and keys that are gone or pass are not included.
type Listed struct {
	*resolver.Ruleset
	// Hits returns how often the rule with a number has redirected; nil if nothing is counted.
	Hits func(number int) uint64
}

// KeyOf returns the canonical key of the rule with a number, "" for none.
func (l *Listed) KeyOf(number int) string {
	if key := l.Ruleset.KeyOf(number); !resolver.IsTemplate(key) {
		return key
	}
	return ""
}

// Uses returns the hits of the rule with a number, and whether it may be suggested.
func (l *Listed) Uses(number int) (n uint64, ok bool) {
	rule, ok := l.Numbered(number)
	if !ok || rule.Unlisted || rule.Value == resolver.GoneValue || rule.Value == resolver.PassValue {
		return 0, false
	}
	if l.Hits != nil {
		n = l.Hits(number)
	}
	return n, true
}

// Suggest returns the rules whose keys were perhaps meant by a path that no key matches, the
// nearest first: see [near.Search]. It compares all keys.
func (l *Listed) Suggest(path string, most int) []resolver.Rule {
	return l.rules(near.Search(l, path, most))
}

func (l *Listed) rules(found []near.Found) (rules []resolver.Rule) {
	for _, f := range found {
		rule, _ := l.Numbered(f.Number)
		rules = append(rules, rule)
	}
	return rules
}

// fewKeys is how many keys are compared one by one while there is no index.
const fewKeys = 10_000

// Suggest is [Listed.Suggest] with an index, for requests that anybody can make. It never waits:
// while the index of many keys is being made, it finds none.
func (x *Index) Suggest(listed Listed, path string, most int) []resolver.Rule {
	w, ok := x.near.get(listed.Ruleset)
	switch {
	case ok:
		listed.Ruleset = w.ruleset
		return listed.rules(w.index.Search(&listed, path, most))
	case listed.Len() <= fewKeys:
		return listed.Suggest(path, most)
	}
	return nil
}

// nearKeys is the index of the keys of a ruleset.
type nearKeys struct {
	ruleset *resolver.Ruleset
	index   *near.Index
}

func (w *nearKeys) source() *resolver.Ruleset { return w.ruleset }

func (w *nearKeys) follow(ruleset *resolver.Ruleset) (next *nearKeys, isWorn bool) {
	next = &nearKeys{ruleset, w.index.With(newNumbers(w.ruleset, ruleset))}
	return next, next.index.Added() > mostAdded
}

func (x *Index) makeNear(ruleset *resolver.Ruleset) *nearKeys {
	return &nearKeys{ruleset, near.NewIndex(&Listed{Ruleset: ruleset}, x.pause)}
}
