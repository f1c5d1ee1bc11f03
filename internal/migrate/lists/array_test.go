package lists_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate/lists"
	"github.com/caddy-shortlink/shortlink/internal/migrate/migratetest"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

const slashesOfPrograms = " tells a path from that with a slash at its end"

func TestRedirectsOfVercelAndNextBecomeRules(t *testing.T) {
	migratetest.CheckAll(t, array, []migratetest.Case{
		{"a path", `{"redirects": [{"source":"/a","destination":"/b"}]}`, rulefile.Reading{},
			"a,/b,308,exact\n", "entries without a status have 308, as at Vercel; --status sets another\n" +
				slashesOfPrograms},
		{"the rest", `[{"source":"/old/:p*","destination":"/new/:p*","permanent":false}]`,
			rulefile.Reading{}, "old,/new,307\n", slashesOfPrograms},
		{"the rest elsewhere",
			`[{"source":"/old/:p*","destination":"https://n.example/:p*","permanent":true}]`,
			rulefile.Reading{}, "old,https://n.example,308\n", slashesOfPrograms},
		{"all", `[{"source":"/:p*","destination":"https://n.example/x/:p*","permanent":true}]`,
			rulefile.Reading{}, "{+splat},https://n.example/x/{+splat},308\n", "no rule can match \"/\""},
		{"a segment", `[{"source":"/u/:s","destination":"/v/:s","statusCode":301}]`,
			rulefile.Reading{}, "u/{s},/v/{+s},301,exact\n", slashesOfPrograms},
		{"part of a segment", `[{"source":"/p-:id.html","destination":"/v?id=:id","statusCode":301}]`,
			rulefile.Reading{}, "p-{id}.html,/v?id={id},301,exact,,preserve\n",
			"if request and destination have the same"},
		{"at least one segment", `[{"source":"/o/:p+","destination":"/n/:p+","statusCode":301}]`,
			rulefile.Reading{}, "o/{splat},/n/{+splat},301\n", slashesOfPrograms},
		{"parentheses", `[{"source":"/o/(.*)","destination":"https://n.example/$1","statusCode":301}]`,
			rulefile.Reading{}, "o/{splat},https://n.example/{+splat},301\n", slashesOfPrograms},
		{"parentheses with a name", `[{"source":"/:x/:p(.*)","destination":"https://n.example/:x/:p*",` +
			`"statusCode":301},` +
			`{"source":"/o","destination":"/m","statusCode":301}]`, rulefile.Reading{},
			"{x}/{splat},https://n.example/{+x}/{+splat},301\no,/m,301,exact\n", slashesOfPrograms},
		{"a variable called splat", `[{"source":"/o/:splat","destination":"/n/:splat","statusCode":301}]`,
			rulefile.Reading{}, "o/{part1},/n/{+part1},301,exact\n", slashesOfPrograms},
		{"digits", `[{"source":"/u/:id(\\d+)","destination":"/p/:id","statusCode":301}]`,
			rulefile.Reading{}, "", `file:1:2: in the regular expression, "\d+" matches only some ` +
				`characters, but a variable matches all`},
		{"a condition", `[{"source":"/x","has":[{"type":"query","key":"q"}],"destination":"/y"}]`,
			rulefile.Reading{}, "", `file:1:2: a rule has no condition "has" (query)`},
		{"a host", `[{"source":"/x","has":[{"type":"host","value":"a\\.example"}],"destination":"/y",` +
			`"permanent":true}]`, rulefile.Reading{Hosts: []string{"a.example"}},
			"x,/y,308,exact\n", "file:1:2: the redirect is for the host"},
		{"another host",
			`[{"source":"/x","has":[{"type":"host","value":"a.example"}],"destination":"/y"}]`,
			rulefile.Reading{}, "", "name it with --line-host"},
		{"an optional segment", `[{"source":"/x/:y?","destination":"/y"}]`, rulefile.Reading{}, "",
			`a rule has no optional or repeated part "y?"`},
		{"escapes", `[{"source":"/x\\(y\\)","destination":"/y\\:z","permanent":true}]`,
			rulefile.Reading{}, "x(y),/y:z,308,exact\n", slashesOfPrograms},
		{"the first one counts", `[{"source":"/d/:p*","destination":"/n","permanent":true},
{"source":"/d/a","destination":"/m","permanent":true},
{"source":"/d","destination":"/m","permanent":true}]`, rulefile.Reading{},
			"d,/n,308,exact\nd/{+splat},/n,308,exact\n",
			"file:2:1: no request reaches\nfile:3:1: no request reaches"},
		{"a slash", `[{"source":"/a","destination":"/n","permanent":true},
{"source":"/a/","destination":"/n","permanent":true},
{"source":"/b","destination":"/n","permanent":true},
{"source":"/b/","destination":"/m","permanent":true}]`, rulefile.Reading{},
			"a,/n,308,exact\nb,/n,308,exact\n", "file:4:1: a rule matches a path with and without a slash"},
		{"below", `[{"source":"/a","destination":"/n","permanent":true},
{"source":"/a/b","destination":"/m","permanent":true},
{"source":"/c/:x","destination":"/m","permanent":true}]`, rulefile.Reading{Exact: new(bool)},
			"a,/n,308\na/b,/m,308\nc/{_x},/m,308,exact\n", slashesOfPrograms},
		{"what Next.js made", `{"version":3,"redirects":[{"source":"/:p+/","destination":"/:p+",` +
			`"internal":true,"statusCode":308,"regex":"^x"},{"source":"/x","destination":"https://e.example",` +
			`"basePath":false,"permanent":false,"regex":"^x"}]}`, rulefile.Reading{},
			"x,https://e.example,307,exact\n", "either letter case"},
		{"a member that is none", `[{"source":"/x","destination":"/y","permanent":true,"note":"z"}]`,
			rulefile.Reading{}, "x,/y,308,exact\n", `ignored: "note"`},
		{"a name that is none", `[{"source":"/x/:a","destination":"/y/:b","permanent":true}]`,
			rulefile.Reading{}, "x/{_a},/y/:b,308,exact\n", ":b is not in the path"},
		{"a status", `[{"source":"/x","destination":"/y","statusCode":410}]`, rulefile.Reading{},
			"x,gone,,exact\n", slashesOfPrograms},
		{"what else leads elsewhere",
			`{"cleanUrls":true,"trailingSlash":false,"rewrites":[],"version":2,` +
				`"redirects":[{"source":"/x","destination":"/y","permanent":true}]}`, rulefile.Reading{},
			"x,/y,308,exact\n", "beside the redirects are ignored: \"cleanUrls\", \"trailingSlash\", " +
				"\"rewrites\", \"version\""},
		{"a URL for a path", `[{"source":"https://A.example/x","destination":"/y","permanent":true}]`,
			rulefile.Reading{Hosts: []string{"a.example"}}, "x,/y,308,exact\n", slashesOfPrograms},
		{"a URL of another host", `[{"source":"https://b.example/x","destination":"/y"}]`,
			rulefile.Reading{Hosts: []string{"a.example"}},
			"", "a rule has no host; if \"b.example\" is this site's"},
		{"two statuses", `[{"source":"/x","destination":"/y","permanent":true,"statusCode":302}]`,
			rulefile.Reading{}, "x,/y,302,exact\n", slashesOfPrograms},
		{"two statuses of Next.js", `[{"source":"/x","destination":"/y","permanent":true,` +
			`"statusCode":302,"locale":false}]`, rulefile.Reading{}, "x,/y,302,exact\n", "letter case"},
		{"a parameter", `[{"source":"/s","destination":"/f?q=a","permanent":true}]`, rulefile.Reading{},
			"s,/f?q=a,308,exact,,preserve\n", "rules the request's; the option protect q keeps the"},
		{"a number that is none", `[{"source":"/x","destination":"/y/$1","permanent":true}]`,
			rulefile.Reading{}, "x,/y/$1,308,exact\n", "file:1:2: $1 is not in the path"},
		{"a variable for a host", `[{"source":"/(.*)","destination":"https://$1/x"}]`,
			rulefile.Reading{}, "", "in the host of the destination, which no request may choose"},
		{"a slash behind a variable", `[{"source":"/:x/","destination":"https://n.example"},
{"source":"/d","destination":"/z"}]`, rulefile.Reading{}, "{_x},https://n.example,308,exact\n",
			"file:2:1: a rule matches a path with and without a slash at its end"},
		{"a slash of a variable's name", `[{"source":"/:a/:x/","destination":"/:x","permanent":true},
{"source":"/:x/d","destination":"/:x","permanent":true}]`, rulefile.Reading{},
			"{_a}/{x},/{+x},308,exact\n", "file:2:1: a rule matches a path with and without a slash"},
		{"a status of all", `[{"source":"/x","destination":"/y"}]`, rulefile.Reading{Status: 303},
			"x,/y,303,exact\n", slashesOfPrograms},
	})
}

