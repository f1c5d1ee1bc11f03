package rulefile

import (
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// translation is a line on its way to rules.
type translation struct {
	redirectLine
	isCloudflare bool
	sets         []pathSet
	hasStar      bool
	target       redirectTarget
	at           resolver.Position // of its path
	meets        meeting
	// keepsSlashes tells that there is a rule more where a slash at a path's end would be lost.
	keepsSlashes bool
	// isIdle tells that the line leads every request to where it is, or only within what it takes.
	isIdle bool
	// together is the destination of the path itself, which a line in front gives for it; "" for none.
	together string
	// ofItself is the destination of the path itself, if the line has one for it.
	ofItself *redirectTarget
	// goesOnThere tells that the destination goes on where that of the path itself ends.
	goesOnThere bool
}

// meeting says what of the table a destination of a line may come to, beyond the line itself.
type meeting uint8

const (
	meetsNothing meeting = iota
	meetsBelow           // only rules for all below a path, to which what is captured is appended
	meetsOthers
)

// placedRule is a rule of a line, and the requests that it is for.
type placedRule struct {
	rule    resolver.Rule
	set     pathSet
	isExtra bool // it is for no path that stands in a line as it is
	isOfAll bool // it is one of those for a path and all below
}

// translate finds out what a line that has been taken apart takes, and where it leads.
func translate(line redirectLine, dialect Dialect, at resolver.Position) (
	t translation, refused *refusal,
) {
	path, kind, err := newRedirectPath(line.path, dialect)
	if err != nil {
		return t, &refusal{line.from, err, kind}
	}
	t = translation{
		redirectLine: line, isCloudflare: dialect == Cloudflare, sets: path.sets, hasStar: path.hasStar,
		at: at,
	}
	if t.target, err = newRedirectTarget(line.to.text, path.captured, dialect); err != nil {
		return t, &refusal{line.to, err, unsupported}
	}
	if line.itself != "" {
		target, err := newRedirectTarget(line.itself, path.captured, dialect)
		if err != nil {
			return t, &refusal{line.to, err, unsupported}
		}
		t.ofItself = &target
		path, rest := cutPath(line.itself)
		t.goesOnThere = strings.TrimSuffix(path, "/")+"/"+capturedRest+rest == line.to.text
	}
	t.isIdle = line.answer == leads && t.isNear() && t.isIdentity()
	return t, nil
}

// isNear reports whether a line could lead to what it takes itself.
func (t *translation) isNear() bool {
	first := &t.sets[0]
	if !t.target.isInternal {
		return false
	}
	return !first.isLiteral() || strings.HasPrefix(canonical(t.to.text), "/"+canonical(first.key()))
}

// passes reports whether a line leaves its requests to the next handler.
func (t *translation) passes() bool {
	return t.answer == rewrites || t.answer == notFound || t.isIdle
}

// isIdentity reports whether a line leads every request to where it is, perhaps with a slash more
// or less, or to where it leads again.
func (t *translation) isIdentity() bool {
	to, _ := cutPath(t.to.text)
	from := t.path
	switch {
	case t.isCloudflare:
		return from == to
	case t.leadsWithin():
		return true
	}
	if strings.HasSuffix(from, star) {
		from = strings.TrimSuffix(from, "*") + splat
	}
	return strings.Trim(from, "/") == strings.Trim(to, "/")
}

// rules makes the rules of a line for a set of paths: one of its own, or a part of one.
func (t *translation) rules(set *pathSet, isOwn, isBelowOnly bool) (rules []placedRule) {
	switch {
	case t.answer == gone:
		return t.toOutcome(set, resolver.GoneValue, isBelowOnly)
	case t.passes():
		return t.toOutcome(set, resolver.PassValue, isBelowOnly)
	case !isBelowOnly && t.isAppended(set):
		return []placedRule{t.rule(set, set.key(), "", false)}
	}
	if isOwn && t.isCloudflare && set.below && set.splatCut == 0 && set.splatName() != "" {
		base := *set
		base.segments = set.segments[:set.splatAt]
		return t.rulesBelow(&base)
	}
	if set.key() != "" && !isBelowOnly {
		path := set.itself()
		rule := t.rule(&path, path.key(), "", !t.keepsSlashOf(&path))
		rule.isOfAll = set.below
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

// ownRules gives the rules of a line by itself, or those for what is below its paths alone.
func (t *translation) ownRules(isBelowOnly bool) iter.Seq[resolver.Rule] {
	return func(yield func(resolver.Rule) bool) {
		for i := range t.sets {
			for _, made := range t.rules(&t.sets[i], true, isBelowOnly) {
				if !yield(made.rule) {
					return
				}
			}
		}
	}
}

// keepsSlashOf reports whether a rule for a part of what a line takes keeps a slash at a path's
// end, as it stands for what is in front of it.
func (t *translation) keepsSlashOf(set *pathSet) bool {
	return set.span() >= 0 && set.endsInSplat() && t.sets[0].below &&
		t.target.endsInSplat() && (!t.target.isInternal || t.meets != meetsOthers)
}

// rulesBelow makes the rules of a line for what is below the paths of a set.
func (t *translation) rulesBelow(set *pathSet) []placedRule {
	name := set.belowName()
	below := set.withSegment(name)
	isEnd := t.target.endsInSplat()
	keepsSlash := isEnd && (!t.target.isInternal || t.meets != meetsOthers)
	rules := []placedRule{t.rule(&below, set.keyBelow(name), name, !keepsSlash)}
	rules[0].isOfAll = true
	if isEnd && !keepsSlash {
		path := *set
		path.below = false
		path.segments = append(slices.Clone(set.segments), setSegment{name: name, spans: true})
		rules = t.appendSlashed(rules, &path)
	}
	return rules
}

// appendSlashed appends the rule for the paths of a set with a slash at their end, which stays
// where the line leads. A rule that is not exact would put the slash behind the end of a chain.
func (t *translation) appendSlashed(rules []placedRule, path *pathSet) []placedRule {
	if !t.keepsSlashes || !t.target.isInternal || t.meets != meetsOthers || !t.target.endsInSplat() {
		return rules
	}
	slashed := *path
	slashed.segments = append(slices.Clone(path.segments), setSegment{})
	rule := t.rule(&slashed, slashed.key(), "", true)
	rule.isOfAll, rule.isExtra = true, true
	return append(rules, rule)
}

// isAppended reports whether a rule that is not exact does what a line says of a set: what is below
// its key is appended to the destination.
func (t *translation) isAppended(set *pathSet) bool {
	if t.ofItself != nil && !t.goesOnThere {
		return false
	}
	if !set.below || len(set.segments) == 0 || set.splatAt == noSplat || set.splatTo > 0 ||
		t.target.isInternal && t.meets != meetsNothing {
		return false
	}
	if set.splatAt < len(set.segments) {
		_, elsewhere := t.target.count(splatName)
		return t.target.endsInSplat() && elsewhere == 0
	}
	return t.target.goesOn()
}

// splatName returns the variable for what a "*" matches of a set's last segment.
func (s *pathSet) splatName() string {
	if s.below && s.splatAt >= 0 && s.splatAt == len(s.segments)-1 {
		return s.segments[s.splatAt].name
	}
	return ""
}

// endsInSplat reports whether the last segment of a set is of what a "*" matches.
func (s *pathSet) endsInSplat() bool {
	return s.splatAt >= 0 && s.splatAt < len(s.segments) && s.splatTo == 0 && !s.isSlashed()
}

// toOutcome makes the rule that answers a set without a destination.
func (t *translation) toOutcome(set *pathSet, outcome string, isBelowOnly bool) []placedRule {
	key, covered := set.key(), *set
	if isBelowOnly || key == "" {
		name := set.belowName()
		key, covered = set.keyBelow(name), set.withSegment(name)
	}
	rule := resolver.Rule{Position: t.at, Key: key, Value: outcome, Exact: !covered.below}
	return []placedRule{{rule: rule, set: covered}}
}

// itself returns the paths of a set without those below.
func (s *pathSet) itself() pathSet {
	itself := *s
	itself.below = false
	return itself
}

// withSegment returns the paths of a set that are below it, with a variable for what is there.
func (s *pathSet) withSegment(name string) pathSet {
	below := *s
	below.segments = append(below.segments[:len(s.segments):len(s.segments)], setSegment{name: name})
	return below
}

// keyBelow returns the key of a rule for what is below the paths of a set.
func (s *pathSet) keyBelow(name string) string {
	return strings.TrimPrefix(s.key()+"/{+"+name+"}", "/")
}

// rule makes a rule for a set. below is the variable of what is below its paths, "" for nothing.
func (t *translation) rule(set *pathSet, key, below string, isExact bool) placedRule {
	value := t.together
	if value == "" {
		target := &t.target
		if t.ofItself != nil && set.splatAt == len(set.segments) {
			target = t.ofItself
		}
		value = target.write(resolver.IsTemplate(key), func(capture string) []valuePart {
			return set.valueOf(capture, below)
		})
	}
	rule := resolver.Rule{
		Position: t.at, Key: set.withDropped(key, value), Value: value, Status: t.status, Exact: isExact,
	}
	rule.Query = t.queryOf(value)
	if !t.isCloudflare && leadsToItself(rule) {
		rule = resolver.Rule{Position: rule.Position, Key: key, Value: resolver.PassValue, Exact: isExact}
	}
	return placedRule{rule: rule, set: *set}
}

// queryOf returns the query mode of a rule with a destination of the line.
func (l *redirectLine) queryOf(value string) resolver.QueryMode {
	if l.query == resolver.QueryDefault && hasQuery(value) {
		return resolver.QueryIgnore
	}
	return l.query
}

// withDropped returns a key in which the names of variables begin with "_" that the value does not
// use.
func (s *pathSet) withDropped(key, value string) string {
	for i := range s.segments {
		name := s.segments[i].name
		if name == "" || strings.Contains(value, "{"+name+"}") ||
			strings.Contains(value, "{+"+name+"}") ||
			name == splatName && strings.HasSuffix(key, splatName+"}") {
			continue
		}
		key = strings.Replace(key, "{"+name+"}", "{_"+name+"}", 1)
		key = strings.Replace(key, "{+"+name+"}", "{+_"+name+"}", 1)
	}
	return key
}

// valueOf returns what a set has for something captured. Below its paths that is a variable.
func (s *pathSet) valueOf(capture, below string) (value []valuePart) {
	for i := range s.segments {
		if s.segments[i].capture == capture {
			return s.segments[i].parts()
		}
	}
	if capture != splatName || s.splatAt == noSplat {
		return nil
	}
	end := len(s.segments)
	if s.splatTo > 0 {
		end = s.splatTo
	}
	for i := s.splatAt; i < end; i++ {
		segment := s.segments[i]
		switch {
		case i == s.splatAt:
			segment.cutBefore = s.splatCut
		default:
			value = append(value, valuePart{text: "/"})
		}
		isRest := below != "" && segment.name == below
		if s.bareSlash && i == s.splatAt && s.splatCut == 0 {
			value = append(value, valuePart{text: "/"})
		}
		if isRest {
			value = append(value, valuePart{variable: below})
			continue
		}
		if i > s.splatAt {
			segment.cutBefore, segment.cutAfter = 0, 0
		}
		value = append(value, segment.parts()...)
	}
	return value
}

// parts returns what a segment has for what it captures.
func (s *setSegment) parts() (parts []valuePart) {
	before, after := canonical(s.before), canonical(s.after)
	if s.isText() {
		return []valuePart{{text: before[s.cutBefore : len(before)-s.cutAfter]}}
	}
	for _, p := range []valuePart{
		{text: before[s.cutBefore:]}, {variable: s.name}, {text: after[:len(after)-s.cutAfter]},
	} {
		if p != (valuePart{}) {
			parts = append(parts, p)
		}
	}
	return parts
}

// holes returns where a line would lead to itself, again and again. The service ends that, too: in
// front of what a "*" matched. The paths of the first set are where it begins.
func (t *translation) holes() (holes []pathSet) {
	if t.answer != leads || t.passes() || !t.isNear() {
		return nil
	}
	front, ok := t.target.set(t.hasStar && t.sets[0].below && !t.isCloudflare)
	if path, _ := cutPath(t.to.text); t.isCloudflare && !front.below && strings.HasSuffix(path, "/") {
		front.segments = append(front.segments, setSegment{})
	}
	if ok && t.takes(&front) {
		holes = append(holes, front)
	}
	if itself, ok := t.withoutStar(); ok && t.takes(&itself) {
		holes = append(holes, itself)
	}
	return holes
}

// takes reports whether a line takes the paths of a set, and others.
func (t *translation) takes(set *pathSet) bool {
	isInside := false
	for i := range t.sets {
		if t.sets[i].isLike(set) {
			return false
		}
		isInside = isInside || set.isWithin(&t.sets[i])
	}
	return isInside && len(set.segments) > 0
}

// withoutStar returns the path that a line leads to where its "*" matches nothing, if that is one
// and no other.
func (t *translation) withoutStar() (set pathSet, ok bool) {
	inPath, _ := t.target.count(splatName)
	for _, p := range t.target.pathPieces() {
		if p.capture != "" && p.capture != splatName {
			return set, false
		}
	}
	if inPath == 0 {
		return set, false
	}
	path, _ := cutPath(t.target.write(false, func(string) []valuePart { return nil }))
	set.splatAt = noSplat
	for segment := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		set.segments = append(set.segments, setSegment{before: segment})
	}
	return set, true
}

// rulesOfHole returns the rules that let the paths of a hole pass.
func (t *translation) rulesOfHole(set *pathSet, isBelowOnly bool) (rules []placedRule) {
	isShort := func(own pathSet) bool { return len(set.segments) <= len(own.segments) }
	if !set.below || isBelowOnly || !slices.ContainsFunc(t.sets, isShort) {
		return t.toOutcome(set, resolver.PassValue, isBelowOnly)
	}
	// a rule of this line for all below a key as long would win against one for path and all below
	path := set.itself()
	return append(t.toOutcome(&path, resolver.PassValue, false),
		t.toOutcome(set, resolver.PassValue, true)...)
}

// leadsWithin reports whether a line with a "*" never leads out of what it takes, which ends at the
// service at once.
func (t *translation) leadsWithin() bool {
	if !t.hasStar || t.target.hasQuery || t.target.hasFragment {
		return false
	}
	front, ok := t.target.set(true)
	target, isKnown := t.target.set(false)
	if !ok || !isKnown || !front.isLiteral() {
		return false
	}
	takes := func(s pathSet) bool { return target.isWithin(&s) }
	isOutside := func(s pathSet) bool { return !s.isWithin(&front) }
	return slices.ContainsFunc(t.sets, takes) && !slices.ContainsFunc(t.sets, isOutside)
}

// leadsToItself reports whether a rule's destination is its own path.
func leadsToItself(rule resolver.Rule) bool {
	path, _ := cutPath(rule.Value)
	path = strings.ReplaceAll(strings.TrimRight(path, "/"), "{+", "{")
	return path == "/"+strings.ReplaceAll(rule.Key, "{+", "{")
}

// hasQuery reports whether a destination has a query.
func hasQuery(destination string) bool {
	before, _, _ := strings.Cut(destination, "#")
	return strings.Contains(before, "?")
}

// cutPath cuts a destination behind its path.
func cutPath(destination string) (path, rest string) {
	if i := strings.IndexAny(destination, "?#"); i >= 0 {
		return destination[:i], destination[i:]
	}
	return destination, ""
}

// messages of lines that mean something here that is not quite what they mean at the service.
var (
	errRewrites = errors.New("200 is a rewrite, and no redirect: the next handler answers what this " +
		"line takes; use Caddy's rewrite or try_files, or reverse_proxy for another host")
	errLetsPass = errors.New("the line redirects nothing that it takes: the next handler answers it")
	errNotFound = errors.New("404 is an error page, and no redirect: the next handler answers what " +
		"this line takes; use Caddy's handle_errors for the page")
	errIdentity = errors.New(
		"the line leads to the path that it takes, where at most a slash at the " +
			"end differs: the next handler answers what it takes; remove the line")
	errWholeSite = errors.New(
		"no rule is for \"/\", so this line takes every path but that one; use " +
			"Caddy's redir for it")
)
