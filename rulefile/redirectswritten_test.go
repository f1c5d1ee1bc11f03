package rulefile_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// randomRules returns rules of so few words that their paths overlap, and lead to each other.
func randomRules(r *rand.Rand) (rules []resolver.Rule) {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	seen := make(map[string]bool)
	for range 2 + r.IntN(4) {
		key := pick("0", "1", "a", "a", "{x}", "a-{x}", "{+all}")
		if key != "{+all}" {
			key += pick("", "", "/0", "/b", "/{y}", "/{+rest}", "/b/{+rest}")
		}
		isExact := r.IntN(2) == 0
		value := pick("https://to.example", "https://to.example/z")
		if isExact { // what is below a path goes another way in lines that lead to each other
			value = pick("/0", "/1", "/a/b", "/", value)
		}
		value += pick("", "", "", "/", "/0", "?q=1")
		for _, variable := range []string{"{x}", "{y}", "{+all}", "{+rest}"} {
			if strings.Contains(key, variable) && r.IntN(2) == 0 && !strings.Contains(value, "?") {
				value = strings.TrimSuffix(value, "/") + "/" + variable
			}
		}
		rule := resolver.Rule{Key: key, Value: strings.ReplaceAll(value, "//0", "/0"),
			Exact: isExact, Status: []int{0, 301, 302}[r.IntN(3)]}
		switch r.IntN(6) {
		case 0:
			rule.Value, rule.Status = pick("pass", "gone"), 0
		case 1:
			rule.Query = resolver.QueryIgnore
		}
		if canonical := resolver.CanonicalKey(key, false); !seen[canonical] {
			seen[canonical] = true
			rules = append(rules, rule)
		}
	}
	return rules
}

// writtenRules returns the lines of rules, and the rules without those that lines do not have.
func writtenRules(t *testing.T, rules []resolver.Rule) (string, []resolver.Rule) {
	t.Helper()
	text, err := write(rulefile.Redirects, rules...)
	if err == nil {
		return text, rules
	}
	isLeftOut := func(rule resolver.Rule) bool {
		return strings.Contains(err.Error()+"\n", "key \""+rule.Key+"\": ")
	}
	less := slices.DeleteFunc(slices.Clone(rules), isLeftOut)
	if len(less) == len(rules) {
		t.Fatalf("%v: %v", rules, err)
	}
	return writtenRules(t, less)
}

func TestWhatIsWrittenAsRedirectsAnswersAsTheRules(t *testing.T) {
	withoutSlash := strings.NewReplacer("/\n", "", "/#", "#", "/?", "?", "\n", "")
	compared := 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 5))
		text, rules := writtenRules(t, randomRules(r))
		ruleset, err := resolver.Compile(rules, resolver.Options{})
		if err != nil {
			continue // a way that does not end
		}
		again, _, err := readLines(rulefile.Reading{}, text)
		if err != nil {
			t.Fatalf("seed %d: %v\nare written as\n%s%v", seed, rules, text, err)
		}
		other, err := resolver.Compile(again, resolver.Options{})
		if err != nil {
			t.Fatalf("seed %d: %v\nare written as\n%s%v, %v", seed, rules, text, again, err)
		}
		for range 20 {
			path := ""
			for range 1 + r.IntN(3) {
				path += "/" + []string{"0", "1", "a", "a-b", "b", "z"}[r.IntN(6)]
			}
			want, got := follow(rulesetService{ruleset}, path), follow(rulesetService{other}, path)
			want.url, got.url = withoutSlash.Replace(want.url+"\n"), withoutSlash.Replace(got.url+"\n")
			if compared++; want.kind != isLoop && !want.isSame(got) {
				t.Fatalf("seed %d: %v\nare written as\n%s%v\n%s gets to %+v, not to %+v", seed, rules, text,
					again, path, got, want)
			}
		}
	}
	if compared < 20_000 {
		t.Errorf("%d requests were compared", compared)
	}
}

// Taking all keys between those of a pair apart for each pair took minutes.
func TestManyPairsOfRulesFarApartAreWrittenSoon(t *testing.T) {
	var lines strings.Builder
	for i := range 500 {
		fmt.Fprintf(&lines, "/a%d-*/ /x\n/b%d/:y/* /z\n", i, i)
	}
	rules, _, err := readLines(rulefile.Reading{}, lines.String())
	if err != nil {
		t.Fatal(err)
	}
	written, err := write(rulefile.Redirects, rules...)
	checkLeftOut(t, err)
	again, _, err := readLines(rulefile.Reading{}, written)
	if err != nil || !slices.Equal(rulesByKey(again), rulesByKey(rules)) {
		t.Errorf("%d rules are written as %d lines and read as %d rules, %v", len(rules),
			strings.Count(written, "\n"), len(again), err)
	}
}
