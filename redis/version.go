package redis

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// versionOf returns a digest of rules in their order. It depends on the rules, not on their
// spelling in Redis, so that a stored copy has the version of its original.
func versionOf(rules []resolver.Rule) string {
	digest := sha256.New()
	var b []byte
	for i := range rules {
		b = appendRule(b[:0], &rules[i])
		digest.Write(b)
	}
	return hex.EncodeToString(digest.Sum(nil))
}

// appendRule appends a unique form of a rule: no other rule, nor a sequence of rules, has the same.
func appendRule(b []byte, rule *resolver.Rule) []byte {
	b = appendText(b, rule.Key)
	b = appendText(b, rule.Value)
	b = binary.AppendUvarint(b, uint64(rule.Status))
	hasNote := rule.Note != ""
	hasWindows := rule.Windows != ""
	b = append(b, flag(rule.Exact),
		flag(rule.Unlisted)|byte(rule.Query)<<1|flag(hasNote)<<3|flag(hasWindows)<<4)
	if hasNote {
		b = appendText(b, rule.Note)
	}
	if hasWindows {
		b = appendText(b, rule.Windows)
	}
	return b
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func flag(is bool) byte {
	if is {
		return 1
	}
	return 0
}
