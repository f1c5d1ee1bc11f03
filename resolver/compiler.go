package resolver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// Compiler makes a ruleset of rules that are added one by one. What it keeps of a rule
// with an absolute destination is the compiled form alone, so that a million rules
// can be read as a stream. It is not safe for concurrent use.
type Compiler struct {
	opts  options
	table table
	// added are the rules in their order.
	added   []addedRule
	sources []source
	rank    int
	// sourceNumbers are the indexes of sources.
	sourceNumbers map[source]int
	errs          []placedError
	warnings      []Warning
	// shadowed are the rules that another source's rules shadow.
	shadowed map[keyOfSource]Rule
	full     bool // the arena is
	pause    func()
	// scratch memory for keys and records
	key, query, encoded []byte
	merger              weburl.Merger
}

// placedError is an error, and how many good rules were added before its rule.
type placedError struct {
	err   *RuleError
	place int
}

// keyOfSource is a canonical key in a source.
type keyOfSource struct {
	rank int
	key  string
}

// addedRule is a rule that waits for the table.
type addedRule struct {
	hash  uint64
	ref   ref
	depth uint16
	exact bool
}

// internalRef marks a ref that is an index into table.internals.
const internalRef ref = 1 << 31

// shadowed is the slot of a rule that has none, as an earlier source has its key.
const shadowed = -1

// ErrTooLarge is the error of rules that take more than 8 GiB when they are compiled.
var ErrTooLarge = errors.New("the rules take more than 8 GiB when they are compiled")

// Compile makes a ruleset of rules. The error holds everything that is wrong with
// options (as [OptionErrors]) or rules (as [RuleErrors]).
func Compile(rules []Rule, opts Options) (*Ruleset, error) {
	c, err := NewCompiler(opts)
	if err != nil {
		return nil, err
	}
	for _, rule := range rules {
		c.Add(rule)
	}
	return c.Compile()
}

// NewCompiler returns a compiler without rules. The error, of type [OptionErrors],
// holds everything that is wrong with the options.
func NewCompiler(opts Options) (*Compiler, error) {
	checked, err := checkOptions(opts)
	if err != nil {
		return nil, err
	}
	return &Compiler{
		opts:          checked,
		table:         table{seed: rand.Uint64(), foldCase: checked.foldCase},
		sourceNumbers: make(map[source]int),
	}, nil
}

// Add checks a rule and takes it in. What is wrong with it, Compile reports.
func (c *Compiler) Add(rule Rule) {
	value, problem := parseValue(rule.Value)
	before := len(c.errs)
	goodKey := c.check(rule, value, problem)
	bad := len(c.errs) > before
	if !goodKey {
		return
	}
	source := c.source(rule.Position.Source)
	c.key = c.appendKey(c.key[:0], rule.Key)
	switch {
	case bad || value.internal:
		// A bad rule is only there for its key to be found twice.
		c.addInternal(rule, value, source)
	default:
		c.addAbsolute(rule, value, source)
	}
	if !bad {
		c.warnOfRule(rule, value)
	}
}

// check reports everything that is wrong with a rule taken for itself, and returns whether its
// key is good.
func (c *Compiler) check(rule Rule, value parsedValue, valueProblem string) (goodKey bool) {
	inKey := keyProblem(rule.Key)
	if inKey != "" {
		c.fail(rule, ErrInvalidKey, inKey)
	}
	if valueProblem != "" {
		c.fail(rule, ErrInvalidValue, valueProblem)
	} else if !value.internal && !c.opts.hostAllowed(value.url.Host) {
		c.fail(rule, ErrHostNotAllowed, hostProblem(value.url.Host))
	}
	if rule.Status != 0 && !ValidStatus(rule.Status) {
		c.fail(rule, ErrInvalidStatus, statusProblem(rule.Status))
	}
	return inKey == ""
}

func (c *Compiler) fail(rule Rule, kind error, message string) {
	err := &RuleError{Kind: kind, Position: rule.Position, Key: rule.Key, Message: message}
	c.errs = append(c.errs, placedError{err, len(c.added)})
}

func statusProblem(code int) string {
	return fmt.Sprintf("%d is not the status of a redirect; write 301, 302, 303, 307 or 308", code)
}

