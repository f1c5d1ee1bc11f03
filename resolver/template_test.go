package resolver

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver/pattern"
)

// plainSegment is a segment of a key, as plain as can be.
type plainSegment struct {
	prefix, name, suffix string
	spans                bool
}

func plainSegments(key string, opts Options) (segments []plainSegment) {
	for _, text := range strings.Split(key, "/") {
		prefix, rest, _ := strings.Cut(text, "{")
		name, suffix, _ := strings.Cut(rest, "}")
		name, spans := strings.CutPrefix(name, "+")
		segments = append(segments,
			plainSegment{plainKey(prefix, opts), name, plainKey(suffix, opts), spans})
	}
	return segments
}

func (s plainSegment) weight() int {
	switch {
	case s.name == "":
		return 1 << 20
	case s.spans:
		return 0
	}
	return 1 + len(s.prefix+s.suffix)
}

// plainWay is a way in which a key matches a path.
type plainWay struct {
	rule      Rule
	segments  []plainSegment
	length    int
	remaining string
	values    map[string]string
}

// plainWays returns all ways in which segments of a key match segments of a path.
func plainWays(
	key []plainSegment, path []string, values map[string]string, opts Options, effort *plainEffort,
) (ways []plainWay) {
	if !effort.spend(len(path)) {
		return nil
	}
	if len(key) == 0 {
		remaining := ""
		if len(path) > 0 {
			remaining = "/" + strings.Join(path, "/")
		}
		return []plainWay{{remaining: remaining, values: values}}
	}
	with := func(value string, rest []string, length int) {
		extended := map[string]string{}
		for name, value := range values {
			extended[name] = value
		}
		if key[0].name != "" {
			extended[key[0].name] = value
		}
		for _, way := range plainWays(key[1:], rest, extended, opts, effort) {
			way.length += length
			ways = append(ways, way)
		}
	}
	if key[0].spans {
		for n := 1; n <= len(path); n++ {
			value := strings.Join(path[:n], "/")
			isAll := n == len(path) && len(key) == 1
			if effort.spend(len(value)) && value != "" && !(isAll && path[n-1] == "") {
				with(value, path[n:], 0)
			}
		}
		return ways
	}
	if len(path) == 0 {
		return nil
	}
	if key[0].name == "" {
		if plainKey(path[0], opts) == key[0].prefix {
			with("", path[1:], 1)
		}
		return ways
	}
	for start := 0; start <= min(3*len(key[0].prefix), len(path[0])); start++ {
		for end := max(start+1, len(path[0])-3*len(key[0].suffix)); end <= len(path[0]); end++ {
			if !effort.spend(len(path[0])) || plainCuts(path[0], start) || plainCuts(path[0], end) {
				continue
			}
			before, after := plainKey(path[0][:start], opts), plainKey(path[0][end:], opts)
			if before == key[0].prefix && after == key[0].suffix {
				with(path[0][start:end], path[1:], 1)
			}
		}
	}
	return ways
}

// plainCuts reports whether a place is within a triplet.
func plainCuts(segment string, at int) bool {
	for _, triplet := range regexp.MustCompile(`%[0-9A-Fa-f]{2}`).FindAllStringIndex(segment, -1) {
		if triplet[0] < at && at < triplet[1] {
			return true
		}
	}
	return false
}

// plainTemplateMatch is plainMatch for rules among which there are templates: the rule has its
// captures in place.
func plainTemplateMatch(pathname string, rules []Rule, opts Options, effort *plainEffort) (
	rule Rule, remaining string, captured []string, found bool,
) {
	var best *plainWay
	if len(pathname) < 2 {
		return rule, "", nil, false
	}
	for _, rule := range rules {
		segments := plainSegments(rule.Key, opts)
		for _, way := range plainWays(segments, strings.Split(pathname[1:], "/"), nil, opts,
			effort) {
			if rule.Exact && way.remaining != "" && way.remaining != "/" {
				continue
			}
			way.rule, way.segments = rule, segments
			if best == nil || plainBetter(way, *best) {
				best = &way
			}
		}
	}
	if best == nil {
		return rule, "", nil, false
	}
	rule = best.rule
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range best.values {
			if !yield(name) {
				return
			}
		}
	}) {
		value := best.values[name]
		captured = append(captured, value)
		rule.Value = strings.ReplaceAll(rule.Value, "{"+name+"}",
			plainMarked(plainExpanded(value, "")))
		rule.Value = strings.ReplaceAll(rule.Value, "{+"+name+"}",
			plainMarked(plainExpanded(value, ":/?#[]@!$&'()*+,;=")))
	}
	captured = append(captured, plainWithCaptures(rule.Value)...)
	rule.Value = plainMarks.Replace(rule.Value)
	if rule.Exact {
		best.remaining = ""
	}
	return rule, best.remaining, captured, true
}

// plainMarked has a mark in front of each octet. No value holds one.
func plainMarked(expanded string) (marked string) {
	for _, octet := range []byte(expanded) {
		marked += "\x00" + string(rune(octet))
	}
	return marked
}

