package lint

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// sources are the rules of several sources, as they would be written, by canonical key.
type sources [3]map[string]resolver.Rule

// with returns the sources with changes made.
func (s *sources) with(changes []resolver.RuleChange, fold bool) (next sources) {
	for i := range s {
		next[i] = map[string]resolver.Rule{}
		maps.Copy(next[i], s[i])
	}
	for _, change := range changes {
		key := resolver.CanonicalKey(change.Key, fold)
		if change.Rule == nil {
			delete(next[change.Source], key)
		} else {
			next[change.Source][key] = *change.Rule
		}
	}
	return next
}

func (s *sources) compile(options resolver.Options) (*resolver.Ruleset, error) {
	c, err := resolver.NewCompiler(options)
	if err != nil {
		return nil, err
	}
	for i, rules := range s {
		if i > 0 {
			c.NextSource()
		}
		for _, rule := range rules {
			c.Add(rule)
		}
	}
	return c.Compile()
}

// changes returns random changes that are made at once.
func (r random) changes(s *sources) (changes []resolver.RuleChange) {
	for range 1 + r.IntN(3) {
		source := r.IntN(len(s))
		key := r.path(3)
		value := r.value()
		if r.IntN(3) == 0 {
			key = r.one(key+"/{x}", "{y}/"+key, "{+x}/"+key, key+"-{z}")
			value = r.one(value, "/a/b", "https://x.example/")
		}
		if known := slices.Sorted(maps.Keys(s[source])); len(known) > 0 && r.IntN(2) == 0 {
			key = s[source][known[r.IntN(len(known))]].Key
		}
		change := resolver.RuleChange{Source: source, Key: key}
		if r.IntN(3) > 0 {
			change.Rule = &resolver.Rule{
				Key: key, Value: value, Exact: r.IntN(4) == 0, Unlisted: r.IntN(8) == 0,
				Position: resolver.Position{Source: fmt.Sprint("source ", source)},
			}
		}
		changes = append(changes, change)
	}
	return changes
}

func TestTheListOfADerivedRulesetFollowsThatBefore(t *testing.T) {
	told := 0
	for seed := range seeds(400) {
		told += checkDerivations(t, seed, 30)
	}
	if told < 1000 {
		t.Errorf("only %d warnings were new", told)
	}
}

func FuzzDerive(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { checkDerivations(t, seed, 3) })
}

// checkDerivations makes random changes, and compares each list that is derived with that of the
// same rules, compiled. It returns how many warnings were new.
func checkDerivations(t *testing.T, seed uint64, derivations int) (told int) {
	r := newRandom(seed)
	options := r.options()
	options.NoLines = true
	var store sources
	for range 20 {
		if next := store.with(r.changes(&store), options.FoldCase); isGood(&next, options) {
			store = next
		}
	}
	served, err := store.compile(options)
	if err != nil {
		t.Fatal(err)
	}
	var pages Pages
	if r.IntN(2) == 0 {
		pages = pagesAt{"/page"}
	}
	list := withPages(served, pages)
	for i := range derivations {
		changes := r.changes(&store)
		derived, _, err := served.With(changes)
		if err != nil {
			continue
		}
		d := derivedList{t: t, served: served, derived: derived, before: list}
		d.when = fmt.Sprintf("seed %d, change %d: %+v", seed, i, changes)
		store = store.with(changes, options.FoldCase)
		if d.compiled, err = store.compile(options); err != nil {
			t.Fatal(d.when, err)
		}
		var fresh []Warning
		d.list, fresh = list.Derive(served, derived, changes, nil)
		if want := d.list.Since(list); !reflect.DeepEqual(fresh, want) {
			t.Fatalf("%s\nnew warnings are %v\nwant %v", d.when, fresh, want)
		}
		d.compare()
		told += len(fresh)
		served, list = derived, d.list
	}
	return told
}

func isGood(s *sources, options resolver.Options) bool {
	_, err := s.compile(options)
	return err == nil
}

// derivedList is the list of a ruleset that was derived from the one that served, and the same
// rules, compiled.
type derivedList struct {
	t                         *testing.T
	when                      string
	served, derived, compiled *resolver.Ruleset
	before, list              *List
}

// compare compares the list with that of what was compiled. What depends on all rules is that for
// rules that have changed alone, and for others as before.
func (d *derivedList) compare() {
	d.t.Helper()
	compiled := withPages(d.compiled, d.before.pages)
	all := func(Warning) bool { return true }
	for _, group := range []group{ofOptions, ofRules, ofTies} {
		d.same(d.list.texts(group, all), compiled.texts(group, all))
	}
	d.same(d.seen(d.derived), d.seen(d.compiled))
	if !d.derived.SharesNumbers(d.served) { // it has been compiled
		d.same(d.list.texts(ofChains, all), compiled.texts(ofChains, all))
		return
	}
	hasChanged := func(w Warning) bool { return d.serving(d.served, w) != d.serving(d.derived, w) }
	// Of loops, which Broken tells, a compilation warns once.
	isNew := func(w Warning) bool { return hasChanged(w) && w.Kind != WarnLoop }
	d.same(d.list.texts(ofChains, isNew), compiled.texts(ofChains, isNew))
	isOld := func(w Warning) bool { return !hasChanged(w) }
	d.same(d.list.texts(ofChains, isOld), d.before.texts(ofChains, isOld))
}

func (d *derivedList) same(got, want []string) {
	d.t.Helper()
	if !slices.Equal(got, want) {
		d.t.Fatalf("%s\n%q\nwant\n%q", d.when, got, want)
	}
}

