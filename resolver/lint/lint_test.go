package lint

import (
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

var at = resolver.Position{Source: "links.json", Line: 3, Column: 5}

const where = `links.json:3:5: key `

func mustCompile(t testing.TB, rules []resolver.Rule, options resolver.Options) *resolver.Ruleset {
	t.Helper()
	rs, err := resolver.Compile(rules, options)
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

// compileSources compiles rules of several sources with the names one, two and three.
func compileSources(t *testing.T, sources ...[]resolver.Rule) *resolver.Ruleset {
	t.Helper()
	c, err := resolver.NewCompiler(resolver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, rules := range sources {
		if i > 0 {
			c.NextSource()
		}
		for _, rule := range rules {
			if rule.Position.Source == "" {
				rule.Position.Source = []string{"one", "two", "three"}[i]
			}
			c.Add(rule)
		}
	}
	rs, err := c.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

// resolve returns what a client gets that asks for a URL.
func resolve(rs *resolver.Ruleset, url string) (destination string, result resolver.Result) {
	result = rs.Resolve(url)
	return result.Destination, result
}

// allocated returns the bytes of memory that a function asks for.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// seeds is how many random rulesets a test makes: a quarter of all of them, unless the slow tests
// are asked for.
func seeds(all uint64) uint64 {
	if os.Getenv("SHORTLINK_SLOW") == "" {
		return all / 4
	}
	return all
}

// random makes rulesets of a few pieces, small enough that keys meet paths and chains close.
type random struct{ *rand.Rand }

func newRandom(seed uint64) random { return random{rand.New(rand.NewPCG(seed, 1))} }

func (r random) one(of ...string) string { return of[r.IntN(len(of))] }

func (r random) path(most int) string {
	segments := make([]string, 1+r.IntN(most))
	for i := range segments {
		segments[i] = r.one("a", "b", "c", "d", "a", "b", "page", "pagd", "A", "%61", "a%2fb", "%zz")
	}
	return strings.Join(segments, "/")
}

func (r random) query() string { return r.one("", "", "?a=1", "?b", "?") }

func (r random) value() string {
	behind := r.query() + r.one("", "", "#top", "/")
	switch r.IntN(5) {
	case 0:
		return r.one("gone", "pass")
	case 1:
		return r.one("https://example.com", "https://user@example.com", "https://go.example") +
			r.one("", "/", "/x/", "/a") + behind
	}
	return "/" + r.path(3) + behind
}

// ruleset returns valid rules: what does not compile is left out.
func (r random) ruleset(options resolver.Options) (rules []resolver.Rule) {
	for range 1 + r.IntN(8) {
		rule := resolver.Rule{Key: r.path(3), Value: r.value(), Exact: r.IntN(6) == 0}
		if _, err := resolver.Compile(append(rules, rule), options); err == nil {
			rules = append(rules, rule)
		}
	}
	return rules
}

// options returns options, half of the time the draft's own.
func (r random) options() (options resolver.Options) {
	if r.IntN(2) == 0 {
		return options
	}
	options.Query = resolver.QueryMode(r.IntN(4))
	options.FoldCase = r.IntN(3) == 0
	options.Origin = r.one("", "https://go.example", "https://here.example")
	return options
}
