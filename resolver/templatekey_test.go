package resolver

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestABadTemplateIsRefusedWithWhatToWriteInstead(t *testing.T) {
	long := strings.Repeat("x", maxKey)
	for _, test := range []struct {
		name, key, value string
		kind             error
		want             string
	}{
		{"no name", "a/{}", "/b", ErrInvalidKey,
			"the expression {}: the expression is empty; write the name of a variable"},
		{"a dot at a name's end", "a/{b.}", "/b", ErrInvalidKey, "the expression {b.}: "},
		{"an operator of the future", "a/{=b}", "/b", ErrInvalidKey, "the expression {=b}: "},
		{"nested braces", "a/{{b}}", "/b", ErrInvalidKey, "the expression {{b}: "},
		{"a brace alone", "a/}", "/b", ErrInvalidKey, `unmatched "}"`},
		{"a leading slash", "/a/{b}", "/b", ErrInvalidKey, `the key begins with "/"; write a/{b}`},
		{"a leading path expression", "{/a,b,c}/d", "/b", ErrInvalidKey,
			`the key begins with "/"; write {a}{/b,c}/d`},
		{"a label", "a{.b}", "/b", ErrInvalidKey, "the expression {.…} has no place in a key"},
		{"path parameters", "a{;b}", "/b", ErrInvalidKey,
			"the expression {;…} has no place in a key"},
		{"a query continued", "a{&b}", "/b", ErrInvalidKey,
			"the expression {&…} has no place in a key"},
		{"a list in a segment", "a/{b,c}", "/b", ErrInvalidKey,
			"a segment of a key has one expression at most, because the split between them would be ambiguous"},
		{"two spans", "{+a}/b/{+c}", "/b", ErrInvalidKey,
			"a key has one expression that spans segments at most"},
		{"a span within a segment", "a/b{+c}", "/b", ErrInvalidKey,
			"an expression that spans segments stands for whole ones"},
		{"a regular expression", "a/{b:[0-9]+}", "/b", ErrInvalidKey,
			"the expression {b:[0-9]+} has a regular expression, and there are none in rules; write {b}, or {+b} for several segments"},
		{"one in a path that spans", "a/{+b:.*}", "/b", ErrInvalidKey,
			"the expression {+b:.*} has a regular expression, and there are none in rules; write {name}, or {+name} for several segments"},
		{"one in a destination", "a/{b}", "/c/{b:[a-z]+}", ErrInvalidValue,
			"the destination: the expression {b:[a-z]+} has a regular expression"},
		{"a prefix", "a/{b:3}", "/b", ErrInvalidKey,
			"the expression {b:3} has a modifier, which keys do not support; write {b}, or {+b} for several segments"},
		{"a dot segment", "a/../{b}", "/b", ErrInvalidKey, `the key has a segment "." or ".."`},
		{"a question mark", "a?b={c}", "/b", ErrInvalidKey, `the key contains "?"`},
		{"a space at the end", "a/{b} ", "/b", ErrInvalidKey, "space"},
		{"a key of many bytes", long + "/{b}", "/b", ErrInvalidKey, "65535 bytes"},
		{"a variable of a scheme", "a/{b}", "{b}://x.example", ErrInvalidValue,
			"an expression stands in the scheme or the host of the destination"},
		{"a variable behind a scheme", "a/{b}", "https://{b}/", ErrInvalidValue,
			"an expression stands in the scheme or the host of the destination"},
		{"a variable in a port", "a/{b}", "https://x.example:{b}/", ErrInvalidValue,
			"an expression stands in the scheme or the host of the destination"},
		{"a variable in a user name", "a/{b}", "https://{b}@x.example/", ErrInvalidValue,
			"an expression stands in the scheme or the host of the destination"},
		{"a variable first of all", "a/{b}", "{+b}", ErrInvalidValue,
			"an expression stands in the scheme or the host of the destination"},
		{"a remedy for a host", "a/{b}", "https://{b}.x.example/", ErrInvalidValue,
			"which no request may choose; name the host in full: variables may stand in the path, the query and the fragment"},
		{"a slash in front of a host", "a/{b}", "https:///{b}.x.example/", ErrInvalidValue,
			"name the"},
		{"a backslash in front of a host", "a/{b}", `https://\\{b}.x.example/c`, ErrInvalidValue,
			"name the"},
		{"a second slash", "a/{b}", "//{b}", ErrInvalidValue,
			`the destination begins with "//"`},
		{"a character that stands for captures", "a/{b}", "https://x.example/%EE%80%80/{b}",
			ErrInvalidValue, "U+E000"},
		{"a dot segment in front of a path expression", "a/..{/b}", "/c", ErrInvalidKey,
			`the key has a segment "." or ".."`},
		{"another scheme", "a/{b}", "ftp://x.example/{b}", ErrInvalidValue, "the destination"},
		{"a variable that is not there", "a/{b}", "/{c}", ErrInvalidValue,
			"the key has no variable c; it has b"},
		{"a malformed destination", "a/{b}", "/{b", ErrInvalidValue,
			`the destination: unmatched "{"`},
		{"an exploded variable", "a/{b}", "/c{?b*}", ErrInvalidValue,
			"the destination: the expression {?b*} has a modifier"},
		{"a dot segment in a destination", "a/{b}", "/c/../{b}", ErrInvalidValue, "segment"},
		{"two queries", "a/{b}", "/c?{b}?d", ErrInvalidValue, `"?"`},
		{"a host that is not allowed", "a/{b}", "https://y.example/{b}", ErrHostNotAllowed,
			"y.example"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Compile([]Rule{{Key: test.key, Value: test.value, Position: at}},
				Options{AllowHosts: []string{"x.example"}})
			found, _ := errors.AsType[RuleErrors](err)
			if len(found) != 1 || found[0].Kind != test.kind ||
				!strings.Contains(found[0].Message, test.want) || found[0].Position != at {
				t.Errorf("got %v\nwant %v: %s", err, test.kind, test.want)
			}
		})
	}
}

