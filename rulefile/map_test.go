package rulefile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// quietMap is a reading for which a map has no remark on status and queries.
var quietMap = rulefile.Reading{Status: 301, Hosts: []string{"example.com"}}

func TestMapsOfNginxAreRules(t *testing.T) {
	const caseless = "nginx looks up keys without regard to case"
	testTexts(t, rulefile.Map, quietMap, []textTest{
		{"default \"\";\n/Old.html  https://e.example/new;", "Old.html https://e.example/new 301 exact",
			caseless},
		{"\"/with space\" /b;", "with space /b 301 exact", caseless},
		{"~^/blog/(.*)$ /news/$1;", "blog /news/ 301", ""},
		{"~^/blog/(?<rest>.*)$ /news/${rest}?x;", "blog /news/?x 301 ignore", ""},
		{"~*^/Blog$ /news;", "Blog /news 301 exact", "letters of either case"},
		{"/a /b; # and\n# more\n/c /d; /e /f;", "a /b 301 exact|c /d 301 exact|e /f 301 exact", caseless},
		{"map $uri $new {\n\tdefault /z;\n\t~^/a /c;\n\t/a /b;\n}\n",
			"a /b 301 exact|a/{splat} /c 301 exact|a/{_splat}/{+_rest} /c 301 exact|a{splat} /c 301 " +
				"exact|a{_splat}/{+_rest} /c 301 exact|z pass|{+splat} /z 301 exact",
			caseless + "|no rule is for \"/\"|the next handler answers at /z"},
		{"map $request_uri $new {\n/a%20b /c; }", "a%20b /c 301 exact",
			"with its query there|" + caseless},
		{"/a /b;\n/c\n  /d;", "a /b 301 exact|c /d 301 exact", caseless},
		{"hostnames;\nvolatile;\n\\default /d;", "default /d 301 exact", caseless},
		{"/100% /d;", "100%25 /d 301 exact", caseless},
		{"'/it\\'s' /d;", "it's /d 301 exact", caseless},
		{"/a /b{;", "", "a map begins with"},
	})
}

func TestAnEmptyDestinationOfNginxLetsRequestsPass(t *testing.T) {
	testTexts(t, rulefile.Map, quietMap, []textTest{
		{"/a \"\";\n~^/b/ '';\ndefault https://x.example/;",
			"a pass exact|b pass|{+splat} https://x.example/ 301 exact",
			"without regard|no rule is"},
		{"/a \"\";\n/b /c;\n~^/d/(.*)$ /e/$1;", "a pass exact|b /c 301 exact|d /e/ 301",
			"without regard"},
		{"/a \"\";\n/b /c;\n/b \"\";\n/a /d;", "b /c 301 exact", "without regard|" +
			"no request gets to this line|no request gets to this line"},
	})
}

func TestMapsOfNginxForSeveralVariablesAreToldOf(t *testing.T) {
	_, done := rulesOf(t, quietMap, rulefile.Map, "map $uri $new {\n/a /b;\n}\n"+
		"map $http_host $x {\n/x /y;\n}\nmap $uri $other {\n/c /d;\n}\n")
	const want = `the maps of "$new", "$other" are read as one`
	if !strings.Contains(strings.Join(done.Remarks, "\n"), want) {
		t.Errorf("%q", done.Remarks)
	}
}

func TestAMapThatIsJSONIsOneError(t *testing.T) {
	for _, text := range []string{"{\n\"redirects\": [\n", "[\n{\n", "{\"redirects\": [",
		"[{\"source\": \"/a\"}]"} {
		testTexts(t, rulefile.Map, quietMap,
			[]textTest{{text, "", "file:1:1: this is JSON, and not map; write the format"}})
	}
	testTexts(t, rulefile.Map, quietMap, []textTest{{"[a] /b", "[a] /b 301 exact", ""}})
}

func TestAMapOfRequestURIsHasEncodedPathsAndQueries(t *testing.T) {
	const spelled = "as the request spells them"
	for _, tt := range []textTest{
		{`~^/caf%C3%A9%20(a|b)$ /c/$1`, "caf%C3%A9%20a /c/a 301 exact|caf%C3%A9%20b /c/b 301 exact", ""},
		{`~^/a(\?.*)?$ /b`, "a /b 301 exact", ""},
		{`~^/a/?(\?|$) /b`, "a /b 301 exact", ""},
		{`~^/a/([^?]*) /b/$1`, "a /b/ 301", ""},
		{`~^/a/([^/?]+)/b$ /c/$1`, "a/{p1}/b /c/{+p1} 301 exact", ""},
		{`~^/a\?x=(.*)$ /b/$1`, "", "|a rule has no query"},
		{`~^/a#b$ /c`, "a%23b /c 301 exact", ""},
	} {
		text := "map $request_uri $new {\n" + tt.text + ";\n}"
		testTexts(t, rulefile.Map, quietMap, []textTest{{text, tt.rules, spelled + tt.says}})
	}
}

