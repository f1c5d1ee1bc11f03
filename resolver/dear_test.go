package resolver

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// dearRequest is a ruleset with templates, and a request that costs a lot with it.
type dearRequest struct {
	name  string
	rules []Rule
	path  string
}

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
	literals := append(numberedChain("v%d/{+x}", "/k%d")[:20], literalChain(n)[:20]...)
	queries := numberedChain("v%d/{+x}", "/v%d/{+x}?{+x}")
	queries[0].Query = QueryIgnore
	// The last one's query is too long; the others would be, too, were they made.
	encoded := numberedChain("v%d/{+x}", "/v%d/{+x}?"+strings.Repeat("{x}", 7))
	encoded = append(encoded[:32], Rule{Key: "v32/{+x}", Value: "https://x.example/"})
	encoded[0].Query = QueryIgnore
	olds, edits := strings.Repeat("/old", 256), strings.Repeat("/edit", 256)
	manyEnds := func(front string) []Rule {
		return numberedKeys(57*57, func(i int) string {
			return front + strings.Repeat("a", i%57) + "{x}" + strings.Repeat("b", 1+i/57)
		})
	}
	lastSegment := "/" + strings.Repeat("a", 57) + strings.Repeat("b", 58)
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
			filled(n-1, "/v0", "/", "x")},
		{"renamed, near text behind", slices.Concat(renamed, nearTail), filled(n, "/v0", "/a", "")},
		{"text behind", edit, filled(n, "/x", "/edit", "")},
		{"README", slices.Concat(moved, readmeTemplates), filled(n, "/", "old/", "")},
		{"README, edit", slices.Concat(moved, readmeTemplates),
			filled(n, olds, "/xedit/edi", "/edit")},
		{"61 behind", slices.Concat(tail, edit), filled(n, "/p", "/a", edits)},
		{"61 behind, escapes", slices.Concat(tail, edit), filled(n, "/p", "/%61", edits)},
		{"variables behind", append(versions, moved...), filled(n, olds, "/v1/v", "")},
		{"renamed, escaped twice, variables behind", append(renamed[:40:40], Rule{
			Key: "{+x}/v/{n}", Value: "https://x.example"}), filled(n, "/v0", "/%2541%252f", "")},
		{"renamed, short segments, variables behind", append(renamed[:40:40], Rule{
			Key: "{+x}/v/{n}", Value: "https://x.example"}), filled(n, "/v0", "/a", "")},
		{"turned", turned, filled(n, "/aa/bb", "/b/c", "")},
		{"grown", []Rule{{Key: "{+x}", Value: "/a/{+x}"}}, filled(n-2*MaxTemplateRedirects, "", "/b", "")},
		{"doubled", []Rule{{Key: "{+x}", Value: "/{+x}/{+x}"}}, filled(n, "", "/b", "")},
		{"part renamed", part, filled(n-1, "/v0-", "a", "")},
		{"part renamed, escapes", part, filled(n-1, "/v0-", "%20", "")},
		{"part renamed, escaped twice", part, filled(n-1, "/v0-", "%2541", "")},
		{"part renamed, reserved", numberedChain("v%d:{x}", "/v%d:{x}"),
			filled(n-1, "/v0:", "a", "")},
		{"remaining", numberedChain("v%d/{x}", "/v%d/{x}/r"), filled(n, "/v0/x", "/a", "")},
		{"queries", queries, filled(n/2, "/v0", "/a", "")},
		{"queries, escapes", queries, filled(n/2, "/v0", "/%41%2F", "")},
		{"literal keys", literals, filled(n, "/v0", "/a", "")},
		{"1,024 templates", append(binaryKeys(10), moved...), filled(n, olds, "/a", "")},
		{"4,096 templates", append(binaryKeys(12), moved...), filled(n, olds, "/a", "")},
		{"queries in which much is encoded", encoded, filled(n, "/v0", "/:", "")},
		{"1,000 of which each spans segments", append(numberedKeys(1000, func(i int) string {
			return strings.TrimSuffix(binaryKeys(10)[i].Key, "/z") + "/{+x}/z"
		}), moved...), filled(n, olds, "/a", "")},
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
		{"4,000 beginnings, longer than templates match", numberedKeys(4000, func(i int) string {
			return strings.Repeat("a", 4*i) + "b{x}"
		}), filled(longTarget, "/", "a", "")},
		{"3,249 behind a long segment", manyEnds("{+p}/q{q}/"),
			filled(n, "/p/q", "a", lastSegment)},
		{"3,249 behind two long segments", manyEnds("{+p}/r{r}/q{q}/"),
			filled(n, filled(n/2, "/p/r", "a", "/q"), "a", lastSegment)},
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

// longTarget is as much as Caddy takes for a header, and about as much for a request line. Of it
// the path is as long as it may be where a template matches.
const longTarget = 20_000

// dearQuery is what a long target has behind a path.
func dearQuery(path string) string { return filled(longTarget-len(path), "?", "a%20b=c&", "") }

