package reverse

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

const goExample = "https://go.example"

func set(rule resolver.Rule) resolver.RuleChange {
	return resolver.RuleChange{Key: rule.Key, Rule: &rule}
}

// with returns the ruleset that follows from changes. It shares its numbers with the one before.
func with(
	t testing.TB, ruleset *resolver.Ruleset, changes ...resolver.RuleChange,
) *resolver.Ruleset {
	t.Helper()
	next, _, err := ruleset.With(changes)
	if err != nil || !next.SharesNumbers(ruleset) {
		t.Fatal("the ruleset is not derived: ", err)
	}
	return next
}

func TestAShortURLByATemplateFollowsTheKeysThatItsChainLeadsThrough(t *testing.T) {
	docs := resolver.Rule{Key: "docs", Value: "https://docs.example/a/"}
	before := compile(t, append(benchRules(100), // so that there is room for changes
		resolver.Rule{Key: "d/{x}", Value: "/docs/{x}/"}, docs), resolver.Options{NoLines: true})
	x := New(before)
	const led, page = "https://docs.example/a/1/", goExample + "/docs/1/"
	elsewhere := resolver.Rule{Key: "docs", Value: "https://elsewhere.example"}
	exact := docs
	exact.Exact = true
	for name, test := range map[string]struct {
		change resolver.RuleChange
		now    string // the page that /d/1 leads to
	}{
		"removed":       {resolver.RuleChange{Key: "docs"}, page},
		"set to pass":   {set(resolver.Rule{Key: "docs", Value: "pass"}), page},
		"set to gone":   {set(resolver.Rule{Key: "docs", Value: "gone"}), ""},
		"led elsewhere": {set(elsewhere), "https://elsewhere.example/1/"},
		"made exact":    {set(exact), page},
	} {
		t.Run(name, func(t *testing.T) {
			changed := with(t, before, test.change)
			next := x.Follow(changed)
			again := next.Follow(with(t, changed, set(docs)))
			for _, asked := range []struct {
				x         *Index
				url, want string
			}{
				{x, led, "/d/1"}, {next, led, ""}, {again, led, "/d/1"},
				{x, test.now, ""}, {next, test.now, "/d/1"}, {again, test.now, ""},
			} {
				if asked.want != "" {
					asked.want = goExample + asked.want
				}
				if asked.url == "" {
					continue
				}
				if got := shortURL(t, asked.x, asked.url, goExample); got != asked.want {
					t.Errorf("%s has the short URL %q, want %q", asked.url, got, asked.want)
				}
			}
		})
	}
}

// sameIndex compares an index that follows with one that is made anew of its ruleset, and with what
// that of a compiled one finds.
func sameIndex(t *testing.T, when string, x, compiled *Index, pages []string) {
	t.Helper()
	anew := New(x.ruleset)
	if got, want := x.table.entries(), anew.table.entries(); !slices.Equal(got, want) {
		t.Fatalf("%s\nthe entries are %x\nwant %x", when, got, want)
	}
	if !maps.EqualFunc(x.templates, anew.templates, func(a, b *template) bool { return *a == *b }) {
		t.Fatalf("%s\nthe templates are not those of an index that is made anew", when)
	}
	for i, url := range pages {
		page, err := resolver.ParseRequest(url)
		if err != nil {
			continue
		}
		page.OverHTTP, page.Target.Hash = true, ""
		short := []string{"", goExample, "https://s.example"}[i%3]
		got, _ := x.AppendShortURL(nil, &page, short)
		want, _ := compiled.AppendShortURL(nil, &page, short)
		if string(got) != string(want) {
			t.Fatalf("%s\n%s has the short URL %q, want %q", when, url, got, want)
		}
	}
}

// entries returns all entries in their order.
func (t *table) entries() (all []entry) {
	for _, c := range t.chunks {
		all = append(all, c.entries...)
	}
	return all
}

// checkFollowing makes random changes of random rules, and compares the index that follows. It
// returns how many changes were derived.
func checkFollowing(t *testing.T, seed uint64, steps int) (derived int) {
	r := newRandom(seed)
	some, opts := r.ruleset(true)
	all := valid(some, benchRules(20), opts) // so that there is room for changes
	ruleset := compile(t, all, opts)
	x := New(ruleset)
	for step := range steps {
		var changes []resolver.RuleChange
		rules := slices.Clone(all)
		for range 1 + r.IntN(3) {
			rule := r.rule(true)
			if r.IntN(2) == 0 {
				rule.Key = rules[r.IntN(len(rules))].Key
			}
			key := func(rule resolver.Rule) string { return resolver.CanonicalKey(rule.Key, opts.FoldCase) }
			canonical := key(rule)
			rules = slices.DeleteFunc(rules, func(r resolver.Rule) bool { return key(r) == canonical })
			if change := set(rule); r.IntN(3) > 0 {
				changes, rules = append(changes, change), append(rules, rule)
			} else {
				changes = append(changes, resolver.RuleChange{Key: rule.Key})
			}
		}
		next, _, err := ruleset.With(changes)
		if err != nil {
			continue
		}
		if next.SharesNumbers(ruleset) {
			derived++
		}
		when := fmt.Sprintf("seed %d, step %d\nrules %+v\noptions %+v", seed, step, rules, opts)
		all, ruleset, x = rules, next, x.Follow(next)
		sameIndex(t, when, x, New(compile(t, all, opts)), r.pages(all))
	}
	return derived
}

