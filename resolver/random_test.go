package resolver

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
)

// random makes rulesets and URLs of a few pieces, small enough that keys meet paths and chains
// close, and odd enough that every reading is touched.
type random struct{ *rand.Rand }

// seeds is how many random rulesets a test makes: a quarter of all of them, unless the slow tests
// are asked for.
func seeds(all uint64) uint64 {
	if os.Getenv("SHORTLINK_SLOW") == "" {
		return all / 4
	}
	return all
}

func newRandom(seed uint64) random { return random{rand.New(rand.NewPCG(seed, 1))} }

func (r random) one(of ...string) string { return of[r.IntN(len(of))] }

func (r random) segment() string {
	if r.IntN(8) > 0 {
		return r.one("a", "b", "c", "d")
	}
	return r.one("", "A", "é", "%C3%A9", "%c3%a9", "a b", "a%20b", "%61", "%2F", "%2f", "x.y",
		"%zz", "^", "|",
		"%2561", "a:b", "日本", "%", "~", "%7e", "...", "!", "%21", "-", "a_longer_segment_than_eight", "12345678")
}

func (r random) path(most int) string {
	segments := make([]string, 1+r.IntN(most))
	for i := range segments {
		segments[i] = r.segment()
	}
	return strings.Join(segments, "/")
}

// remainder is what a client appends to a key, now and then with bad intent.
func (r random) remainder() string {
	switch r.IntN(6) {
	case 0:
		return "/" + r.path(3)
	case 1:
		return "/"
	case 2:
		return r.one("/%2e%2e", "/..%2fx", "/x%5c..%5Cy", "/%252e%252e/x", "/a%00", "/%2500",
			"/%7f", "//evil.test/x", "/%2525%32e", "/.%2e/x", "/%25%32%65.", "//", "/..", "/a/./b",
			`\evil`, "/%2F..", "/{x}")
	}
	return ""
}

func (r random) query() string {
	if r.IntN(3) > 0 {
		return ""
	}
	pieces := make([]string, r.IntN(5))
	for i := range pieces {
		pieces[i] = r.one("a=1", "a=2", "b", "b=", "=", "", "c=x+y", "c=x%20y", "%61=3", "a'=\"",
			"é=ü", "%C3%A9=4", "%zz=%", "a=b=c", "__proto__=1", "d=%26%3D", "~=!", "%E2%82=1",
			"e&&f", "g=^`{|}", "h=a/b?c")
	}
	return "?" + strings.Join(pieces, "&")
}

func (r random) fragment() string {
	if r.IntN(4) > 0 {
		return ""
	}
	return "#" + r.one("top", "a b", "", "é", "x?y", "%zz", "<>`", "a/b", "`{}")
}

func (r random) value() string {
	tail := r.query() + r.fragment()
	switch r.IntN(3) {
	case 0:
		return r.one("https://example.com", "http://EXAMPLE.com:8080", "https://user@example.com",
			"https://bücher.example", "https://[::1]", "https://go.example") +
			r.one("", "/", "/x", "/x/", "/a/b", "//y", "/é", "/../z", "/a") + tail
	case 1:
		return "/" + strings.TrimLeft(r.path(3), "/") + tail
	}
	return "/" + r.one("a", "b", "c", "d", "a/b", "b/c", "") + tail
}

// ruleset returns valid rules: what Compile refuses is left out.
func (r random) ruleset(opts Options) []Rule {
	var rules []Rule
	for range 1 + r.IntN(8) {
		rule := Rule{Key: r.path(3), Value: r.value()}
		if r.IntN(12) == 0 {
			rule.Value = "https://go.example/" + rule.Key // leads to itself (R15)
		}
		if r.IntN(8) == 0 {
			rule.Value = r.one("gone", "pass")
		}
		if r.IntN(6) == 0 {
			rule.Exact = true
		}
		if r.IntN(3) == 0 && !isOutcome(rule.Value) {
			rule.Status = []int{301, 302, 303, 307, 308}[r.IntN(5)]
		}
		if _, err := Compile(append(rules, rule), opts); err == nil {
			rules = append(rules, rule)
		}
	}
	return rules
}

