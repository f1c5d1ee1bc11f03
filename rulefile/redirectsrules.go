package rulefile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// makeRules passes the rules of all lines to add, in the order of the lines.
func (f *redirectsFile) makeRules(add func(resolver.Rule)) {
	together := ""
	for i := range f.lines {
		if err := f.errs.tooMany(f.placeOf(i)); err != nil {
			f.errs = append(f.errs, err)
			return
		}
		if f.makePlainRule(i, add) {
			f.forget(i)
			continue
		}
		t, refused := f.translationOf(i)
		if refused != nil {
			f.refuse(i, &t, refused)
			continue
		}
		t.together, together = together, ""
		if together = f.togetherWithNext(i, &t); together != "" {
			continue
		}
		if refused := f.makeRulesOf(i, &t, add); refused != nil {
			f.refuse(i, &t, refused)
		}
		if !f.order.isCompared {
			f.forget(i)
		}
	}
	f.letSlashesPass(add)
	f.warnOfLeftOut()
}

// forget leaves the text of a line that has its rules to the garbage collector, where nobody asks
// for it again: no line leads to another one.
func (f *redirectsFile) forget(i int) {
	if !f.hasInternal && f.parser.dialect != foreign {
		f.lines[i].text = ""
	}
}

// letSlashesPass adds a rule for each path of Cloudflare's that stands in a line without a slash at
// its end, which the line does not take with one.
func (f *redirectsFile) letSlashesPass(add func(resolver.Rule)) {
	behind := len(f.lines)
	for _, path := range f.unslashed {
		set := path.set
		set.segments = append(slices.Clip(set.segments), setSegment{})
		if _, isPlaced := f.order.ownerOf(set.key()); isPlaced {
			continue
		}
		rule := resolver.Rule{
			Position: path.rule.Position, Key: set.key(), Value: resolver.PassValue, Exact: true,
		}
		placed, by, err := f.settle(ownedRule{placedRule{rule: rule, set: set, isExtra: true}, behind})
		if by != none {
			placed, err = f.shareAll(by, &set)
		}
		if err == nil {
			f.addExtra(placed, add)
		}
	}
}

// makePlainRule passes the rule of a line on that leads a path without variables somewhere, where
// no line in front with any has it: of most lines, by the shortest way. It reports whether it has.
func (f *redirectsFile) makePlainRule(i int, add func(resolver.Rule)) bool {
	if f.order.isSlashed || f.whole != none || len(f.left) > 0 || f.isPair(i) ||
		f.parser.dialect == Cloudflare {
		return false
	}
	line, refused := f.parser.parse(f.lines[i].text)
	if refused != nil || line.answer != leads ||
		f.parser.dialect != foreign && strings.Contains(line.to.text, "/:") {
		return false
	}
	key, ok := f.plainPath(line.path)
	if !ok {
		return false
	}
	if by, part := f.takerOfKey(i, key, false); part != nothing {
		f.takeBy(i, f.positionOf(i, line.from), by)
		return true
	}
	rule := resolver.Rule{
		Position: f.positionOf(i, line.from), Key: key, Value: line.to.text, Status: line.status,
		Exact: true,
	}
	if leadsToItself(rule) || f.order.isCompared && f.order.concerns(rule) {
		return false
	}
	rule.Query = line.queryOf(rule.Value)
	f.adaptToChain(i, &rule)
	add(rule)
	return true
}

// isPair reports whether the i-th line could become one rule with that in front of it or behind it.
func (f *redirectsFile) isPair(i int) bool {
	if f.parser.dialect == foreign {
		return false
	}
	for _, n := range []int{i, i + 1} {
		if n < len(f.lines) && strings.Contains(f.lines[n].text, star) {
			return true
		}
	}
	return false
}

// refuse says that a line is no rule: in an error, or in a warning where it may be left out.
func (f *redirectsFile) refuse(i int, t *translation, refused *refusal) {
	at := f.positionOf(i, refused.word)
	switch {
	case refused.kind == neverReached:
		f.warned.add(WarnNeverReached, at, "", "%s", refused.why)
	case refused.kind == unsupported && f.skips:
		f.left = append(f.left, leftOut{line: i, at: at, why: refused.why.Error(), sets: f.setsOf(t)})
	case refused.kind == unsupported:
		f.errs.add(at, "%s; or leave such lines out: unsupported skip in the source's block, or "+
			"--unsupported skip", refused.why)
	default:
		f.errs.add(at, "%s", refused.why)
	}
}

