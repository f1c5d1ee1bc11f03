package resolver

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// ruleStore is the rules of several sources, as they would be written.
type ruleStore struct {
	opts    Options
	sources [3]map[string]Rule // by canonical key
	r       *rand.Rand
	plain   bool // without variables in keys
	most    int  // so many changes are made at once
}

func newRuleStore(r *rand.Rand) *ruleStore {
	s := &ruleStore{r: r, plain: r.IntN(2) == 0, most: []int{1, 3, 20}[r.IntN(3)]}
	for i := range s.sources {
		s.sources[i] = map[string]Rule{}
	}
	limit := r.IntN(5)
	if r.IntN(3) == 0 {
		s.opts.MaxRedirects = &limit
	}
	s.opts.FoldCase = r.IntN(3) == 0
	s.opts.Query = QueryMode(r.IntN(4))
	s.opts.NoLines, s.opts.Digest = true, true
	if r.IntN(2) == 0 {
		s.opts.Origin = "https://go.example"
	}
	return s
}

// compile compiles the rules in any order.
func (s *ruleStore) compile() (*Ruleset, error) {
	c, err := NewCompiler(s.opts)
	if err != nil {
		return nil, err
	}
	for i, rules := range s.sources {
		if i > 0 {
			c.NextSource()
		}
		for _, rule := range rules {
			c.Add(rule)
		}
	}
	return c.Compile()
}

func (s *ruleStore) pick(of ...string) string { return of[s.r.IntN(len(of))] }

// path returns a path of a few segments of which there are few, in one of their spellings.
func (s *ruleStore) path(most int) string {
	var segments []string
	for range 1 + s.r.IntN(most) {
		segments = append(segments, s.pick("a", "b", "c", "page", "pagd", "A", "%61", "a%2fb", "%zz"))
	}
	return strings.Join(segments, "/")
}

func (s *ruleStore) key() string {
	switch key := s.path(3); s.r.IntN(9) {
	case 0, 1, 2:
		if s.plain {
			return key
		}
		return s.pick(key+"/{x}", "{y}/"+key, "{+x}/"+key, key+"/{+rest}", key+"-{z}")
	case 3:
		return key + "/"
	default:
		return key
	}
}

func (s *ruleStore) value(key string) string {
	behind := s.pick("", "", "", "?q=1", "#f", "?q#f", "/")
	if IsTemplate(key) && s.r.IntN(2) == 0 {
		_, name, _ := strings.Cut(key, "{")
		name, _, _ = strings.Cut(name, "}")
		return s.pick("/a/{"+name+"}", "/{"+name+"}", "https://x.example/{"+name+"}") + behind
	}
	switch s.r.IntN(10) {
	case 0:
		return GoneValue
	case 1:
		return PassValue
	case 2, 3, 4:
		return "https://x.example/" + s.pick("", "a", "page", "b/c") + behind
	case 5:
		return s.pick("https://x.example/"+strings.Repeat("long/", 60)+behind, "http://u@y.example/%")
	default:
		return "/" + s.path(3) + behind
	}
}

func (s *ruleStore) rule() Rule {
	rule := Rule{Key: s.key()}
	rule.Value = s.value(rule.Key)
	rule.Exact, rule.Unlisted = s.r.IntN(4) == 0, s.r.IntN(8) == 0
	if !isOutcome(rule.Value) {
		rule.Status = []int{0, 0, 0, 301, 308, 303, 307}[s.r.IntN(7)]
		rule.Query = QueryMode(max(0, s.r.IntN(8)-4))
	}
	if s.r.IntN(3) == 0 {
		rule.Note = s.pick("why", "é", strings.Repeat("n", maxNote))
	}
	if s.r.IntN(10*s.most) == 0 { // so that most changes are good
		rule.Status, rule.Note = 299, s.pick("", "\n")
	}
	return rule
}

// changes returns random changes that are made at once.
func (s *ruleStore) changes() (changes []RuleChange) {
	for range 1 + s.r.IntN(s.most) {
		change := RuleChange{Source: s.r.IntN(len(s.sources))}
		rule := s.rule()
		known := slices.Sorted(maps.Keys(s.sources[change.Source]))
		if len(known) > 0 && s.r.IntN(2) == 0 {
			rule.Key = s.sources[change.Source][known[s.r.IntN(len(known))]].Key
			if s.r.IntN(2) == 0 && !IsTemplate(rule.Key) {
				rule.Key = strings.ReplaceAll(rule.Key, "a", "%61")
			}
		}
		if change.Key = rule.Key; s.r.IntN(3) > 0 {
			rule.Position = Position{
				Source: fmt.Sprint("source ", change.Source),
				Line:   max(0, s.r.IntN(30)-10), Column: s.r.IntN(4),
			}
			change.Rule = &rule
		}
		changes = append(changes, change)
	}
	return changes
}