// options returns options, half of the time the draft's own.
func (r random) options() Options {
	var opts Options
	if r.IntN(2) == 0 {
		return opts
	}
	opts.Query = QueryMode(r.IntN(3))
	opts.FoldCase = r.IntN(3) == 0
	switch r.IntN(4) {
	case 0:
		opts.Protect = []string{"*"}
	case 1:
		opts.Protect = []string{"a", "é"}
	}
	if r.IntN(3) == 0 {
		limit := r.IntN(4)
		opts.MaxRedirects = &limit
	}
	if r.IntN(4) == 0 {
		opts.Status = []int{301, 302, 303, 307, 308}[r.IntN(5)]
	}
	if r.IntN(4) == 0 {
		opts.Origin = r.one("https://go.example", "http://origin.example:81", "https://[::1]")
	}
	return opts
}

func (r random) requestURL(rules []Rule) string {
	path := r.path(4)
	if len(rules) > 0 && r.IntN(4) > 0 {
		path = rules[r.IntN(len(rules))].Key
	}
	origin := r.one("https://go.example", "http://go.example:8080", "https://GO.example:443",
		"https://[::1]")
	return origin + "/" + path + r.remainder() + r.query() + r.fragment()
}

// carelessRules returns rules that nobody has checked, no two with the same spelling of a key.
func (r random) carelessRules() []Rule {
	var rules []Rule
	for range 1 + r.IntN(8) {
		rule := Rule{Key: r.path(2), Value: r.value()}
		if r.IntN(4) == 0 {
			rule.Key = r.one("", "/a", "//", "a?b", "a#", `a\b`, " a", "a ", "a\tb", "a\x7f",
				"\x00", ".", "a/..", "%2e%2E/a", "a/.%2e", "...", "a{b", "}")
		}
		if r.IntN(4) == 0 {
			rule.Value = r.one("", "a", "?a", "#a", "//x", `/\x`, `/a\b`, "/a/../b", "/%2E",
				"/a ?x", "/ #f", "/a#b#c", "/a?b?c", "/a?b#c?d",
				"http:x", "https:/x", "HTTP://x", "https://", "https://@/", "https://a b", "https://x:99999", "https:///x", "http://[::1",
				"https://a%00b", "ftp://x", "/a\tb", " /a", "/a ", "https://x ")
		}
		if r.IntN(8) == 0 {
			rule.Status = []int{-1, 200, 300, 301, 304, 404}[r.IntN(6)]
		}
		if !slices.ContainsFunc(rules, func(other Rule) bool { return other.Key == rule.Key }) {
			rules = append(rules, rule)
		}
	}
	return rules
}

// mutated puts characters into a URL, behind its origin, that a URL parser has to look at.
func (r random) mutated(requestURL string) string {
	if r.IntN(3) > 0 {
		return requestURL
	}
	characters := []rune(requestURL)
	path := len([]rune("https://"))
	path += 1 + slices.Index(characters[path:], '/')
	for range 1 + r.IntN(3) {
		at := path + r.IntN(len(characters)-path+1)
		inserted := r.one("\t", "\n", "\r", " ", `\`, "/", "?", "#", "%", "%2", "%2f", "&", "=",
			"+", "..", "/../", "/./", "%2e", "'", `"`, "<>", "^`", "{|}", "[]", "@", ":",
			"é", "\x00", "\x1f", "\x7f", "\u0080", "\u2028", "\uFEFF", "\uFFFD", "𝄞", "a\u0301")
		characters = slices.Insert(characters, at, []rune(inserted)...)
	}
	return r.one("", "", " ", "\n") + string(characters) + r.one("", "", " ", "\t\x00")
}
