package live

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// windows are the rules that are there for a time only, as they are written. What is compiled of
// them is what is active:
//
//	rules as written --> table ----------> edge: the keys that change --.
//	              '----> those that are active, and rules without ------+--> the ruleset
type windows struct {
	table    *schedule.Table // nil for none
	foldCase bool
	// at is the time that the ruleset is for, and as good as any other from from until until.
	at, from, until schedule.Time
	// ends are the ends of rules, by number, as far as somebody has asked.
	ends  *sync.Map
	ahead *foresight
}

// set sets the time that the ruleset is for.
func (w *windows) set(at schedule.Time) {
	w.at = at
	w.from, w.until = w.table.Span(at)
	w.ends = new(sync.Map)
}

// isFor reports whether the ruleset is the one of a time.
func (w *windows) isFor(now schedule.Time) bool { return w.from <= now && now < w.until }

// key returns the key of a source in the table.
func (w *windows) key(source int, key string) schedule.Key {
	return schedule.Key{Source: source, Key: resolver.CanonicalKey(key, w.foldCase)}
}

// active returns what a rule as it is written has for the ruleset, nil for nothing.
func (w *windows) active(written *resolver.Rule) *resolver.Rule {
	if written == nil || written.Windows == "" {
		return written
	}
	if rule, _, ok := schedule.Active(*written, w.at); ok {
		return &rule
	}
	return nil
}

// translate returns the changes of the ruleset that changes of rules as they are written lead to,
// and makes those of the table.
func (w *windows) translate(
	changes []resolver.RuleChange, options resolver.Options,
) ([]resolver.RuleChange, error) {
	isWindow := func(c resolver.RuleChange) bool { return c.Rule != nil && c.Rule.Windows != "" }
	if w.table == nil && !slices.ContainsFunc(changes, isWindow) {
		return changes, nil
	}
	changes = slices.Clone(changes)
	inTable := map[schedule.Key]*resolver.Rule{}
	for i := range changes {
		c := &changes[i]
		if c.Rule != nil {
			c.Key = c.Rule.Key
		}
		key := w.key(c.Source, c.Key)
		if isWindow(*c) {
			inTable[key] = c.Rule
			c.Rule = w.active(c.Rule)
		} else if _, is := w.table.Rule(key); is || inTable[key] != nil {
			inTable[key] = nil
		}
	}
	return changes, w.setWritten(inTable, options)
}

// setWritten makes changes of the table.
func (w *windows) setWritten(
	changes map[schedule.Key]*resolver.Rule, options resolver.Options,
) error {
	var written []resolver.Rule
	for key, rule := range changes {
		if rule != nil {
			written = append(written, *rule)
			changes[key] = stored(*rule)
		}
	}
	if err := validate(written, options, nil); err != nil {
		return err
	}
	w.table = w.table.With(changes)
	return nil
}

// stored returns a rule for the table: what serves has no lines.
func stored(rule resolver.Rule) *resolver.Rule {
	rule = rule.Clone()
	rule.Position = resolver.Position{Source: rule.Position.Source}
	return &rule
}

// ruleOf returns the rule of a source for a key, as it is written.
func (l *Loaded) ruleOf(source int, key string) (rule resolver.Rule, ok bool) {
	if l.table != nil {
		if rule, ok = l.table.Rule(l.key(source, key)); ok {
			return rule, true
		}
	}
	return l.Ruleset.RuleOf(source, key)
}

// rulesOf returns the rules of a source, as they are written.
func (l *Loaded) rulesOf(source int) iter.Seq[resolver.Rule] {
	if l.table == nil {
		return l.Ruleset.RulesOf(source)
	}
	return func(yield func(resolver.Rule) bool) {
		for rule := range l.Ruleset.RulesOf(source) {
			if _, is := l.table.Rule(l.key(source, rule.Key)); !is && !yield(rule) {
				return
			}
		}
		for key, rule := range l.table.All() {
			if key.Source == source && !yield(rule) {
				return
			}
		}
	}
}

// hasRulesOf reports whether there are rules of the i-th source, now or at another time.
func (l *Loaded) hasRulesOf(i int) bool {
	for range l.rulesOf(i + 1) { // 0 are the inline ones
		return true
	}
	return false
}