// addAbsolute compiles a rule with an absolute destination, whose canonical key is c.key.
func (c *Compiler) addAbsolute(rule Rule, value parsedValue, source int) {
	c.query = c.opts.appendConstantQuery(c.query[:0], &c.merger, value.url.Query, "")
	r := record{
		key:       text(c.key),
		base:      value.url.Origin() + value.url.Path,
		query:     text(c.query),
		fragment:  value.url.Hash(),
		status:    c.opts.statusOf(rule),
		ownStatus: rule.Status,
	}
	describe(&r, rule, source)
	c.enter(text(c.key), c.store(&r), rule.Exact)
}

// addInternal takes a rule with an internal redirect in, whose canonical key is c.key, to be compiled when
// all rules are known.
func (c *Compiler) addInternal(rule Rule, value parsedValue, source int) {
	key := string(c.key)
	at := internalRef | ref(len(c.table.internals))
	c.table.internals = append(c.table.internals, internalRule{rule: rule, key: key, value: value.path, source: source})
	c.enter(key, at, rule.Exact)
}

// describe fills in what a record says of its rule as it is written.
func describe(r *record, rule Rule, source int) {
	if r.key != rule.Key {
		r.flags |= hasSpelling
		r.spelling = rule.Key
	}
	if isInternal(rule.Value) || r.writtenValue() != rule.Value {
		r.flags |= hasValue
		r.value = rule.Value
	}
	if rule.Exact {
		r.flags |= exactKey
	}
	if rule.Unlisted {
		r.flags |= unlisted
	}
	r.position = recordPosition{source, rule.Position.Line, rule.Position.Column}
}

// NextSource begins a source of lower precedence: where one of the rules added so far has a key of the rules
// to come, it shadows theirs. Without it all rules are of one source, in which a
// key may stand once.
func (c *Compiler) NextSource() { c.rank++ }

// source is where rules come from: as positions name it, and its place in the precedence.
type source struct {
	name string
	rank int
}

// source returns the number of a name in the source whose rules are being added.
func (c *Compiler) source(name string) int {
	this := source{name, c.rank}
	n, known := c.sourceNumbers[this]
	if !known {
		n = len(c.sources)
		c.sources = append(c.sources, this)
		c.sourceNumbers[this] = n
	}
	return n
}

// rankAt returns the precedence of an entry's source.
func (c *Compiler) rankAt(at ref) int {
	if at&internalRef != 0 {
		return c.sources[c.internal(at).source].rank
	}
	var r record
	r.decode(c.table.arena.bytes(at))
	return c.sources[r.position.source].rank
}

// store puts a record into the arena.
func (c *Compiler) store(r *record) ref {
	c.encoded = appendRecord(c.encoded[:0], r)
	at, ok := c.table.arena.add(c.encoded)
	c.full = c.full || !ok
	return at
}

// appendKey appends the form of a key that the table holds.
func (c *Compiler) appendKey(dst []byte, key string) []byte {
	start := len(dst)
	dst = appendCanonical(dst, key)
	if c.opts.foldCase {
		foldCase(dst[start:])
	}
	return dst
}

// enter lets a rule wait for its place in the table.
func (c *Compiler) enter(key string, at ref, exact bool) {
	hash, depth := keyHash(c.table.seed, key)
	c.added = append(c.added, addedRule{hash: hash, ref: at, depth: uint16(depth), exact: exact})
}

// SetPause lets Compile call pause after every few hundred rules, to let others run.
func (c *Compiler) SetPause(pause func()) { c.pause = pause }

// Compile makes a ruleset of the rules added. The error, of type [RuleErrors], holds
// everything that is wrong with them, in the order in which they were added, or it is
// ErrTooLarge; a ruleset with loops is no error. The compiler cannot be used again.
func (c *Compiler) Compile() (*Ruleset, error) {
	if c.full {
		return nil, ErrTooLarge
	}
	rules := c.fillTable()
	if len(c.errs) > 0 {
		return nil, c.ruleErrors()
	}
	c.findFates()
	if len(c.errs) > 0 {
		return nil, c.ruleErrors()
	}
	c.warnOfChains()
	failures := c.storeInternals()
	if c.full {
		return nil, ErrTooLarge
	}
	c.table.internals = nil
	c.table.arena.trim()
	return &Ruleset{
		table:    c.table,
		opts:     c.opts,
		sources:  c.sources,
		failures: failures,
		warnings: c.warnings,
		rules:    rules,
	}, nil
}

