package schedule

import (
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Rules are rules as they are written, and the ruleset of what is active of them at a time. They
// are immutable:
//
//	rules as written --> those with windows ----> edge: the keys that change --.
//	              '----> those that are active, and rules without windows -----+--> the ruleset
type Rules struct {
	Ruleset *resolver.Ruleset
	table   *table
	// at is the time that the ruleset is for. It is valid for every instant in [from, until).
	at, from, until Time
	// inDigest are the rules for keys with windows as they are written, less what is active of them.
	inDigest resolver.RuleSum
	// ends are the ends of rules, by number, as far as somebody has asked.
	ends *sync.Map
}

func newRules(ruleset *resolver.Ruleset, table *table, at Time) Rules {
	from, until := table.span(at)
	return Rules{
		Ruleset: ruleset, table: table, at: at, from: from, until: until, ends: new(sync.Map),
	}
}

// At is the time that the ruleset is for.
func (r *Rules) At() Time { return r.at }

// HasWindows reports whether rules have windows, also such that are over.
func (r *Rules) HasWindows() bool { return r.table != nil }

// IsFor reports whether the ruleset is that of a time, too.
func (r *Rules) IsFor(now Time) bool { return r.from <= now && now < r.until }

// NextEdge returns when a window begins or ends next; ok is false if none does.
func (r *Rules) NextEdge() (at time.Time, ok bool) {
	return time.Unix(int64(r.until), 0).UTC(), r.until != End
}

// place returns the place of a key.
func (r *Rules) place(source int, key string) place {
	return place{resolver.CanonicalKey(key, r.Ruleset.Options().FoldCase), source}
}

// Derived are rules that were made of others.
type Derived struct {
	Rules
	// Changes are those of the ruleset.
	Changes    []resolver.RuleChange
	Difference resolver.Difference
}

// With derives the rules that result from changes of rules as they are written, like
// [resolver.Ruleset.With]. The difference counts rules as they are written, too.
func (r Rules) With(changes []resolver.RuleChange) (Derived, error) {
	hasWindows := func(c resolver.RuleChange) bool { return c.Rule != nil && c.Rule.Windows != "" }
	if r.table == nil && !slices.ContainsFunc(changes, hasWindows) {
		return r.derive(changes, nil, r.at)
	}
	check, err := resolver.NewCompiler(r.Ruleset.Options())
	if err != nil {
		return Derived{}, err
	}
	active, inTable := slices.Clone(changes), map[place]*resolver.Rule{}
	for i := range active {
		c := &active[i]
		if c.Rule != nil {
			c.Key = c.Rule.Key
		}
		at := r.place(c.Source, c.Key)
		if inTable[at] = nil; hasWindows(*c) {
			for _, w := range Split(*c.Rule) {
				check.Check(w.Rule)
			}
			inTable[at] = stored(*c.Rule, true)
			c.Rule = activeOf(*c.Rule, r.at)
		}
	}
	if _, err := check.Compile(); err != nil {
		return Derived{}, err
	}
	derived, err := r.derive(active, r.table.with(inTable), r.at)
	if err == nil {
		keys := keysOf(maps.Keys(inTable))
		sorted := slices.Values(slices.Sorted(maps.Keys(keys)))
		countWritten(&derived.Difference, &r, &derived.Rules, sorted)
		derived.follow(&r, keys)
	}
	return derived, err
}

// keysOf returns the keys of places, once each.
func keysOf(places iter.Seq[place]) map[string]bool {
	keys := map[string]bool{}
	for at := range places {
		keys[at.key] = true
	}
	return keys
}

// derive makes rules of changes of the ruleset.
func (r Rules) derive(changes []resolver.RuleChange, table *table, at Time) (Derived, error) {
	ruleset, difference, err := r.Ruleset.With(changes)
	if err != nil {
		return Derived{}, err
	}
	return Derived{newRules(ruleset, table, at), changes, difference}, nil
}

// Turn derives the rules of another time. If those rules are invalid, it only ends windows, and
// returns the reason.
func (r Rules) Turn(at Time) (Derived, error) {
	var changes []resolver.RuleChange
	places := r.table.between(r.at, at)
	for _, place := range places {
		rule, _ := r.table.get(place)
		changes = append(changes, resolver.RuleChange{
			Source: place.source, Key: rule.Key, Rule: activeOf(rule, at),
		})
	}
	next, err := r.derive(changes, r.table, at)
	if err != nil {
		for i := range changes {
			changes[i].Rule = nil
		}
		var again error
		if next, again = r.derive(changes, r.table, at); again != nil {
			next.Rules = newRules(r.Ruleset, r.table, at)
		}
	}
	next.follow(&r, keysOf(slices.Values(places)))
	return next, err
}

// Recompile returns the same rules with a ruleset that is compiled anew.
func (r Rules) Recompile() (Rules, error) {
	ruleset, err := r.Ruleset.Recompile()
	if err != nil {
		return r, err
	}
	anew := newRules(ruleset, r.table, r.at)
	anew.inDigest = r.inDigest
	return anew, nil
}

// Ahead derives the rules of each edge to come, with the error of [Rules.Turn].
func (r Rules) Ahead() iter.Seq2[Rules, error] {
	return func(yield func(Rules, error) bool) {
		for r.until != End {
			next, err := r.Turn(r.until)
			if r = next.Rules; !yield(r, err) {
				return
			}
			r = r.renewed()
		}
	}
}

// Behind derives the rules of the time before each edge that has been, the last one first.
func (r Rules) Behind() iter.Seq[Rules] {
	return func(yield func(Rules) bool) {
		for r.from != Begin {
			next, _ := r.Turn(r.from - 1)
			if r = next.Rules; !yield(r) {
				return
			}
			r = r.renewed()
		}
	}
}

// renewed returns the rules with a ruleset that is not worn, if it can be compiled.
func (r Rules) renewed() Rules {
	if r.Ruleset.IsWorn() {
		r, _ = r.Recompile()
	}
	return r
}

// RuleOf returns the rule of a source for a key, as it is written.
func (r *Rules) RuleOf(source int, key string) (rule resolver.Rule, ok bool) {
	if rule, ok = r.table.get(r.place(source, key)); ok {
		return rule, true
	}
	return r.Ruleset.RuleOf(source, key)
}

// Written returns the rule for a key that serves at its times, as it is written.
func (r *Rules) Written(key string) (rule resolver.Rule, ok bool) {
	for _, rule := range r.Scheduled(key) {
		if r.place(0, rule.Key) == r.place(0, key) {
			return rule, true
		}
		break
	}
	_, rule, ok = r.Active(key)
	return rule, ok
}

// RulesOf returns the rules of a source, as they are written.
func (r *Rules) RulesOf(source int) iter.Seq[resolver.Rule] {
	if r.table == nil {
		return r.Ruleset.RulesOf(source)
	}
	return func(yield func(resolver.Rule) bool) {
		for rule := range r.Ruleset.RulesOf(source) {
			if _, is := r.table.get(r.place(source, rule.Key)); !is && !yield(rule) {
				return
			}
		}
		r.table.from("", func(w written) bool { return w.source != source || yield(*w.rule) })
	}
}

// Sources is how many sources there may be rules of, now or at another time.
func (r *Rules) Sources() int {
	if r.table == nil {
		return r.Ruleset.Sources()
	}
	return max(r.Ruleset.Sources(), r.table.sources)
}

// HasRulesOf reports whether there are rules of a source, now or at another time.
func (r *Rules) HasRulesOf(source int) (has bool) {
	for range r.Ruleset.RulesOf(source) {
		return true
	}
	r.table.from("", func(w written) bool { has = w.source == source; return !has })
	return has
}

// Active returns the rule that serves for a key, and its number.
func (r *Rules) Active(key string) (number int, rule resolver.Rule, ok bool) {
	if number, ok = r.Ruleset.NumberOf(key); ok {
		rule, ok = r.Ruleset.Numbered(number)
	}
	return number, rule, ok
}

// Scheduled returns the rules with windows for a key and below it, or all for no key, as they are
// written and sorted by their canonical keys. Those that an earlier source shadows are left out.
func (r *Rules) Scheduled(key string) iter.Seq2[string, resolver.Rule] {
	return func(yield func(string, resolver.Rule) bool) {
		last := ""
		r.table.below(r.place(0, key).key, func(w written) bool {
			number, _, ok := r.Active(w.key)
			if w.key == last || ok && r.Ruleset.SourceOf(number) < w.source {
				return true
			}
			last = w.key
			return yield(w.key, *w.rule)
		})
	}
}

// RulesBelow returns the rules for a key and for what lies below it, or all if key is empty, as
// they are written and sorted by their canonical keys. Among them are those that have not begun,
// and those that are over.
func (r *Rules) RulesBelow(key string) iter.Seq[resolver.Rule] {
	active := r.Ruleset.RulesBelow(key)
	if r.table == nil {
		return active
	}
	return func(yield func(resolver.Rule) bool) {
		next, stop := iter.Pull2(r.Scheduled(key))
		defer stop()
		at, scheduled, more := next()
		for rule := range active {
			this := r.place(0, rule.Key).key
			for ; more && at < this; at, scheduled, more = next() {
				if !yield(scheduled) {
					return
				}
			}
			if more && at == this {
				continue // the next step passes it as it is written
			}
			if !yield(rule) {
				return
			}
		}
		for ; more && yield(scheduled); _, scheduled, more = next() {
		}
	}
}

// mostBelow is how many rules with windows below a key are looked at to find when it ends.
const mostBelow = 64

// EndOf returns until when a redirect holds for sure: until a window of a key in its chain, or of a
// key below one, begins or ends. It is the next edge of all where it takes long to know better. End
// says that there is none.
func (r *Rules) EndOf(result *resolver.Result) Time {
	if r.until == End {
		return End
	}
	end, known := r.ends.Load(result.Rule)
	if !known {
		end = r.endOf(result)
		r.ends.Store(result.Rule, end)
	}
	return end.(Time)
}

func (r *Rules) endOf(result *resolver.Result) Time {
	chain := []resolver.Rule{{Key: result.Key}}
	if result.Hops > 0 {
		chain = r.Ruleset.Chain(result.Key)
	}
	isTemplate := func(rule resolver.Rule) bool { return resolver.IsTemplate(rule.Key) }
	if r.table.templates > 0 || slices.ContainsFunc(chain, isTemplate) || len(chain) != result.Hops+1 {
		return r.until
	}
	end, n := End, 0
	for _, rule := range chain {
		r.table.below(r.place(0, rule.Key).key, func(w written) bool {
			edgesOf(Split(*w.rule), func(at Time) {
				if at > r.at {
					end = min(end, at)
				}
			})
			n++
			return n <= mostBelow
		})
	}
	if n > mostBelow {
		return r.until
	}
	return end
}
