package resolver

import (
	"math/rand/v2"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// Compiler makes a ruleset from rules that are added one by one. A rule with an absolute
// destination is compiled at once, so a million rules can be read as a stream. A Compiler is not
// safe for concurrent use.
type Compiler struct {
	*compiled          // of next
	next      *Ruleset // that is being compiled
	changed   scope    // of the rules, since the ruleset that the compiler began from
	errs      errorList
	records   recordWriter
	rank      int    // of the source whose rules are added
	key       []byte // scratch memory
	// added are the rules with literal keys, in order.
	added pieces[addedRule]
	// templateRules compiles the rules with variables, nil for none.
	templateRules *templateCompiler
	inspect       func(*Ruleset) // nil for nobody
}

// scope is a set of rules that a stage of compiling works on.
type scope uint8

const (
	scopeRules     scope = 1 << iota // those that were added
	scopeAll                         // all of them, where no ruleset was there before
	scopeTemplates                   // rules with variables
	scopeChains                      // what all rules lead to
	everything     = scopeRules | scopeAll | scopeTemplates | scopeChains
)

// addedRule is a rule that gets a place in the table once the number of rules is known.
type addedRule struct {
	hash uint64
	slot slot
}

// NewCompiler returns a compiler without rules. The error is of type [OptionErrors], and has all
// errors of the options.
func NewCompiler(opts Options) (*Compiler, error) {
	checked, err := checkOptions(opts)
	if err != nil {
		return nil, err
	}
	return newCompiler(checked), nil
}

func newCompiler(opts options) *Compiler {
	c := compilerOf(&Ruleset{compiled: compiled{
		opts: opts, table: table{seed: rand.Uint64(), foldCase: opts.foldCase},
		merger: new(weburl.Merger),
	}})
	c.changed = everything
	return c
}

// compiler returns a compiler that continues from the ruleset. rs does not see what it adds or
// changes.
func (rs *Ruleset) compiler() *Compiler {
	return compilerOf(&Ruleset{compiled: rs.branch()})
}

// compilerOf returns a compiler that fills in a ruleset.
func compilerOf(next *Ruleset) *Compiler {
	return &Compiler{
		compiled: &next.compiled, next: next,
		records: recordWriter{
			opts: &next.opts, arena: &next.table.arena, merger: next.merger,
		},
	}
}

// NextSource begins a source of lower precedence: a rule that was added before shadows a later one
// with its key. Without NextSource all rules are of one source, in which a key may occur once. If
// rules that were added before it have no line, messages call them inline rules.
func (c *Compiler) NextSource() {
	c.rank++
}

// Add checks a rule and adds it. Compile returns its errors.
func (c *Compiler) Add(rule Rule) {
	c.count(rule)
	if IsTemplate(rule.Key) {
		c.templateCompiler().add(rule)
		return
	}
	value, err := parseValue(rule.Value)
	before := c.errs.count
	goodKey := c.check().checkLiteral(rule, value, err)
	bad := c.errs.count > before
	if !goodKey || bad && c.errs.count > maxErrors {
		return
	}
	c.key = c.opts.appendKey(c.key[:0], rule.Key)
	if bad {
		c.addInternal(rule, value) // for its key alone, of which a duplicate is an error, too
		return
	}
	c.extent.addLiteral(rule, 1)
	c.addLiteral(rule, value)
}

// Check checks a rule by itself, without adding it. Compile returns its errors.
func (c *Compiler) Check(rule Rule) {
	if IsTemplate(rule.Key) {
		c.check().checkTemplate(rule)
		return
	}
	value, err := parseValue(rule.Value)
	c.check().checkLiteral(rule, value, err)
}

// check checks rules by themselves.
func (c *Compiler) check() ruleCheck { return ruleCheck{&c.opts, &c.errs} }

// addLiteral adds a valid rule without variables, whose canonical key is c.key.
func (c *Compiler) addLiteral(rule Rule, value parsedValue) {
	if value.internal {
		c.addInternal(rule, value)
		return
	}
	r := c.records.newRecord(rule, c.key, value, c.numberOfSource(rule))
	c.enter(r.key, c.records.store(&r), rule.Exact)
}

// addInternal keeps a rule with an internal redirect, whose canonical key is c.key. It is compiled
// when all rules are known.
func (c *Compiler) addInternal(rule Rule, value parsedValue) {
	key := rule.Key
	if text(c.key) != key {
		key = string(c.key)
	}
	at := c.table.internalRules.add(internalRule{
		rule: rule, key: key, value: value.path, source: c.numberOfSource(rule),
	})
	c.enter(key, at, rule.Exact)
}

// numberOfSource returns the number of the source of the rule that is being added.
func (c *Compiler) numberOfSource(rule Rule) int {
	return c.sources.number(source{rule.Position.Source, c.rank})
}

// enter records a rule that is to get a place in the table.
func (c *Compiler) enter(key string, at ref, exact bool) {
	hash, depth := keyHash(c.table.seed, key)
	c.table.noteKey(len(key), depth)
	c.added.add(addedRule{hash, newSlot(hash, at, exact)})
	c.errs.place = c.added.n
}