func TestABlockTellsWhichKeysNginxNeverLooksUp(t *testing.T) {
	const caseless = "nginx looks up keys without regard to case"
	for _, tt := range []textTest{
		{"map $uri $new {\n/a%20b /c;\n}", "a%20b /c 301 exact",
			caseless + "|nginx looks up decoded paths in $uri"},
		{"map $uri $new {\n/a%zz /c;\n}", "a%25zz /c 301 exact", caseless},
		{"map $uri $new {\nold /c;\n}\nnew /d;", "new /d 301 exact",
			caseless + "|a path begins with \"/\""},
		{"hostnames;\n/a.* /b;\n/c /d;", "c /d 301 exact", caseless + "|a mask because of hostnames"},
		{"map $uri $a {\nhostnames;\n}\nmap $uri $a {\n/a.* /b;\n}", "a.* /b 301 exact",
			"are read as one|" + caseless},
	} {
		testTexts(t, rulefile.Map, quietMap, []textTest{tt})
	}
}

func TestWhatAMapOfNginxCannotHaveIsToldOf(t *testing.T) {
	const caseless = "nginx looks up keys without regard to case|"
	testTexts(t, rulefile.Map, quietMap, []textTest{
		{"include more.map;", "", `file:1:1: the file "more.map" stands on its own`},
		{"~^/a$ /b$host;", "", `"$" in the destination stands for no group`},
		{"~/(a /b;", "", "is not well-formed"},
		{"/a?x /b;", "", "a rule has no query"},
		{"/a $b;", "", "a destination has no variables"},
		{"/a b;", "", `"b" is no destination`},
		{"/a /b /c;", "", "this one has 3 words"},
		{"/a /b;\n/c /d", "a /b 301 exact", caseless + "file:2:1: the statement does not end"},
		{"\"/a /b;\n", "", "file:1:1: a quotation mark is not closed"},
		{"map $http_host $x {\n/a /b;\n}", "", `file:1:5: the map is looked up by "$http_host"`},
		{"server {\n/a /b;", "", "file:1:1: a map begins with: map $uri"},
		{"\"\" /b;", "", "the key is empty"},
		{"/a /b\x01;", "", "control character"},
	})
}

func TestListsOfKeysAndDestinationsAreRules(t *testing.T) {
	testTexts(t, rulefile.Map, quietMap, []textTest{
		{"/old.html  https://e.example/new", "old.html https://e.example/new 301 exact", ""},
		{"# of Apache\n\n/a /b\n/a /c\n", "a /b 301 exact", "file:4:1: no request gets to this line"},
		{"old https://e.example/new", "old https://e.example/new 301 exact", ""},
		{"/a b\t/c\n/d\t/e\t\t", "a b /c 301 exact|d /e 301 exact", ""},
		{"/a\t/b\n/c\t\t /d\n/e /f\n \t/g\t/h", "a /b 301 exact|c /d 301 exact|e /f 301 exact|" +
			"g /h 301 exact", "HAProxy takes all the same"},
		{"/a\t/b\t301", "", "write --from csv"},
		{"  /a /b\n  /c /d", "a /b 301 exact|c /d 301 exact", "HAProxy takes all the same"},
		{"/a /b\n/c /d\tnote", "a /b 301 exact", "the destination holds a blank"},
		{"/a /b|/c", "a /b|/c 301 exact", "maps of rnd: in Apache"},
		{"^/a/.* /b", "", "the key is a regular expression, as those of map_reg"},
		{"/a\t", "", "the line has no destination"},
		{"/a", "", "file:1:1: the line has no destination"},
		{"/a b", "", `"b" is no destination`},
		{"/a /b c", "", "the destination holds a blank"},
		{"https://example.com/a /b\nhttps://e.example/a /b", "a /b 301 exact",
			"file:2:1: a rule has no host"},
		{"/a#b /c", "a%23b /c 301 exact", ""},
		{"/a\xff /b", "", "is no Unicode text"},
		{"", "", ""},
	})
}

func TestAMapSaysNeitherStatusNorQueries(t *testing.T) {
	testTexts(t, rulefile.Map, rulefile.Reading{}, []textTest{{"/a /b", "a /b exact",
		"a map tells neither the status of redirects nor what becomes of queries"}})
	below := false
	testTexts(t, rulefile.Map, rulefile.Reading{Exact: &below, Query: resolver.QueryIgnore},
		[]textTest{{"/a /b", "a /b ignore", ""}})
}

func TestAKeyOfAMapWithAHostIsForThatHost(t *testing.T) {
	testTexts(t, rulefile.Map, rulefile.Reading{Hosts: []string{"www.example.com"}, Status: 301},
		[]textTest{
			{"www.example.com/a /b", "a /b 301 exact", ""},
			{"WWW.example.com/a /b", "a /b 301 exact", ""},
			{"b.example/a /b", "", `if "b.example" is this site's, name it`},
			{"old.html /b", "old.html /b 301 exact", ""},
			{".well-known/x /b", ".well-known/x /b 301 exact", ""},
			{"hostnames;\n*.example.com /x;\n.b.example /y;\n/a /b;", "a /b 301 exact",
				`without regard to case|if "*.example.com" is|if ".b.example" is`},
		})
}

