package lint

import (
	"cmp"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// survey examines what the rules of a ruleset lead to.
type survey struct {
	*resolver.Ruleset
	options resolver.Options
	// failures are the errors of rules, by number.
	failures map[int]error
	// ends are the ends of the chains of rules to which others lead, by number. Rules with variables
	// are not included.
	ends map[int]chainEnd
}

func newSurvey(rs *resolver.Ruleset) *survey {
	s := &survey{
		Ruleset: rs, options: rs.Options(), failures: map[int]error{}, ends: map[int]chainEnd{},
	}
	for number, err := range rs.Failures() {
		s.failures[number] = err
	}
	return s
}

// chainEnd describes the end of a chain.
type chainEnd struct {
	kind endKind
	// exact is the key of the first exact rule after the first rule, "" for none. It is only searched
	// up to the first rule with variables.
	exact string
}

type endKind uint8

const (
	endAbsolute endKind = iota
	endUnmatched
	endPassed // unmatched, as a rule says so
	endGone
	endFailed
)

// isAtSite reports whether clients are redirected to a path of the site.
func (k endKind) isAtSite() bool { return k == endUnmatched || k == endPassed }

// internalRule is a rule without variables that leads to a path of the site.
type internalRule struct {
	sourcedRule
	number int
	path   string // of its value, as URLs have it
	// next is the step from there, if the path matches a key.
	next      resolver.Step
	isMatched bool
	end       chainEnd
}

// internalRule returns the internal redirect with a number.
func (s *survey) internalRule(number int) *internalRule {
	rule, _ := s.Numbered(number)
	this := &internalRule{
		sourcedRule: sourcedRule{s.SourceOf(number), rule}, number: number, path: pathOf(rule.Value),
	}
	next, nextNumber, isMatched := s.Match(this.path)
	this.next, this.isMatched = next, isMatched
	switch {
	case s.failures[number] != nil:
		this.end.kind = endFailed
	case !isMatched:
		this.end.kind = endUnmatched
	default:
		this.end = s.endBehind(&next, nextNumber)
	}
	return this
}

// endBehind returns the end of a chain that continues with a step, for the rule with a number. The
// chain must have an end.
func (s *survey) endBehind(next *resolver.Step, number int) (end chainEnd) {
	rule := &next.Rule
	switch {
	case rule.Value == resolver.GoneValue:
		return chainEnd{kind: endGone}
	case rule.Value == resolver.PassValue:
		return chainEnd{kind: endPassed}
	case isInternal(rule.Value):
		end = s.endFrom(next, number)
	}
	if resolver.IsTemplate(rule.Key) {
		end.exact = ""
	}
	if rule.Exact {
		end.exact = rule.Key
	}
	return end
}

// endFrom returns the end of a chain from a step that leads to a path.
func (s *survey) endFrom(step *resolver.Step, number int) (end chainEnd) {
	if known, is := s.ends[number]; is {
		return known
	}
	end.kind = endUnmatched
	if next, nextNumber, ok := s.Match(pathOf(step.Value)); ok {
		end = s.endBehind(&next, nextNumber)
	}
	if !resolver.IsTemplate(step.Rule.Key) { // whose end depends on what its variables stand for
		s.ends[number] = end
	}
	return end
}

// endPath returns the path of the site that a chain ends at.
func (s *survey) endPath(this *internalRule) string {
	if !this.isMatched {
		return this.path
	}
	path, _, _ := cutParts(behindHost(s.ResolvePath("/" + s.KeyOf(this.number)).Destination))
	return path
}

// endKey returns that path in the form of keys.
func (s *survey) endKey(this *internalRule) string { return s.keyOfPath(s.endPath(this)) }

// keyOfPath returns a path in the form of keys.
func (s *survey) keyOfPath(path string) string {
	key := resolver.CanonicalKey(strings.TrimPrefix(path, "/"), s.options.FoldCase)
	return strings.TrimSuffix(key, "/")
}

// pathOf returns the path of an internal redirect, as URLs have it.
func pathOf(value string) string {
	path, _, _ := cutParts(value)
	return string(weburl.AppendEncoded(nil, path, weburl.PathSet))
}

// compare orders rules by their sources and by their places there. If lines do not count, it orders
// them by key.
func (s *survey) compare(a, b sourcedRule) int {
	byPlace := 0
	if !s.options.NoLines {
		byPlace = a.rule.Position.ComparePlace(b.rule.Position)
	}
	return cmp.Or(cmp.Compare(a.source, b.source), byPlace, cmp.Compare(a.rule.Key, b.rule.Key))
}

// sourced returns the rule with a number, with its source.
func (s *survey) sourced(number int) sourcedRule {
	rule, _ := s.Numbered(number)
	return sourcedRule{s.SourceOf(number), rule}
}
