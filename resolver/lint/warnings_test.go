package lint

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/near"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// warnings returns the warnings of rules as they are shown.
func warnings(t *testing.T, rules []resolver.Rule, opts resolver.Options) []Warning {
	t.Helper()
	return Ruleset(mustCompile(t, rules, opts)).Warnings()
}

func TestEveryKindOfWarningSaysWhatHappensAndWhatToWrite(t *testing.T) {
	none, one := 0, 1
	behind := resolver.Position{Source: at.Source, Line: at.Line + 1}
	for _, test := range []struct {
		name  string
		kind  Kind
		rules []resolver.Rule // the first one is warned of
		opts  resolver.Options
		want  string
	}{
		{
			"a loop of several rules", WarnLoop,
			[]resolver.Rule{{Key: "a", Value: "/b", Position: at},
				{Key: "b", Value: "/c/x", Position: behind}, {Key: "c", Value: "/a", Position: behind}},
			resolver.Options{},
			where + `"a": loop a -> b -> c -> a: its requests are answered with an error; change the destination of one of the rules`,
		},
		{
			"a chain above the limit", WarnTooManyRedirects,
			[]resolver.Rule{{Key: "a", Value: "/b", Position: at}}, resolver.Options{MaxRedirects: &none},
			where + `"a": the chain takes more than 0 internal redirects, so its requests are answered with an error; lead the rule to the chain's end`,
		},
		{
			"a chain above a limit of one", WarnTooManyRedirects,
			[]resolver.Rule{{Key: "a", Value: "/b", Position: at}, {Key: "b", Value: "/c"}},
			resolver.Options{MaxRedirects: &one},
			where + `"a": the chain takes more than 1 internal redirect, so its requests are ` +
				`answered with an error; lead the rule to the chain's end`,
		},
		{
			"a destination above another key", WarnMeetsKey,
			[]resolver.Rule{{Key: "old", Value: "/new", Position: at},
				{Key: "new/b", Value: "https://x.example"}}, resolver.Options{},
			where + `"old": clients are redirected to /new, and at or below it the key "new/b" redirects them again, perhaps in a circle; lead the rule to where that key leads, or mark it exact where nothing below it is meant`,
		},
		{
			"a key with an escape that is none", WarnUnreachable,
			[]resolver.Rule{{Key: "100%", Value: "https://x.example", Position: at}}, resolver.Options{},
			where + `"100%": no HTTP request matches the key, as it has a "%" without two hex digits; write %25 for a percent sign`,
		},
		{
			"a key with a trailing slash", WarnTrailingSlashKey,
			[]resolver.Rule{{Key: "a/", Value: "https://x.example", Position: at}}, resolver.Options{},
			where + `"a/": the key ends in "/" and matches that path, and "//" below it, only; write a to match the path and all below it`,
		},
		{
			"a value with a trailing slash before an appended path", WarnTrailingSlashValue,
			[]resolver.Rule{{Key: "a", Value: "/b/", Position: at},
				{Key: "b", Value: "https://x.example"}}, resolver.Options{},
			where + `"a": the destination's path ends in "/", and a path appended to it will hold "//"; write /b`,
		},
		{
			"a value with a trailing slash before a query", WarnTrailingSlashValue,
			[]resolver.Rule{{Key: "a", Value: "/b/?x=/#y", Position: at},
				{Key: "b", Value: "https://x.example"}}, resolver.Options{},
			where + `"a": the destination's path ends in "/", and a path appended to it will hold "//"; write /b?x=/#y`,
		},
		{
			"a star for what lies below", WarnLiteralStar,
			[]resolver.Rule{{Key: "docs/*", Value: "https://x.example", Position: at}}, resolver.Options{},
			where + `"docs/*": a "*" in a key is a "*" in the path, and no wildcard; write docs, which matches everything below it, too`,
		},
		{
			"a star for everything", WarnLiteralStar,
			[]resolver.Rule{{Key: "*", Value: "https://x.example", Position: at}}, resolver.Options{},
			where + `"*": a "*" in a key is a "*" in the path, and no wildcard; what no rule matches goes on to the next handler`,
		},
		{
			"a user name", WarnUserinfo,
			[]resolver.Rule{{Key: "a", Value: "https://ann@x.example", Position: at}}, resolver.Options{},
			where + `"a": the user name and password of the destination are dropped, as a destination has none; remove them`,
		},
		{
			"a password without a user name", WarnUserinfo,
			[]resolver.Rule{{Key: "a", Value: "https://:secret@x.example", Position: at}},
			resolver.Options{},
			where + `"a": the user name and password of the destination are dropped, as a destination has none; remove them`,
		},
		{
			"a bare question mark", WarnBareDelimiter,
			[]resolver.Rule{{Key: "a", Value: "/b?", Position: at}}, resolver.Options{},
			where + `"a": the bare "?" of the destination counts as its query and shuts later ones out; remove it`,
		},
		{
			"a bare number sign", WarnBareDelimiter,
			[]resolver.Rule{{Key: "a", Value: "/b?c#", Position: at}}, resolver.Options{},
			where + `"a": the bare "#" of the destination counts as its fragment and shuts later ones out; remove it`,
		},
		{
			"braces of a key without variables", WarnLiteralBraces,
			[]resolver.Rule{{Key: "a", Value: "/b/{x}", Position: at}}, resolver.Options{},
			where + `"a": the destination's {x} stands for itself, as the key has no variables; write it into the key, too, or %7B for { and %7D for }`,
		},
		{
			"a variable that is not used", WarnUnusedVariable,
			[]resolver.Rule{{Key: "a/{x}/{y}", Value: "https://x.example/{y}", Position: at}},
			resolver.Options{},
			where + `"a/{x}/{y}": the destination does not use the variable x; what it captures is dropped; write _x if that is meant`,
		},
		{
			"a destination with an escape that is none", WarnBarePercent,
			[]resolver.Rule{{Key: "a", Value: "https://x.example/100%#b", Position: at}}, resolver.Options{},
			where + `"a": the destination has a "%" without two hex digits, which clients send unchanged, and many servers reject with status 400; write %25 for a percent sign`,
		},
		{
			"a query with an escape that is none", WarnBarePercent,
			[]resolver.Rule{{Key: "a", Value: "/x?b=5%2", Position: at}},
			resolver.Options{Query: resolver.QueryPreserve},
			where + `"a": the destination has a "%" without two hex digits, which clients send unchanged, and many servers reject with status 400; write %25 for a percent sign`,
		},
		{
			"an escape that is none in a query of the rule's own", WarnBarePercent,
			[]resolver.Rule{{Key: "a", Value: "/x?b=5%2", Query: resolver.QueryIgnore, Position: at}},
			resolver.Options{},
			where + `"a": the destination has a "%" without two hex digits, which clients send unchanged, and many servers reject with status 400; write %25 for a percent sign`,
		},
		{
			"a space in a path", WarnSpace,
			[]resolver.Rule{{Key: "a", Value: "https://x.example/ 301", Position: at}}, resolver.Options{},
			where + `"a": the destination has a space, which becomes %20, or + in a query; ` +
				`write that if it is meant, or leave out the space and what is behind it`,
		},
		{
			"a space in a path of the site", WarnSpace,
			[]resolver.Rule{{Key: "a", Value: "/b c", Position: at}}, resolver.Options{},
			where + `"a": the destination has a space, which becomes %20, or + in a query; ` +
				`write that if it is meant, or leave out the space and what is behind it`,
		},
		{
			"a space in a template's query", WarnSpace,
			[]resolver.Rule{{Key: "a/{x}", Value: "https://x.example/?q={x} b", Position: at}},
			resolver.Options{},
			where + `"a/{x}": the destination has a space, which becomes %20, or + in a query; ` +
				`write that if it is meant, or leave out the space and what is behind it`,
		},
		{
			"a key that leads through an exact one", WarnThroughExact,
			[]resolver.Rule{{Key: "docs/azure", Value: "/docs/distributions/azure/?x#y", Position: at},
				{Key: "docs/distributions/azure", Value: "https://a.example/main/", Exact: true}},
			resolver.Options{},
			where + `"docs/azure": what a request has below the key is appended to the destination of the exact key "docs/distributions/azure": /docs/azure/… leads to https://a.example/main/…; mark the rule exact, and if what is below is meant, too, add the key docs/azure/{+rest} with /docs/distributions/azure/{+rest}?x#y`,
		},
		{
			"a chain that gives a template what no request may have", WarnUnsafePath,
			[]resolver.Rule{{Key: "a", Value: "/t/..%2Fx", Position: at},
				{Key: "t/{x}", Value: "https://x.example/{x}"}}, resolver.Options{},
			where + `"a": the chain comes to a path with an encoded ".." segment or control character where a template matches it, so its requests are answered with an error; remove that, or change the rule's destination`,
		},
		{
			"a chain that makes too much of a path", WarnTooLong,
			[]resolver.Rule{{Key: "a", Value: "/t/" + strings.Repeat("x", 40_000), Position: at},
				{Key: "t/{x}", Value: "https://x.example/{x}/{x}"}}, resolver.Options{},
			where + `"a": the chain comes to a path or destination of more than 65535 bytes, so its requests are answered with an error; change the rule's destination`,
		},
		{
			"a template whose chain gives another one what no request may have", WarnUnsafePath,
			[]resolver.Rule{{Key: "a/{x}", Value: "/t/..%2F{x}", Position: at},
				{Key: "t/{x}", Value: "https://x.example/{x}"}}, resolver.Options{},
			where + `"a/{x}": the chain comes to a path with an encoded ".." segment or control character where a template matches it, for every value that no other key takes: its requests are answered with an error; remove that, or change the rule's destination`,
		},
		{
			"a template that loops for every value", WarnLoop,
			[]resolver.Rule{{Key: "a/{x}", Value: "/a/{x}", Position: at}}, resolver.Options{},
			where + `"a/{x}": loop a/{x} -> a/{x} for every value that no other key takes: its requests are answered with an error; change the rule's destination`,
		},
		{
			"a template that grows", WarnTooManyRedirects,
			[]resolver.Rule{{Key: "a{x}", Value: "/ab{x}", Position: at}}, resolver.Options{},
			where + `"a{x}": the chain never ends, or takes more than 32 internal redirects, for every value that no other key takes: its requests are answered with an error; change the rule's destination`,
		},
		{
			"a user name in a template", WarnUserinfo,
			[]resolver.Rule{{Key: "a/{x}", Value: "https://ann@x.example/{x}", Position: at}},
			resolver.Options{},
			where + `"a/{x}": the user name and password of the destination are dropped, as a destination has none; remove them`,
		},
		{
			"a template with a trailing slash", WarnTrailingSlashKey,
			[]resolver.Rule{{Key: "a/{x}/", Value: "https://x.example/{x}", Position: at}},
			resolver.Options{},
			where + `"a/{x}/": the key ends in "/" and matches that path, and "//" below it, only; write a/{x} to match the path and all below it`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := warnings(t, test.rules, test.opts)
			if len(found) != 1 || found[0].Kind != test.kind || found[0].String() != test.want {
				t.Errorf("%q\nwant one of kind %q:\n%s", found, test.kind, test.want)
			}
			if found[0].Position != at || found[0].Key != test.rules[0].Key {
				t.Errorf("it is of %q at %v", found[0].Key, found[0].Position)
			}
		})
	}
}