var plainMarks = strings.NewReplacer("\x00", "")

// plainWithCaptures returns the segments of a value's path that hold marked octets.
func plainWithCaptures(value string) (segments []string) {
	path, _, _ := strings.Cut(strings.ReplaceAll(value, "#", "?"), "?")
	for _, segment := range strings.Split(path, "/") {
		if strings.Contains(segment, "\x00") {
			segments = append(segments, plainMarks.Replace(segment))
		}
	}
	return segments
}

// plainExpanded encodes what is not unreserved, not a triplet and not allowed.
func plainExpanded(value, allowed string) string {
	return plainCharacter.ReplaceAllStringFunc(value, func(c string) string {
		isTriplet := len(c) == 3 && c[0] == '%'
		if isTriplet || strings.Contains(allowed, c) || plainUnreserved.MatchString(c) {
			return c
		}
		encoded := ""
		for _, octet := range []byte(c) {
			encoded += fmt.Sprintf("%%%02X", octet)
		}
		return encoded
	})
}

var (
	plainCharacter  = regexp.MustCompile(`(?s)%[0-9A-Fa-f]{2}|.`)
	plainUnreserved = regexp.MustCompile(`[A-Za-z0-9._~-]`)
)

func plainLeaves(w plainWay) int {
	if w.remaining == "/" {
		return 0
	}
	return len(w.remaining)
}

func plainBetter(a, b plainWay) bool {
	order := cmp.Or(cmp.Compare(b.length, a.length), cmp.Compare(plainLeaves(a), plainLeaves(b)))
	literal := func(w plainWay) bool { return !strings.Contains(w.rule.Key, "{") }
	if order == 0 && literal(a) != literal(b) {
		return literal(a)
	}
	for i := 0; order == 0 && i < min(len(a.segments), len(b.segments)); i++ {
		order = cmp.Compare(b.segments[i].weight(), a.segments[i].weight())
	}
	alphabetical := strings.Compare(CanonicalKey(a.rule.Key, false),
		CanonicalKey(b.rule.Key, false))
	longest := cmp.Compare(len(a.remaining), len(b.remaining)) // of ways of one rule
	return cmp.Or(order, cmp.Compare(len(a.segments), len(b.segments)), alphabetical, longest) < 0
}

// templateRules are random rules, most of them templates, that can be compiled together.
func templateRules(r *rand.Rand) []Rule {
	keys := []string{"a", "b", "{x}", "v{x}", "{x}v", "a{x}b", "{+x}", "a%2Fb", "{y}", "{x}0",
		"a{y}f"}
	values := []string{"a", "b", "{x}", "v{x}", "{+x}", "{x}.html", "c", "{y}"}
	join := func(from []string) string {
		var parts []string
		for range 1 + r.IntN(3) {
			parts = append(parts, from[r.IntN(len(from))])
		}
		return strings.Join(parts, "/")
	}
	var rules []Rule
	for len(rules) < 1+r.IntN(5) {
		value := "/" + join(values)
		if strings.Contains(value, "{+x}") && strings.Count(value, "x}") > 1 {
			continue // each hop would double it, and the plain algorithm takes its time
		}
		switch r.IntN(4) {
		case 0:
			value += "?q={x}&f=1#{x}"
		case 1:
			value += "?e=2"
		}
		if r.IntN(2) == 0 {
			value = "https://x.example" + value
		}
		key := join(keys) + []string{"", "", "", "", "/"}[r.IntN(5)]
		if !strings.Contains(key, "{") && strings.Contains(value, "{") {
			continue // which is literal there, and has to be encoded
		}
		rule := Rule{Key: key, Value: value, Exact: r.IntN(5) == 0,
			Status: []int{0, 0, 301, 307}[r.IntN(4)],
			Query:  []QueryMode{0, 0, 0, QueryMerge, QueryPreserve, QueryIgnore}[r.IntN(6)]}
		if rs, err := Compile(append(rules, rule), Options{MaxRedirects: new(4)}); err == nil &&
			!isAmbiguous(rs) {
			rules = append(rules, rule)
		} else if r.IntN(20) == 0 {
			break
		}
	}
	return rules
}

// withOutcomes makes some of the rules say gone or pass.
func withOutcomes(rules []Rule, seed uint64) []Rule {
	r := rand.New(rand.NewPCG(seed, 7))
	for i := range rules {
		if r.IntN(5) == 0 {
			rules[i].Value, rules[i].Status = []string{GoneValue, PassValue}[r.IntN(2)], 0
			rules[i].Query = QueryDefault
		}
	}
	return rules
}

// manyTemplateRules are random templates with more in common than others, so many that each way to
// choose among them is taken.
func manyTemplateRules(r *rand.Rand) []Rule {
	var rules []Rule
	segments := []string{
		"a", "b", "c", "", "{x}", "{y}", "v{z}", "{w}v", "aa{u}", "{t}bb", "v{s}v", "{q}a", "b{o}",
	}
	for i := range 200 {
		var key []string
		span := r.IntN(5)
		for place := range 1 + r.IntN(5) {
			if place == span {
				key = append(key, "{+p}")
			} else {
				key = append(key, segments[r.IntN(len(segments))])
			}
		}
		written := strings.Join(key, "/")
		if strings.HasPrefix(written, "/") || !IsTemplate(written) {
			continue
		}
		value := fmt.Sprint("https://x.example/", i)
		rules = append(rules, Rule{Key: written, Value: value, Exact: r.IntN(4) == 0})
	}
	return validTogether(rules)
}