func TestAlternativesInAListBecomeARuleEach(t *testing.T) {
	entry := func(source, destination string) string {
		return `[{"source":"` + source + `","destination":"` + destination + `","permanent":true}]`
	}
	migratetest.CheckAll(t, array, []migratetest.Case{
		{"by number", entry("/(en|de)/start", "/$1/s"), rulefile.Reading{},
			"en/start,/en/s,308,exact\nde/start,/de/s,308,exact\n", slashesOfPrograms},
		{"by name", entry("/:l(en|fr)/:x(a\\\\.b|c-d)/:p*", "https://:l.n.example/:x?p=:p*"),
			rulefile.Reading{}, "en/a.b,https://en.n.example/a.b?p=,308,exact,,preserve\n" +
				"en/a.b/{+splat},https://en.n.example/a.b?p={splat},308,exact,,preserve\n" +
				"en/c-d,https://en.n.example/c-d?p=,308,exact,,preserve\n" +
				"en/c-d/{+splat},https://en.n.example/c-d?p={splat},308,exact,,preserve\n" +
				"fr/a.b,https://fr.n.example/a.b?p=,308,exact,,preserve\n" +
				"fr/a.b/{+splat},https://fr.n.example/a.b?p={splat},308,exact,,preserve\n" +
				"fr/c-d,https://fr.n.example/c-d?p=,308,exact,,preserve\n" +
				"fr/c-d/{+splat},https://fr.n.example/c-d?p={splat},308,exact,,preserve\n",
			"if request and destination"},
		{"part of a segment", entry("/p-(a|b).html", "/$1"), rulefile.Reading{},
			"p-a.html,/a,308,exact\np-b.html,/b,308,exact\n", slashesOfPrograms},
		{"the same path twice", entry("/(a|ab)(c|bc)", "/x/$1/$2"), rulefile.Reading{},
			"ac,/x/a/c,308,exact\nabc,/x/a/bc,308,exact\nabbc,/x/ab/bc,308,exact\n", slashesOfPrograms},
		{"one in another", entry("/(a|ab):x", "/x/$1/:x"), rulefile.Reading{},
			"a{x},/x/a/{+x},308,exact\n", slashesOfPrograms},
		{"an escaped parenthesis", entry("/\\\\(a|b\\\\)", "/c"), rulefile.Reading{},
			"(a|b),/c,308,exact\n", slashesOfPrograms},
		{"that may lack", entry("/(a|b)?/c", "/d"), rulefile.Reading{}, "", "no optional or repeated part"},
		{"repeated", entry("/(a|b)+", "/d"), rulefile.Reading{}, "", "no optional or repeated part"},
		{"with a dot", entry("/(a.b|c)", "/d"), rulefile.Reading{},
			"a.b,/d,308,exact\nc,/d,308,exact\n", `file:1:2: "." matches any character there`},
		{"nothing", entry("/(a|)/b", "/d"), rulefile.Reading{}, "a/b,/d,308,exact\n",
			slashesOfPrograms},
		{"nested", entry("/((a|b)c|d)", "/d"), rulefile.Reading{}, "", `an expression in parentheses has no others: "(a|b)c|d"`},
		{"a long one, again and again", entry("/("+strings.Repeat("a", 6000)+"|b)",
			strings.Repeat("/$1", 50_000)), rulefile.Reading{}, "", "file:1:2: "},
		{"in a long path", entry("/(a|b)/"+strings.Repeat("a", 1<<13), "/d"), rulefile.Reading{}, "",
			"the regular expression has more than 8192 bytes"},
		{"too many", entry(strings.Repeat("/(a|b)", 7), "/d"), rulefile.Reading{}, "",
			"the regular expression matches more than 64 paths"},
	})
}