// with returns the store with changes made.
func (s *ruleStore) with(changes []RuleChange) *ruleStore {
	next := *s
	for i := range next.sources {
		next.sources[i] = maps.Clone(s.sources[i])
	}
	for _, change := range changes {
		key := CanonicalKey(change.Key, s.opts.FoldCase)
		if change.Rule == nil {
			delete(next.sources[change.Source], key)
		} else {
			next.sources[change.Source][key] = *change.Rule
		}
	}
	return &next
}

// moveLines lets rules stand elsewhere in those sources that change, and perhaps in others. It
// returns what reads them again.
func (s *ruleStore) moveLines(
	served *Ruleset, changes []RuleChange,
) func() (*Ruleset, Difference, error) {
	read := [len(s.sources)]bool{}
	for _, change := range changes {
		read[change.Source] = true
	}
	read[s.r.IntN(len(read))] = true
	for i, rules := range s.sources {
		if !read[i] || s.r.IntN(2) == 0 {
			continue
		}
		from, by := s.r.IntN(20), s.r.IntN(9)
		for key, rule := range rules {
			if rule.Position.Line > from {
				rule.Position.Line += by
				rules[key] = rule
			}
		}
	}
	return func() (*Ruleset, Difference, error) {
		again := served.Reread()
		for i, rules := range s.sources {
			if !read[i] {
				continue
			}
			again.Source(i)
			for _, rule := range rules {
				again.Add(rule)
			}
		}
		return again.derive()
	}
}

// outside is all that can be seen of a ruleset.
type outside struct {
	Digest  string
	Len     int
	Extent  extent
	Rules   [3][]Rule
	Serving []Rule
	AtSite  string
	Fails   map[string]string
	Results []any
}

func ruleTexts(rules []Rule) []Rule {
	slices.SortFunc(rules, byPosition)
	return rules
}

func lookAt(rs *Ruleset, requests []Request) (o outside) {
	o.Digest, o.Len, o.Extent = rs.Digest(), rs.Len(), rs.extent
	for i := range o.Rules {
		o.Rules[i] = ruleTexts(slices.Collect(rs.RulesOf(i)))
	}
	o.Serving = ruleTexts(slices.Collect(rs.Rules()))
	n, first := rs.AtSite()
	o.AtSite = fmt.Sprintf("%d %v", n, first)
	o.Fails = failuresOf(rs)
	for _, request := range requests {
		e := rs.Explain(request)
		if key := rs.KeyOf(e.Rule); e.Key != "" && key != rs.opts.canonicalKey(e.Key) {
			o.Results = append(o.Results, "the number of "+e.Key+" is that of "+key)
		}
		e.Rule = 0
		o.Results = append(o.Results, e)
	}
	return o
}

// failuresOf returns the errors that keys are answered with.
func failuresOf(rs *Ruleset) map[string]string {
	failures := map[string]string{}
	for number, err := range rs.Failures() {
		failures[rs.KeyOf(number)] = err.Error()
	}
	return failures
}

func changesBetween(before, after *Ruleset) []string {
	difference := Compare(before, after, 0)
	return resultTexts(difference.Results())
}

func resultTexts(results iter.Seq[Change]) (all []string) {
	for change := range results {
		for _, result := range []*Result{
			&change.Before.Key, &change.Before.Slash, &change.Before.Below,
			&change.After.Key, &change.After.Slash, &change.After.Below,
		} {
			result.Rule = 0
		}
		all = append(all, fmt.Sprintf("%+v", change))
	}
	slices.Sort(all)
	return all
}

func errorTexts(err error) (texts []string) {
	if all, is := errors.AsType[RuleErrors](err); is {
		for _, err := range all {
			texts = append(texts, err.Error())
		}
		slices.Sort(texts)
		return texts
	}
	return []string{fmt.Sprint(err)}
}

