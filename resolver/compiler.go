package resolver

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// Compiler makes a ruleset of rules that are added one by one. Of a rule with an absolute
// destination it keeps the compiled form alone, so that a million rules can be read as a stream. It
// is not safe for concurrent use.
type Compiler struct {
	opts      options
	table     table
	templates *templateIndex // nil for none
	// addedTemplates are the templates in the order in which they came.
	addedTemplates []addedTemplate
	// added are the rules with literal keys in their order.
	added   pieces[addedRule]
	sources numbered[source]
	rank    int
	errs    []placedError // the first maxErrors
	wrong   int           // how many errors there are
	// shadowed are the rules that rules of earlier sources shadow.
	shadowed map[keyOfSource]Rule
	// inOrder are the indexes of the rules with internal redirects that serve; see internalInOrder.
	inOrder []int32
	atSite  siteEnds
	full    bool // whether the arena is
	extent
	// shared are long parts of destinations that lie in the arena once, by their text.
	shared map[string]ref
	// made are long queries and fragments of chains, by what they are made of.
	made map[embedded]queryAndFragment
	// failures are the errors that rules answer with, templateFailures those of templates by number.
	failures         []error
	templateFailures []error
	concerns         *concerns
	inspect          func(*Ruleset) // nil for nobody
	replaced         int            // bytes of records that others have taken the place of
	// scratch memory for keys and records
	key, query, encoded []byte
	merger              weburl.Merger
}

// placedError is an error, and how many good rules were added before its rule.
type placedError struct {
	err   *RuleError
	place int
}

// addedRule is a rule that is to get a place in the table, once their number is known.
type addedRule struct {
	hash uint64
	slot slot
}

// internalRef marks a ref that is an index into table.internalRules.
const internalRef ref = 1 << 31

// ErrTooLarge is the error of rules that take too much memory when they are compiled. That is more
// than [Options.MaxSize] says, or than 8 GiB.
var ErrTooLarge = errors.New("the rules are too large")

// Compile makes a ruleset of rules. The error holds everything that is wrong with options (as
// [OptionErrors]) or rules (as [RuleErrors]).
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

// NewCompiler returns a compiler without rules. The error, of type [OptionErrors], holds everything
// that is wrong with the options.
func NewCompiler(opts Options) (*Compiler, error) {
	checked, err := checkOptions(opts)
	if err != nil {
		return nil, err
	}
	return newCompiler(checked), nil
}

func newCompiler(opts options) *Compiler {
	return &Compiler{opts: opts, table: table{seed: rand.Uint64(), foldCase: opts.foldCase}}
}

// Add checks a rule and adds it. What is wrong with it, Compile reports.
func (c *Compiler) Add(rule Rule) {
	c.count(rule)
	if IsTemplate(rule.Key) {
		c.addTemplate(rule)
		return
	}
	value, err := parseValue(rule.Value)
	before := c.wrong
	goodKey := c.check(rule, value, err)
	bad := c.wrong > before
	if !goodKey || bad && c.wrong > maxErrors {
		return
	}
	source := c.sources.number(source{rule.Position.Source, c.rank})
	c.key = c.opts.appendKey(c.key[:0], rule.Key)
	if bad {
		c.addInternal(rule, value, source) // for its key alone, of which a duplicate is an error, too
		return
	}
	r := c.newRecord(rule, value, source)
	c.extent.addLiteral(rule, 1)
	c.addLiteral(rule, value, &r)
}

// addLiteral adds a good rule without variables, with its record.
func (c *Compiler) addLiteral(rule Rule, value parsedValue, r *record) {
	if value.internal {
		c.addInternal(rule, value, r.position.source)
		return
	}
	c.enter(r.key, c.store(r), rule.Exact)
}

// check reports everything that is wrong with a rule by itself. It returns whether its key is good.
// inValue is what is wrong with its value, if anything is.
func (c *Compiler) check(rule Rule, value parsedValue, inValue error) (goodKey bool) {
	inKey := checkKey(rule.Key)
	c.failParts(rule, inKey, inValue)
	hasHost := inValue == nil && value.outcome == "" && !value.internal
	if hasHost && !c.opts.hostAllowed(value.url.Host) {
		c.fail(rule, ErrHostNotAllowed, hostMessage(value.url.Host))
	}
	c.checkStatus(rule)
	c.checkQueryMode(rule)
	c.checkNote(rule)
	return inKey == nil
}