func TestAShadowedRuleIsWarnedOfWithTheOneThatServes(t *testing.T) {
	rs := compileSources(t,
		[]resolver.Rule{{Key: "a", Value: "/x",
			Position: resolver.Position{Source: "Caddyfile", Line: 7, Column: 2}}},
		[]resolver.Rule{{Key: "a", Value: "/y", Position: at}},
	)
	const want = where + `"a": the rule is never reached, as Caddyfile:7:2 has the key, too, and is asked first; remove one of the two rules`
	found := Ruleset(rs).Warnings()
	if len(found) != 1 || found[0].Kind != WarnShadowed || found[0].String() != want {
		t.Errorf("%q\nwant %s", found, want)
	}
}

func TestAGoodRulesetHasNoWarnings(t *testing.T) {
	found := warnings(t, []resolver.Rule{
		{Key: "home", Value: "/"},
		{Key: "docs", Value: "https://x.example/?a#"},
		{Key: "old", Value: "/docs/v1?b=1#c"},
		{Key: "café%20x", Value: "/docs"},
		{Key: "end", Value: "/nowhere/"},
		{Key: "here", Value: "/here/index.html", Exact: true},
		{Key: "shop", Value: "/store/", Exact: true},
		{Key: "store", Value: "https://x.example"},
		{Key: "sale", Value: "https://x.example/100%25?now=100%#%C3%A9"},
		{Key: "contribute/{+splat}", Value: "https://x.example/involved"},
		{Key: "news/{year}/2019-{splat}", Value: "https://x.example/news/{year}"},
	}, resolver.Options{})
	// home leads above every key: that one is told (R18).
	found = slices.DeleteFunc(found,
		func(w Warning) bool { return w.Key == "home" && w.Kind == WarnMeetsKey })
	if len(found) > 0 {
		t.Errorf("%q", found)
	}
}