// setsOf returns what a line that is no rule would have taken, as far as that can be said.
func (f *redirectsFile) setsOf(t *translation) []pathSet {
	if t.path == "" {
		return nil
	}
	path, _, err := newRedirectPath(t.path, f.parser.dialect)
	if err != nil {
		return nil
	}
	return path.sets
}

// makeRulesOf passes the rules of a line to add.
func (f *redirectsFile) makeRulesOf(i int, t *translation, add func(resolver.Rule)) *refusal {
	if f.whole == none && t.takesAll() && t.passes() {
		f.whole = i
		f.warnOf(t)
		f.noteLeftOut(i, t)
		return nil
	}
	taker, taken := f.whole, f.whole != none
	var placed []ownedRule
	sets := slices.Clone(t.sets)
	for j := 0; j < len(sets) && !taken; j++ {
		set := &sets[j]
		by, part := f.takenOf(i, set)
		if part == itself && t.isCloudflare && set.endsInSplat() {
			// the line in front has not the path with a slash at its end
			slashed := set.itself()
			slashed.segments = append(slices.Clone(set.segments), setSegment{})
			if !slices.ContainsFunc(f.pathSetsOf(by), func(s pathSet) bool { return slashed.isWithin(&s) }) {
				sets = append(sets, slashed)
				set = &sets[j]
			}
		}
		if part == all {
			taker = by
			continue
		}
		for _, rule := range t.rules(set, true, part == itself && t.together == "") {
			own, by, err := f.settle(ownedRule{rule, i})
			if err != nil {
				return &refusal{t.from, err, unsupported}
			}
			if taker = max(taker, by); by == none {
				placed = append(placed, own...)
			}
		}
	}
	if len(placed) == 0 {
		f.takeBy(i, t.at, taker)
		return nil
	}
	f.add(i, t, placed, add)
	return nil
}

// takeBy says what becomes of a line that takes nothing, as another one has all.
func (f *redirectsFile) takeBy(i int, at resolver.Position, by int) {
	if isApart, isSame := f.slashApart(i, by); isSame {
		return // the other one's rule does what both do
	} else if isApart {
		f.warned.add(WarnLeftOut, at, "", "%s; the line is left out", f.errSlashApart(by))
		return
	}
	remedy := "put this line in front of it"
	if f.laterRemedy != "" && by < f.firstLater && i >= f.firstLater {
		remedy = f.laterRemedy
	}
	f.warned.add(WarnNeverReached, at, "", "no request gets to this line, as that at %s comes first "+
		"and takes all that it would take; %s, or remove one of the two", f.placeOf(by), remedy)
}

// takesAll reports whether a line takes every path.
func (t *translation) takesAll() bool { return len(t.sets[0].segments) == 0 }

// add passes the rules of a line on, and remembers them.
func (f *redirectsFile) add(i int, t *translation, placed []ownedRule, add func(resolver.Rule)) {
	f.warnOf(t)
	if at := f.addHoles(i, t, add); at != "" {
		ends := "ends at the service, too"
		if f.parser.dialect == foreign {
			ends = "would never end"
		}
		f.warned.add(WarnApproximated, t.at, "", "the line leads to paths that it takes itself, which "+
			"%s: the next handler answers at /%s", ends, at)
	}
	for _, rule := range placed {
		if _, isPlaced := f.order.ownerOf(rule.rule.Key); isPlaced {
			continue
		}
		f.order.add(rule)
		if f.parser.dialect == Cloudflare && rule.line == i && !rule.isOfAll && rule.set.isUnslashed() {
			f.unslashed = append(f.unslashed, rule.placedRule)
		}
		f.adaptToChain(rule.line, &rule.rule)
		add(rule.rule)
	}
	if t.takesAll() {
		f.whole = i
	}
	f.noteLeftOut(i, t)
}