// failParts reports what is wrong with the key and with the value of a rule, as far as anything is.
func (c *Compiler) failParts(rule Rule, inKey, inValue error) {
	if inValue != nil && c.wrong < maxErrors {
		if exchanged := exchangedError(rule); exchanged != nil {
			inKey, inValue = nil, exchanged
		}
	}
	if inKey != nil {
		c.fail(rule, ErrInvalidKey, inKey.Error())
	}
	if inValue != nil {
		c.fail(rule, ErrInvalidValue, inValue.Error())
	}
}

// checkStatus reports a status that is none of a redirect, or of a rule that does not redirect.
func (c *Compiler) checkStatus(rule Rule) {
	switch {
	case rule.Status == 0:
	case isOutcome(rule.Value):
		c.fail(rule, ErrInvalidStatus, outcomeStatusMessage(rule.Value, rule.Status))
	case !ValidStatus(rule.Status):
		c.fail(rule, ErrInvalidStatus, statusMessage(rule.Status))
	}
}

// checkQueryMode reports a query mode that there is not, or of a rule that does not redirect.
func (c *Compiler) checkQueryMode(rule Rule) {
	switch {
	case rule.Query == QueryDefault:
	case !rule.Query.isValid():
		c.fail(rule, ErrInvalidQuery, "query: "+queryMessage)
	case isOutcome(rule.Value):
		c.fail(rule, ErrInvalidQuery, outcomeQueryMessage(rule.Value, rule.Query))
	}
}

// checkNote reports what is wrong with a note.
func (c *Compiler) checkNote(rule Rule) {
	if err := checkNote(rule.Note); err != nil {
		c.fail(rule, ErrInvalidNote, err.Error())
	}
}

func (c *Compiler) fail(rule Rule, kind error, message string) {
	err := &RuleError{Kind: kind, Position: rule.Position, Key: rule.Key, Message: message}
	c.report(placedError{err, c.added.n})
}

// maxErrors is how many errors are kept. A file of a million bad rules is not to take more memory
// than one of good ones.
const maxErrors = 10_000

func (c *Compiler) report(err placedError) {
	c.wrong++
	if c.wrong <= maxErrors {
		c.errs = append(c.errs, err)
	}
}

// newRecord returns the record of a good rule whose canonical key is c.key, without what its chain
// makes of it. It is good until c.key and c.query are used for another rule.
func (c *Compiler) newRecord(rule Rule, value parsedValue, source int) record {
	r := record{key: text(c.key)}
	switch {
	case value.internal:
	case value.outcome != "":
		r.setOutcome(value.outcome)
	default:
		mode := c.opts.queryOf(rule.Query)
		c.query = mode.appendConstantQuery(c.query[:0], &c.merger, value.url.Query, "")
		r.base, r.query, r.fragment = value.url.Origin()+value.url.Path, text(c.query), value.url.Hash()
		r.status, r.ownStatus, r.mode = c.opts.statusOf(rule), rule.Status, rule.Query
	}
	r.describe(rule, source)
	return r
}

// addInternal keeps a rule with an internal redirect, whose canonical key is c.key. It is compiled
// when all rules are known.
func (c *Compiler) addInternal(rule Rule, value parsedValue, source int) {
	key := rule.Key
	if text(c.key) != key {
		key = string(c.key)
	}
	at := internalRef | ref(c.table.internalRules.n)
	c.table.internalRules.add(internalRule{rule: rule, key: key, value: value.path, source: source})
	c.enter(key, at, rule.Exact)
}

// store puts a record into the arena.
func (c *Compiler) store(r *record) ref {
	c.encoded = appendRecord(c.encoded[:0], r)
	return c.storeBytes(c.encoded)
}

func (c *Compiler) storeBytes(b []byte) ref {
	at, ok := c.table.arena.add(b)
	c.full = c.full || !ok
	return at
}

// longPart is the length of parts of destinations that are worth sharing, in bytes.
const longPart = 256

// share counts what a chain makes of a rule. It stores long parts where all records that have them
// refer to them: thousands of keys can lead to one long URL.
func (c *Compiler) share(r *record) {
	if r.flags.has(noDestination) {
		return
	}
	for i, part := range [...]string{r.base, r.query, r.fragment} {
		if len(part) < longPart {
			c.chained += len(part)
			continue
		}
		at, known := c.shared[part]
		if !known {
			c.chained += len(part)
			if at = r.shared[i]; at == 0 {
				at = c.storeBytes([]byte(part))
			}
			c.noteShared(at, len(part))
		}
		if r.shared[i] == 0 {
			r.shared[i] = at
		}
	}
}

