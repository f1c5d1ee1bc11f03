package resolver

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// changes returns what CompareResults reports, by key.
func changes(before, after *Ruleset) map[string]Change {
	found := map[string]Change{}
	CompareResults(before, after, func(c Change) { found[c.Rule.Key] = c })
	return found
}

// summaryOf says in one line what changes for a key.
func summaryOf(c Change) string {
	if c.Query != "" {
		c.Query += " "
	}
	return fmt.Sprintf("%s %s%s -> %s", c.Kind, c.Query, resultText(c.Before.Key),
		resultText(c.After.Key))
}

func resultText(a Result) string {
	switch a.Outcome {
	case Redirect:
		return fmt.Sprint(a.Status, " ", a.Destination)
	case Failed:
		return a.Err.Error()
	}
	return "pass"
}

func TestAChangeIsReportedForEachKeyWithAnotherResultAlone(t *testing.T) {
	docs := Rule{Key: "docs", Value: "https://docs.example"}
	for _, test := range []struct {
		name          string
		before, after []Rule
		want          map[string]string
	}{
		{
			"a key is added below another", []Rule{docs}, []Rule{docs,
				{Key: "docs/api", Value: "https://api.example"}},
			map[string]string{"docs/api": "added 302 https://docs.example/api -> 302 https://api.example/"},
		},
		{
			"a key is removed", []Rule{docs}, nil,
			map[string]string{"docs": "removed 302 https://docs.example/ -> pass"},
		},
		{
			"a rule leads elsewhere", []Rule{docs}, []Rule{{Key: "docs", Value: "https://b.example",
				Status: 301}},
			map[string]string{"docs": "changed 302 https://docs.example/ -> 301 https://b.example/"},
		},
		{
			"the end of a chain leads elsewhere",
			[]Rule{{Key: "a", Value: "/b/x"}, {Key: "b", Value: "https://b.example"}},
			[]Rule{{Key: "a", Value: "/b/x"}, {Key: "b", Value: "https://c.example"}},
			map[string]string{
				"a": "affected 302 https://b.example/x -> 302 https://c.example/x",
				"b": "changed 302 https://b.example/ -> 302 https://c.example/",
			},
		},
		{
			"a longer key takes a chain over",
			[]Rule{{Key: "a", Value: "/b/x"}, {Key: "b", Value: "https://b.example"}},
			[]Rule{{Key: "a", Value: "/b/x"}, {Key: "b", Value: "https://b.example"},
				{Key: "b/x", Value: "https://x.example"}},
			map[string]string{
				"a":   "affected 302 https://b.example/x -> 302 https://x.example/",
				"b/x": "added 302 https://b.example/x -> 302 https://x.example/",
			},
		},
		{
			"a chain begins to loop",
			[]Rule{{Key: "a", Value: "/b"}}, []Rule{{Key: "a", Value: "/b"},
				{Key: "b", Value: "/a"}},
			map[string]string{
				"a": "affected 302 /b -> too many internal redirects: loop a -> b -> a",
				"b": "added pass -> too many internal redirects: loop a -> b -> a",
			},
		},
		{
			"a loop takes another way", []Rule{{Key: "a", Value: "/b"}, {Key: "b", Value: "/a"}},
			[]Rule{{Key: "a", Value: "/b"}, {Key: "b", Value: "/a/x"}}, nil,
		},
		{
			"the text changes and the destination does not", []Rule{docs,
				{Key: "a", Value: "/docs"}},
			[]Rule{docs, {Key: "a", Value: "https://docs.example"}}, nil,
		},
		{
			"below an exact key another rule leads elsewhere",
			[]Rule{{Key: "a", Value: "https://a.example"},
				{Key: "a/b", Value: "https://b.example", Exact: true}},
			[]Rule{{Key: "a", Value: "https://c.example"},
				{Key: "a/b", Value: "https://b.example", Exact: true}},
			map[string]string{
				"a":   "changed 302 https://a.example/ -> 302 https://c.example/",
				"a/b": "affected 302 https://b.example/ -> 302 https://b.example/",
			},
		},
		{
			"only the key with a slash is answered in another way",
			[]Rule{{Key: "a", Value: "https://a.example"},
				{Key: "a/b", Value: "https://a.example/b", Exact: true}},
			[]Rule{{Key: "a", Value: "https://a.example"},
				{Key: "a/b", Value: "https://a.example/b"}},
			map[string]string{"a/b": "changed 302 https://a.example/b -> 302 https://a.example/b"},
		},
		{
			"a rule is listed no longer", []Rule{docs},
			[]Rule{{Key: "docs", Value: "https://docs.example", Unlisted: true}}, nil,
		},
		{
			"a rule says a query mode that is not the one it had",
			[]Rule{docs, {Key: "a", Value: "/docs"}, {Key: "t/{x}", Value: "/{x}"}},
			[]Rule{
				{Key: "docs", Value: "https://docs.example", Query: QueryPreserve},
				{Key: "a", Value: "/docs", Query: QueryIgnore},
				{Key: "t/{x}", Value: "/{x}", Query: QueryIgnore},
			},
			map[string]string{
				"docs":  "changed ?… 302 https://docs.example/?…= -> 302 https://docs.example/?…",
				"a":     "changed ?… 302 https://docs.example/?…= -> 302 https://docs.example/",
				"t/{x}": "changed ?… 302 /{x}?…= -> 302 /{x}",
			},
		},
		{
			"a rule says the query mode that it had", []Rule{docs},
			[]Rule{{Key: "docs", Value: "https://docs.example", Query: QueryMerge}}, nil,
		},
		{
			"below an exact key another rule says a query mode",
			[]Rule{docs, {Key: "docs/x", Value: "https://x.example", Exact: true}},
			[]Rule{{Key: "docs", Value: "https://docs.example", Query: QueryIgnore},
				{Key: "docs/x", Value: "https://x.example", Exact: true}},
			map[string]string{
				"docs":   "changed ?… 302 https://docs.example/?…= -> 302 https://docs.example/",
				"docs/x": "affected ?… 302 https://x.example/?…= -> 302 https://x.example/?…=",
			},
		},
		{
			"without a key its path is unsafe", []Rule{{Key: "a", Value: "https://a.example"},
				{Key: "a/%252e%252e", Value: "https://b.example"}},
			[]Rule{{Key: "a", Value: "https://a.example"}},
			map[string]string{"a/%252e%252e": "removed 302 https://b.example/ -> unsafe path"},
		},
		{
			"a key is spelled in another way", []Rule{{Key: "caf%c3%a9",
				Value: "https://a.example"}},
			[]Rule{{Key: "café", Value: "https://a.example"}}, nil,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := map[string]string{}
			for key, change := range changes(mustCompile(t, test.before, Options{}),
				mustCompile(t, test.after, Options{})) {
				got[key] = summaryOf(change)
			}
			if fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("got  %v\nwant %v", got, test.want)
			}
		})
	}
}

