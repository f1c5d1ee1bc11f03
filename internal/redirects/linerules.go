package redirects

import (
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/pattern"
)

// translation is a line on its way to rules.
type translation struct {
	*Line
	slashes Slashes
	sets    []paths
	// spans tells that something in the path spans segments.
	spans  bool
	target destination
	// ofItself is the destination of the path itself, if the line has one for it.
	ofItself *destination
	// goesOnThere tells that the destination goes on where that of the path itself ends.
	goesOnThere bool
	// isIdle tells that the line leads every request to where it is, or only within what it takes.
	isIdle  bool
	follows following
	// keepsSlashes tells that there is a rule more where a slash at a path's end would be lost.
	keepsSlashes bool
	// isApart tells that a path and what is below it are two rules in any case.
	isApart bool
	// together tells that a line in front has given the destination of the path itself.
	together bool
}

// following says what of the table a destination of a line may lead to.
type following uint8

const (
	followsNothing following = iota
	followsBelow             // only rules for all below a path, to which the splat is appended
	followsOthers
)

// madeRule is a rule of a line, and the requests that it is for.
type madeRule struct {
	rule    resolver.Rule
	set     paths
	line    int
	isExtra bool             // it is for no path that stands in a line as it is
	isOfAll bool             // it is one of those for a path and all below
	pattern *pattern.Pattern // of a rule that is remembered
	slashed *pattern.Pattern // of its paths with a slash at their end, if that has been asked for
}

// translate finds out what a line takes, and where it leads, or why no rule can have it.
func translate(line *Line, slashes Slashes) (t *translation, err error) {
	t = &translation{Line: line, slashes: slashes, sets: pathsOf(line.Path, slashes)}
	var captured []string
	for _, s := range line.Path {
		if !s.IsText() {
			captured = append(captured, s.Variable)
			t.spans = t.spans || s.Spans != One
		}
	}
	if t.target, err = newDestination(line.To, captured); err != nil {
		return nil, err
	}
	if line.Itself != nil {
		itself, err := newDestination(line.Itself, captured)
		if err != nil {
			return nil, err
		}
		t.ofItself = &itself
		t.goesOnThere = goesOn(line.Itself, line.To)
	}
	if last := &t.sets[0]; slashes == SlashesKept && last.hasSpan() && last.isSlashed() {
		return nil, errSlashBehindSpan
	}
	t.isIdle = line.Answer == Leads && t.isNear() && t.isIdentity()
	return t, nil
}

// rules makes the rules of a line for a set of paths: one of its own, or a part of one.
func (t *translation) rules(set *paths, isOwn, isBelowOnly bool) (rules []madeRule) {
	hasPath := !isBelowOnly && set.key() != ""
	isOutcome := t.outcome() != ""
	if hasPath && !t.isApart && (isOutcome || t.isAppended(set)) {
		return []madeRule{t.rule(set, set.key(), "", !set.below)}
	}
	if isOwn && !isOutcome && t.slashes == SlashesKept && set.below && set.splatCut == 0 &&
		set.splatAt == len(set.segments)-1 {
		base := *set
		base.segments, base.compiled = set.segments[:set.splatAt], nil
		return t.rulesBelow(&base)
	}
	if hasPath {
		path := set.itself()
		rule := t.rule(&path, path.key(), "", true)
		rule.isOfAll = set.below && !isOutcome
		rules = append(rules, rule)
		if set.endsInSplat() {
			rules = t.appendSlashed(rules, &path)
		}
	}
	if set.below {
		rules = append(rules, t.rulesBelow(set)...)
	}
	return rules
}

// rulesBelow makes the rules of a line for what is below the paths of a set.
func (t *translation) rulesBelow(set *paths) []madeRule {
	name := set.belowName()
	below := set.with(segment{name: name})
	isExact := t.outcome() == "" && (!t.target.endsInSplat() || t.leadsOn())
	rule := t.rule(&below, set.keyBelow(name), name, isExact)
	rule.isOfAll = true
	if !t.keepsSlashes {
		return []madeRule{rule}
	}
	path := set.itself()
	path = path.with(segment{name: name, spans: true})
	return t.appendSlashed([]madeRule{rule}, &path)
}

// leadsOn reports whether a line leads what is below a path to where other lines are.
func (t *translation) leadsOn() bool {
	return t.outcome() == "" && t.target.isInternal && t.target.endsInSplat() &&
		t.follows == followsOthers
}

// appendSlashed appends the rule for the paths of a set with a slash at their end, which stays
// where the line leads. A rule that is not exact would put the slash behind the end of a chain.
func (t *translation) appendSlashed(rules []madeRule, path *paths) []madeRule {
	if !t.keepsSlashes || !t.leadsOn() {
		return rules
	}
	slashed := path.slashed()
	rule := t.rule(&slashed, slashed.key(), "", true)
	rule.isOfAll, rule.isExtra = true, true
	return append(rules, rule)
}

