package redirects

import (
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/pattern"
)

// translation is a line that is being translated to rules.
type translation struct {
	*Line
	slashes Slashes
	sets    []paths
	// spans says that a variable of the path spans segments.
	spans  bool
	target destination
	// ofItself is the line's destination for the path itself, if it has one.
	ofItself *destination
	// goesOnThere says that the destination continues that of the path itself.
	goesOnThere bool
	// isIdle says that the line leads every request to itself, or only to paths that it matches.
	isIdle  bool
	follows following
	// keepsSlashes says that one more rule keeps a slash at a path's end.
	keepsSlashes bool
	// isApart says that a path and all below it always need two rules.
	isApart bool
	// together says that the previous line has set the destination of the path itself.
	together bool
}

// following says where in the table a line's destination may lead.
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
	isExtra bool             // its path is not written in any line
	isOfAll bool             // it belongs to those for a path and all below
	pattern *pattern.Pattern // of a recorded rule
	slashed *pattern.Pattern // with slashes at the end, computed on demand
}

// translate returns what a line matches, and where it leads, or why no rule can have it.
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

// rulesBelow makes the rules of a line for paths below those of a set.
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

// leadsOn reports whether a line leads paths below its own to where other lines are.
func (t *translation) leadsOn() bool {
	return t.outcome() == "" && t.target.isInternal && t.target.endsInSplat() &&
		t.follows == followsOthers
}

// appendSlashed appends the rule for the paths of a set with a slash at the end, which the
// destination keeps. A rule that is not exact would put the slash at the end of a chain.
func (t *translation) appendSlashed(rules []madeRule, path *paths) []madeRule {
	if !t.keepsSlashes || !t.leadsOn() {
		return rules
	}
	slashed := path.slashed()
	rule := t.rule(&slashed, slashed.key(), "", true)
	rule.isOfAll, rule.isExtra = true, true
	return append(rules, rule)
}

// isAppended reports whether a rule that is not exact expresses what a line does with a set: what
// is below its key is appended to the destination.
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

// endsInSplat reports whether the last segment of a set belongs to the splat.
func (s *paths) endsInSplat() bool {
	return s.splatAt >= 0 && s.splatAt < len(s.segments) && !s.hasSpan() && !s.isSlashed()
}

// outcome returns the value for a line that does not redirect, or "".
func (t *translation) outcome() string {
	switch {
	case t.Answer == Gone:
		return resolver.GoneValue
	case t.passes():
		return resolver.PassValue
	}
	return ""
}

// rule makes a rule for a set. below is the variable for what is below its paths, or "".
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

// queryOf returns the query mode of a rule with a destination, for the mode of its line.
func queryOf(mode resolver.QueryMode, value string) resolver.QueryMode {
	if mode == resolver.QueryDefault && HasQuery(value) {
		return resolver.QueryIgnore
	}
	return mode
}

// withDropped returns a key in which names of variables that the value does not use begin with "_".
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

// valueOf returns the pieces of a set for a variable of the line. Below its paths that is a
// variable.
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

// captured returns the pieces of a segment that the line captures.
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
