package resolver

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// dearRequest is a ruleset with templates, and a request that costs a lot with it.
type dearRequest struct {
	name  string
	rules []Rule
	path  string
}

// longTarget is as much as Caddy takes for a header, and about as much for a request line.
const longTarget = 20_000

// filled returns start, then as much of unit as a path of n bytes has room for, then end.
func filled(n int, start, unit, end string) string {
	return start + strings.Repeat(unit, (n-len(start)-len(end))/len(unit)) + end
}

// keysTo are templates with one destination.
func keysTo(destination string, keys ...string) []Rule {
	rules := make([]Rule, len(keys))
	for i, key := range keys {
		rules[i] = Rule{Key: key, Value: destination}
	}
	return rules
}

// numberedKeys are n templates, each made of its number, with one destination.
func numberedKeys(n int, key func(i int) string) []Rule {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = key(i)
	}
	return keysTo("https://x.example", keys...)
}

// readmeTemplates are those of the README.
var readmeTemplates = []Rule{
	{Key: "gh/{owner}/{repo}", Value: "https://github.com/{owner}/{repo}"},
	{Key: "gh/{owner}/{repo}/pr/{n}", Value: "https://github.com/{owner}/{repo}/pull/{n}"},
	{Key: "issue-{n}", Value: "https://tracker.example/browse/{n}"},
	{Key: "files/{+path}", Value: "https://files.example/{+path}?inline=1"},
	{Key: "{+page}/edit", Value: "https://wiki.example/{+page}?action=edit"},
}

// binaryKeys are all 2^n templates of n segments, each of which is a or a variable, and one more.
func binaryKeys(n int) []Rule {
	return numberedKeys(1<<n, func(i int) string {
		var segments []string
		for place := range n {
			segment := "a"
			if i>>place&1 == 1 {
				segment = fmt.Sprintf("{v%d}", place)
			}
			segments = append(segments, segment)
		}
		return strings.Join(segments, "/") + "/z"
	})
}