func TestKeysOfTemplatesAreEqualInAnySpellingOfTheirText(t *testing.T) {
	for _, test := range []struct {
		a, b string
		fold bool
	}{
		{"é/{x}", "%c3%A9/{x}", false},
		{"%7Ea{x}", "~a{x}", false},
		{"A/{x}", "a/{x}", true},
		{"a{/x,y}", "a/{x}/{y}", false},
	} {
		if CanonicalKey(test.a, test.fold) != CanonicalKey(test.b, test.fold) {
			t.Errorf("%s is %s, and %s is %s", test.a, CanonicalKey(test.a, test.fold), test.b,
				CanonicalKey(test.b, test.fold))
		}
		_, err := Compile([]Rule{{Key: test.a, Value: "/z"}, {Key: test.b, Value: "/z"}},
			Options{FoldCase: test.fold})
		if found, _ := errors.AsType[RuleErrors](err); len(found) != 1 ||
			found[0].Kind != ErrDuplicateKey {
			t.Errorf("%s and %s together: %v", test.a, test.b, err)
		}
	}
	if got := CanonicalKey("a/{Name}/%7Bx%7D", true); got != "a/{1}/%7bx%7d" {
		t.Errorf("the canonical key is %s", got)
	}
}

func TestAChangeOfATemplateIsReportedWithWhatItMeansToClients(t *testing.T) {
	gh := Rule{Key: "gh/{owner}", Value: "https://github.com/{owner}"}
	for _, test := range []struct {
		name          string
		before, after []Rule
		want          map[string]string
	}{
		{"a template is added", nil, []Rule{gh},
			map[string]string{"gh/{owner}": "added pass -> 302 https://github.com/{owner}"}},
		{"a template is removed", []Rule{gh}, nil,
			map[string]string{"gh/{owner}": "removed 302 https://github.com/{owner} -> pass"}},
		{"a template leads elsewhere", []Rule{gh},
			[]Rule{{Key: "gh/{owner}", Value: "https://gitlab.com/{owner}"}},
			map[string]string{"gh/{owner}": "changed 302 https://github.com/{owner} -> 302 https://gitlab.com/{owner}"}},
		{"what a template leads to changes",
			[]Rule{{Key: "g/{x}", Value: "/h/{x}"}, {Key: "h", Value: "https://h.example"}},
			[]Rule{{Key: "g/{x}", Value: "/h/{x}"}, {Key: "h", Value: "https://i.example"}},
			map[string]string{
				"g/{x}": "affected 302 https://h.example/{x} -> 302 https://i.example/{x}",
				"h":     "changed 302 https://h.example/ -> 302 https://i.example/",
			}},
		{"a variable has another name", []Rule{gh},
			[]Rule{{Key: "gh/{user}", Value: "https://github.com/{user}"}}, map[string]string{}},
		{"a variable is encoded no more", []Rule{gh},
			[]Rule{{Key: "gh/{owner}", Value: "https://github.com/{+owner}"}},
			map[string]string{"gh/{owner}": "changed 302 https://github.com/{owner} -> 302 https://github.com/{+owner}"}},
		{"a key is added that a template matches", []Rule{gh},
			[]Rule{gh, {Key: "gh/caddy", Value: "https://caddyserver.com"}},
			map[string]string{"gh/caddy": "added 302 https://github.com/caddy -> 302 https://caddyserver.com/"}},
		{"a key is removed that a template matches",
			[]Rule{gh, {Key: "gh/caddy", Value: "https://caddyserver.com"}}, []Rule{gh},
			map[string]string{"gh/caddy": "removed 302 https://caddyserver.com/ -> 302 https://github.com/caddy"}},
		{"an unused letter", []Rule{gh}, []Rule{gh, {Key: "x", Value: "https://x.example"}},
			map[string]string{"x": "added pass -> 302 https://x.example/"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, after := mustCompile(t, test.before, Options{}), mustCompile(t, test.after,
				Options{})
			got := map[string]string{}
			for key, change := range changes(before, after) {
				got[key] = summaryOf(change)
			}
			if !maps.Equal(got, test.want) {
				t.Errorf("got  %v\nwant %v", got, test.want)
			}
		})
	}
}