// isAppended reports whether a rule that is not exact does what a line says of a set: what is below
// its key is appended to the destination.
func (t *translation) isAppended(set *paths) bool {
	if t.ofItself != nil && !t.goesOnThere || !set.below || len(set.segments) == 0 ||
		set.splatAt == noSplat || t.target.isInternal && t.follows != followsNothing {
		return false
	}
	if set.splatAt < len(set.segments) {
		return t.target.endsInSplatAlone()
	}
	return t.target.appendsSplat()
}

// endsInSplat reports whether the last segment of a set is of the splat.
func (s *paths) endsInSplat() bool {
	return s.splatAt >= 0 && s.splatAt < len(s.segments) && !s.hasSpan() && !s.isSlashed()
}

// outcome returns what a line answers that leads nowhere, "" for one that leads somewhere.
func (t *translation) outcome() string {
	switch {
	case t.Answer == Gone:
		return resolver.GoneValue
	case t.passes():
		return resolver.PassValue
	}
	return ""
}

// rule makes a rule for a set. below is the variable of what is below its paths, "" for nothing.
func (t *translation) rule(set *paths, key, below string, isExact bool) madeRule {
	if outcome := t.outcome(); outcome != "" {
		rule := resolver.Rule{Position: t.At, Key: key, Value: outcome, Exact: isExact}
		return madeRule{rule: rule, set: *set}
	}
	target := &t.target
	if t.ofItself != nil && set.splatAt == len(set.segments) {
		target = t.ofItself
	}
	value := target.write(resolver.IsTemplate(key), func(variable string) []Piece {
		return set.valueOf(variable, below)
	})
	rule := resolver.Rule{
		Position: t.At, Key: set.withDropped(key, value), Value: value, Status: t.Status, Exact: isExact,
		Query: queryOf(t.Query, value),
	}
	if t.slashes != SlashesKept && leadsToItself(rule) {
		rule = resolver.Rule{Position: rule.Position, Key: key, Value: resolver.PassValue, Exact: isExact}
	}
	return madeRule{rule: rule, set: *set}
}

// queryOf returns the query mode of a rule with a destination of a line that has a mode.
func queryOf(mode resolver.QueryMode, value string) resolver.QueryMode {
	if mode == resolver.QueryDefault && hasQuery(value) {
		return resolver.QueryIgnore
	}
	return mode
}

// withDropped returns a key in which the names of variables begin with "_" that the value does not
// use.
func (s *paths) withDropped(key, value string) string {
	for i := range s.segments {
		name := s.segments[i].name
		if name == "" || strings.Contains(value, "{"+name+"}") ||
			strings.Contains(value, "{+"+name+"}") ||
			name == Splat && strings.HasSuffix(key, Splat+"}") {
			continue
		}
		key = strings.Replace(key, "{"+name+"}", "{_"+name+"}", 1)
		key = strings.Replace(key, "{+"+name+"}", "{+_"+name+"}", 1)
	}
	return key
}

// valueOf returns what a set has for a variable of the line. Below its paths that is a variable.
func (s *paths) valueOf(variable, below string) (value []Piece) {
	for i := range s.segments {
		if s.segments[i].capture == variable {
			return s.segments[i].captured()
		}
	}
	if variable != Splat || s.splatAt == noSplat {
		return nil
	}
	for i := s.splatAt; i < len(s.segments); i++ {
		segment := s.segments[i]
		if i > s.splatAt {
			value = append(value, Piece{Text: "/"})
			segment.cutBefore, segment.cutAfter = 0, 0
		} else {
			segment.cutBefore = s.splatCut
			if s.bareSlash && s.splatCut == 0 {
				value = append(value, Piece{Text: "/"})
			}
		}
		if below != "" && segment.name == below {
			value = append(value, Piece{Variable: below})
			continue
		}
		value = append(value, segment.captured()...)
	}
	return value
}

// captured returns what a segment has for what it captures.
func (s *segment) captured() (pieces []Piece) {
	before, after := canonical(s.before), canonical(s.after)
	if s.isText() {
		return []Piece{{Text: before[s.cutBefore : len(before)-s.cutAfter]}}
	}
	pieces = []Piece{
		{Text: before[s.cutBefore:]}, {Variable: s.name}, {Text: after[:len(after)-s.cutAfter]},
	}
	return slices.DeleteFunc(pieces, func(p Piece) bool { return p == Piece{} })
}

// leadsToItself reports whether a rule's destination is its own path.
func leadsToItself(rule resolver.Rule) bool {
	path, _ := cutPath(rule.Value)
	path = strings.ReplaceAll(strings.TrimRight(path, "/"), "{+", "{")
	return path == "/"+strings.ReplaceAll(rule.Key, "{+", "{")
}