// ruleErrors returns the errors in the order of their rules. Those of duplicate keys were found last.
func (c *Compiler) ruleErrors() RuleErrors {
	slices.SortStableFunc(c.errs, func(a, b placedError) int { return a.place - b.place })
	errs := make(RuleErrors, len(c.errs))
	for i, placed := range c.errs {
		errs[i] = placed.err
	}
	return errs
}

// fillTable gives every rule its place in the table, reports duplicate keys, and returns the
// number of rules that serve.
func (c *Compiler) fillTable() int {
	c.table.makeSlots(len(c.added))
	rules := 0
	for n, new := range c.added {
		pauseAfter(n, c.pause)
		slot := newSlot(new.hash, new.ref, new.exact)
		at, inserted := c.table.insert(new.hash, int(new.depth), slot)
		if inserted {
			rules++
		} else {
			at = c.settle(n, at, new.ref)
		}
		if at >= 0 && new.ref&internalRef != 0 {
			c.internal(new.ref).slot = at
		}
	}
	return rules
}

func (c *Compiler) internal(at ref) *internalRule {
	return &c.table.internals[at&^internalRef]
}

// settle decides what becomes of the n-th rule, whose key has a place in the table already: within a source that
// is an error, and of two sources the first one's rule serves. It returns the rule's place, which is none.
func (c *Compiler) settle(n, at int, new ref) int {
	old := c.table.slots[at].ref()
	first, second := c.ruleAt(old), c.ruleAt(new)
	if c.rankAt(old) == c.rankAt(new) {
		c.failDuplicate(n, first, second)
	} else {
		c.shadow(n, c.rankAt(new), second, first)
	}
	if new&internalRef != 0 {
		c.internal(new).slot = shadowed
	}
	return shadowed
}

// shadow reports that a rule of a source is shadowed by an earlier one's, or, of the n-th rule, that its
// key stands twice in its own source.
func (c *Compiler) shadow(n, rank int, rule, by Rule) {
	key := keyOfSource{rank, string(c.appendKey(nil, rule.Key))}
	if first, twice := c.shadowed[key]; twice {
		c.failDuplicate(n, first, rule)
		return
	}
	if c.shadowed == nil {
		c.shadowed = map[keyOfSource]Rule{}
	}
	c.shadowed[key] = rule
	c.warnShadowed(rule, by)
}

// failDuplicate reports that the n-th rule has the key of an earlier one of its source.
func (c *Compiler) failDuplicate(n int, first, second Rule) {
	err := &RuleError{
		Kind:     ErrDuplicateKey,
		Position: second.Position,
		Key:      second.Key,
		First:    first.Position,
		Message:  duplicateMessage(first, second),
	}
	c.errs = append(c.errs, placedError{err, n})
}

func duplicateMessage(first, second Rule) string {
	message := "the key stands already"
	if first.Key != second.Key {
		message = "the key is the same as " + quote(first.Key) + ", which stands already"
	}
	if at := first.Position.String(); at != "" && first.Position.Line > 0 {
		message += " at " + at
	}
	return message + "; remove one of the two rules"
}

// ruleAt returns the rule of an entry as it was added.
func (c *Compiler) ruleAt(at ref) Rule {
	if at&internalRef != 0 {
		return c.internal(at).rule
	}
	var r record
	r.decode(c.table.arena.bytes(at))
	return r.rule(c.sources)
}

// storeInternals compiles the rules with internal redirects, and returns the errors that some of
// them answer with.
func (c *Compiler) storeInternals() []error {
	var failures []error
	loops := map[*LoopError]int{}
	for i := range c.table.internals {
		pauseAfter(i, c.pause)
		this := &c.table.internals[i]
		if this.slot == shadowed {
			continue
		}
		r := c.internalRecord(this)
		if r.flags.has(failed) {
			var n int
			failures, n = failureOf(this.fate.cycle, failures, loops)
			r.base = string(binary.AppendUvarint(nil, uint64(n)))
		}
		slot := &c.table.slots[this.slot]
		*slot = slot.withRef(c.store(&r))
	}
	return failures
}

// failureOf returns the number of the error of a loop, or of a chain that is too long where loop is nil.
func failureOf(loop *LoopError, failures []error, loops map[*LoopError]int) ([]error, int) {
	if n, ok := loops[loop]; ok {
		return failures, n
	}
	loops[loop] = len(failures)
	if loop == nil {
		return append(failures, ErrTooManyRedirects), len(failures)
	}
	return append(failures, loop), len(failures)
}