func TestTemplatesAreAmongTheRulesOfARuleset(t *testing.T) {
	rs := mustCompile(t, []Rule{
		{Key: "b", Value: "https://b.example"},
		{Key: "a/{x}", Value: "/b/{x}", Status: 301},
		{Key: "a/{x}/c", Value: "https://c.example/{x}"},
		{Key: "{y}", Value: "https://y.example/{y}"},
	}, Options{})
	keys := func(below string) (keys []string) {
		for rule := range rs.RulesBelow(below) {
			keys = append(keys, rule.Key)
		}
		return keys
	}
	if got := keys(""); !slices.Equal(got, []string{"a/{x}", "a/{x}/c", "b", "{y}"}) ||
		rs.Len() != 4 {
		t.Errorf("%d rules: %v", rs.Len(), got)
	}
	if got := keys("a"); !slices.Equal(got, []string{"a/{x}", "a/{x}/c"}) {
		t.Errorf("below a are %v", got)
	}
	if got := keys("%61/{x}"); !slices.Equal(got, []string{"a/{x}", "a/{x}/c"}) {
		t.Errorf("below a/{x} are %v", got)
	}
	for _, key := range []string{"b", "a/{x}", "%61/{x}/c", "{y}"} {
		number, ok := rs.NumberOf(key)
		rule, there := rs.Numbered(number)
		if !ok || !there || CanonicalKey(rule.Key, false) != CanonicalKey(key, false) ||
			rs.KeyOf(number) != CanonicalKey(key, false) || number >= rs.Numbers() {
			t.Errorf("%s has the number %d, which is that of %v", key, number, rule)
		}
	}
	if _, result := resolve(rs, "https://go.example/a/1/c/d"); rs.KeyOf(result.Rule) != "a/{1}/c" ||
		result.Key != "a/{x}/c" {
		t.Errorf("the rule that answers is %+v", result)
	}
	var chain []string
	for _, rule := range rs.Chain("a/{x}") {
		chain = append(chain, rule.Key)
	}
	if !slices.Equal(chain, []string{"a/{x}", "b"}) {
		t.Errorf("the chain of a/{x} is %v", chain)
	}
}