func TestADearRequestHasTheSameEndInFullAsExplained(t *testing.T) {
	for _, dear := range dearRequests(maxTemplatePath) {
		rs := mustCompile(t, dear.rules, Options{})
		sameEnd(t, rs, dear.path)
		_, effort := rs.templates.search(dear.path)
		if effort > maxEffort+maxEffort/8 {
			t.Errorf("%s: the search takes %d steps", dear.name, effort)
		}
	}
}

// sameEnd fails if a request is not explained as it is answered, or takes too many redirects.
func sameEnd(t *testing.T, rs *Ruleset, pathname string) {
	t.Helper()
	request, _ := NewRequest("https", "go.example", pathname)
	_, result := rs.AppendDestination(nil, &request)
	explained := rs.Explain(request)
	same := func(err error) bool { return reflect.DeepEqual(err, result.Err) } // loops are found anew
	if !same(explained.Err) || !same(rs.resultFor(pathname, "", "").Err) {
		t.Errorf("%.40s: %v, explained %v", pathname, result.Err, explained.Err)
	}
	if len(explained.Walk) > MaxTemplateRedirects+1 {
		t.Errorf("%.40s: %d steps", pathname, len(explained.Walk))
	}
}

func TestALongPathIsRefusedWhereItBeginsAsOneOfManyTemplates(t *testing.T) {
	rs := mustCompile(t, keysTo("https://x.example",
		"bac{x}", "ba{x}", "ba{x}c", "bc{x}", "bca{x}", "d{x}", "ee{x}", "é{x}"), Options{})
	for start, want := range map[string]error{
		"bab": ErrPathTooLong, "bad": ErrPathTooLong, "bcz": ErrPathTooLong, "d": ErrPathTooLong,
		"%C3%A9": ErrPathTooLong, "%62%61": ErrPathTooLong,
		"a": nil, "b": nil, "bb": nil, "e": nil, "%C3": nil, "z": nil,
	} {
		path := filled(maxTemplatePath+1, "/"+start, ".", "")
		if got := rs.resultFor(path, "", ""); got.Err != want {
			t.Errorf("/%s...: %v", start, got.Err)
		}
	}
}

func TestAPathIsReadFromItsEndForAsManySegmentsAsAKeyMayHave(t *testing.T) {
	rs := mustCompile(t, keysTo("https://x.example", "{+x}"+manyVariables(63)), Options{})
	for slashes, want := range map[int]Outcome{62: Pass, 63: Redirect, 64: Redirect, 128: Redirect} {
		path := strings.Repeat("/a", slashes+1)
		if got := rs.resultFor(path, "", ""); got.Outcome != want {
			t.Errorf("%d segments: %q", slashes+1, got.Outcome)
		}
	}
}

func TestASearchThatTakesTooMuchIsAnErrorOfItsRequestAlone(t *testing.T) {
	rules := numberedChain("v%d/{+x}", "/v%d/{+x}")[:30]
	rules = append(rules, Rule{Key: "{+x}/b/{y}", Value: "https://x.example/{y}"})
	rs := mustCompile(t, rules, Options{})
	for path, want := range map[string]error{
		filled(maxTemplatePath-1, "/v0", "/a", ""):  ErrTooManyRedirects,
		filled(maxTemplatePath/32, "/v0", "/a", ""): nil,
	} {
		if got := rs.resultFor(path, "", ""); got.Err != want {
			t.Errorf("a path of %d bytes: %v", len(path), got.Err)
		}
	}
}

// FuzzDearRequest looks for requests that are explained in another way than they are answered, near
// the limits that chains of templates have.
func FuzzDearRequest(f *testing.F) {
	f.Add("old/{+p}=>/{+p}", "old/old/old/x")
	f.Add("{+p}/edit=>/{+p}\n{+x}/a/a/b=>/x", "a/a/a/edit/edit")
	f.Add("v{x}=>/w{x}\nw{x}=>/v{x}a", "v%2541:")
	f.Add("{x}/{+y}=>/{+y}/{x}", "k/%2fb//")
	f.Add("{+p}=>/{+p}", "old/old/oEEEEEEEEld/x")
	f.Fuzz(func(t *testing.T, text, unit string) {
		rules := slices.DeleteFunc(validAmong(freeRules(text), Options{}), func(rule Rule) bool {
			return !IsTemplate(rule.Key) // whose chains have other limits
		})
		request, ok := NewRequest("https", "go.example",
			"/"+strings.Repeat(unit, 1+maxTemplatePath/(len(unit)+1)))
		if rs := mustCompile(t, rules, Options{}); ok && rs.templates != nil {
			sameEnd(t, rs, request.Target.Pathname)
		}
	})
}

// BenchmarkDearest is what the dearest requests cost.
func BenchmarkDearest(b *testing.B) {
	for _, dear := range dearRequests(maxTemplatePath) {
		b.Run(dear.name, func(b *testing.B) {
			rs := mustCompile(b, dear.rules, Options{})
			request, _ := NewRequest("https", "go.example", dear.path+dearQuery(dear.path))
			dst := make([]byte, 0, 128<<10)
			b.ReportAllocs()
			least := time.Duration(math.MaxInt64)
			for b.Loop() {
				start := time.Now()
				rs.AppendDestination(dst, &request)
				least = min(least, time.Since(start))
			}
			b.ReportMetric(float64(least), "least-ns")
		})
	}
}
