package rulefile

import (
	"hash/maphash"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// ruleSum is a sum over rules, whatever their order and places.
type ruleSum struct {
	format Format
	seed   maphash.Seed
	sum    uint64
}

func newRuleSum(format Format) *ruleSum {
	return &ruleSum{format: format, seed: maphash.MakeSeed()}
}

// like returns a sum over no rules, which can be compared with s.
func (s *ruleSum) like() *ruleSum { return &ruleSum{format: s.format, seed: s.seed} }

func (s *ruleSum) add(rule resolver.Rule) {
	rule.Position = resolver.Position{}
	if s.format == Redirects {
		rule = asRead(rule)
	}
	s.sum += maphash.Comparable(s.seed, rule)
}