func TestWhatLiesBelowAKeyIsComparedForItself(t *testing.T) {
	before := mustCompile(t, []Rule{{Key: "a", Value: "https://a.example?x=1#top"}}, Options{})
	after := mustCompile(t, []Rule{{Key: "a", Value: "https://a.example?x=1#top", Exact: true}},
		Options{})
	change := changes(before, after)["a"]
	if !change.Before.Key.SameForClients(change.After.Key) {
		t.Errorf("the key itself: %+v", change)
	}
	if got := change.Before.Below.Destination; got != "https://a.example/…?x=1#top" ||
		change.After.Below.Outcome != Pass {
		t.Errorf("below the key: %+v", change)
	}
}

func TestRulesetsThatFoldCaseAreComparedWithThoseThatDoNot(t *testing.T) {
	rules := []Rule{{Key: "Docs", Value: "https://docs.example"}}
	plain, folding := mustCompile(t, rules, Options{}), mustCompile(t, rules,
		Options{FoldCase: true})
	if got := changes(plain, folding); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	if got := changes(folding, plain); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}

// What requests get is the measure: where it changes, the key that has the request, before or
// after, is reported; and of what is reported, a request shows that it is so.
func TestTheComparisonAgreesWithWhatRequestsGet(t *testing.T) {
	found := 0
	for seed := range seeds(2500) {
		r := newRandom(seed)
		opts := r.options()
		rules := r.ruleset(opts)
		before, after := mustCompile(t, rules, opts), mustCompile(t, r.edit(rules, opts), opts)
		reported := changes(before, after)
		found += len(reported)
		for range 30 {
			checkReported(t, before, after, reported, r.requestURL(rules))
		}
		for _, change := range reported {
			checkWitness(t, before, after, change)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if found < 1000 {
		t.Errorf("%d changes are too few to tell anything", found)
	}
}

// edit returns other rules: some gone, some changed, some new.
func (r random) edit(rules []Rule, opts Options) []Rule {
	var edited []Rule
	for _, rule := range append(slices.Clone(rules), r.ruleset(opts)...) {
		switch r.IntN(6) {
		case 0:
			continue
		case 1:
			rule.Value = r.value()
		case 2:
			rule.Exact = !rule.Exact
		case 3:
			if !isOutcome(rule.Value) {
				rule.Query = QueryMode(r.IntN(4))
			}
		}
		if _, err := Compile(append(slices.Clone(edited), rule), opts); err == nil {
			edited = append(edited, rule)
		}
	}
	return edited
}

// asked is a request without a fragment, and not for the host of any destination, so that nothing
// is the request itself (R15).
func asked(rs *Ruleset, target string) (key string, result Result) {
	request, ok := NewRequest("https", "client.example", target)
	if !ok {
		panic(target)
	}
	destination, result := rs.AppendDestination(nil, &request)
	result.Destination = string(destination)
	return result.Key, result
}

func checkReported(t *testing.T, before, after *Ruleset, reported map[string]Change,
	requestURL string) {
	t.Helper()
	request, err := ParseRequest(requestURL)
	if err != nil {
		return
	}
	target := request.Target.Pathname + request.Target.Search
	keyBefore, was := asked(before, target)
	keyAfter, is := asked(after, target)
	if was.SameForClients(is) {
		return
	}
	for _, change := range reported {
		canonical := string(before.opts.appendKey(nil, change.Rule.Key))
		for _, key := range []string{keyBefore, keyAfter} {
			if key != "" && string(before.opts.appendKey(nil, key)) == canonical {
				return
			}
		}
	}
	t.Errorf("%s: %+v became %+v, and neither %q nor %q is reported: %v", target,
		was, is, keyBefore, keyAfter, reported)
}

func checkWitness(t *testing.T, before, after *Ruleset, change Change) {
	t.Helper()
	if change.Kind == ChangeAdded || change.Kind == ChangeRemoved {
		return
	}
	for _, path := range []string{"", "/", "/none"} {
		if change.Query != "" {
			path += "?none"
		}
		_, was := asked(before, "/"+change.Rule.Key+path)
		_, is := asked(after, "/"+change.Rule.Key+path)
		if !was.SameForClients(is) {
			return
		}
	}
	if weburl.MalformedTriplet(change.Rule.Key) < 0 && !strings.HasPrefix(change.Rule.Key, "/") {
		t.Errorf("%+v: no request shows it", change)
	}
}

func BenchmarkCompareResults(b *testing.B) {
	rules := benchRules(1_000_000)
	before := mustCompile(b, rules, Options{})
	for i := range 1000 {
		rules[i*1000].Value += "/new"
	}
	after := mustCompile(b, rules, Options{})
	for b.Loop() {
		n := 0
		CompareResults(before, after, func(Change) { n++ })
		if n != 1000 {
			b.Fatal(n)
		}
	}
}