func TestBulkRedirectsOfVercelBecomeRules(t *testing.T) {
	migratetest.CheckAll(t, array, []migratetest.Case{
		{"lines", `{"source":"/old","destination":"/blog","permanent":true,"query":true}
{"source":"/c","destination":"https://e.example/c?d"}
{"source":"/:d","destination":"/e"}
{"source":"/f/*","destination":"/e/$1"}
`, rulefile.Reading{}, "old,/blog,308,exact,,preserve\nc,https://e.example/c?d,307,exact,,ignore\n" +
			":d,/e,307,exact,,ignore\n",
			"file:4:1: this path has no patterns\nfold case\nhave 307, as at Vercel"},
		{"the query of all", `[{"source":"/a","destination":"/d","query":true},
{"source":"/b","destination":"/d","query":false},{"source":"/c","destination":"/d?x=1"}]`,
			rulefile.Reading{Query: resolver.QueryMerge, Status: 301}, "a,/d,301,exact,,preserve\n" +
				"b,/d,301,exact,,ignore\nc,/d?x=1,301,exact,,merge\n", "fold case"},
		{"a path twice", `[{"source":"/a","destination":"/b","query":true},
{"source":"/c","destination":"/d"},{"source":"/a","destination":"/e"}]`, rulefile.Reading{},
			"c,/d,307,exact,,ignore\na,/e,307,exact,,ignore\n",
			"file:1:2: Vercel uses the last of several redirects of a path, which is that at file:2:36"},
	})
}

