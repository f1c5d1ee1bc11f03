package resolver

import (
	"hash/maphash"
	"strings"
)

// RuleChecker checks one by one whether a [Compiler] without options refuses rules. It keeps some
// 30 bytes of each rule, so it can check a stream of rules.
type RuleChecker struct {
	opts options
	errs errorList // of the rule that is being checked
	seed maphash.Seed
	// first is the position of the first rule of each key, by the hash of the key.
	first map[uint64]firstPlace
	// above are the hashes of the keys that may match the destination of an internal redirect.
	above     []uint64
	key, path []byte // scratch memory
	// written is the length of all valid rules in bytes, longest that of the longest one.
	written, longest int
	// internal counts the internal redirects among them, templates those with variables.
	internal, templates int
}

// firstPlace is the position of the first rule of a key, without the source.
type firstPlace struct {
	line, column int32
	// isSpelledOut is set if the key is not written in its canonical form.
	isSpelledOut bool
}

// NewRuleChecker returns a checker that has seen no rule.
func NewRuleChecker() *RuleChecker {
	opts, _ := checkOptions(Options{}) // which are none, and valid
	return &RuleChecker{opts: opts, seed: maphash.MakeSeed(), first: map[uint64]firstPlace{}}
}

// Check returns all errors of a rule, or nil. They are those of the rule itself, or that its key
// has occurred before. The keys of valid rules are remembered.
func (c *RuleChecker) Check(rule Rule) RuleErrors {
	c.errs = errorList{}
	key := c.checkAlone(rule)
	if c.errs.count == 0 {
		c.checkKey(rule, key)
	}
	if c.errs.count > 0 {
		return c.errs.inOrder()
	}
	c.count(rule)
	return nil
}

// checkAlone checks a rule by itself, and returns its canonical key.
func (c *RuleChecker) checkAlone(rule Rule) (key string) {
	check := ruleCheck{&c.opts, &c.errs}
	if IsTemplate(rule.Key) {
		key, _, _ := check.checkTemplate(rule)
		return key.text
	}
	value, err := parseValue(rule.Value)
	if check.checkLiteral(rule, value, err) {
		c.key = c.opts.appendKey(c.key[:0], rule.Key)
		key = text(c.key)
	}
	if err == nil && value.internal {
		c.noteKeysAbove(value.path.path)
	}
	return key
}

// checkKey reports a key that has occurred before.
func (c *RuleChecker) checkKey(rule Rule, key string) {
	hash := maphash.String(c.seed, key)
	this := firstPlace{
		line: int32(rule.Position.Line), column: int32(rule.Position.Column),
		isSpelledOut: key != rule.Key,
	}
	first, twice := c.first[hash]
	if !twice {
		c.first[hash] = this
		return
	}
	at := Position{rule.Position.Source, int(first.line), int(first.column)}
	message := "the key is already defined at " + at.String() + "; remove one of the two rules"
	if first.isSpelledOut || this.isSpelledOut {
		message = "the key matches the same paths as that at " + at.String() +
			"; remove one of the two rules"
	}
	c.errs.fail(rule, ErrDuplicateKey, message)
}

// noteKeysAbove records the keys that may match the path of an internal redirect.
func (c *RuleChecker) noteKeysAbove(path string) {
	c.path = c.opts.appendKey(c.path[:0], strings.TrimPrefix(path, "/"))
	key := c.path
	var h maphash.Hash
	h.SetSeed(c.seed)
	for hashed, i := 0, 0; i <= len(key); i++ {
		if i == len(key) || key[i] == '/' {
			h.Write(key[hashed:i]) //nolint:errcheck // it never fails
			hashed = i
			c.above = append(c.above, h.Sum64())
		}
	}
}

// count counts a valid rule.
func (c *RuleChecker) count(rule Rule) {
	size := len(rule.Key) + len(rule.Value)
	c.written += size
	c.longest = max(c.longest, size)
	if isInternal(rule.Value) {
		c.internal++
	}
	if IsTemplate(rule.Key) {
		c.templates++
	}
}

// MayFailInChains reports whether the valid rules may fail together, because their chains make too
// much text. That is rare, and only compiling can tell. Templates that make a path much longer at
// each redirect are not considered.
func (c *RuleChecker) MayFailInChains() bool {
	leading := c.internal
	if c.templates == 0 {
		leading = c.countLeading()
	}
	made := c.longest * (min(leading, MaxRedirects) + 1) // at most, by one chain
	if leading == 0 {
		return false
	}
	return made > maxDestination || leading*made > derivedAlways+derivedTimes*c.written
}

// countLeading returns the maximum number of keys that match the destination of another rule.
func (c *RuleChecker) countLeading() (n int) {
	for _, hash := range c.above {
		if _, is := c.first[hash]; is {
			n++
		}
	}
	return n
}