// RulesBelow returns the rules for a key and for what lies below it, or all if key is empty, as
// they are written and sorted by their canonical keys. Among them are those that have not begun,
// and those that are over.
func (l *Loaded) RulesBelow(key string) iter.Seq[resolver.Rule] {
	rules := l.Ruleset.RulesBelow(key)
	if l.table == nil {
		return rules
	}
	return func(yield func(resolver.Rule) bool) {
		written := l.writtenBelow(resolver.CanonicalKey(key, l.foldCase))
		keys := slices.Sorted(maps.Keys(written))
		for rule := range rules {
			at := resolver.CanonicalKey(rule.Key, l.foldCase)
			for ; len(keys) > 0 && keys[0] < at; keys = keys[1:] {
				if !yield(written[keys[0]]) {
					return
				}
			}
			if len(keys) > 0 && keys[0] == at {
				rule, keys = written[at], keys[1:]
			}
			if !yield(rule) {
				return
			}
		}
		for _, key := range keys {
			if !yield(written[key]) {
				return
			}
		}
	}
}

// writtenBelow returns the rules with windows for a canonical key and below it.
func (l *Loaded) writtenBelow(above string) map[string]resolver.Rule {
	found := map[string]resolver.Rule{}
	for key, rule := range l.written() {
		if above == "" || key.Key == above || strings.HasPrefix(key.Key, above+"/") {
			found[key.Key] = rule
		}
	}
	return found
}

// written returns the rules with windows that no earlier source shadows.
func (l *Loaded) written() iter.Seq2[schedule.Key, resolver.Rule] {
	return func(yield func(schedule.Key, resolver.Rule) bool) {
		for key, rule := range l.table.All() {
			isShadowed := false
			for source := range key.Source {
				_, is := l.ruleOf(source, key.Key)
				isShadowed = isShadowed || is
			}
			if !isShadowed && !yield(key, rule) {
				return
			}
		}
	}
}

// digest returns the digest of the rules as they are written, which an edge does not change: that
// of the ruleset without the keys that have windows, and what sources have for these.
func (l *Loaded) digest() string {
	if l.table == nil {
		return l.Ruleset.Digest()
	}
	var serving []resolver.Rule
	var behind []string
	for key := range l.written() {
		if number, ok := l.Ruleset.NumberOf(key.Key); ok {
			if rule, ok := l.Ruleset.Numbered(number); ok {
				serving = append(serving, rule)
			}
		}
		for source := key.Source + 1; source <= len(l.versions); source++ {
			if rule, is := l.ruleOf(source, key.Key); is && rule.Windows == "" {
				behind = append(behind, rule.Key+" "+rulefile.JSONValue(rule))
				break
			}
		}
	}
	slices.Sort(behind)
	return l.table.Digest(l.Ruleset.DigestWithout(serving) + strings.Join(behind, "\n"))
}

// HasWindows reports whether rules begin or end.
func (l *Loaded) HasWindows() bool { return l.table != nil }

// EndOf returns until when a result holds as far as the rules of its chain say; ok is false if none
// of them ends. It may be sooner for a chain through variables.
func (l *Loaded) EndOf(result *resolver.Result) (end time.Time, ok bool) {
	until, known := l.ends.Load(result.Rule)
	if !known {
		until = l.endOf(result)
		l.ends.Store(result.Rule, until)
	}
	return time.Unix(int64(until.(schedule.Time)), 0), until != schedule.End
}

func (l *Loaded) endOf(result *resolver.Result) (until schedule.Time) {
	if result.Hops == 0 {
		return l.endOfKey(result.Key)
	}
	if resolver.IsTemplate(result.Key) {
		return l.until
	}
	until = schedule.End
	for _, rule := range l.Ruleset.Chain(result.Key) {
		until = min(until, l.endOfKey(rule.Key))
	}
	return until
}

// endOfKey returns until when a key has the rule that it has.
func (l *Loaded) endOfKey(key string) (until schedule.Time) {
	until = schedule.End
	for source := range len(l.versions) + 1 {
		if written, is := l.ruleOf(source, key); is {
			_, end, isActive := schedule.Active(written, l.at)
			if until = min(until, end); isActive {
				break
			}
		}
	}
	return until
}

// NextEdge returns when a window begins or ends next; ok is false if none does.
func (l *Loaded) NextEdge() (at time.Time, ok bool) {
	return time.Unix(int64(l.until), 0).UTC(), l.until != schedule.End
}

// rereading is a [resolver.Rereading] of rules as they are written.
type rereading struct {
	*resolver.Rereading
	of      *Loaded
	source  int
	seen    map[schedule.Key]bool           // rules with windows
	set     map[schedule.Key]*resolver.Rule // those that differ, nil for one that is not there
	isTwice bool                            // a key has windows twice
}

