package find

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// compile compiles rules.
func compile(t testing.TB, options resolver.Options, rules ...resolver.Rule) *resolver.Ruleset {
	t.Helper()
	c, err := resolver.NewCompiler(options)
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules {
		c.Add(rule)
	}
	ruleset, err := c.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return ruleset
}

// unlimited returns an index that has time.
func unlimited() *Index {
	x := New(func() {})
	x.searchTime = time.Hour
	return x
}

// makeNow makes both parts of an index for a ruleset.
func (x *Index) makeNow(ruleset *resolver.Ruleset) {
	k, w := x.makeKeys(ruleset), x.makeNear(ruleset)
	x.keys.now.Store(&k)
	x.near.now.Store(&w)
}

// suggest returns the keys that are suggested for a path.
func suggest(x *Index, ruleset *resolver.Ruleset, path string) []string {
	return keysOf(x.Suggest(Listed{Ruleset: ruleset}, path, 5))
}

func keysOf(rules []resolver.Rule) (keys []string) {
	for _, rule := range rules {
		keys = append(keys, rule.Key)
	}
	return keys
}

// The other way to find, slow and plain.

var triplet = regexp.MustCompile("%(?i:[013-9a-f][0-9a-f]|2[0-9a-e])")

func plainForm(text string) string {
	decoded := triplet.ReplaceAllStringFunc(text, func(triplet string) string {
		octet, _ := url.PathUnescape(triplet)
		return octet
	})
	return plainFold(decoded)
}

func plainFold(text string) string {
	b := []byte(text)
	for i, c := range b {
		if strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZ", c) >= 0 {
			b[i] = c + 32
		}
	}
	return string(b)
}

// plainText returns a text without accents and case.
func plainText(text string) string {
	marks := runes.Remove(runes.In(unicode.Mn))
	plain, _, _ := transform.String(transform.Chain(norm.NFKD, marks, cases.Fold()), plainForm(text))
	return plain
}

// plainSearch returns all that has a text, in order.
func plainSearch(ruleset *resolver.Ruleset, fold bool, text string) []resolver.Rule {
	key := plainForm(strings.TrimPrefix(text, "/"))
	canonical := func(rule resolver.Rule) string { return resolver.CanonicalKey(rule.Key, fold) }
	phase := func(rule resolver.Rule) int {
		if !strings.ContainsAny(key, "{}") && strings.HasPrefix(plainForm(canonical(rule)), key) {
			return 1
		}
		for word := range strings.FieldsSeq(text) {
			has := func(in string) bool { return strings.Contains(plainText(in), plainText(word)) }
			if !has("/"+rule.Key) && !has(rule.Value) && !has(rule.Note) {
				return 3
			}
		}
		return 2
	}
	var found []resolver.Rule
	for rule := range ruleset.Rules() {
		if phase(rule) < 3 {
			found = append(found, rule)
		}
	}
	slices.SortFunc(found, func(a, b resolver.Rule) int {
		return cmp.Or(phase(a)-phase(b),
			strings.Compare(plainForm(canonical(a)), plainForm(canonical(b))),
			strings.Compare(canonical(a), canonical(b)))
	})
	return found
}

// randomRules are rules of few words, so that many are alike.
type randomRules struct{ *rand.Rand }

func (r randomRules) pick(of ...string) string { return of[r.IntN(len(of))] }

func (r randomRules) key() string {
	var key strings.Builder
	for range 1 + r.IntN(2) {
		key.WriteString(r.pick("do", "doc", "docs", "DOCS", "release", "re", "l", "caf%C3%A9", "café",
			"%64ocs", "a%2Fb", "a%2fb", "100%", "x%00", ""))
		key.WriteString(r.pick("", "", "/", "-notes", "s", "1", "23"))
	}
	if r.IntN(8) == 0 {
		return r.pick("docs/{x}", "{y}/docs", "docs/{z}/a", "{+all}/"+key.String()+"z")
	}
	if strings.HasPrefix(key.String(), "/") || key.Len() == 0 {
		return "k" + key.String()
	}
	return key.String()
}

