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

// digest is the digest of rules, and the sums that it is made of: of the rules without variables,
// from which a change takes what it replaces, and of the templates.
type digest struct {
	literals, templates rulesSum
	hex                 string
}

// sumRules adds up all rules without variables.
func (c *Compiler) sumRules() {
	if c.opts.digest {
		c.eachEntry(func(at ref) { c.digest.literals.add(c.rule(at)) })
	}
}

// sumTemplates adds up all templates.
func (c *Compiler) sumTemplates() {
	c.digest.templates = rulesSum{}
	if !c.opts.digest {
		return
	}
	for _, t := range c.templates.each() {
		c.digest.templates.add(t.rule)
	}
}

// makeDigest makes the digest of the sums.
func (c *Compiler) makeDigest() {
	if c.opts.digest {
		c.digest.hex = c.DigestWithout(nil)
	}
}

// DigestWithout returns the digest that the ruleset has without some of the rules that serve.
func (c *compiled) DigestWithout(rules []Rule) string {
	sum := c.digest.literals
	sum.addSum(&c.digest.templates)
	for _, rule := range rules {
		sum.remove(rule)
	}
	whole := sha256.New()
	fmt.Fprintf(whole, "%s\n%d\n", c.opts.content, c.table.rules+c.templates.len()-len(rules))
	whole.Write(sum.bytes())
	return hex.EncodeToString(whole.Sum(nil))
}

// appendContent appends what a rule says, each part behind its length.
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

// rulesSum is a sum of 256 bits over rules, which does not depend on their order.
type rulesSum [4]uint64

func (s *rulesSum) add(rule Rule) {
	digest := contentDigest(&rule)
	var sum rulesSum
	for i := range sum {
		sum[i] = binary.LittleEndian.Uint64(digest[8*i:])
	}
	s.addSum(&sum)
}

func (s *rulesSum) addSum(other *rulesSum) {
	var carry uint64
	for i := range s {
		s[i], carry = bits.Add64(s[i], other[i], carry)
	}
}

// remove takes out a rule that has been added.
func (s *rulesSum) remove(rule Rule) {
	digest := contentDigest(&rule)
	var borrow uint64
	for i := range s {
		s[i], borrow = bits.Sub64(s[i], binary.LittleEndian.Uint64(digest[8*i:]), borrow)
	}
}

// contentDigest returns the digest of what a rule says.
func contentDigest(rule *Rule) [sha256.Size]byte {
	var memory [512]byte
	return sha256.Sum256(appendContent(memory[:0], rule))
}

func (s *rulesSum) bytes() []byte {
	var b []byte
	for _, word := range s {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	return b
}