// reread begins to read sources of a ruleset again.
func (l *Loaded) reread() *rereading {
	return &rereading{
		Rereading: l.Ruleset.Reread(), of: l, source: -1, seen: map[schedule.Key]bool{},
		set: map[schedule.Key]*resolver.Rule{},
	}
}

// Source begins a source.
func (r *rereading) Source(n int) {
	r.end()
	r.Rereading.Source(n)
	r.source = n
}

// end finds the rules with windows that are not there any more.
func (r *rereading) end() {
	for key := range r.of.table.All() {
		if key.Source == r.source && !r.seen[key] {
			r.set[key] = nil
		}
	}
}

// Add adds the next rule of the source.
func (r *rereading) Add(rule resolver.Rule) {
	if rule.Windows != "" {
		key := r.of.key(r.source, rule.Key)
		r.isTwice = r.isTwice || r.seen[key]
		r.seen[key] = true
		old, is := r.of.table.Rule(key)
		if !is || old.Key != rule.Key || old.Windows != rule.Windows ||
			old.Position.Source != rule.Position.Source {
			written := rule.Clone()
			r.set[key] = &written
		}
		active := r.of.active(&rule)
		if active == nil {
			return
		}
		rule = *active
	}
	r.Rereading.Add(rule)
}

// Changes returns how the compiled rules differ; set has how those with windows do.
func (r *rereading) Changes() ([]resolver.RuleChange, error) {
	r.end()
	switch {
	case r.isTwice:
		return nil, resolver.ErrDuplicateKey
	case len(r.set) > r.of.table.Len()/2+1000:
		return nil, resolver.ErrMostChanged
	}
	return r.Rereading.Changes()
}

// isPlainToo reports whether the key of a rule that is not active has a rule without windows in the
// same source, too.
func (w *windows) isPlainToo(ruleset *resolver.Ruleset, key schedule.Key, rule resolver.Rule) bool {
	_, is := ruleset.RuleOf(key.Source, key.Key)
	return is && w.active(&rule) == nil
}

// writing takes in rules as they are written, for a whole compilation.
type writing struct {
	windows
	rules   []resolver.Rule
	written map[schedule.Key]resolver.Rule
	twice   resolver.RuleErrors
}

// add takes in a rule with windows, and returns what is active of it, nil for nothing.
func (w *writing) add(source int, rule resolver.Rule) *resolver.Rule {
	key := w.key(source, rule.Key)
	if first, is := w.written[key]; is {
		w.failTwice(rule, "at "+first.Position.String())
		return nil
	}
	if w.written == nil {
		w.written = map[schedule.Key]resolver.Rule{}
	}
	w.written[key] = rule
	w.rules = append(w.rules, rule)
	return w.active(&rule)
}

func (w *writing) failTwice(rule resolver.Rule, where string) {
	w.twice = append(w.twice, &resolver.RuleError{
		Kind: resolver.ErrDuplicateKey, Position: rule.Position, Key: rule.Key,
		Message: "the key is already defined " + where + "; write its rules as one that has all " +
			"windows, or remove one of the two",
	})
}

// finish completes the windows of a ruleset. It returns what is wrong with rules that err, which
// is of its compilation, does not tell of.
func (w *writing) finish(ruleset *resolver.Ruleset, options resolver.Options, err error) error {
	if w.written == nil {
		return err
	}
	for key, rule := range w.written {
		if err == nil && w.isPlainToo(ruleset, key, rule) {
			w.failTwice(rule, "in the same source, without windows")
		}
		if options.NoLines {
			w.written[key] = *stored(rule)
		}
	}
	if invalid := validate(w.rules, options, err); invalid != nil {
		err = errors.Join(err, invalid)
	}
	if w.twice != nil {
		return errors.Join(err, w.twice)
	}
	w.table = schedule.New(w.written)
	return err
}

// validate returns what is wrong with rules of several sources that have windows, but for what is
// known.
func validate(rules []resolver.Rule, options resolver.Options, known error) error {
	told := map[string]bool{}
	for _, list := range ruleErrorsIn(known) {
		for _, e := range list {
			told[e.Error()] = true
		}
	}
	err := schedule.Validate(rules, options)
	list, is := errors.AsType[resolver.RuleErrors](err)
	if !is {
		return err
	}
	list = slices.DeleteFunc(list, func(e *resolver.RuleError) bool {
		return e.Kind == resolver.ErrDuplicateKey || told[e.Error()] // another source may have the key
	})
	if len(list) == 0 {
		return nil
	}
	return list
}