func (r randomRules) rule() resolver.Rule {
	rule := resolver.Rule{Key: r.key(), Unlisted: r.IntN(5) == 0}
	rule.Value = r.pick("gone", "pass", "https://x.example/Docs?q=caf%C3%A9", "https://x.example/",
		"https://re.example/notes#top")
	rule.Note = r.pick("", "", "for the Docs", "a{x}", "École, Strasse")
	return rule
}

// derive changes some rules.
func (r randomRules) derive(t *testing.T, ruleset *resolver.Ruleset) *resolver.Ruleset {
	var changes []resolver.RuleChange
	for range 1 + r.IntN(6) {
		rule := r.rule()
		change := resolver.RuleChange{Key: rule.Key}
		if r.IntN(3) > 0 {
			change.Rule = &rule
		}
		changes = append(changes, change)
	}
	next, _, err := ruleset.With(changes)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func (r randomRules) text() string {
	return r.pick("", "/", "d", "do", "Docs", "/docs/", "s", "notes", "Caf", "café", "caf%c3%A9",
		"%2F", "{x", "docs/{", "example/d", "https://", "the D", "q", "x\x00", "%", "nowhere", "K",
		"cafe",
		"É", "docs for", "re x.", "  the  docs ", "/caf", "straße")
}

// ruleset returns a random ruleset, and whether it folds the case of letters.
func (r randomRules) ruleset(t *testing.T) (ruleset *resolver.Ruleset, fold bool) {
	fold = r.IntN(3) == 0
	only := resolver.Rule{Key: "only", Value: "gone"}
	first := compile(t, resolver.Options{NoLines: true, FoldCase: fold}, only)
	ruleset = first
	for range r.IntN(20) {
		ruleset = r.derive(t, ruleset)
	}
	return ruleset, fold
}

// checkAgainstPlain compares an index of a ruleset with the plain way, page by page.
func checkAgainstPlain(t *testing.T, x *Index, ruleset *resolver.Ruleset, fold bool, text string) {
	t.Helper()
	want := plainSearch(ruleset, fold, text)
	after := ""
	for size := 1; ; size++ {
		found := x.Search(t.Context(), ruleset,
			Query{Text: text, Behind: Place{Key: after}, Most: size})
		n := min(size, len(want))
		if !slices.Equal(found.Rules, want[:n]) || found.More != (len(want) > n) || found.Late {
			t.Fatalf("%q after %q: found are %q, want %q", text, after, keysOf(found.Rules), keysOf(want))
		}
		if !found.More {
			break
		}
		after, want = want[n-1].Key, want[n:]
	}
}

// checkSuggestions compares what an index suggests with what a look at all keys does.
func checkSuggestions(t *testing.T, x *Index, ruleset *resolver.Ruleset, path string) {
	t.Helper()
	hits := func(number int) uint64 { return uint64(number % 3) }
	listed := Listed{Ruleset: ruleset, Hits: hits}
	want := keysOf(listed.Suggest(path, 5))
	if got := keysOf(x.Suggest(listed, path, 5)); !slices.Equal(got, want) {
		t.Fatalf("%q: suggested are %q, want %q", path, got, want)
	}
	for _, key := range want {
		number, _ := ruleset.NumberOf(key)
		if rule, ok := ruleset.Numbered(number); !ok || rule.Unlisted || resolver.IsTemplate(key) ||
			rule.Value == "gone" || rule.Value == "pass" {
			t.Fatalf("%q: suggested is %+v", path, rule)
		}
	}
}

func TestAnIndexFindsWhatAPlainSearchFinds(t *testing.T) {
	for seed := range uint64(60) {
		r := randomRules{rand.New(rand.NewPCG(seed, 1))}
		ruleset, fold := r.ruleset(t)
		x := unlimited()
		x.makeNow(ruleset)
		for range 8 {
			next := r.derive(t, ruleset)
			shared := next.SharesNumbers(ruleset)
			ruleset = next
			x.Follow(ruleset)
			if _, ok := x.keys.get(ruleset); ok != shared {
				t.Fatalf("the index is there: %t, and shared: %t", ok, shared)
			}
			if !shared {
				x = unlimited()
				x.makeNow(ruleset)
			}
			checkAgainstPlain(t, x, ruleset, fold, r.text())
			checkSuggestions(t, x, ruleset, r.pick("/", "")+r.key())
		}
	}
}

func TestWithoutAnIndexTheSameIsFound(t *testing.T) {
	for seed := range uint64(100) {
		r := randomRules{rand.New(rand.NewPCG(seed, 2))}
		ruleset, fold := r.ruleset(t)
		x := unlimited()
		x.keys.latest, x.near.latest = ruleset, ruleset // as if it were being made
		checkAgainstPlain(t, x, ruleset, fold, r.text())
		checkSuggestions(t, x, ruleset, "/"+r.key())
	}
}

func TestASearchGoesOnBehindAKeyThatIsThereNoMore(t *testing.T) {
	var rules []resolver.Rule
	for _, key := range []string{"doc", "docs", "dog", "xdo"} {
		rules = append(rules, resolver.Rule{Key: key, Value: "https://x.example/"})
	}
	ruleset := compile(t, resolver.Options{NoLines: true}, rules...)
	x := unlimited()
	x.makeNow(ruleset)
	for after, want := range map[string]string{
		"docks": "docs dog xdo", "doz": "xdo", "a": "xdo", "y": "",
	} {
		found := x.Search(t.Context(), ruleset,
			Query{Text: "do", Behind: Place{Key: after}, Most: 5})
		if got := strings.Join(keysOf(found.Rules), " "); got != want {
			t.Errorf("behind %s there are %q, want %q", after, got, want)
		}
	}
}

func TestManyNewKeysAreMerged(t *testing.T) {
	var rules []resolver.Rule
	for i := range 4 * mostAdded {
		rules = append(rules, resolver.Rule{Key: fmt.Sprint("k", i), Value: "gone"})
	}
	ruleset := compile(t, resolver.Options{NoLines: true}, rules...)
	x := unlimited()
	x.makeNow(ruleset)
	for i := range 3 {
		var changes []resolver.RuleChange
		for n := range mostAdded / 2 {
			rule := resolver.Rule{Key: fmt.Sprint("new", i, "-", n), Value: "https://x.example/"}
			changes = append(changes, resolver.RuleChange{Key: rule.Key, Rule: &rule})
		}
		next, _, err := ruleset.With(changes)
		if err != nil {
			t.Fatal(err)
		}
		if !next.SharesNumbers(ruleset) {
			t.Fatal("it is compiled anew")
		}
		ruleset = next
		x.Follow(ruleset)
		checkAgainstPlain(t, x, ruleset, false, "new")
	}
	if k, ok := x.keys.get(ruleset); !ok || len(k.added) > mostAdded {
		t.Error("nothing is merged")
	}
}

func TestAnIndexIsMadeWhenItIsFirstUsedAndFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rules := []resolver.Rule{{Key: "docs", Value: "https://x.example/"}}
		for i := range 20 {
			rules = append(rules, resolver.Rule{Key: fmt.Sprint("other", i), Value: "gone"})
		}
		ruleset := compile(t, resolver.Options{NoLines: true}, rules...)
		x := New(func() {})
		x.Follow(ruleset)
		if x.keys.latest != nil || x.keys.now.Load() != nil {
			t.Error("it is made before it is used")
		}
		if got := suggest(x, ruleset, "docd"); !slices.Equal(got, []string{"docs"}) {
			t.Errorf("suggested are %q", got)
		}
		found := x.Search(t.Context(), ruleset, Query{Text: "d", Most: 5})
		if !slices.Equal(keysOf(found.Rules), []string{"docs"}) {
			t.Errorf("found are %v", found)
		}
		rule := resolver.Rule{Key: "dogs", Value: "https://x.example/"}
		next, _, err := ruleset.With([]resolver.RuleChange{{Key: "dogs", Rule: &rule}})
		if err != nil {
			t.Fatal(err)
		}
		x.Follow(next) // while it is being made
		synctest.Wait()
		for _, asked := range []*resolver.Ruleset{next, ruleset} { // what serves was loaded before
			if got := suggest(x, asked, "/dods/"); !slices.Equal(got, []string{"docs", "dogs"}) {
				t.Errorf("suggested are %q", got)
			}
		}
		other := compile(t, resolver.Options{NoLines: true}, rule)
		x.Follow(other)
		if x.keys.now.Load() != nil || x.near.now.Load() != nil {
			t.Error("the rules that serve no more are held")
		}
		suggest(x, other, "docs")
		synctest.Wait()
		if got := suggest(x, other, "docs"); !slices.Equal(got, []string{"dogs"}) {
			t.Errorf("suggested are %q", got)
		}
	})
}

