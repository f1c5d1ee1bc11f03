package rulefile

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// ruleSum is a sum over rules, whatever their order and places.
type ruleSum struct {
	format Format
	hash   maphash.Hash
	sum    uint64
}

func newRuleSum(format Format) *ruleSum {
	s := &ruleSum{format: format}
	s.hash.SetSeed(maphash.MakeSeed())
	return s
}

// like returns a sum over no rules, which can be compared with s.
func (s *ruleSum) like() *ruleSum {
	like := &ruleSum{format: s.format}
	like.hash.SetSeed(s.hash.Seed())
	return like
}

func (s *ruleSum) add(rule resolver.Rule) {
	if s.format == Redirects {
		rule = asRead(rule)
	}
	s.hash.Reset()
	s.hash.WriteString(rule.Key)
	s.hash.WriteString(rule.Value)
	var rest [2 * 8]byte
	binary.LittleEndian.PutUint64(rest[:], uint64(len(rule.Key))) // where the value begins
	binary.LittleEndian.PutUint32(rest[8:], uint32(rule.Status))
	rest[12], rest[13], rest[14] = asByte(rule.Exact), asByte(rule.Unlisted), byte(rule.Query)
	s.hash.Write(rest[:])
	s.sum += s.hash.Sum64()
}

func asByte(is bool) byte {
	if is {
		return 1
	}
	return 0
}
