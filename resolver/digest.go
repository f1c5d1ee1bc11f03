package resolver

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strconv"
)

// Digest returns 64 hex digits that are equal for rulesets of equal content on every machine. It is
// "" where the options do not ask for [Options.Digest]. Content is the rules that serve, as they
// are written, in any order and position, and the options under which they were compiled. A digest
// tells contents apart; it is no signature.
func (rs *Ruleset) Digest() string { return rs.digest }

// makeDigest makes the digest.
func (rs *Ruleset) makeDigest() string {
	var sum rulesSum
	var encoded []byte
	add := func(rule Rule) {
		encoded = appendContent(encoded[:0], &rule)
		sum.add(sha256.Sum256(encoded))
	}
	rs.eachEntry(func(at ref) { add(rs.rule(at)) })
	for _, t := range rs.templates.all() {
		add(t.rule)
	}
	whole := sha256.New()
	fmt.Fprintf(whole, "%s\n%d\n", rs.opts.content, rs.rules)
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
	return dst
}

// rulesSum is a sum of 256 bits, which does not depend on the order of what is added.
type rulesSum [4]uint64

func (s *rulesSum) add(digest [sha256.Size]byte) {
	var carry uint64
	for i := range s {
		s[i], carry = bits.Add64(s[i], binary.LittleEndian.Uint64(digest[8*i:]), carry)
	}
}

func (s *rulesSum) bytes() []byte {
	var b []byte
	for _, word := range s {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	return b
}
