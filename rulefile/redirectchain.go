package rulefile

import (
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// A client follows one line after the other, where a ruleset answers with the end of the chain. Two
// things differ there: at the service the last query and the last fragment of the chain win, and
// here the first rule's query mode counts for all of it, and the first fragment wins.

// chainTail is what the lines have that a destination leads through.
type chainTail struct{ hasQuery, hasFragment bool }

// adaptToChain gives a rule the query and the fragment that clients end up with. It knows the lines
// without variables alone.
func (f *redirectsFile) adaptToChain(i int, rule *resolver.Rule) {
	if !rule.Exact || !strings.HasPrefix(rule.Value, "/") || resolver.IsTemplate(rule.Key) {
		return
	}
	path, rest := cutPath(rule.Value)
	_, by, ok := f.nextOf(f.keyOf(path))
	if !ok || by == i {
		return
	}
	f.warnOfSlash(path, by, rule.Position)
	tail := f.tailOf(path)
	if tail.hasQuery {
		rule.Query = resolver.QueryIgnore
	}
	if query, _, ok := strings.Cut(rest, "#"); ok && tail.hasFragment {
		rule.Value = path + query
	}
}

// longestWalked is the length of the longest path from which a chain is followed. Lines that repeat
// what they capture double it with each step.
const longestWalked = 1 << 13

// tailOf returns what the lines have that a path leads through. What it finds out it keeps, so that
// long chains are walked once.
func (f *redirectsFile) tailOf(path string) (tail chainTail) {
	var walked []uint64
	var seen []chainTail
	for range resolver.MaxRedirects {
		if len(path) > longestWalked {
			break
		}
		key := f.keyOf(path)
		hash := f.hash(key)
		if known, ok := f.tails[hash]; ok {
			tail = known
			break
		}
		to, by, ok := f.nextOf(key)
		if !ok {
			break
		}
		f.tails[hash] = chainTail{} // for circles
		var rest string
		path, rest = cutPath(to)
		query, _, hasFragment := strings.Cut(rest, "#")
		walked = append(walked, hash)
		seen = append(seen, chainTail{query != "" && !f.addsQuery(by), hasFragment})
		if isURL(to) {
			break
		}
	}
	for i := len(walked) - 1; i >= 0; i-- {
		tail.hasQuery = tail.hasQuery || seen[i].hasQuery
		tail.hasFragment = tail.hasFragment || seen[i].hasFragment
		f.tails[walked[i]] = tail
	}
	return tail
}

// addsQuery reports whether a line adds the query of a request to that of its destination.
func (f *redirectsFile) addsQuery(i int) bool {
	line, _ := f.parser.parse(f.lines[i].text)
	return line.query == resolver.QueryPreserve || line.query == resolver.QueryMerge
}

// keyOf returns the key of a path. At Netlify a slash at its end makes no difference.
func (f *redirectsFile) keyOf(path string) string {
	if f.parser.dialect == Cloudflare {
		return strings.TrimPrefix(path, "/")
	}
	return strings.Trim(path, "/")
}

// nextOf returns where the first line without variables leads that has a path, and the line.
func (f *redirectsFile) nextOf(key string) (to string, by int, ok bool) {
	first, ok := f.exact[f.hash(key)]
	if len(f.below) > 0 {
		for hash := range f.above(key) {
			if i, there := f.below[hash]; there && (!ok || i < first) {
				first, ok = i, true
			}
		}
		if i, there := f.below[f.hash("")]; there && (!ok || i < first) {
			first, ok = i, true
		}
	}
	if !ok {
		return "", none, false
	}
	t, refused := f.translationOf(first)
	if refused != nil || t.answer != leads || t.passes() {
		return "", none, false
	}
	for i := range t.sets {
		set := &t.sets[i]
		if set.key() == key {
			return t.target.write(false, func(string) []valuePart { return nil }), first, true
		}
		own := set.key()
		if below, isBelow := strings.CutPrefix("/"+key, strings.TrimRight("/"+own, "/")+"/"); set.below &&
			isBelow {
			rest := []valuePart{{text: below}}
			return t.target.write(false, func(string) []valuePart { return rest }), first, true
		}
	}
	return "", none, false
}

// findMeetings finds out which lines for all below a path lead to where other lines are.
func (f *redirectsFile) findMeetings() {
	targets := make(map[uint64][]int) // the lines by the path that they lead to
	var others []int                  // those whose path has variables
	for _, i := range f.following {
		t, _ := f.translationOf(i)
		set, ok := t.target.set(false)
		switch {
		case !ok:
			f.lines[i].meets = meetsOthers
		case set.isLiteral() && len(set.segments) > 0:
			hash := f.hash(set.key())
			targets[hash] = append(targets[hash], i)
			f.meetAbove(i, &set)
		default:
			others = append(others, i)
		}
	}
	if len(targets) > 0 {
		f.meetBelow(targets)
	}
	f.meetDynamic(others)
	f.decideSlashes()
}

// decideSlashes finds out whether rules have to be compared for the sake of slashes at the end of
// paths, and whether that takes reasonable time.
func (f *redirectsFile) decideSlashes() {
	const mostCompared = 1 << 22
	met := 0
	for _, i := range f.following {
		if f.lines[i].meets == meetsOthers {
			met++
		}
	}
	f.keepsSlashes = met > 0 && met*len(f.lines) <= mostCompared
	isCloudflare := f.parser.dialect == Cloudflare
	f.order.isCompared = len(f.dynamic) > 0 || f.keepsSlashes || isCloudflare && len(f.below) > 0
	f.order.isSlashed = f.keepsSlashes || isCloudflare
}

// meetAbove notes what of a line's target is in front of a path below which another line has all.
func (f *redirectsFile) meetAbove(i int, target *pathSet) {
	for hash := range f.above(target.key()) {
		if above, there := f.below[hash]; there {
			f.meet(i, above)
		}
	}
	if whole, there := f.below[f.hash("")]; there {
		f.meet(i, whole)
	}
}

// meet notes that a line leads to where another one is, if that is reached.
func (f *redirectsFile) meet(i, other int) {
	t, refused := f.translationOf(other)
	f.meetTranslated(i, other, &t, refused)
}

// meetTranslated is meet for a line that has been translated, or refused.
func (f *redirectsFile) meetTranslated(i, other int, t *translation, refused *refusal) {
	if refused == nil && f.isHidden(other, t, i) {
		return
	}
	if refused == nil && t.answer == leads && !t.passes() && t.target.goesOn() && len(t.sets) == 1 &&
		t.sets[0].below {
		f.lines[i].meets = max(f.lines[i].meets, meetsBelow)
		return
	}
	f.lines[i].meets = meetsOthers
}

// isHidden reports whether another line in front has all that a line takes: one without variables,
// or the i-th one.
func (f *redirectsFile) isHidden(line int, t *translation, i int) bool {
	var own []pathSet
	if i < line {
		own = f.pathSetsOf(i)
	}
	isTaken := func(set pathSet) bool {
		if _, part := f.takerOf(line, &set); part == all {
			return true
		}
		return slices.ContainsFunc(own, func(s pathSet) bool { return set.isWithin(&s) })
	}
	return !slices.ContainsFunc(t.sets, func(set pathSet) bool { return !isTaken(set) })
}

// meetBelow finds the lines at or below the targets of others.
func (f *redirectsFile) meetBelow(targets map[uint64][]int) {
	for i := range f.lines {
		line, refused := f.parser.parse(f.lines[i].text)
		if refused != nil {
			continue
		}
		front := strings.Trim(line.path, "/")
		if end := strings.IndexAny(front, f.parser.dialect.marksOf()); end >= 0 {
			front = front[:max(0, strings.LastIndexByte(front[:end], '/'))]
		}
		for hash := range f.above(front) {
			for _, leading := range targets[hash] {
				if f.lines[leading].meets != meetsOthers {
					f.meet(leading, i)
				}
			}
		}
	}
}

// meetDynamic compares the targets of lines with the paths of those that have variables; and all
// that have variables themselves, of which there are few, with those of all lines.
func (f *redirectsFile) meetDynamic(others []int) {
	const mostCompared = 1 << 20
	if len(f.following)*len(f.dynamic)+len(others)*len(f.lines) > mostCompared {
		for _, i := range f.following {
			f.lines[i].meets = meetsOthers
		}
		return
	}
	every := func(yield func(int) bool) {
		for i := range f.lines {
			if !yield(i) {
				return
			}
		}
	}
	for _, i := range f.following {
		f.meetAmong(i, slices.Values(f.dynamic))
	}
	for _, i := range others {
		f.meetAmong(i, every)
	}
}

// meetAmong compares the target of a line with the paths of others.
func (f *redirectsFile) meetAmong(i int, others func(func(int) bool)) {
	t, _ := f.translationOf(i)
	target, ok := t.target.set(false)
	if !ok {
		return
	}
	for other := range others {
		if f.lines[i].meets == meetsOthers {
			return
		}
		t, refused := f.translationOf(other)
		if refused == nil && target.overlapsAny(t.sets) {
			f.meetTranslated(i, other, &t, nil)
		}
	}
}

// pathSetsOf returns what a line takes.
func (f *redirectsFile) pathSetsOf(i int) []pathSet {
	t, refused := f.translationOf(i)
	if refused != nil {
		return nil
	}
	return t.sets
}