// checkDerivations makes random changes, and compares each n-th ruleset that is derived with one
// that is compiled. The first one has so many rules at most, or some more. It returns how many
// changes were made.
func checkDerivations(t *testing.T, seed uint64, most, derivations, every int) (made int) {
	r := rand.New(rand.NewPCG(seed, 1))
	store := newRuleStore(r)
	served, err := store.compile()
	if err != nil {
		t.Fatal(err)
	}
	for range r.IntN(most) {
		changes := store.changes()
		if next, _, err := served.With(changes); err == nil {
			store, served = store.with(changes), next
		}
	}
	if served, err = store.compile(); err != nil { // so that there is room in the table
		t.Fatal(err)
	}
	if r.IntN(4) == 0 { // so that some changes are too much
		store.opts.MaxSize = served.size() + r.Int64N(1000)
		if served, err = store.compile(); err != nil {
			t.Fatal(err)
		}
	}
	anew := 0
	for i := range derivations {
		changes := store.changes()
		next := store.with(changes)
		derive := func() (*Ruleset, Difference, error) { return served.With(changes) }
		if r.IntN(2) == 0 {
			derive = next.moveLines(served, changes)
		}
		derived, difference, err := derive()
		if err != nil || i%every == 0 {
			when := fmt.Sprintf("seed %d, change %d: %s", seed, i, changeTexts(changes))
			store.compareWithCompiled(t, when, served, derived, next, difference, err)
		}
		if err != nil {
			continue
		}
		if !derived.SharesNumbers(served) {
			anew++
		}
		store, served = next, derived
		made += len(changes)
	}
	if derivations > 50 && anew > derivations/2 {
		t.Errorf("seed %d: %d of %d rulesets were compiled anew", seed, anew, derivations)
	}
	return made
}

// compareWithCompiled compares what was derived of a ruleset, or the error, with what comes of
// compiling the rules.
func (s *ruleStore) compareWithCompiled(
	t *testing.T, when string, served, derived *Ruleset, next *ruleStore, difference Difference,
	err error,
) {
	t.Helper()
	compiled, wanted := next.compile()
	if !slices.Equal(errorTexts(err), errorTexts(wanted)) {
		t.Fatalf("%s\nthe error is %v\nwant         %v", when, err, wanted)
	}
	if err != nil {
		return
	}
	var requests []Request
	for range 6 {
		request, err := ParseRequest("https://go.example/" + s.pick("", "x/") +
			s.path(4) + s.pick("", "/", "/y", "?p=1"))
		if err != nil {
			t.Fatal(err)
		}
		requests = append(requests, request)
	}
	compareOutside(t, when, lookAt(derived, requests), lookAt(compiled, requests))
	want := differenceText(Compare(served, compiled, namedKeys))
	if got := differenceText(difference); got != want {
		t.Fatalf("%s\n%v\nwant\n%v", when, got, want)
	}
	wantResults := changesBetween(served, compiled)
	derivedResults := changesBetween(served, derived)
	for _, got := range [][]string{derivedResults, resultTexts(difference.Results())} {
		if !slices.Equal(got, wantResults) {
			t.Fatalf("%s\n%v\nwant\n%v", when, got, wantResults)
		}
	}
	for change := range difference.Results() {
		one := func(yield func(Change) bool) {
			if found, is := difference.ResultOf(change.Rule.Key); is {
				yield(found)
			}
		}
		want := resultTexts(slices.Values([]Change{change}))
		if got := resultTexts(one); !slices.Equal(got, want) {
			t.Fatalf("%s\nof %s alone: %v\nwant\n%v", when, change.Rule.Key, got, want)
		}
		if s.r.IntN(3) == 0 { // to stop does no harm
			break
		}
	}
}

func changeTexts(changes []RuleChange) string {
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&b, "%d %s %+v\n", c.Source, c.Key, c.Rule)
	}
	return b.String()
}

func differenceText(d Difference) string {
	d.before, d.after, d.isDerived = nil, nil, false
	return fmt.Sprintf("%+v", d)
}

func compareOutside(t *testing.T, when string, got, want outside) {
	t.Helper()
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range g.NumField() {
		if a, b := g.Field(i).Interface(), w.Field(i).Interface(); !reflect.DeepEqual(a, b) {
			t.Fatalf("%s\n%s\n%+v\nwant\n%+v", when, g.Type().Field(i).Name, a, b)
		}
	}
}

func TestWhatIsDerivedCannotBeToldApartFromWhatIsCompiled(t *testing.T) {
	for seed := range seeds(60) {
		checkDerivations(t, seed, 60, 100, 1)
	}
}

func TestAMillionChangesAreDerivedAsTheyAreCompiled(t *testing.T) {
	if os.Getenv("SHORTLINK_SLOW") == "" {
		t.Skip("it takes minutes; set SHORTLINK_SLOW=1 to run it")
	}
	var seed, made atomic.Int64
	for part := range 2 {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			for made.Load() < 1_000_000 {
				made.Add(int64(checkDerivations(t, uint64(seed.Add(1)), 60, 100, 50)))
			}
		})
	}
}