func TestAComparisonNamesTemplates(t *testing.T) {
	before := mustCompile(t, []Rule{{Key: "a/{x}", Value: "/b"}, {Key: "c/{x}", Value: "/d"},
		{Key: "e/{x}", Value: "/f"}}, Options{Digest: true})
	after := mustCompile(t, []Rule{{Key: "a/{x}", Value: "/b"}, {Key: "c/{x}", Value: "/c/{x}"},
		{Key: "g/{x}", Value: "/h"}}, Options{Digest: true})
	d := Compare(before, after, 10)
	if !slices.Equal(d.FirstAdded, []string{"g/{x}"}) ||
		!slices.Equal(d.FirstRemoved, []string{"e/{x}"}) ||
		!slices.Equal(d.FirstChanged, []string{"c/{x}"}) {
		t.Errorf("got %+v", d)
	}
	if before.Digest() == after.Digest() {
		t.Error("their digests are equal")
	}
}

func TestARequestOfATemplateAllocatesAFewSmallObjects(t *testing.T) {
	rs := mustCompile(t, []Rule{{Key: "gh/{owner}/{repo}",
		Value: "https://github.com/{owner}/{repo}"}, {Key: "x", Value: "/y"}}, Options{})
	request, _ := NewRequest("https", "go.example", "/gh/caddyserver/caddy/issues")
	other, _ := NewRequest("https", "go.example", "/other/caddyserver/caddy")
	dst := make([]byte, 0, 256)
	if n := testing.AllocsPerRun(100, func() { rs.AppendDestination(dst, &request) }); n > 5 {
		t.Errorf("%v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() { rs.AppendDestination(dst, &other) }); n > 0 {
		t.Errorf("%v allocations where nothing matches", n)
	}
}

func TestWhatIsCapturedIsCheckedBehindEveryHop(t *testing.T) {
	rs := mustCompile(t, []Rule{
		{Key: "t/{x}", Value: "/in/{x}"},
		{Key: "in/a{x}", Value: "https://x.example/files/.{x}/secret"},
	}, Options{})
	for _, path := range []string{"/in/a%2e", "/t/a%2e", "/t/a%252e", "/in/a%252e"} {
		if destination, result := resolve(rs,
			"https://go.example"+path); result.Err != ErrUnsafePath {
			t.Errorf("%s goes to %q, %v", path, destination, result.Err)
		}
	}
}

func TestWhatCapturesMakeOfTextIsCheckedAtEveryHop(t *testing.T) {
	rs := mustCompile(t, []Rule{
		{Key: "dot/a{x}", Value: "/in/.{x}"},
		{Key: "digit/{x}", Value: "/in/%2{x}"},
		{Key: "behind/{x}", Value: "/in/{x}e"},
		{Key: "two/{x}/{y}", Value: "/in/{x}{+y}"},
		{Key: "in/{z}", Value: "https://x.example/"},
	}, Options{})
	for path, want := range map[string]error{
		"/dot/a.": ErrUnsafePath, "/dot/ab": nil, "/dot/a%2e": ErrUnsafePath, "/dot/a.b": nil,
		"/digit/e.": ErrUnsafePath, "/digit/0.": nil, "/digit/e": ErrUnsafePath, "/digit/ea": nil,
		"/behind/.%252": ErrUnsafePath, "/behind/a%252": nil, "/behind/.%251": ErrUnsafePath,
		"/two/%252/e.": ErrUnsafePath, "/two/%252/a.": nil, "/two/%25/2e%252e": ErrUnsafePath,
	} {
		if _, result := resolve(rs, "https://go.example"+path); result.Err != want {
			t.Errorf("%s: %v, want %v", path, result.Err, want)
		}
	}
}

func TestUnsafeTextOfADestinationIsItsAuthorsAffair(t *testing.T) {
	rs := mustCompile(t, []Rule{{Key: "f/{x}", Value: "https://x.example/a%252F..%252Fb/{x}"}},
		Options{})
	if destination, _ := resolve(rs,
		"https://go.example/f/c"); destination != "https://x.example/a%252F..%252Fb/c" {
		t.Errorf("it goes to %q", destination)
	}
}

func TestUnsafeTextOfADestinationLetsNoCapturePass(t *testing.T) {
	rs := mustCompile(t, []Rule{{Key: "f/{x}",
		Value: "https://x.example/a%252F..%252Fb/%252{x}/c"}}, Options{})
	if destination, result := resolve(rs,
		"https://go.example/f/e."); result.Err != ErrUnsafePath {
		t.Errorf("it goes to %q, %v", destination, result.Err)
	}
}

func TestAWalkThatGrowsIsExplainedAsFarAsItIsTaken(t *testing.T) {
	four := 4
	rs := mustCompile(t, []Rule{{Key: "a/{+x}", Value: "/a/{+x}/{+x}"}}, Options{})
	limited := mustCompile(t, []Rule{{Key: "a/{+x}", Value: "/a/{+x}/{+x}"}},
		Options{MaxRedirects: &four})
	request, err := ParseRequest("https://go.example/a/b")
	if err != nil {
		t.Fatal(err)
	}
	if e := rs.Explain(request); len(e.Walk) > 32 || e.Result.Err != ErrPathTooLong {
		t.Errorf("%d steps, %v", len(e.Walk), e.Result.Err)
	}
	if e := limited.Explain(request); len(e.Walk) != 5 {
		t.Errorf("%d steps", len(e.Walk))
	}
}

func TestADestinationThatVariablesMakeTooLongIsRefused(t *testing.T) {
	rs := mustCompile(t, []Rule{{Key: "a/{x}",
		Value: "https://x.example/" + strings.Repeat("{x}", 1000)}}, Options{})
	if _, result := resolve(rs,
		"https://go.example/a/"+strings.Repeat("a", 1000)); result.Err != ErrTooLong {
		t.Errorf("got %+v", result)
	}
}

func TestALoopOfTemplatesIsNamed(t *testing.T) {
	rs := mustCompile(t, []Rule{{Key: "a/{x}", Value: "/b/{x}"}, {Key: "b/{y}", Value: "/c/{y}"},
		{Key: "c/{z}", Value: "/b/{z}"}, {Key: "l", Value: "/a/1"}}, Options{})
	_, result := resolve(rs, "https://go.example/a/1")
	if loop, is := errors.AsType[*LoopError](result.Err); !is || len(loop.Cycle) != 2 {
		t.Errorf("the error is %v", result.Err)
	}
	if _, result := resolve(rs, "https://go.example/l/x"); !errors.Is(result.Err, ErrLoop) {
		t.Errorf("the error of what leads there is %v", result.Err)
	}
}

func TestWhatChainsComeToDoesNotDependOnTheOrderOfRules(t *testing.T) {
	three := 3
	rules := []Rule{
		{Key: "l1", Value: "/l2"}, {Key: "l2", Value: "/l3"}, {Key: "l3", Value: "/l4"}, {Key: "l4",
			Value: "/t/a"},
		{Key: "t/{x}", Value: "/u/{x}"}, {Key: "u/{x}", Value: "/v/{x}"}, {Key: "v/{x}",
			Value: "https://v.example/{x}"},
		{Key: "{x}/{y}", Value: "https://w.example"}, {Key: "{x}",
			Value: "https://w.example/{x}"}, {Key: "{x}/v{y}", Value: "https://w.example/v"},
		{Key: "z/a{x}", Value: "https://a.example"}, {Key: "z/{x}b", Value: "https://b.example"},
	}
	forward := mustCompile(t, rules, Options{MaxRedirects: &three, Digest: true})
	slices.Reverse(rules)
	backward := mustCompile(t, rules, Options{MaxRedirects: &three, Digest: true})
	if forward.Digest() != backward.Digest() {
		t.Error("the digests differ")
	}
	for _, path := range []string{"/l1", "/l3", "/l4", "/t/a", "/1/v2", "/1/2", "/1", "/z/axb"} {
		a, resultA := resolve(forward, "https://go.example"+path)
		b, resultB := resolve(backward, "https://go.example"+path)
		if a != b || resultA.Outcome != resultB.Outcome || resultA.Key != resultB.Key {
			t.Errorf("%s goes to %q of %q, or to %q of %q", path, a, resultA.Key, b, resultB.Key)
		}
	}
	if got, _ := resolve(forward, "https://go.example/l4"); got != "https://v.example/a" {
		t.Errorf("a chain of three hops goes to %q", got)
	}
	if got, _ := resolve(forward, "https://go.example/1/v2"); got != "https://w.example/v" {
		t.Errorf("the text around a variable does not count: %q", got)
	}
}

func TestALiteralKeyBeatsATemplateAlsoWithASlashAtItsEnd(t *testing.T) {
	rs := mustCompile(t, []Rule{{Key: "c/", Value: "https://c.example"},
		{Key: "{x}/", Value: "https://x.example"}}, Options{})
	if got, _ := resolve(rs, "https://go.example/c/"); got != "https://c.example/" {
		t.Errorf("it goes to %q", got)
	}
}

func TestTheTextAroundAVariableCutsNoTriplet(t *testing.T) {
	rs := mustCompile(t, []Rule{{Key: "n/{x}0", Value: "https://x.example/{x}"}}, Options{})
	for path, want := range map[string]string{"/n/a%20": "", "/n/a%2020": "https://x.example/a%202",
		"/n/a%30": "https://x.example/a"} {
		if got, _ := resolve(rs, "https://go.example"+path); got != want {
			t.Errorf("%s goes to %q, not %q", path, got, want)
		}
	}
}

func TestADestinationIsSpelledAlikeBehindAHop(t *testing.T) {
	rs := mustCompile(t, []Rule{{Key: "t/{x}", Value: "https://x.example/?q={+x}"},
		{Key: "c/{x}", Value: "/t/{+x}"}}, Options{Query: QueryPreserve})
	direct, _ := resolve(rs, "https://go.example/t/it's")
	if behind, _ := resolve(rs,
		"https://go.example/c/it's"); direct != "https://x.example/?q=it%27s" || behind != direct {
		t.Errorf("got %q and %q", direct, behind)
	}
}

func TestARuleInFrontOfARefusedChainFailsAsThatDoes(t *testing.T) {
	rs := mustCompile(t, []Rule{
		{Key: "front", Value: "/next"}, {Key: "next", Value: "/d/x"},
		{Key: "d/{+rest}", Value: "/d/{+rest}/{+rest}", Exact: true},
	}, Options{})
	for path, want := range map[string]error{
		"/front": ErrTooLong, "/next": ErrTooLong, "/d/x": ErrPathTooLong,
	} {
		if got := rs.Resolve("https://go.example" + path); got.Err != want {
			t.Errorf("%s: %v", path, got.Err)
		}
	}
}
