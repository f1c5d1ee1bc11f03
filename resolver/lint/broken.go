package lint

import (
	"cmp"
	"slices"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Broken returns the rules of a ruleset that break keys which the rulesets before do not break. All
// requests for a broken key get an error. count is the number of such rules, whatever the options
// of the rulesets. first are the first of them by position, with the messages of their warnings;
// the kind of each is the error that [resolver.Ruleset.Failures] gives. most limits how many are
// named.
func Broken(
	rs *resolver.Ruleset, before []*resolver.Ruleset, most int,
) (count int, first []*resolver.RuleError) {
	var broken []map[int]bool // by the ruleset before, once it is needed
	var rules []failingRule
	for number, failure := range rs.Failures() {
		rule, _ := rs.Numbered(number)
		if broken == nil {
			broken = brokenNumbers(before)
		}
		if isBroken(rule.Key, before, broken) {
			continue
		}
		count++
		this := failingRule{rule, failure}
		at, _ := slices.BinarySearchFunc(rules, this, failingRule.compare)
		if at < most {
			rules = slices.Insert(rules, at, this)
			rules = rules[:min(len(rules), most)]
		}
	}
	for _, this := range rules {
		first = append(first, &resolver.RuleError{
			Kind: this.failure, Position: this.Position, Key: this.Key,
			Message: failureMessage(rs, this.Rule, this.failure),
		})
	}
	return count, first
}

// brokenNumbers returns the numbers of the broken rules of each ruleset.
func brokenNumbers(rulesets []*resolver.Ruleset) []map[int]bool {
	all := make([]map[int]bool, len(rulesets))
	for i, rs := range rulesets {
		all[i] = map[int]bool{}
		for number := range rs.Failures() {
			all[i][number] = true
		}
	}
	return all
}

// isBroken reports whether a key is broken in any ruleset.
func isBroken(key string, rulesets []*resolver.Ruleset, broken []map[int]bool) bool {
	for i, rs := range rulesets {
		if number, ok := rs.NumberOf(key); ok && broken[i][number] {
			return true
		}
	}
	return false
}

// failingRule is a rule whose requests get an error.
type failingRule struct {
	resolver.Rule
	failure error
}

// compare orders rules by their places.
func (r failingRule) compare(other failingRule) int {
	return cmp.Or(r.Position.Compare(other.Position), cmp.Compare(r.Key, other.Key))
}