// validTogether returns those of some templates that have a key and variables of their own.
func validTogether(rules []Rule) (valid []Rule) {
	keys := map[string]bool{}
	for _, rule := range rules {
		key := CanonicalKey(rule.Key, false)
		if _, err := Compile([]Rule{rule}, Options{}); err == nil && !keys[key] {
			keys[key] = true
			valid = append(valid, rule)
		}
	}
	return valid
}

func TestManyTemplatesAnswerAsThePlainAlgorithmDoes(t *testing.T) {
	texts := []string{"a", "b", "c", "", "v1", "1v", "aab", "abb", "%61", "vv", "d", "va", "v%76",
		"%"}
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 6))
		rules := manyTemplateRules(r)
		rs := mustCompile(t, rules, Options{})
		for range 25 {
			var path string
			for range 1 + r.IntN(7) {
				path += "/" + texts[r.IntN(len(texts))]
			}
			sameAnswer(t, rs, rules, Options{}, "https://go.example"+path)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// isAmbiguous reports whether nothing tells two templates apart on some path.
func isAmbiguous(rs *Ruleset) bool {
	index := pattern.NewIndex(pattern.Tied)
	for i := range rs.templates.len() {
		t := rs.templates.template(i)
		if _, _, tied := index.First(t.Pattern); tied {
			return true
		}
		index.Add(t.Pattern, t.index)
	}
	return false
}

func TestTemplatesHaveTheLimitsThatThePlainAlgorithmHas(t *testing.T) {
	answered := map[error]int{}
	for seed := range seeds(400) {
		r := rand.New(rand.NewPCG(seed, 8))
		opts := Options{FoldCase: r.IntN(4) == 0}
		rules := templateRules(r)
		rules = append(rules, Rule{Key: "o/{+p}", Value: "/{+p}"})
		rs, err := Compile(rules, opts)
		if err != nil {
			continue
		}
		first := []string{"/o", "/a", "/b", "/v1", "/%61", "/O", "/%6f", "/v%76", "/c"}[r.IntN(9)]
		path := strings.Repeat("/o", []int{0, 30, 31, 32, 33}[r.IntN(5)]) + first
		if r.IntN(2) == 0 {
			unit := []string{"/a", "b", "/%61"}[r.IntN(3)]
			path += strings.Repeat(unit, (8192-len(path)-2)/len(unit))
			path += "xyz"[:r.IntN(4)]
		}
		for _, request := range []string{path, path + "b", path + "bc", path + "bcd"} {
			sameAnswer(t, rs, rules, opts, "https://go.example"+request)
			_, result := resolve(rs, "https://go.example"+request)
			answered[result.Err]++
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	for _, err := range []error{nil, ErrPathTooLong, ErrTooManyRedirects} {
		if answered[err] < 25 {
			t.Errorf("%v was the error %d times", err, answered[err])
		}
	}
}

func TestTemplatesAnswerAsThePlainAlgorithmDoes(t *testing.T) {
	answered := map[Outcome]int{}
	for seed := range uint64(6000) {
		checkTemplateAnswers(t, seed, 6, answered)
	}
	for _, outcome := range []Outcome{Pass, Redirect, Failed, Gone} {
		if answered[outcome] < 500 {
			t.Errorf("%s was the outcome %d times", outcome, answered[outcome])
		}
	}
}

// checkTemplateAnswers compares the answers of random templates to random requests, and counts the
// outcomes.
func checkTemplateAnswers(t *testing.T, seed uint64, requests int, answered map[Outcome]int) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 5))
	opts := Options{MaxRedirects: new(4), FoldCase: r.IntN(8) == 0,
		Query: []QueryMode{QueryMerge, QueryMerge, QueryPreserve}[r.IntN(3)]}
	rules := withOutcomes(templateRules(r), seed)
	rs, err := Compile(rules, opts)
	if err != nil {
		return
	}
	for range requests {
		var path string
		for range 1 + r.IntN(4) {
			path += "/" + []string{"a", "b", "v1", "1v", "axb", "a%2Fb", "%61", "c", "", "A",
				"a%2fb", "x:y", "%2e%2E%2F", "a%20", "%2f"}[r.IntN(15)]
		}
		request := "https://go.example" + path + []string{"", "?q=9", "?e=3&z=1"}[r.IntN(3)]
		if !sameAnswer(t, rs, rules, opts, request) {
			t.Errorf("the plain algorithm gives up at %q", request)
		}
		answered[rs.Resolve(request).Outcome]++
	}
	if t.Failed() {
		t.Fatalf("seed %d", seed)
	}
}