func TestRedirectsOfFirebaseBecomeRules(t *testing.T) {
	in := func(entry string) string {
		return `{"hosting": [{"target": "a", "redirects": [` + entry + `]}]}`
	}
	migratetest.CheckAll(t, array, []migratetest.Case{
		{"a path and all below", in(`{"source":"/foo{,/**}","destination":"/bar","type":301}`),
			rulefile.Reading{}, "foo,/bar,301,exact\nfoo/{+splat},/bar,301,exact\n", slashesOfPrograms},
		{"a rest", in(`{"source":"/blog/:p*","destination":"https://b.example/:p"}`),
			rulefile.Reading{}, "blog,https://b.example,301\n", "have 301, as at Firebase"},
		{"a segment", in(`{"source":"/firebase/*","destination":"/x","type":302}`),
			rulefile.Reading{}, "firebase/{_part1},/x,302,exact\n", slashesOfPrograms},
		{"below alone", in(`{"glob":"/x/**","destination":"/y","type":302}`),
			rulefile.Reading{}, "x/{splat},/y,302,exact\nx/{_splat}/{+_rest},/y,302,exact\n",
			slashesOfPrograms},
		{"a part of a segment", in(`{"source":"/x/*.html","destination":"/y","type":302},` +
			`{"source":"/z*","destination":"/y","type":302}`), rulefile.Reading{},
			"x/{_part1}.html,/y,302,exact\nz{_part1},/y,302,exact\nz,/y,302,exact\n", slashesOfPrograms},
		{"alternatives and a plus", in(`{"source":"/{a,b+c}/**","destination":"/y","type":302}`),
			rulefile.Reading{}, "a/{splat},/y,302,exact\na/{_splat}/{+_rest},/y,302,exact\n" +
				"b+c/{splat},/y,302,exact\nb+c/{_splat}/{+_rest},/y,302,exact\n", slashesOfPrograms},
		{"a star in front of text", in(`{"source":"/x/*-y","destination":"/y","type":302}`),
			rulefile.Reading{}, "", `a rule has no "/*-", which is a part of a glob`},
		{"a group", in(`{"source":"/x+(a|b)","destination":"/y","type":302}`), rulefile.Reading{}, "",
			`a rule has no "+(", which is a part of a glob`},
		{"a regular expression", in(`{"regex":"/x/.*","destination":"/y","type":302}`),
			rulefile.Reading{}, "", "file:1:44: a rule's path is not a regular expression"},
		{"a path without a slash", in(`{"source":"a","destination":"/x","type":301},` +
			`{"source":"b/**","destination":"/y","type":301}`), rulefile.Reading{},
			"a,/x,301,exact\nb/{splat},/y,301,exact\nb/{_splat}/{+_rest},/y,301,exact\n",
			slashesOfPrograms},
		{"parentheses", in(`{"source":"/a/(.*)/b","destination":"/y/:0"},` +
			`{"source":"/([^/]+)/:x/(.*)","destination":"/y/:1/:x/:0","type":301}`), rulefile.Reading{},
			"{part1}/{x}/{splat},/y/{+splat}/{+x}/{+part1},301,exact\n" +
				"{part1}/{x}/{splat}/{+rest},/y/{+splat}/{+rest}/{+x}/{+part1},301,exact\n",
			"a variable for several segments must be at"},
		{"one site", `{"hosting":{"redirects":[{"source":"/a","destination":"/b"}]}}`,
			rulefile.Reading{}, "a,/b,301,exact\n", "have 301, as at Firebase"},
		{"several sites", `{"hosting":[{"target":"a","redirects":[{"source":"/a","destination":"/b"}]},` +
			`{"redirects":[{"source":"/a","destination":"/c"}],"site":"b"},{"target":"c"}]}`,
			rulefile.Reading{},
			"", "file:1:12: several sites have redirects; convert each from"},
		{"one of two sites",
			`{"hosting":[{"target":"a"},{"redirects":[{"source":"/a","destination":"/c"}]}]}`,
			rulefile.Reading{}, "a,/c,301,exact\n", "have 301, as at Firebase"},
	})
}

