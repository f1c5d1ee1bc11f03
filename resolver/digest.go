package resolver

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strconv"
)

// Digest returns 64 hex digits that are equal on every machine for rulesets of equal content. It
// returns "" without [Options.Digest]. Content is the options and the serving rules as they are
// written, without order and positions. A digest tells contents apart; it is not a signature.
func (rs *Ruleset) Digest() string { return rs.digest.hex }

// digest is the digest of the rules, and the sums that it is made from: that of the rules without
// variables, which a change updates, and that of the templates.
type digest struct {
	literals, templates RuleSum
	hex                 string
}

// sumRules adds up all rules without variables.
func (c *Compiler) sumRules() {
	if c.opts.digest {
		c.eachEntry(func(at ref) { c.digest.literals.Add(c.rule(at)) })
	}
}

// sumTemplates adds up all templates.
func (c *Compiler) sumTemplates() {
	c.digest.templates = RuleSum{}
	if !c.opts.digest {
		return
	}
	for _, t := range c.templates.each() {
		c.digest.templates.Add(t.rule)
	}
}

// makeDigest makes the digest from the sums.
func (c *Compiler) makeDigest() {
	if c.opts.digest {
		c.digest.hex = c.DigestWith(RuleSum{})
	}
}

// DigestWith returns the digest that the ruleset would have if the rules of a sum served, too.
func (c *compiled) DigestWith(more RuleSum) string {
	more.addSum(&c.digest.literals)
	more.addSum(&c.digest.templates)
	whole := sha256.New()
	fmt.Fprintf(whole, "%s\n%d\n", c.opts.content, more.n)
	whole.Write(more.bytes())
	return hex.EncodeToString(whole.Sum(nil))
}

// appendContent appends the content of a rule, each part after its length.
func appendContent(dst []byte, rule *Rule) []byte {
	for _, part := range [...]string{rule.Key, rule.Value} {
		dst = appendCounted(dst, part)
	}
	dst = append(strconv.AppendInt(dst, int64(rule.Status), 10), ' ')
	dst = append(strconv.AppendBool(dst, rule.Exact), ' ')
	dst = strconv.AppendBool(dst, rule.Unlisted)
	if rule.Query != QueryDefault { // so that other rules keep the digests that they had before
		dst = append(append(dst, ' '), rule.Query.String()...)
	}
	if rule.Note != "" { // for the same reason, and apart from the modes
		dst = append(append(dst, '\n'), rule.Note...)
	}
	return dst
}

// RuleSum is a sum over rules, of 256 bits. It does not depend on their order.
type RuleSum struct {
	words [4]uint64
	n     int
}

// Add adds a rule.
func (s *RuleSum) Add(rule Rule) {
	digest := contentDigest(&rule)
	one := RuleSum{n: 1}
	for i := range one.words {
		one.words[i] = binary.LittleEndian.Uint64(digest[8*i:])
	}
	s.addSum(&one)
}

func (s *RuleSum) addSum(other *RuleSum) {
	var carry uint64
	for i := range s.words {
		s.words[i], carry = bits.Add64(s.words[i], other.words[i], carry)
	}
	s.n += other.n
}

// Remove subtracts a rule, which need not have been added yet.
func (s *RuleSum) Remove(rule Rule) {
	digest := contentDigest(&rule)
	var borrow uint64
	for i := range s.words {
		s.words[i], borrow = bits.Sub64(s.words[i], binary.LittleEndian.Uint64(digest[8*i:]), borrow)
	}
	s.n--
}

// contentDigest returns the digest of the content of a rule.
func contentDigest(rule *Rule) [sha256.Size]byte {
	var memory [512]byte
	return sha256.Sum256(appendContent(memory[:0], rule))
}

func (s *RuleSum) bytes() []byte {
	var b []byte
	for _, word := range s.words {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	return b
}
