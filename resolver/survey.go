package resolver

import (
	"iter"
	"maps"
	"slices"
	"strings"
)

// survey.go is for those who examine a ruleset as a whole, such as package lint.

// Inspect makes Compile call look with the ruleset before lines are dropped ([Options.NoLines]).
// look must not keep the ruleset.
func (c *Compiler) Inspect(look func(*Ruleset)) { c.inspect = look }

// Options returns the options that the ruleset was compiled with.
func (rs *Ruleset) Options() Options { return rs.opts.given }

// Sources returns the number of sources. Those without rules count, too, if a later one has some.
func (rs *Ruleset) Sources() int { return rs.lastRank() + 1 }

// SourceOf returns the source of the rule with a number, as [RuleChange] numbers it.
func (rs *Ruleset) SourceOf(number int) int {
	if i, ok := rs.template(number); ok {
		return rs.templates.ruleAt(i).rank
	}
	return rs.rankAt(rs.table.slots.at(number).ref())
}

// Keys yields the canonical keys of the serving rules without variables, with their numbers, in no
// particular order.
func (rs *Ruleset) Keys() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for number, at := range rs.entries() {
			if !yield(number, rs.table.key(at)) {
				return
			}
		}
	}
}

// InternalRedirects yields the numbers of the rules without variables that lead to paths of the
// site. They are sorted by source, and then by place or, with [Options.NoLines], by key.
func (rs *Ruleset) InternalRedirects() iter.Seq[int] {
	return func(yield func(int) bool) {
		for n, slot := range rs.chains.internal {
			rs.opts.pauseAfter(n)
			if !yield(int(slot)) {
				return
			}
		}
	}
}

// Failures yields the rules whose requests all get the same error, by number, with that error. It
// is a [*LoopError] or ErrTooManyRedirects, or says why a template along the chain refuses its
// captures: ErrUnsafePath, ErrTooLong or ErrPathTooLong. Rules with variables come last. They are
// tried only with values that no other key matches.
func (rs *Ruleset) Failures() iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		if len(rs.chains.failures) > 0 { // else there is nothing to look for
			for number := range rs.InternalRedirects() {
				var r record
				r.decodeAnswer(&rs.table.arena, rs.table.arena.bytes(rs.table.slots.at(number).ref()))
				if r.isFailure() && !yield(number, rs.chains.failures[r.failure()]) {
					return
				}
			}
		}
		for _, i := range slices.Sorted(maps.Keys(rs.chains.templateFailures)) {
			number := rs.table.slots.n + int(rs.templates.entries[i].number)
			if !yield(number, rs.chains.templateFailures[i]) {
				return
			}
		}
	}
}

// ShadowedRule is a rule that never answers, because an earlier source has its key.
type ShadowedRule struct {
	Rule   Rule
	Source int // as [RuleChange] has it
	By     int // the number of the rule that answers
}

// Shadowed yields the rules that never answer, because an earlier source has their key, in no
// particular order.
func (rs *Ruleset) Shadowed() iter.Seq[ShadowedRule] {
	return func(yield func(ShadowedRule) bool) {
		for key, rule := range rs.shadowed.all {
			by, _ := rs.NumberOf(key.key)
			if !yield(ShadowedRule{rs.opts.placed(rule), key.rank, by}) {
				return
			}
		}
	}
}

// Match returns the first step of 3.3 from a pathname, and the number of the rule that it matches.
// The pathname is percent-encoded as in URLs. ok is false if it matches no rule.
func (rs *Ruleset) Match(pathname string) (step Step, number int, ok bool) {
	m := lookUp(&rs.table, rs.templates, pathname)
	if m.isNone() || m.isSpent() {
		return Step{}, 0, false
	}
	number = int(m.literal.at)
	if m.isTemplate() {
		number = rs.table.slots.n + int(rs.templates.entries[m.template.rule-1].number)
	}
	return rs.describe(pathname, &m), number, true
}

// MatchTemplate returns the rule with variables that matches a pathname best. A rule without
// variables may still answer instead.
func (rs *Ruleset) MatchTemplate(pathname string) (rule Rule, ok bool) {
	if rs.templates == nil {
		return Rule{}, false
	}
	best, _ := rs.templates.search(pathname)
	if best.rule == 0 {
		return Rule{}, false
	}
	return rs.templates.ruleAt(int(best.rule) - 1).rule, true
}

// ResolvePath returns the result for a pathname. The destination is a path if it has the origin of
// the request.
func (rs *Ruleset) ResolvePath(pathname string) Result { return rs.resultFor(pathname, "", "") }

// Sample is a path that stands for all requests for a key. Its variables have values that no other
// key matches.
type Sample struct{ sample }

// SampleOf returns the sample of the rule with a number.
func (rs *Ruleset) SampleOf(number int) Sample {
	if i, ok := rs.template(number); ok {
		return Sample{rs.templates.template(i).sample()}
	}
	return Sample{sample{path: "/" + rs.KeyOf(number)}}
}

// Path returns the path.
func (s *Sample) Path() string { return s.path }

// Named replaces values in a URL with the names of their variables. A segment below the key becomes
// "…", as in [Below].
func (s *Sample) Named(url string) string { return s.named(url) }

// QueryOf returns the query of a rule's value. written is in the spelling of URLs; spelled is how
// the rule's query mode writes it if the request has no query.
func (rs *Ruleset) QueryOf(rule Rule) (written, spelled string) {
	value, err := parseValue(rule.Value)
	if err != nil {
		return "", ""
	}
	destination, embedded := value.url.Query, strings.TrimPrefix(value.path.query, "?")
	if destination+embedded == "" {
		return "", ""
	}
	mode := rs.opts.queryOf(rule.Query)
	return destination + embedded,
		string(mode.appendConstantQuery(nil, rs.merger, destination, embedded))
}

// CheckKey says what is wrong with a key and what to write instead.
func CheckKey(key string) error {
	if !IsTemplate(key) {
		return checkKey(key)
	}
	_, err := new(options).parseTemplateKey(key)
	return err
}

// CheckValue says what is wrong with the value of a key without variables, and what to write
// instead.
func CheckValue(value string) error {
	_, err := parseValue(value)
	return err
}
