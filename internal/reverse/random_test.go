package reverse

import (
	"math/rand/v2"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// random makes rules and URLs of a few pieces, so that destinations meet keys and pages.
type random struct{ *rand.Rand }

func newRandom(seed uint64) random { return random{rand.New(rand.NewPCG(seed, 1))} }

func (r random) one(of ...string) string { return of[r.IntN(len(of))] }

func (r random) segment() string {
	if r.IntN(4) > 0 {
		return r.one("a", "b", "c")
	}
	return r.one("", "%61", "é", "%c3%a9", "a%2fb", "%zz", "x.y", "a b", "a:b", "!", "a,b")
}

func (r random) path(most int) string {
	segments := make([]string, 1+r.IntN(most))
	for i := range segments {
		segments[i] = r.segment()
	}
	return strings.Join(segments, "/")
}

func (r random) options() resolver.Options {
	limit := r.IntN(4)
	opts := resolver.Options{
		NoLines: true, FoldCase: r.IntN(3) == 0, Query: resolver.QueryMode(r.IntN(4)),
		Origin: r.one("", "https://go.example"),
	}
	if r.IntN(4) == 0 {
		opts.MaxRedirects = &limit
	}
	return opts
}

// rule returns a rule, perhaps with variables, which need not be valid.
func (r random) rule(hasVariables bool) resolver.Rule {
	rule := resolver.Rule{
		Key: r.path(3), Exact: r.IntN(4) == 0, Unlisted: r.IntN(8) == 0,
		Value: r.one("/", "/", "https://x.example/", "https://go.example/") + r.one("", r.path(3)) +
			r.one("", "", "/", "?q=1", "?q=a%20b", "#f"),
	}
	if rule.Value = strings.Replace(rule.Value, "//", "/", 1); strings.HasPrefix(rule.Value, "http") {
		rule.Value = strings.Replace(rule.Value, ":/", "://", 1)
	}
	if r.IntN(6) == 0 {
		rule.Key = strings.ReplaceAll(rule.Key, "b", "B")
	}
	switch {
	case hasVariables && r.IntN(3) == 0:
		rule.Key = r.one("t/{x}", "{x}/"+rule.Key, rule.Key+"/{+x}", "p{x}", "{+x}/c", "b/{x}/{y}")
		rule.Value = r.one("https://go.example/{+x}", "/c/{x}", "/{x}?q={x}", "/a/{x}-b/",
			"https://x.example/{x}", "/a/%c3%a9/{+x}/b#{x}", rule.Value)
	case r.IntN(8) == 0:
		rule.Value = r.one("gone", "pass")
	}
	return rule
}

// ruleset returns some valid rules, and options.
func (r random) ruleset(hasVariables bool) (rules, resolver.Options) {
	var some rules
	for range 1 + r.IntN(8) {
		some = append(some, r.rule(hasVariables))
	}
	opts := r.options()
	return valid(nil, some, opts), opts
}

// valid returns those of some rules behind others that can be compiled with them.
func valid(all, some rules, opts resolver.Options) rules {
	for _, rule := range some {
		if _, err := resolver.Compile(append(all, rule), opts); err == nil {
			all = append(all, rule)
		}
	}
	return all
}

// linesOf reads rules from text: a line each, "!" in front of an exact one.
func linesOf(text string) (all rules) {
	for line := range strings.SplitSeq(text, "\n") {
		key, value, _ := strings.Cut(line, "=>")
		key, isExact := strings.CutPrefix(key, "!")
		if len(line) <= 500 && len(all) < 16 {
			all = append(all, resolver.Rule{Key: key, Value: value, Exact: isExact})
		}
	}
	return all
}