func TestALoopOfOneRuleIsExplainedWithWhatToWriteInstead(t *testing.T) {
	for _, test := range []struct {
		name string
		rule resolver.Rule
		want string
	}{
		{
			"a destination below the key", resolver.Rule{Key: "docs", Value: "/docs/v2", Position: at},
			where + `"docs": loop: "/docs/v2" lies at or below the key: the rule redirects to itself forever, ` +
				`so its requests are answered with an error; mark the rule exact, ` +
				`so that it takes /docs alone, or lead it to a path outside of /docs`,
		},
		{
			"the key itself", resolver.Rule{Key: "docs", Value: "/docs?a", Position: at},
			where + `"docs": loop: "/docs?a" lies at or below the key: the rule redirects to itself forever, ` +
				`so its requests are answered with an error; change its destination, or remove it`,
		},
		{
			"the key itself in another spelling", resolver.Rule{Key: "docs", Value: "/%64ocs", Position: at},
			where + `"docs": loop: "/%64ocs" lies at or below the key: the rule redirects to itself forever, ` +
				`so its requests are answered with an error; change its destination, or remove it`,
		},
		{
			"the key itself with a slash appended", resolver.Rule{Key: "docs", Value: "/docs/",
				Position: at},
			where + `"docs": loop: "/docs/" lies at or below the key: the rule redirects to itself forever, ` +
				`so its requests are answered with an error; change its destination, or remove it`,
		},
		{
			"an exact key with a slash appended", resolver.Rule{Key: "docs", Value: "/docs/", Exact: true,
				Position: at},
			where + `"docs": loop: "/docs/" lies at or below the key: the rule redirects to itself forever, ` +
				`so its requests are answered with an error; change its destination, or remove it`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := warnings(t, []resolver.Rule{test.rule}, resolver.Options{})
			if len(found) != 1 || found[0].Kind != WarnLoop || found[0].String() != test.want {
				t.Fatalf("%q\nwant %s", found, test.want)
			}
			if !slices.Equal(found[0].Cycle, []string{test.rule.Key}) {
				t.Errorf("its cycle is %q", found[0].Cycle)
			}
		})
	}
}