// dearRequests are requests of n bytes that cost more than others.
func dearRequests(n int) []dearRequest {
	moved := []Rule{{Key: "old/{+p}", Value: "/{+p}"}}
	short := []Rule{{Key: "o/{+p}", Value: "/{+p}"}}
	edit := []Rule{{Key: "{+page}/edit", Value: "/{+page}"}}
	tail := keysTo("https://x.example", "{+x}/"+strings.Repeat("a/", 60)+"b")
	nearTail := keysTo("https://x.example", "{+x}/b"+strings.Repeat("/a", 61))
	renamed := numberedChain("v%d/{+x}", "/v%d/{+x}")
	part := numberedChain("v%d-{x}", "/v%d-{x}")
	versions := keysTo("https://x.example", "{+x}/v{n}/b")
	turned := []Rule{{Key: "{a}/{b}/{+c}", Value: "/{b}/{+c}/{a}"}}
	literals := append(numberedChain("v%d/{+x}", "/k%d"), literalChain(n)...)
	queries := numberedChain("v%d/{+x}", "/v%d/{+x}?{+x}")
	queries[0].Query = QueryIgnore
	olds, edits := strings.Repeat("/old", 256), strings.Repeat("/edit", 256)
	return []dearRequest{
		{"moved", moved, filled(n, "/", "old/", "")},
		{"moved, short segments", short, filled(n, strings.Repeat("/o", 256), "/a", "")},
		{"moved, empty segments", short, filled(n, strings.Repeat("/o", 256), "/", "x")},
		{"moved, escapes", moved, filled(n, olds, "/%20%C3%A9", "")},
		{"moved, escaped twice", moved, filled(n, olds, "/%2541%252f", "")},
		{"renamed", renamed, filled(n, "/v0", "/a", "")},
		{"renamed, escapes", renamed, filled(n, "/v0", "/%41%2F", "")},
		{"renamed, text behind", slices.Concat(renamed, tail, edit), filled(n, "/v0", "/a", "")},
		{"renamed, text behind, empty", slices.Concat(renamed, tail, edit),
			filled(n, "/v0", "/", "x")},
		{"renamed, near text behind", slices.Concat(renamed, nearTail), filled(n, "/v0", "/a", "")},
		{"text behind", edit, filled(n, "/x", "/edit", "")},
		{"README", slices.Concat(moved, readmeTemplates), filled(n, "/", "old/", "")},
		{"README, edit", slices.Concat(moved, readmeTemplates),
			filled(n, olds, "/xedit/edi", "/edit")},
		{"61 behind", slices.Concat(tail, edit), filled(n, "/p", "/a", edits)},
		{"61 behind, escapes", slices.Concat(tail, edit), filled(n, "/p", "/%61", edits)},
		{"variables behind", append(versions, moved...), filled(n, olds, "/v1/v", "")},
		{"turned", turned, filled(n, "/aa/bb", "/b/c", "")},
		{"grown", []Rule{{Key: "{+x}", Value: "/a/{+x}"}}, filled(n-2*MaxRedirects, "", "/b", "")},
		{"doubled", []Rule{{Key: "{+x}", Value: "/{+x}/{+x}"}}, filled(n, "", "/b", "")},
		{"part renamed", part, filled(n, "/v0-", "a", "")},
		{"part renamed, escapes", part, filled(n, "/v0-", "%20", "")},
		{"part renamed, escaped twice", part, filled(n, "/v0-", "%2541", "")},
		{"part renamed, reserved", numberedChain("v%d:{x}", "/v%d:{x}"),
			filled(n, "/v0:", "a", "")},
		{"remaining", numberedChain("v%d/{x}", "/v%d/{x}/r"), filled(n, "/v0/x", "/a", "")},
		{"queries", queries, filled(n/2, "/v0", "/a", "")},
		{"queries, escapes", queries, filled(n/2, "/v0", "/%41%2F", "")},
		{"literal keys", literals, filled(n, "/v0", "/a", "")},
		{"1,024 templates", append(binaryKeys(10), moved...), filled(n, olds, "/a", "")},
		{"4,096 templates", append(binaryKeys(12), moved...), filled(n, olds, "/a", "")},
		{"1,000 of 64 segments", append(numberedKeys(999, func(i int) string {
			return strings.Repeat("a", i%31) + "{x}" + strings.Repeat("a", i/31) +
				manyVariables(62) + fmt.Sprint("/z", i)
		}), moved...), filled(n, olds, "/"+strings.Repeat("a", 80), "")},
		{"1,000 with 61 behind", append(numberedKeys(999, func(i int) string {
			return "{+x}" + manyVariables(60) + fmt.Sprint("/z", i)
		}), moved...), filled(n, olds, "/a", "")},
		{"1,000 lengths of text", append(numberedKeys(999, func(i int) string {
			return strings.Repeat("a", 15*i) + "{x}/z"
		}), moved...), filled(n, olds+"/", "a", "")},
	}
}

func manyVariables(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "/{v%d}", i)
	}
	return b.String()
}

// numberedChain are 255 templates of which each leads to the next.
func numberedChain(key, value string) []Rule {
	rules := make([]Rule, MaxRedirects)
	for i := range rules {
		rules[i] = Rule{Key: fmt.Sprintf(key, i), Value: fmt.Sprintf(value, i+1)}
	}
	return rules
}

// literalChain are literal keys that lead back to templates, to long paths.
func literalChain(n int) []Rule {
	rules := make([]Rule, MaxRedirects)
	for i := range rules {
		value := filled(n, fmt.Sprintf("/v%d", i+1), "/a", "")
		rules[i] = Rule{Key: fmt.Sprint("k", i+1), Value: value, Exact: true}
	}
	return rules
}

// spend resolves a pathname that a template matches, if one does, and returns what is left of the
// work.
func spend(rs *Ruleset, pathname string, units int) (left int) {
	p, w := splitPath{text: pathname}, work{left: int64(units)}
	if m := lookUp(&rs.table, rs.templates, &p, &w); m.template.rule != nil {
		rs.recordOf(&m.template, pathname, p.segments, &w)
	}
	return int(w.left)
}

func TestAChainOfTemplatesHasAllItsHopsWherePathsAreShort(t *testing.T) {
	for _, dear := range dearRequests(2048) {
		if left := spend(mustCompile(t, dear.rules, Options{}), dear.path, requestWork); left < 0 {
			t.Errorf("%s: %d units are missing", dear.name, -left)
		}
	}
}