// addHoles adds the rules that end a line's way to itself, where no line in front has their paths,
// and returns the key of the first.
func (f *redirectsFile) addHoles(i int, t *translation, add func(resolver.Rule)) (first string) {
	for _, set := range t.holes() {
		by, part := f.takenOf(i, &set)
		if part == all && by != i {
			continue
		}
		for _, rule := range t.rulesOfHole(&set, part == itself && by != i) {
			rule.isExtra = true
			placed, by, err := f.settle(ownedRule{rule, i})
			if err == nil && by == none && f.addExtra(placed, add) && first == "" {
				first = rule.rule.Key
			}
		}
	}
	return first
}

// addExtra passes rules on whose keys have none yet.
func (f *redirectsFile) addExtra(rules []ownedRule, add func(resolver.Rule)) (isAdded bool) {
	for _, rule := range rules {
		if _, isPlaced := f.order.ownerOf(rule.rule.Key); !isPlaced {
			f.order.add(rule)
			add(rule.rule)
			isAdded = true
		}
	}
	return isAdded
}

// warnOf warns of what a line means here that is not quite what it means at the service.
func (f *redirectsFile) warnOf(t *translation) {
	warn := func(err error) { f.warned.add(WarnApproximated, t.at, "", "%s", err) }
	switch {
	case t.answer == rewrites && f.passesThere:
	case t.answer == rewrites && f.parser.dialect == foreign:
		warn(errLetsPass)
	case t.answer == rewrites:
		warn(errRewrites)
	case t.answer == notFound:
		warn(errNotFound)
	case t.passes():
		warn(errIdentity)
	case t.takesAll():
		warn(errWholeSite)
	}
	if t.target.unknown != "" {
		warn(fmt.Errorf("%s stands for nothing, as the path does not have it, and stays as it is in "+
			"the destination", t.target.unknown))
	}
}

// part is how much of what a line would take another one has.
type part int

const (
	nothing part = iota
	itself       // the path, and nothing below it
	all
)

// takerOf returns the line in front of the i-th one that has a set of its paths, and how much of
// it.
func (f *redirectsFile) takerOf(i int, set *pathSet) (by int, has part) {
	if !set.isLiteral() {
		return none, nothing
	}
	return f.takerOfKey(i, set.key(), set.below)
}

// takerOfKey is takerOf for a path without variables, and perhaps all below it.
func (f *redirectsFile) takerOfKey(i int, key string, isBelow bool) (by int, has part) {
	by = none
	if first, there := f.exact[f.hash(key)]; there && first < i {
		by, has = first, itself
		if !isBelow {
			has = all
		}
	}
	if len(f.below) == 0 || has == all {
		return by, has
	}
	for hash := range f.above(key) {
		if first, there := f.below[hash]; there && first < i {
			return first, all
		}
	}
	return by, has
}

// takenOf returns the line in front of the i-th one that has a set of its paths, also where one of
// the two has variables.
func (f *redirectsFile) takenOf(i int, set *pathSet) (by int, has part) {
	by, has = f.takerOf(i, set)
	if has != nothing || !set.below || !f.order.isCompared || len(set.segments) == 0 {
		return by, has
	}
	path := set.itself()
	rule := ownedRule{placedRule{rule: resolver.Rule{Key: path.key(), Exact: true}, set: path}, i}
	if by, _ := f.inFrontOf(&rule); by != none {
		return by, itself
	}
	return by, nothing
}

// togetherWithNext returns the destination of a line for a path, if the next line, for all below
// that path, goes on with it: then the two are one rule.
func (f *redirectsFile) togetherWithNext(i int, t *translation) (destination string) {
	if i+1 == len(f.lines) || !f.isPair(i+1) || t.answer != leads || len(t.sets) != 1 ||
		t.sets[0].below {
		return ""
	}
	next, refused := f.translationOf(i + 1)
	if refused != nil || next.path != strings.TrimSuffix(t.path, "/")+star || next.answer != leads ||
		next.status != t.status || !next.isAppended(&next.sets[0]) {
		return ""
	}
	if _, part := f.takerOf(i, &t.sets[0]); part != nothing || f.whole != none {
		return ""
	}
	below := next.rules(&next.sets[0], true, false)[0].rule.Value
	itself := t.rules(&t.sets[0], true, false)[0].rule.Value
	if withSlash(itself) != below {
		return ""
	}
	return itself
}
