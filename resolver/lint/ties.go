package lint

import (
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/pattern"
)

// addTies warns of rules with variables that match a path of an earlier rule, if nothing decides
// which of the two answers.
func (l *List) addTies(rs *resolver.Ruleset) {
	index := pattern.NewIndex(pattern.Tied)
	var rules []resolver.Rule
	for rule := range rs.Templates() {
		if index.IsSpent() {
			return
		}
		key := resolver.CanonicalKey(rule.Key, l.options.FoldCase)
		this := pattern.Parse(key, rule.Exact)
		if n, path, tied := index.First(this); tied {
			other := withSource(rs, rules[n])
			l.add(ofTies, withSource(rs, rule).source, about(rule, WarnAmbiguous, "the path "+path+
				" matches the key "+quote(other.rule.Key)+" of "+other.place()+", too, with nothing to "+
				"choose by; the rule answers whose key comes first in alphabetical order"))
		}
		index.Add(this, len(rules))
		rules = append(rules, rule)
	}
}

// withSource returns a serving rule with its source.
func withSource(rs *resolver.Ruleset, rule resolver.Rule) sourcedRule {
	number, _ := rs.NumberOf(rule.Key)
	return sourcedRule{rs.SourceOf(number), rule}
}