func FuzzWith(f *testing.F) {
	f.Add(uint64(1), byte(3))
	f.Fuzz(func(t *testing.T, seed uint64, derivations byte) {
		checkDerivations(t, seed, 10, int(derivations%3), 1)
	})
}

func TestASpellingThatIsRemovedLeavesAnotherOneThere(t *testing.T) {
	rs := mustCompile(t, []Rule{
		{Key: "Docs", Value: "https://docs.example/"},
		{Key: "gh/{owner}", Value: "https://gh.example/{owner}"},
	}, Options{FoldCase: true})
	set := func(key string) RuleChange {
		value := "https://new.example/"
		return RuleChange{Key: key, Rule: &Rule{Key: key, Value: value}}
	}
	for name, test := range map[string]struct {
		changes []RuleChange
		want    string // the keys, or the error
	}{
		"set, then removed":   {[]RuleChange{set("docs"), {Key: "Docs"}}, "docs gh/{owner}"},
		"removed, then set":   {[]RuleChange{{Key: "Docs"}, set("docs")}, "docs gh/{owner}"},
		"set and removed":     {[]RuleChange{set("docs"), {Key: "docs"}}, "Docs gh/{owner}"},
		"another one removed": {[]RuleChange{{Key: "docs"}}, "Docs gh/{owner}"},
		"with a variable": {[]RuleChange{set("gh/{user}"), {Key: "gh/{owner}"}},
			"Docs gh/{user}"},
		"two spellings": {[]RuleChange{set("DOCS"), set("docs")},
			`key "Docs": the key is the same as "DOCS", which is already defined; remove one of the two rules` +
				"\n" + `key "docs": the key is the same as "Docs", which is already defined; remove one of the two rules`},
		"both removed": {[]RuleChange{set("docs"), {Key: "docs"}, {Key: "Docs"}}, "gh/{owner}"},
	} {
		t.Run(name, func(t *testing.T) {
			changes, err := rs.BySpelling(test.changes, rs.RuleOf)
			if err != nil {
				if err.Error() != test.want {
					t.Errorf("the error is %v", err)
				}
				return
			}
			next, _, err := rs.With(changes)
			if err != nil {
				t.Fatal(err)
			}
			var keys []string
			for rule := range next.Rules() {
				keys = append(keys, rule.Key)
			}
			if slices.Sort(keys); strings.Join(keys, " ") != test.want {
				t.Errorf("the keys are %q", keys)
			}
		})
	}
}

func TestTheFirstRuleThatSaysAQueryModeChangesWhatClientsGet(t *testing.T) {
	rules := benchRules(100) // so that there is room for changes
	rs := mustCompile(t, rules, Options{NoLines: true})
	rule := &rules[0]
	rule.Query = QueryPreserve
	_, difference, err := rs.With([]RuleChange{{Rule: rule}})
	if err != nil {
		t.Fatal(err)
	}
	compiled := mustCompile(t, rules, Options{NoLines: true})
	if got, want := resultTexts(difference.Results()), changesBetween(rs, compiled); len(want) != 1 ||
		!slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

func TestADifferenceTellsOfKeysWithAMalformedEscape(t *testing.T) {
	rules := []Rule{
		{Key: "%7Ex/%zz", Value: "https://malformed.example/", Exact: true},
		{Key: "~x", Value: "https://x.example/"},
	}
	rs := mustCompile(t, rules, Options{NoLines: true})
	exact := rules[1]
	exact.Exact = true
	next, difference, err := rs.With([]RuleChange{{Rule: &exact}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := resultTexts(difference.Results()), changesBetween(rs, next); len(want) != 2 ||
		!slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

// BenchmarkResults previews the change of a key below which there is nothing.
func BenchmarkResults(b *testing.B) {
	for _, exact := range []int{1000, 2} { // every so manyth key
		rules := benchRules(1_000_000)
		for i := range rules {
			rules[i].Exact = i%exact == 0
		}
		rules = append(rules, Rule{Key: "t/{x}", Value: "https://x.example/{x}"})
		rs := mustCompile(b, rules, Options{NoLines: true})
		now := Rule{Key: rules[1].Key, Value: "https://x.example"}
		_, difference, err := rs.With([]RuleChange{{Key: now.Key, Rule: &now}})
		if err != nil {
			b.Fatal(err)
		}
		b.Run("exact=1/"+strconv.Itoa(exact), func(b *testing.B) {
			for b.Loop() {
				for range difference.Results() {
				}
			}
		})
	}
}
