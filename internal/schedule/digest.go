package schedule

import (
	"fmt"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Digest returns the digest of the rules as they are written, which an edge does not change: that
// of the ruleset, with what sources have for keys with windows instead of what is active of it.
func (r *Rules) Digest() string {
	if plain := r.Ruleset.Digest(); r.table == nil || plain == "" {
		return plain
	}
	return r.Ruleset.DigestWith(r.inDigest)
}

// follow makes the sum for the digest that of the rules before, from which these differ in some
// keys, of which each stands once.
func (r *Rules) follow(before *Rules, keys map[string]bool) {
	if r.Ruleset.Digest() == "" {
		return
	}
	r.inDigest = before.inDigest
	for key := range keys {
		if before.hasWindow(key) {
			before.sum(key, r.inDigest.Remove, r.inDigest.Add)
		}
		if r.hasWindow(key) {
			r.sum(key, r.inDigest.Add, r.inDigest.Remove)
		}
	}
}

// sum passes what the digest has for a key with windows, and what it does not have of the ruleset.
func (r *Rules) sum(key string, has, hasNot func(resolver.Rule)) {
	if _, rule, ok := r.Active(key); ok {
		hasNot(rule)
	}
	var text strings.Builder
	for source := range r.Sources() { // any of which may serve at some time
		if rule, is := r.RuleOf(source, key); is && rule.Windows != "" {
			fmt.Fprintf(&text, "%q %s\n", rule.Key, rule.Windows)
		} else if is {
			fmt.Fprintf(&text, "%q %s\n", rule.Key, textOf(Split(rule)))
		}
	}
	has(resolver.Rule{Value: text.String(), Status: -1}) // which no other rule has
}
