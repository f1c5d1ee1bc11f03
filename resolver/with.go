package resolver

import (
	"errors"
	"slices"
)

// RuleChange sets or removes a rule of a source.
type RuleChange struct {
	// Source is the n-th that [Compiler.NextSource] began, or 0 for what came before.
	Source int
	// Key is that of the rule, in any spelling.
	Key string
	// Rule is the key's rule from now on, nil for none.
	Rule *Rule
}

// With derives the ruleset that results from changes, the later ones after the earlier ones, and
// tells what they change. It cannot be told apart from one that is compiled of the same rules. The
// error is that of [Compiler.Compile]. To remove what is not there changes nothing. rs goes on as it
// is, and shares what stays.
func (rs *Ruleset) With(changes []RuleChange) (*Ruleset, Difference, error) {
	r := rs.Reread()
	for _, change := range changes {
		r.change(change)
	}
	return r.Ruleset()
}

// Reread begins to read sources of a ruleset again.
func (rs *Ruleset) Reread() *Rereading {
	r := &Rereading{before: rs}
	for n := range rs.ranks() {
		r.rules = append(r.rules, slices.Collect(rs.RulesOf(n)))
	}
	return r
}

func (rs *Ruleset) ranks() int {
	n := 1
	for _, s := range rs.sources {
		n = max(n, s.rank+1)
	}
	return n
}

// Rereading compares the rules of sources that are read again with those of a ruleset. It is not
// safe for concurrent use.
type Rereading struct {
	before *Ruleset
	rules  [][]Rule
	source int
}

// Source begins the n-th source, as [RuleChange] has it: all its rules are passed to Add.
func (r *Rereading) Source(n int) {
	r.source = n
	for len(r.rules) <= n {
		r.rules = append(r.rules, nil)
	}
	r.rules[n] = nil
}

// Add adds the next rule of the source.
func (r *Rereading) Add(rule Rule) { r.rules[r.source] = append(r.rules[r.source], rule) }

// Warn takes what the reader of the source warns of, behind its rules.
func (r *Rereading) Warn(...Warning) {}

// ErrMostChanged is the error of a rereading that finds most rules changed: it is cheaper to compile
// them.
var ErrMostChanged = errors.New("most rules have changed")

// Ruleset derives the ruleset of the rules that have been read, as [Ruleset.With] does.
func (r *Rereading) Ruleset() (*Ruleset, Difference, error) {
	c := &Compiler{opts: r.before.opts, table: table{
		seed: r.before.table.seed, foldCase: r.before.opts.foldCase,
	}, warningGroup: ofRules}
	for n, rules := range r.rules {
		if n > 0 {
			c.NextSource()
		}
		for _, rule := range rules {
			c.Add(rule)
		}
	}
	next, err := c.Compile()
	if err != nil {
		return nil, Difference{}, err
	}
	return next, Compare(r.before, next, 10), nil
}

func (r *Rereading) change(change RuleChange) {
	for len(r.rules) <= change.Source {
		r.rules = append(r.rules, nil)
	}
	rules := r.rules[change.Source]
	canonical := r.before.opts.canonicalKey(change.Key)
	at := slices.IndexFunc(rules, func(rule Rule) bool {
		return r.before.opts.canonicalKey(rule.Key) == canonical
	})
	switch {
	case change.Rule == nil && at >= 0:
		rules = slices.Delete(rules, at, at+1)
	case change.Rule != nil && at >= 0:
		rules[at] = *change.Rule
	case change.Rule != nil:
		rules = append(rules, *change.Rule)
	}
	r.rules[change.Source] = rules
}

// SharesNumbers reports whether a rule has the same number in both rulesets while its key has one,
// as those do that are derived from one another.
func (rs *Ruleset) SharesNumbers(other *Ruleset) bool { return false }

// IsWorn reports whether so much has changed since the ruleset was compiled that it is time to
// compile it anew, which saves memory.
func (rs *Ruleset) IsWorn() bool { return false }

// Recompile compiles the ruleset anew, of its own rules.
func (rs *Ruleset) Recompile() (*Ruleset, error) {
	next, _, err := rs.Reread().Ruleset()
	return next, err
}