func TestASearchEndsWhenItsTimeIsUp(t *testing.T) {
	var rules []resolver.Rule
	for i := range 10 * pauseEvery {
		rules = append(rules, resolver.Rule{Key: fmt.Sprint("k", i), Value: "https://x.example/"})
	}
	ruleset := compile(t, resolver.Options{NoLines: true}, rules...)
	for _, isMade := range []bool{true, false} {
		t.Run(fmt.Sprint(isMade), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := New(func() { time.Sleep(100 * time.Millisecond) })
				if isMade {
					x.makeNow(ruleset)
				} else {
					x.keys.latest = ruleset
				}
				start := time.Now()
				found := x.Search(t.Context(), ruleset, Query{Text: "x.", Most: 1000})
				if took := time.Since(start); !found.Late || took != 300*time.Millisecond ||
					len(found.Rules) == 0 {
					t.Errorf("it took %v, and found %d", took, len(found.Rules))
				}
				found = x.Search(t.Context(), ruleset, Query{Text: "k1", Most: 5})
				if isMade && (found.Late || !found.More) {
					t.Errorf("found are %v", found)
				}
			})
		})
	}
}

func TestWhatNobodyMayGuessAndWhatIsGoneIsNotSuggested(t *testing.T) {
	ruleset := compile(t, resolver.Options{NoLines: true},
		resolver.Rule{Key: "docs", Value: "https://x.example/"},
		resolver.Rule{Key: "secret/docs", Value: "https://x.example/", Unlisted: true},
		resolver.Rule{Key: "old/docs", Value: resolver.GoneValue},
		resolver.Rule{Key: "other/docs", Value: resolver.PassValue},
		resolver.Rule{Key: "docs/{x}", Value: "https://x.example/{x}"})
	x := unlimited()
	x.makeNow(ruleset)
	listed := Listed{Ruleset: ruleset}
	for _, path := range []string{"/dcos", "/secret/docs", "/old/docz", "/dosc/{x}"} {
		for _, rules := range [][]resolver.Rule{listed.Suggest(path, 5), x.Suggest(listed, path, 5)} {
			if got := strings.Join(keysOf(rules), " "); got != "docs" && path != "/dosc/{x}" ||
				strings.Contains(got, " ") {
				t.Errorf("%s: suggested are %q", path, got)
			}
		}
	}
}

func TestOfKeysThatAreEquallyNearTheMostUsedIsSuggestedFirst(t *testing.T) {
	ruleset := compile(t, resolver.Options{NoLines: true},
		resolver.Rule{Key: "eng/handbook", Value: "https://x.example/"},
		resolver.Rule{Key: "hr/handbook", Value: "https://x.example/"})
	x := unlimited()
	x.makeNow(ruleset)
	used, _ := ruleset.NumberOf("hr/handbook")
	listed := Listed{Ruleset: ruleset, Hits: func(number int) uint64 {
		return map[int]uint64{used: 3}[number]
	}}
	got := keysOf(x.Suggest(listed, "/handbok", 5))
	if !slices.Equal(got, []string{"hr/handbook", "eng/handbook"}) {
		t.Errorf("suggested are %q", got)
	}
}