func TestAnIndexThatFollowsIsThatOfItsRuleset(t *testing.T) {
	derived := 0
	for seed := range uint64(200) {
		derived += checkFollowing(t, seed, 20)
	}
	if derived < 2000 {
		t.Errorf("only %d rulesets were derived", derived)
	}
}

func FuzzFollow(f *testing.F) {
	f.Add(uint64(1), byte(3))
	f.Fuzz(func(t *testing.T, seed uint64, steps byte) { checkFollowing(t, seed, int(steps%8)) })
}

func TestAnIndexOfManyRulesFollowsManyChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	all := map[string]resolver.Rule{}
	for i, rule := range benchRules(12_000) {
		if i%10 == 0 {
			rule.Value = "/" + benchKey(i+1) + "/x"
		}
		all[rule.Key] = rule
	}
	compiled := func() *resolver.Ruleset {
		return compile(t, slices.Collect(maps.Values(all)), resolver.Options{NoLines: true})
	}
	ruleset := compiled()
	x := New(ruleset)
	for range 100 {
		var changes []resolver.RuleChange
		for range r.IntN(40) {
			rule := resolver.Rule{Key: benchKey(r.IntN(24_000)), Value: benchURL(r.IntN(1000))}
			if r.IntN(4) == 0 {
				changes = append(changes, resolver.RuleChange{Key: rule.Key})
				delete(all, rule.Key)
				continue
			}
			if r.IntN(3) == 0 {
				rule.Value = "/" + benchKey(r.IntN(24_000)) + strings.Repeat("/x", r.IntN(2))
			}
			all[rule.Key] = rule
			changes = append(changes, set(rule))
		}
		next, _, err := ruleset.With(changes)
		if err != nil {
			t.Fatal(err)
		}
		ruleset, x = next, x.Follow(next)
	}
	var pages []string
	for n := range 24_000 {
		pages = append(pages, goExample+"/"+benchKey(n), benchURL(n))
	}
	sameIndex(t, "after 100 changes", x, New(compiled()), pages)
}

func TestAnIndexFollowsChangesAmongVeryManyKeysOfOnePage(t *testing.T) {
	rule := func(key int) resolver.Rule {
		return resolver.Rule{Key: fmt.Sprint("k", key), Value: "https://example.com/same"}
	}
	var some rules
	var changes []resolver.RuleChange
	for i := range 20_000 {
		some = append(some, rule(100_000+i))
	}
	for i := range 1000 {
		changes = append(changes, set(rule(500_000+i)), resolver.RuleChange{Key: some[i].Key})
	}
	before := compile(t, some, resolver.Options{NoLines: true})
	x := New(before)
	next := x.Follow(with(t, before, changes...))
	for of, want := range map[*Index]string{x: "/k100000", next: "/k101000"} {
		if got := shortURL(t, of, "https://example.com/same", goExample); got != goExample+want {
			t.Errorf("%s, not %s", got, want)
		}
	}
	sameIndex(t, "after many changes", next, next, nil)
}

func TestToMakeAnIndexLetsOthersRun(t *testing.T) {
	pauses := 0
	ruleset := compile(t, benchRules(2560), resolver.Options{Pause: func() { pauses++ }})
	pauses = 0
	if New(ruleset); pauses < 10 {
		t.Errorf("%d pauses", pauses)
	}
}

// Keys have 12 bytes and URLs 60.

func benchKey(i int) string { return fmt.Sprintf("k%05x%06x", uint32(i)*2654435761>>12, i) }

func benchURL(i int) string {
	return fmt.Sprintf("https://www.example.com/articles/%027d", i)
}

func benchRules(n int) (all rules) {
	for i := range n {
		all = append(all, resolver.Rule{Key: benchKey(i), Value: benchURL(i)})
	}
	return all
}

func BenchmarkReverse(b *testing.B) {
	for _, n := range []int{1000, 1_000_000} {
		some := benchRules(n)
		r := rand.New(rand.NewPCG(1, 1))
		for i := range 1000 {
			some[r.IntN(n)].Value = "https://www.example.com/docs/page" + strings.Repeat("x", i%30)
		}
		ruleset := compile(b, some, resolver.Options{NoLines: true})
		x := New(ruleset)
		b.Run("rules="+strconv.Itoa(n)+"/build", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				New(ruleset)
			}
		})
		next := with(b, ruleset, set(resolver.Rule{Key: some[0].Key, Value: "https://x.example"}))
		b.Run("rules="+strconv.Itoa(n)+"/follow", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				x.Follow(next)
			}
		})
		var one rules // page to which many keys lead, and not to what is below it
		for i := range n {
			one = append(one, resolver.Rule{Key: benchKey(i), Value: "https://www.example.com/docs",
				Exact: i%2 == 0}, resolver.Rule{Key: benchKey(i) + "/%2F", Value: "/"})
		}
		manyKeys := New(compile(b, one, resolver.Options{}))
		dst := make([]byte, 0, 256)
		hostile, _ := resolver.NewRequest("https", "www.example.com",
			"/docs/"+strings.Repeat("%2F", 5300))
		b.Run("rules="+strconv.Itoa(n)+"/hostile", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				manyKeys.AppendShortURL(dst, &hostile, "https://s.example")
			}
		})
		for name, target := range map[string]string{"none": "/docs/guide/install",
			"found": "/docs/pagexxx", "deep": strings.Repeat("/a", 20)} {
			page, _ := resolver.NewRequest("https", "www.example.com", target)
			page.OverHTTP = true
			b.Run("rules="+strconv.Itoa(n)+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					x.AppendShortURL(dst, &page, goExample)
				}
			})
		}
	}
}