func TestADefaultOfAMapThatIsNoneIsToldOf(t *testing.T) {
	const folds = "without regard to case|"
	testTexts(t, rulefile.Map, rulefile.Reading{Status: 301}, []textTest{
		{"default \"\";\n/a /b;", "a /b 301 exact", "without regard to case"},
		{"default https://x.example$request_uri;\n/a /b;", "a /b 301 exact",
			folds + "has no variables"},
		{"default x;\n/a /b;", "a /b 301 exact", folds + "file:1:1: \"x\" is no destination"},
		{"default https://x.example/;\ndefault /y;\n/a /b;",
			"a /b 301 exact|{+splat} https://x.example/ 301 exact",
			folds + "no rule is for|a map has one default, and the line at file:1:1"},
		{"/a;\n/b /c;", "b /c 301 exact", folds + "has 1 word;"},
	})
}

func TestWhatIsWrittenAsAMapIsReadAsTheSame(t *testing.T) {
	rules := []resolver.Rule{
		{Key: "a", Value: "https://a.example/b?c#d", Exact: true, Query: resolver.QueryIgnore},
		{Key: "~old/x:y*", Value: "/new", Exact: true}, {Key: "a%20b", Value: "/c", Exact: true},
		{Key: "map", Value: "https://a.example/$x", Exact: true},
		{Key: "b%7Bc", Value: "/d", Exact: true},
	}
	var out strings.Builder
	if err := rulefile.Write(&out, rulefile.Map, slices.Values(rules)); err != nil {
		t.Fatal(err)
	}
	var got []resolver.Rule
	_, err := rulefile.Reading{}.Read(strings.NewReader(out.String()), rulefile.Map, "",
		func(rule resolver.Rule) { got = append(got, rule) })
	if err != nil || !slices.Equal(withoutPositions(got), rules) {
		t.Errorf("%s\n%+v, %v", &out, got, err)
	}
}

func TestWhatAMapDoesNotSayIsToldOf(t *testing.T) {
	for _, tt := range []struct{ rule, out, says string }{
		{`"a": {"to": "/b", "exact": true}`, "/a /b\n", ""},
		{`"a": "/b"`, "/a /b\n", "a map has the path alone, and nothing below it"},
		{`"a": {"to": "/b", "exact": true, "status": 301}`, "/a /b\n",
			"a map has no status, so that 301"},
		{`"a": {"to": "/b", "exact": true, "query": "ignore"}`, "/a /b\n", "so that ignore is for"},
		{`"a": {"to": "/b", "exact": true, "query": "merge"}`, "/a /b\n", "a map has no query modes"},
		{`"a": {"to": "/b?c", "exact": true}`, "/a /b?c\n", "requests add nothing to a query"},
		{`"a": {"to": "/b?c", "exact": true, "query": "ignore"}`, "/a /b?c\n", ""},
		{`"a": {"to": "/b", "exact": true, "unlisted": true, "note": "x"}`, "/a /b\n",
			"a map has no unlisted rules; a map has no notes"},
		{`"semi;": {"to": "/x;y$z", "exact": true}`, "/semi; /x;y$z\n",
			"write them percent-encoded for nginx"},
		{`"%C3%A9": {"to": "/b", "exact": true}`, "/%C3%A9 /b\n", "is found by one of them at most"},
		{`"é": {"to": "/b", "exact": true}`, "/é /b\n", "is found by one of them at most"},
		{`"a/{x}": "/b"`, "", "a map has no templates"},
		{`"a": "gone"`, "", "a map has destinations alone"},
		{`"a b": "/c"`, "", "a map has no spaces"},
		{`"a/": "/c"`, "", "a map would have it as a; write the key so"},
		{`"100%": "/c"`, "", "a map would have it as 100%25"},
		{`"a": {"to": "/c;", "exact": true}`, "", "write it percent-encoded"},
		{`"a": {"to": "/c{", "exact": true}`, "", "write it percent-encoded"},
		{`"a//b": {"to": "/c", "exact": true}`, "", "no request gets to a line with"},
	} {
		out, done := convert(t, rulefile.JSON, rulefile.Map, "{"+tt.rule+"}")
		says := reportsOf(done.Approximated) + reportsOf(done.Refused)
		if out != tt.out || !strings.Contains(says, tt.says) || tt.says == "" && says != "" {
			t.Errorf("%s makes %q, and says %s", tt.rule, out, says)
		}
	}
}

func FuzzMap(f *testing.F) {
	for _, seed := range []string{"/a /b\n/c https://d.example\n", "/a\t/b\nc\t/d\n",
		"map $uri $x {\ndefault /a;\n~^/b(.*)$ /c$1;\n'/d e' /f;\n}\n", "/a%2 /b;\n/c#d /e?f;"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		convertedLoads(t, rulefile.Map, text)
		out, _ := convert(t, rulefile.Map, rulefile.Map, text)
		again, done := convert(t, rulefile.Map, rulefile.Map, out)
		if again != out || done.Refused.Count > 0 {
			t.Errorf("%q is read as %q, %s", out, again, reportsOf(done.Refused))
		}
	})
}