func TestRedirectsOfDocusaurusAndMintlifyBecomeRules(t *testing.T) {
	migratetest.CheckAll(t, array, []migratetest.Case{
		{"a path", `[{"from":"/docs/old", "to":"/docs/new"}]`, rulefile.Reading{},
			"docs/old,/docs/new,,exact\n", "a list in JSON says neither the status of redirects"},
		{"several", `{"redirects":[{"from":["/a","/b"], "to":"/c#top"}], "fromExtensions": ["html"]}`,
			rulefile.Reading{Status: 301}, "a,/c#top,301,exact,,ignore\nb,/c#top,301,exact,,ignore\n",
			"members beside the redirects are ignored: \"fromExtensions\""},
		{"twice", `[{"from":"/a", "to":"/b"},{"from":"/a", "to":"/c"}]`, rulefile.Reading{Status: 301},
			"a,/b,301,exact\n", "file:1:27: no request reaches this line: the line at file:1:2"},
		{"Mintlify's rest",
			`{"name":"x","redirects":[{"source":"/beta/:slug*","destination":"/v2/:slug*"}]}`,
			rulefile.Reading{}, "beta,/v2,308\n", "as at Vercel"},
		{"a part of a segment", `{"redirects":[{"source":"/x/a-*","destination":"/y/a-*"}]}`,
			rulefile.Reading{}, "", `a "*" by itself has no equivalent`},
	})
}

func TestListsThatAreNoneAreRefusedWithTheirPlaces(t *testing.T) {
	migratetest.CheckAll(t, array, []migratetest.Case{
		{"nothing", "", rulefile.Reading{}, "", "this is not JSON: it ends too early"},
		{"a module", "\n/** @type {x} */\nmodule.exports = {}", rulefile.Reading{}, "",
			"file:1:1: this is JavaScript, not JSON; for Next.js convert routes-manifest.json"},
		{"text", `"a"`, rulefile.Reading{}, "", `file:1:1: this is no table of redirects: it is "a"`},
		{"no list", `{"a": {"redirects": 3}}`, rulefile.Reading{},
			"", "file:1:1: this is no table of redirects: it has \"a\""},
		{"several", "[3,\n{\"source\":null,\"destination\":\"/a\"},\n{\"source\":\"/a\"},\n{\"source\":\"#a\"," +
			"\"destination\":\"/b\"},{\"source\":\"/a\",\"destination\":\"b\",\"permanent\":1}]",
			rulefile.Reading{}, "", "file:1:2: a redirect is an object\n" +
				"file:2:1: the redirect has no path\n" +
				"file:3:1: the redirect of \"/a\" has no destination\n" +
				"file:4:1: clients never send \"#\"\n" +
				"file:4:36: a rule has no status 1"},
		{"a list that does not end", `[{"source":"/a","destination":"/b","permanent":true}`,
			rulefile.Reading{}, "", "this is not JSON: it ends too early"},
		{"rules of ours", `{"a":{"to":"/b"}}`, rulefile.Reading{}, "",
			"file:1:1: this is no table of redirects: it has \"a\"\nuse --from json for rules of shortlink"},
		{"no path", `[{"from":[],"to":"/b"}]`, rulefile.Reading{},
			"", "file:1:2: the redirect has no path"},
		{"control characters", `[{"source":"/a\u0001x\u0002","destination":"/b","permanent":true}]`,
			rulefile.Reading{}, "",
			"file:1:2: a path or a destination holds control characters"},
		{"a member twice", `[{"source":"/a","source":"/b","destination":"/c","permanent":true}]`,
			rulefile.Reading{}, "", `file:1:2: "source" is given twice`},
		{"many variables", `[{"source":"` + strings.Repeat("/:a/b", 1000) + `","destination":"/b"}]`,
			rulefile.Reading{}, "", "is given twice"},
		{"more variables than a rule has", `[{"source":"/(a)` + strings.Repeat("/(b)", 100_000) +
			`","destination":"/b"}]`, rulefile.Reading{}, "", "file:1:2: a path has at most 64 variables"},
		{"depth", `[{"source":"/a","destination":"/b","permanent":true,"x":` +
			strings.Repeat(`[`, 1000) + strings.Repeat(`]`, 1000) + `}]`,
			rulefile.Reading{}, "a,/b,308,exact\n", `ignored: "x"`},
	})
}