func TestWhatTheWarningOfASelfLoopAdvisesEndsIt(t *testing.T) {
	for _, rule := range []resolver.Rule{
		{Key: "docs", Value: "https://go.example/docs/v2"},
		{Key: "docs", Value: "/docs/v2", Exact: true},
	} {
		rs := mustCompile(t, []resolver.Rule{rule}, resolver.Options{})
		destination, result := resolve(rs, "https://go.example/docs")
		if destination != "https://go.example/docs/v2" || len(Ruleset(rs).Warnings()) > 0 && rule.Exact {
			t.Errorf("%+v leads to %q %+v with %q", rule, destination, result, Ruleset(rs).Warnings())
		}
	}
}

func TestALoopIsShownOnceAsTheCycleOfItsKeysAndItsFeedersAreNamed(t *testing.T) {
	found := warnings(t, []resolver.Rule{
		{Key: "in", Value: "/feeder/x"},
		{Key: "B", Value: "/%43?q"},
		{Key: "feeder", Value: "/B"},
		{Key: "C", Value: "/D/e#f"},
		{Key: "D", Value: "/B/g"},
		{Key: "other", Value: "/other/"},
	}, resolver.Options{})
	type short struct{ key, message string }
	const tail = " into the loop B -> C -> D -> B, so its requests are answered with an error; break the loop"
	want := []short{
		{"B", "loop B -> C -> D -> B: its requests are answered with an error; change the destination of one of the rules"},
		{"feeder", "the rule leads" + tail},
		{"in", "the rule leads" + tail},
	}
	var got []short
	for _, w := range found {
		if w.Kind == WarnLoop && w.Key != "other" {
			got = append(got, short{w.Key, w.Message})
			if !slices.Equal(w.Cycle, []string{"B", "C", "D"}) {
				t.Errorf("the cycle of %s is %q", w.Key, w.Cycle)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

func TestAKeyMetAgainIsWarnedOf(t *testing.T) {
	internal := func(key, value string) resolver.Rule { return resolver.Rule{Key: key, Value: value} }
	exact := func(key, value string) resolver.Rule {
		return resolver.Rule{Key: key, Value: value, Exact: true}
	}
	for _, test := range []struct {
		name  string
		rules []resolver.Rule
		met   string // what the first rule meets; "" for nothing
	}{
		{"a key below the destination", []resolver.Rule{internal("old", "/new"), internal("new/b", "/z")},
			"new/b"},
		{"a key far below the destination",
			[]resolver.Rule{internal("old", "/new"), internal("new/b/c", "/z")}, "new/b/c"},
		{"a key that only begins alike",
			[]resolver.Rule{internal("old", "/new"), internal("newer", "/z")},
			""},
		{"a key above the destination, which is a hop and not an end",
			[]resolver.Rule{internal("old", "/new/b"), internal("new", "/z")}, ""},
		{"a key below the destination of an exact rule",
			[]resolver.Rule{exact("old", "/new"), internal("new/b", "/z")}, ""},
		{"an exact key below the destination",
			[]resolver.Rule{internal("old", "/new"), exact("new/b", "/z")}, "new/b"},
		{"the site's root above another key", []resolver.Rule{internal("home", "/"), internal("b", "/z")},
			"b"},
		{"the site's root above the rule's own key alone", []resolver.Rule{internal("home", "/")}, ""},
		{"a destination above the rule's own key alone", []resolver.Rule{internal("a/b", "/a")}, ""},
		{"a destination above the rule's own key and another",
			[]resolver.Rule{internal("a/b", "/a"), internal("a/c", "/z")}, "a/c"},
		{"an exact rule to the site's root",
			[]resolver.Rule{exact("home", "/"), internal("b", "/z")}, ""},
		{"a key in another spelling",
			[]resolver.Rule{internal("old", "/caf%c3%a9"), internal("café/b", "/z")}, "café/b"},
		{"a destination with a slash at its end",
			[]resolver.Rule{internal("old", "/new/"), internal("new/b", "/z")}, "new/b"},
		{"a key that a chain's path runs into",
			[]resolver.Rule{internal("old", "/mid/b"), internal("mid", "/new"),
				internal("new/b", "https://x.example")}, "new/b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			met := ""
			for _, w := range warnings(t, test.rules, resolver.Options{}) {
				if w.Kind == WarnMeetsKey && w.Key == test.rules[0].Key {
					met = w.Message
				}
			}
			want := ""
			if test.met != "" {
				fate := mustFindChainEnd(t, test.rules)
				want = `clients are redirected to ` + fate + `, and at or below it the key ` +
					quote(test.met) +
					` redirects them again, perhaps in a circle; lead the rule to where that key leads, or mark it exact where nothing below it is meant`
			}
			if met != want {
				t.Errorf("%q\nwant %q", met, want)
			}
		})
	}
}

// mustFindChainEnd returns the path to which a request for the first rule's key is redirected.
func mustFindChainEnd(t *testing.T, rules []resolver.Rule) string {
	t.Helper()
	destination, result := resolve(mustCompile(t, rules, resolver.Options{}),
		"https://go.example/"+rules[0].Key)
	if result.Outcome != resolver.Redirect {
		t.Fatal(result)
	}
	return destination[len("https://go.example"):]
}

func TestAPathOneLetterAwayFromAKeyIsTakenForThatKey(t *testing.T) {
	to := func(key, value string) resolver.Rule { return resolver.Rule{Key: key, Value: value} }
	page := func(key string) resolver.Rule {
		return resolver.Rule{Key: key, Value: "https://x.example"}
	}
	for _, test := range []struct {
		name  string
		rules []resolver.Rule
		meant string // what the first rule is advised to lead to; "" for no finding
	}{
		{"two letters in the wrong order", []resolver.Rule{to("a", "/dcos"), page("docs")}, "/docs"},
		{"another letter", []resolver.Rule{to("a", "/dacs"), page("docs")}, "/docs"},
		{"a letter too many", []resolver.Rule{to("a", "/doccs"), page("docs")}, "/docs"},
		{"a letter that is missing", []resolver.Rule{to("a", "/docu"), page("docus")}, "/docus"},
		{"the first letter", []resolver.Rule{to("a", "/ocus"), page("docus")}, "/docus"},
		{"another case", []resolver.Rule{to("a", "/Docs"), page("docs")}, "/docs"},
		{"a part of a path", []resolver.Rule{to("a", "/en/guids/x"), page("en/guide/x")}, "/en/guide/x"},
		{"a slash at the end", []resolver.Rule{to("a", "/dcos/"), page("docs")}, "/docs"},
		{"a query and a fragment", []resolver.Rule{to("a", "/dcos?b#c"), page("docs")}, "/docs?b#c"},
		{"an escape", []resolver.Rule{to("a", "/b%20dcos"), page("b docs")}, "/b docs"},
		{"a key that leads on", []resolver.Rule{to("a", "/dcos"), to("docs", "/x")}, "/docs"},
		{"a page of the site", []resolver.Rule{to("a", "/about"), page("docs")}, ""},
		{"two letters", []resolver.Rule{to("a", "/dcso"), page("docs")}, ""},
		{"a digit", []resolver.Rule{to("a", "/book2"), page("book3")}, ""},
		{"a hyphen", []resolver.Rule{to("a", "/note-book"), page("notebook")}, ""},
		{"a short word", []resolver.Rule{to("a", "/doc"), page("dox")}, ""},
		{"a short word in a long path", []resolver.Rule{to("a", "/part-a"), page("part-b")}, ""},
		{"a segment more", []resolver.Rule{to("a", "/docs/e"), page("docse")}, ""},
		{"the rule's own key", []resolver.Rule{to("posts", "/post"), page("x")}, ""},
		{"a key that leads to the same page",
			[]resolver.Rule{to("a", "/post"), to("posts", "/post")}, ""},
		{"a chain to the page",
			[]resolver.Rule{to("a", "/post"), to("posts", "/b"), to("b", "/post")}, ""},
		{"a path that a key answers", []resolver.Rule{to("a", "/dcos"), page("docs"), page("dcos")}, ""},
		{"a hop on the way", []resolver.Rule{to("a", "/b"), to("b", "/dcos"), page("docs")}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			rs := mustCompile(t, test.rules, resolver.Options{})
			got := ""
			for _, w := range Ruleset(rs).Warnings() {
				if w.Kind == WarnMisspelt && w.Key == test.rules[0].Key {
					got = w.Message
				}
			}
			want := ""
			if test.meant != "" {
				path, _, _ := strings.Cut(test.rules[0].Value, "?")
				near := strings.TrimPrefix(strings.TrimSuffix(test.meant, "?b#c"), "/")
				want = "no key answers " + path + ", and the key " + quote(near) + " is one " +
					"letter away; write " + test.meant + ", " +
					"unless " + path + " is a page of the site"
			}
			if got != want {
				t.Errorf("%q\nwant %q", got, want)
			}
		})
	}
}

func TestMisspeltPathsAreThoseThatComparingAllPairsFinds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	path := func() string {
		path := []byte("docs/guide")
		for range random.IntN(3) {
			path[random.IntN(len(path))] = "dogs/x1"[random.IntN(7)]
		}
		return strings.Trim(string(path[random.IntN(2):]), "/")
	}
	found := 0
	for range 200 {
		rules := map[string]resolver.Rule{}
		for range 20 {
			rules["/"+path()] = resolver.Rule{Value: "https://x.example"}
			rules[path()] = resolver.Rule{Value: "/" + path()}
		}
		var list []resolver.Rule
		for key, rule := range rules {
			rule.Key = strings.TrimPrefix(key, "/")
			if _, twice := rules["/"+key]; !twice {
				list = append(list, rule)
			}
		}
		rs := mustCompile(t, list, resolver.Options{})
		got := map[string]bool{}
		for _, w := range Ruleset(rs).Warnings() {
			got[w.Key] = got[w.Key] || w.Kind == WarnMisspelt
		}
		for _, rule := range list {
			want := isMisspelt(rs, rule, list)
			if got[rule.Key] != want {
				t.Fatalf("%+v: %t, want %t, of %+v", rule, got[rule.Key], want, list)
			}
			if want {
				found++
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d were misspelt", found)
	}
}

// isMisspelt compares the destination of a rule with all keys.
func isMisspelt(rs *resolver.Ruleset, rule resolver.Rule, all []resolver.Rule) bool {
	end := func(path string) string {
		destination, _ := resolve(rs, "https://go.example"+path)
		return destination
	}
	if !isInternal(rule.Value) || len(rs.Chain(rule.Value[1:])) > 0 {
		return false
	}
	isNear, slips := false, near.NewSlips()
	slips.Add(rule.Value[1:])
	for _, other := range all {
		isPage := end("/"+other.Key) == "https://go.example"+rule.Value
		slips.Find(other.Key, func(int) { isNear = isNear || !isPage })
	}
	return isNear
}

func TestBracesInAHostAreToldToGiveWayToItsName(t *testing.T) {
	const want = `"a": the destination's {x} stands for itself, and no variable may stand in ` +
		`front of its path; name the host in full`
	for _, value := range []string{"https://{x}.example", "https://{x}.example/{y}?z"} {
		found := warnings(t, []resolver.Rule{{Key: "a", Value: value, Position: at}}, resolver.Options{})
		isMeant := func(w Warning) bool { return w.Kind == WarnLiteralBraces }
		if i := slices.IndexFunc(found, isMeant); i < 0 || found[i].String() != where+want {
			t.Errorf("%s: got %v", value, found)
		}
	}
}

func TestAVariableCalledSplatMayBeDroppedAtTheKeysEnd(t *testing.T) {
	for key, want := range map[string]int{
		"a/{+splat}": 0, "a/{x}/{+splat}": 1, "a-{splat}": 0, "{+splat}": 0,
		"a/{splat}/b": 1, "{+splat}/b": 1, "a/{splat}b": 1, "a/{+rest}": 1, "a/{+Splat}": 1,
	} {
		found := warnings(t, []resolver.Rule{{Key: key, Value: "https://x.example/b"}},
			resolver.Options{})
		if len(found) != want {
			t.Errorf("%s: got %q, want %d", key, found, want)
		}
	}
}

// throughExact returns the keys that are warned of as leading through an exact one.
func throughExact(warnings []Warning) (keys []string) {
	for _, w := range warnings {
		if w.Kind == WarnThroughExact {
			keys = append(keys, w.Key)
		}
	}
	return keys
}

func TestAKeyThatLeadsThroughAnExactOneIsWarnedOf(t *testing.T) {
	wide := func(key, value string) resolver.Rule { return resolver.Rule{Key: key, Value: value} }
	exact := func(key, value string) resolver.Rule {
		return resolver.Rule{Key: key, Value: value, Exact: true}
	}
	const url = "https://x.example"
	for name, tt := range map[string]struct {
		rules []resolver.Rule
		want  string
	}{
		"to a URL":      {[]resolver.Rule{wide("a", "/b"), exact("b", url)}, "a"},
		"to a page":     {[]resolver.Rule{wide("a", "/b"), exact("b", "/page.html")}, "a"},
		"with a slash":  {[]resolver.Rule{wide("a", "/b/"), exact("b", url)}, "a"},
		"further along": {[]resolver.Rule{wide("a", "/b"), wide("b", "/c"), exact("c", url)}, "a b"},
		"on the way":    {[]resolver.Rule{wide("a", "/b"), exact("b", "/c"), wide("c", url)}, "a"},
		"in front of a template": {
			[]resolver.Rule{wide("a", "/b"), exact("b", "/v1"), wide("v{x}", url+"/{x}")}, "a",
		},
		"an exact template": {[]resolver.Rule{wide("a", "/v1"), exact("v{x}", url+"/{x}")}, "a"},
		"a template for some of what is below": {
			[]resolver.Rule{wide("a", "/b"), exact("b", url), exact("a/{x}", url+"/{x}")}, "a",
		},
		"an exact key":       {[]resolver.Rule{exact("a", "/b"), exact("b", url)}, ""},
		"a key that is wide": {[]resolver.Rule{wide("a", "/b"), wide("b", url)}, ""},
		"a wider key's own":  {[]resolver.Rule{wide("a", "/b/c"), exact("b", url)}, ""},
		"what is gone":       {[]resolver.Rule{wide("a", "/b"), exact("b", "gone")}, ""},
		"what passes":        {[]resolver.Rule{wide("a", "/b"), exact("b", "pass")}, ""},
		"a template": {
			[]resolver.Rule{wide("a/{+x}", "/b"), wide("c/{x}", "/b"), exact("b", url)}, "",
		},
		"a template for all below": {
			[]resolver.Rule{wide("a", "/b"), exact("b", url), wide("a/{+x}", "/c/{+x}")}, "",
		},
		"a loop": {[]resolver.Rule{wide("a", "/b"), exact("b", "/c"), wide("c", "/b")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			keys := throughExact(warnings(t, tt.rules, resolver.Options{}))
			if got := strings.Join(keys, " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestWhatTheWarningOfAnExactKeyAdvisesEndsIt(t *testing.T) {
	rs := mustCompile(t, []resolver.Rule{
		{Key: "docs/azure", Value: "/docs/distributions/azure", Exact: true},
		{Key: "docs/azure/{+rest}", Value: "/docs/distributions/azure/{+rest}"},
		{Key: "docs/distributions/azure", Value: "https://a.example/main/", Exact: true},
	}, resolver.Options{})
	if keys := throughExact(Ruleset(rs).Warnings()); keys != nil {
		t.Errorf("warned of %q", keys)
	}
	for path, want := range map[string]string{
		"/docs/azure":    "https://a.example/main/",
		"/docs/azure/aa": "https://go.example/docs/distributions/azure/aa",
	} {
		if got, _ := resolve(rs, "https://go.example"+path); got != want {
			t.Errorf("%s leads to %q, want %q", path, got, want)
		}
	}
}

func TestKeysThroughExactOnesAreThoseThatFollowingEachFinds(t *testing.T) {
	found := 0
	for seed := range seeds(4000) {
		r := newRandom(seed)
		opts := r.options()
		rules := r.ruleset(opts)
		for i := range rules {
			rules[i].Exact = r.IntN(2) == 0
		}
		rs := mustCompile(t, rules, opts)
		got := throughExact(Ruleset(rs).Warnings())
		for _, rule := range rules {
			want := leadsThroughExact(rs, rule)
			if slices.Contains(got, rule.Key) != want {
				t.Fatalf("seed %d, %+v: want %t, of %+v", seed, rule, want, rules)
			}
			if want {
				found++
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d led through an exact key", found)
	}
}

// leadsThroughExact follows the chain of a rule with a literal key.
func leadsThroughExact(rs *resolver.Ruleset, rule resolver.Rule) bool {
	_, result := resolve(rs, "https://elsewhere.example/"+rule.Key)
	below := rs.Chain(rule.Key + "/" + resolver.AnySegment)
	if rule.Exact || result.Outcome == resolver.Failed || result.Outcome == resolver.Gone ||
		below[0].Key != rule.Key {
		return false
	}
	isExact := func(other resolver.Rule) bool { return other.Exact && !isOutcome(other.Value) }
	return slices.ContainsFunc(rs.Chain(rule.Key)[1:], isExact)
}