// noteShared keeps where a long part lies.
func (c *Compiler) noteShared(at ref, length int) {
	if c.full {
		return
	}
	if c.shared == nil {
		c.shared = map[string]ref{}
	}
	c.shared[text(c.table.arena.bytes(at)[:length])] = at
}

// sizeText returns a number of bytes, exactly, in the largest unit of which it is a multiple.
func sizeText(bytes int64) string {
	for _, unit := range [...]struct {
		name  string
		bytes int64
	}{{"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"kB", 1e3}} {
		if bytes%unit.bytes == 0 {
			return strconv.FormatInt(bytes/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(bytes, 10) + " bytes"
}

// enter notes a rule that is to get a place in the table.
func (c *Compiler) enter(key string, at ref, exact bool) {
	hash, depth := keyHash(c.table.seed, key)
	c.table.noteKey(len(key), depth)
	c.added.add(addedRule{hash, newSlot(hash, at, exact)})
}

// Compile makes a ruleset of the rules added. The error, of type [RuleErrors], holds everything
// that is wrong with them (of more than 10,000 errors that many), in the order in which they were
// added, or it is ErrTooLarge; a ruleset with loops is no error. The compiler cannot be used again.
func (c *Compiler) Compile() (*Ruleset, error) {
	if c.full {
		return nil, c.checkSize()
	}
	rules := c.fillTable()
	c.enterTemplates()
	if err := c.checkRules(); err != nil {
		return nil, err
	}
	c.compileChains()
	if err := c.checkRules(); err != nil {
		return nil, err
	}
	c.added = pieces[addedRule]{}
	c.table.arena.trim()
	rs := c.ruleset()
	rs.rules, rs.taken = rules+len(c.templates.all()), rules
	rs.lineage, rs.templateRoom = new(lineage), 2*len(c.templates.all())+templateRoom
	rs.numberTemplates(nil)
	if rs.opts.digest {
		rs.digest = rs.makeDigest()
	}
	c.beInspected(rs)
	return rs, nil
}

// beInspected lets who wants to look at the ruleset, and leaves out its lines then.
func (c *Compiler) beInspected(rs *Ruleset) {
	if c.inspect != nil {
		rs.opts.noLines = false
		c.inspect(rs)
		rs.opts.noLines = c.opts.noLines
	}
	c.dropLines()
	rs.atSite = c.atSite
}

// checkRules returns what has been found to be wrong with the rules, or with all of them together.
func (c *Compiler) checkRules() error {
	if len(c.errs) > 0 {
		return c.ruleErrors()
	}
	return c.checkSize()
}

// compileChains follows all chains, and stores what the rules with internal redirects come to.
func (c *Compiler) compileChains() {
	c.opts.modes = c.modal > 0
	c.resetChains()
	c.orderInternalRules()
	c.findChainEnds()
	c.findTemplateFailures()
	if len(c.errs) > 0 {
		return
	}
	c.concerns = c.findConcerns()
	c.storeInternalRules()
}

// dropLines leaves lines out of the positions that are kept beside records, if the options say so:
// nothing is found to be wrong any more.
func (c *Compiler) dropLines() {
	if !c.opts.noLines {
		return
	}
	for _, t := range c.templates.all() {
		if now := c.opts.placed(t.rule); now != t.rule { // else it may be another ruleset's, too
			t.rule = now
		}
	}
	for key, rule := range c.shadowed {
		if now := c.opts.placed(rule); now != rule {
			c.shadowed[key] = now
		}
	}
	c.atSite.first = c.opts.placed(c.atSite.first)
}

// ruleset returns what has been compiled.
func (c *Compiler) ruleset() *Ruleset {
	c.opts.modes = c.modal > 0
	rs := &Ruleset{
		table: c.table, templates: c.templates, opts: c.opts, sources: c.sources.all,
		failures: c.failures, templateFailures: c.templateFailures,
		shadowed: c.shadowed, atSite: c.atSite, concerns: c.concerns,
		extent: c.extent,
	}
	rs.table.internalRules = pieces[internalRule]{}
	for _, this := range c.internalInOrder() {
		rs.internal = append(rs.internal, this.slot)
	}
	return rs
}

// ruleErrors returns the errors in the order of their rules. Those of duplicate keys were found
// last.
func (c *Compiler) ruleErrors() RuleErrors {
	slices.SortStableFunc(c.errs, func(a, b placedError) int { return a.place - b.place })
	errs := make(RuleErrors, len(c.errs))
	for i, placed := range c.errs {
		errs[i] = placed.err
	}
	return errs
}
