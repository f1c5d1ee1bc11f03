package schedule

import (
	"errors"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Compiler is a [resolver.Compiler] of rules as they are written.
type Compiler struct {
	*resolver.Compiler
	options resolver.Options
	at      Time
	source  int
	table   *table  // nil for none
	closed  []place // none of whose windows is open
	twice   resolver.RuleErrors
}

// NewCompiler returns a compiler without rules, for a time.
func NewCompiler(options resolver.Options, at Time) (*Compiler, error) {
	compiler, err := resolver.NewCompiler(options)
	return &Compiler{Compiler: compiler, options: options, at: at}, err
}

// NextSource begins the next source.
func (c *Compiler) NextSource() {
	c.source++
	c.Compiler.NextSource()
}

// Add adds the next rule of the source, and returns what is active of it; ok is false for nothing.
func (c *Compiler) Add(rule resolver.Rule) (active resolver.Rule, ok bool) {
	if rule.Windows == "" {
		c.Compiler.Add(rule)
		return rule, true
	}
	at := place{resolver.CanonicalKey(rule.Key, c.options.FoldCase), c.source}
	if c.table == nil {
		c.table = newTable()
	}
	if first, is := c.table.get(at); is {
		c.failTwice(rule, first)
		return rule, false
	}
	windows := Split(rule)
	c.table.add(at, stored(rule, c.options.NoLines), windows)
	for _, w := range windows {
		if w.isAt(c.at) {
			c.Compiler.Add(w.Rule)
			active, ok = w.Rule, true
		} else {
			c.Check(w.Rule)
		}
	}
	if !ok {
		c.closed = append(c.closed, at)
	}
	return active, ok
}

// failTwice reports a key that two rules of a source have.
func (c *Compiler) failTwice(rule, other resolver.Rule) {
	if rule.Position.ComparePlace(other.Position) < 0 {
		rule, other = other, rule
	}
	c.twice = append(c.twice, &resolver.RuleError{
		Kind: resolver.ErrDuplicateKey, Position: rule.Position, Key: rule.Key,
		Message: "the key is already defined at " + other.Position.String() + "; write its rules as " +
			"one that has all windows, or remove one of the two",
	})
}

// Compile compiles the rules. The error is that of [resolver.Compiler.Compile].
func (c *Compiler) Compile() (Rules, error) {
	ruleset, err := c.Compiler.Compile()
	for _, at := range c.closed {
		if err != nil {
			break
		}
		if plain, is := ruleset.RuleOf(at.source, at.key); is {
			rule, _ := c.table.get(at)
			c.failTwice(plain, rule)
		}
	}
	if c.twice != nil {
		wrong, is := errors.AsType[resolver.RuleErrors](err)
		if err != nil && !is {
			return Rules{}, err
		}
		return Rules{}, append(wrong, c.twice...)
	}
	if err != nil {
		return Rules{Ruleset: ruleset}, err
	}
	rules := newRules(ruleset, c.table, c.at)
	if c.options.Digest {
		for key := range rules.Scheduled("") {
			rules.sum(key, rules.inDigest.Add, rules.inDigest.Remove)
		}
	}
	return rules, nil
}

// Validate returns everything that is wrong with rules as they are written. It is an error of
// [resolver.Compile].
func Validate(rules []resolver.Rule, options resolver.Options) error {
	c, err := NewCompiler(options, Begin)
	if err != nil {
		return err
	}
	for _, rule := range rules {
		c.Add(rule)
	}
	_, err = c.Compile()
	return err
}