func TestListsOfNoProgramBecomeRules(t *testing.T) {
	migratetest.CheckAll(t, array, []migratetest.Case{
		{"other names", `[{"loc":"/a","url":"/b"},{"sources":["/c"],"target":"/d","status":301}]`,
			rulefile.Reading{}, "a,/b,,exact\nc,/d,301,exact\n", ""},
		{"a map", `{"/a/": "/b", "/c": {"to": "https://x.example", "type": 302}, "/d": null}`,
			rulefile.Reading{}, "a,/b,,exact\nc,https://x.example,302,exact\n",
			`file:1:69: the destination of "/d" is a text, not null`},
	})
}

func TestTheOrderOfEntriesDoesNotTellWhoseTheyAre(t *testing.T) {
	for _, tt := range []struct{ one, other, rules string }{
		{`{"source":"/a","destination":"/b?x=1","permanent":true}`,
			`{"source":"/c","destination":"/d","query":true}`,
			"a,/b?x=1,308,exact,,ignore\nc,/d,307,exact,,preserve\n"},
		{`{"source":"/x/**","destination":"/a"}`, `{"source":"/y","destination":"/b","type":301}`,
			"x/{splat},/a,301,exact\nx/{_splat}/{+_rest},/a,301,exact\ny,/b,301,exact\n"},
	} {
		sorted := func(rules string) string {
			lines := strings.SplitAfter(rules, "\n")
			slices.Sort(lines)
			return strings.Join(lines, "")
		}
		for _, text := range []string{"[" + tt.one + "," + tt.other + "]",
			"[" + tt.other + "," + tt.one + "]"} {
			rules, _ := migratetest.RulesOf(t, rulefile.Reading{}, array, text)
			if sorted(rules) != sorted(tt.rules) {
				t.Errorf("%s becomes\n%s", text, rules)
			}
		}
	}
}

func TestTheEntryIsNamedThatGetsRequestsOfARefusedOne(t *testing.T) {
	migratetest.Check(t, lists.ReadArray, rulefile.Reading{}, []migratetest.Text{{
		`[{"source":"/a/:x(\\d+)","destination":"/b/:x"},{"source":"/z","destination":"/y"},` + "\n" +
			`{"source":"/a/:y","destination":"/c/:y"}]`,
		"z /y 308 exact|a/{y} /c/{+y} 308 exact", "308, as at Vercel|the line is left out, and the " +
			"line at file:2:1 gets some of its requests"}})
}

func FuzzArray(f *testing.F) {
	migratetest.Fuzz(f, lists.ReadArray,
		`{"redirects": [{"source":"/a/:x/:p*","destination":"/b/:p*?x=:x","permanent":true}]}`,
		`[{"from":["/a","/b"], "to":"/c#top"},{"source":"/u/:id(\\d+)","destination":"/p/:id"}]`,
		`[{"source":"/:l(en|fr)/(a|ab)(c\\.d|bc)/:p*","destination":"https://:l.example/$2/:1/:p*"}]`,
		`{"hosting":{"redirects":[{"source":"/foo{,/**}","destination":"/bar","type":301}]}}`,
		`{"source":"/old","destination":"/blog","query":true}`+"\n"+`{"source":"/c","destination":"/d"}`,
		`[{"source":"/x","has":[{"type":"host","value":"a.example"}],"destination":"/a/:y"},`+
			`{"source":"/x/(.*)","destination":"/a/$1"},{"source":"/x/:a+","destination":"/:a+"}]`)
}