// serving returns the rule that serves for the key of a warning, with its source.
func (d *derivedList) serving(rs *resolver.Ruleset, w Warning) (this sourcedRule) {
	if number, ok := rs.NumberOf(w.Key); ok {
		if rule, is := rs.Numbered(number); is {
			this = sourcedRule{rs.SourceOf(number), rule}
		}
	}
	return this
}

// seen returns what else there is to know of a ruleset.
func (d *derivedList) seen(rs *resolver.Ruleset) (texts []string) {
	Check(rs, New(resolver.Options{}), []string{"go.example"}, func(f Finding) {
		texts = append(texts, fmt.Sprintf("%+v", f))
	})
	count, broken := Broken(rs, nil, 100)
	for _, err := range broken {
		texts = append(texts, fmt.Sprintf("%v %v", err, err.Kind))
	}
	Unanswered(rs, []string{"go.example"}, func(rule resolver.Rule, path string) {
		texts = append(texts, fmt.Sprintf("%+v %s", rule, path))
	})
	slices.Sort(texts)
	return append(texts, fmt.Sprint(count))
}

// texts returns the warnings of a group of which is true.
func (l *List) texts(group group, which func(w Warning) bool) (texts []string) {
	for _, w := range l.groups[group] {
		if which(w.Warning) {
			texts = append(texts, fmt.Sprint(w.Kind, w.Cycle, w.Warning))
		}
	}
	slices.Sort(texts)
	return texts
}

func TestWhatAReaderTellsOfAPassIsNotToldAgainWhereItHasMoved(t *testing.T) {
	at := func(line int) (resolver.Rule, Warning) {
		place := resolver.Position{Source: "_redirects", Line: line, Column: 1}
		return resolver.Rule{Key: "page", Value: resolver.PassValue, Position: place},
			Warning{Kind: WarnNoEffect, Key: "page", Position: place, Message: "told by the reader"}
	}
	rule, warning := at(1)
	rs := mustCompile(t, []resolver.Rule{rule}, resolver.Options{NoLines: true})
	list := New(rs.Options())
	list.Add(0, rule)
	list.AddRead(0, warning)
	list.Finish(rs)
	rule, warning = at(2)
	list, _ = list.Derive(rs, rs, nil, map[int][]Warning{0: {warning}})
	if got := list.Warnings(); !reflect.DeepEqual(got, []Warning{warning}) {
		t.Errorf("%v", got)
	}
	rule.Note = "moved"
	changes := []resolver.RuleChange{{Rule: &rule}}
	next, _, err := rs.With(changes)
	if err != nil {
		t.Fatal(err)
	}
	list, fresh := list.Derive(rs, next, changes, map[int][]Warning{0: {warning}})
	if got := list.Warnings(); !reflect.DeepEqual(got, []Warning{warning}) || len(fresh) > 0 {
		t.Errorf("%v, %v are new", got, fresh)
	}
	if list, _ = list.Derive(next, next, nil, map[int][]Warning{0: nil}); len(list.Warnings()) > 0 {
		t.Errorf("when the reader tells it no more: %v", list.Warnings())
	}
}

func TestWarningsOfASourceWithoutRulesOutliveARecompilation(t *testing.T) {
	rule := resolver.Rule{Key: "a", Value: "https://a.example/"}
	rs := mustCompile(t, []resolver.Rule{rule}, resolver.Options{NoLines: true})
	list := Ruleset(rs)
	list.AddRead(1, Warning{Kind: WarnNoEffect, Message: "nothing here"})
	var changes []resolver.RuleChange
	for i := range 200 { // more than the table has room for
		more := rule
		more.Key = fmt.Sprint("a", i)
		changes = append(changes, resolver.RuleChange{Rule: &more})
	}
	anew, _, err := rs.With(changes)
	if err != nil || anew.SharesNumbers(rs) {
		t.Fatal("it was not compiled anew", err)
	}
	read := map[int][]Warning{2: {{Kind: WarnNoEffect, Message: "nor here"}}}
	if list, _ = list.Derive(rs, anew, changes, read); len(list.Warnings()) != 2 {
		t.Errorf("%v", list.Warnings())
	}
}

func TestWarningsHaveTheLinesThatARulesetWithoutLinesLeavesOut(t *testing.T) {
	c, err := resolver.NewCompiler(resolver.Options{NoLines: true})
	if err != nil {
		t.Fatal(err)
	}
	list := New(resolver.Options{NoLines: true})
	line := 0
	add := func(source int, key, value string) {
		line++
		at := resolver.Position{Source: "links.json", Line: line, Column: 1}
		rule := resolver.Rule{Key: key, Value: value, Position: at}
		c.Add(rule)
		list.Add(source, rule)
	}
	add(0, "a/", "/loop/")
	add(0, "loop", "/loop")
	add(0, "from{x}", "/from{x}")
	add(0, "{_x}b", "/page")
	add(0, "b{_x}", "/page")
	c.NextSource()
	add(1, "a/", "/page")
	add(1, "idle", "pass")
	c.Inspect(list.Finish)
	if _, err := c.Compile(); err != nil {
		t.Fatal(err)
	}
	lines := map[int]bool{}
	for _, w := range list.Warnings() {
		lines[w.Position.Line] = true
	}
	if len(lines) != 7-1 || lines[5] { // of two that tie one is warned of
		t.Errorf("the warnings are of the lines %v: %v", lines, list.Warnings())
	}
}