func TestADearRequestEndsWhereItsBudgetDoes(t *testing.T) {
	for _, dear := range dearRequests(longTarget) {
		rs := mustCompile(t, dear.rules, Options{})
		request, _ := NewRequest("https", "go.example", dear.path)
		explained := rs.Explain(request)
		left := spend(rs, dear.path, requestWork)
		switch {
		case left < -requestWork/2:
			t.Errorf("%s takes %d units more than there are", dear.name, -left)
		case left < 0 && (explained.Err != ErrTooManyRedirects ||
			len(explained.Walk) > MaxRedirects):
			t.Errorf("%s: %d steps, %v", dear.name, len(explained.Walk), explained.Err)
		}
		if result := rs.resultFor(dear.path, "", ""); result.Err != explained.Err {
			t.Errorf("%s: %v, and %v when it is compared", dear.name, explained.Err, result.Err)
		}
	}
}

func TestAChainThatBeginsWithALiteralKeyHasNoBudget(t *testing.T) {
	far := strings.Repeat("/old", 200) + strings.Repeat("/a", 8000)
	rules := []Rule{{Key: "start", Value: far}, {Key: "old/{+p}", Value: "/{+p}"}}
	rs := mustCompile(t, rules, Options{})
	if _, result := resolve(rs, "https://go.example"+far); result.Err != ErrTooManyRedirects {
		t.Errorf("the path by itself: %+v", result)
	}
	destination, result := resolve(rs, "https://go.example/start")
	if result.Hops != 201 || len(destination) < 16000 {
		t.Errorf("the key: %d bytes, %+v", len(destination), result)
	}
}

// FuzzDearRequest looks for requests of short paths that cost more than their budget, and for steps
// that cost much more than they count.
func FuzzDearRequest(f *testing.F) {
	f.Add("old/{+p}=>/{+p}", "old/old/old/x")
	f.Add("{+p}/edit=>/{+p}\n{+x}/a/a/b=>/x", "a/a/a/edit/edit")
	f.Add("v{x}=>/w{x}\nw{x}=>/v{x}a", "v%2541:")
	f.Add("{x}/{+y}=>/{+y}/{x}\nk=>/a/b/c/k/k", "k/%2fb//")
	f.Fuzz(func(t *testing.T, text, unit string) {
		n := 2000
		if strings.Contains(unit, "%25") {
			n = 1000
		}
		rules := validAmong(freeRules(text), Options{})
		request, ok := NewRequest("https", "go.example",
			"/"+strings.Repeat(unit, 1+n/(len(unit)+1)))
		if rs := mustCompile(t, rules, Options{}); ok && rs.templates != nil {
			cheapEnough(t, rs, rules, request.Target.Pathname)
		}
	})
}

// cheapEnough fails if a request costs more than it may.
func cheapEnough(t *testing.T, rs *Ruleset, rules []Rule, pathname string) {
	t.Helper()
	left := spend(rs, pathname, requestWork)
	if left < -requestWork/2 {
		t.Errorf("rules %+v, request %q: %d units more than there are", rules, pathname, -left)
	}
	longest, most := 0, 2048
	if strings.Contains(pathname, "%25") {
		most = 1024 // as what is escaped again and again may be decoded several times at each hop
	}
	for _, step := range rs.walk(pathname) {
		longest = max(longest, len(step.Pathname), len(step.next().path))
	}
	if left < 0 && longest <= most {
		t.Errorf("rules %+v, request %q: %d units are missing", rules, pathname, -left)
	}
}

// BenchmarkDearest is what the dearest requests cost.
func BenchmarkDearest(b *testing.B) {
	for _, n := range []int{2048, longTarget} {
		for _, dear := range dearRequests(n) {
			b.Run(fmt.Sprintf("%d/%s", n, dear.name), func(b *testing.B) {
				rs := mustCompile(b, dear.rules, Options{})
				request, _ := NewRequest("https", "go.example", dear.path)
				dst := make([]byte, 0, 128<<10)
				b.ReportAllocs()
				for b.Loop() {
					rs.AppendDestination(dst, &request)
				}
				b.ReportMetric(float64(requestWork-spend(rs, dear.path, requestWork)), "units")
			})
		}
	}
}
