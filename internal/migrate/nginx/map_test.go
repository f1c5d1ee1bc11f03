package nginx_test

import (
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/migrate/migratetest"
	"github.com/caddy-shortlink/shortlink/internal/migrate/nginx"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// quietMap is a reading that causes no remark on status and queries.
var quietMap = rulefile.Reading{Status: 301, Hosts: []string{"example.com"}}

func TestMapsOfNginxAreRules(t *testing.T) {
	const caseless = "nginx ignores the case of keys"
	migratetest.Check(t, nginx.Read, quietMap, []migratetest.Text{
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
			caseless + "|no rule can match \"/\"|the next handler answers at /z"},
		{"map $request_uri $new {\n/a%20b /c; }", "a%20b /c 301 exact",
			"path and query as the request spells them|" + caseless},
		{"/a /b;\n/c\n  /d;", "a /b 301 exact|c /d 301 exact", caseless},
		{"hostnames;\nvolatile;\n\\default /d;", "default /d 301 exact", caseless},
		{"/100% /d;", "100%25 /d 301 exact", caseless},
		{"'/it\\'s' /d;", "it's /d 301 exact", caseless},
		{"/a /b{;", "", "a map begins with|the block does not end"},
	})
}

func TestAnEmptyDestinationOfNginxLetsRequestsPass(t *testing.T) {
	migratetest.Check(t, nginx.Read, quietMap, []migratetest.Text{
		{"/a \"\";\n~^/b/ '';\ndefault https://x.example/;",
			"a pass exact|b pass|{+splat} https://x.example/ 301 exact",
			"ignores the case|no rule can"},
		{"/a \"\";\n/b /c;\n~^/d/(.*)$ /e/$1;", "a pass exact|b /c 301 exact|d /e/ 301",
			"ignores the case"},
		{"/a \"\";\n/b /c;\n/b \"\";\n/a /d;", "b /c 301 exact", "ignores the case|no request reaches " +
			"this line|no request reaches this line"},
	})
}

func TestMapsOfNginxForSeveralVariablesAreToldOf(t *testing.T) {
	migratetest.Check(t, nginx.Read, quietMap, []migratetest.Text{{"map $uri $new {\n/a /b;\n}\n" +
		"map $http_host $x {\n/x /y;\n}\nmap $uri $other {\n/c /d;\n}\n",
		"a /b 301 exact|c /d 301 exact", `the maps of "$new", "$other" are read as one` +
			"|ignores the case of keys|looked up by \"$http_host\""}})
}

func TestAMapOfRequestURIsHasEncodedPathsAndQueries(t *testing.T) {
	const spelled = "as the request spells them"
	for _, tt := range []migratetest.Text{
		{`~^/caf%C3%A9%20(a|b)$ /c/$1`, "caf%C3%A9%20a /c/a 301 exact|caf%C3%A9%20b /c/b 301 exact", ""},
		{`~^/a(\?.*)?$ /b`, "a /b 301 exact", ""},
		{`~^/a/?(\?|$) /b`, "a /b 301 exact", ""},
		{`~^/a/([^?]*) /b/$1`, "a /b/ 301", ""},
		{`~^/a/([^/?]+)/b$ /c/$1`, "a/{p1}/b /c/{+p1} 301 exact", ""},
		{`~^/a\?x=(.*)$ /b/$1`, "", "|a rule has no query"},
		{`~^/a#b$ /c`, "a%23b /c 301 exact", ""},
	} {
		text := "map $request_uri $new {\n" + tt.Text + ";\n}"
		migratetest.Check(t, nginx.Read, quietMap,
			[]migratetest.Text{{text, tt.Rules, spelled + tt.Says}})
	}
}

func TestABlockTellsWhichKeysNginxNeverLooksUp(t *testing.T) {
	const caseless = "nginx ignores the case of keys"
	for _, tt := range []migratetest.Text{
		{"map $uri $new {\n/a%20b /c;\n}", "", "nginx looks up paths that begin with \"/\" and, in $uri"},
		{"map $uri $new {\n/a%zz /c;\n}", "a%25zz /c 301 exact", caseless},
		{"map $uri $new {\nold /c;\n}\nnew /d;", "new /d 301 exact",
			caseless + "|nginx looks up paths that begin with \"/\""},
		{"hostnames;\n/a.* /b;\n/c /d;", "c /d 301 exact", caseless + "|is a mask, if the map has hostnames"},
	} {
		migratetest.Check(t, nginx.Read, quietMap, []migratetest.Text{tt})
	}
}

func TestWhatAMapOfNginxCannotHaveIsToldOf(t *testing.T) {
	const caseless = "nginx ignores the case of keys|"
	migratetest.Check(t, nginx.Read, quietMap, []migratetest.Text{
		{"include more.map;", "", `file:1:1: the file "more.map" is a file of its own`},
		{"~^/a$ /b$host;", "", `"$" in the destination does not name a group`},
		{"~/(a /b;", "", "is not well-formed"},
		{"/a?x /b;", "", caseless + "a rule has no query"},
		{"/a $b;", "", "a destination has no variables"},
		{"/a b;", "", caseless + `"b" is not a destination`},
		{"/a /b /c;", "", "this one has 3 words"},
		{"/a /b;\n/c /d", "a /b 301 exact", caseless + "file:2:1: the statement does not end"},
		{"map $uri $to {\n/a /b;\n", "a /b 301 exact", caseless + `file:1:1: the block does not end`},
		{"\"/a /b;\n", "", "file:1:1: a quotation mark is not closed"},
		{"map $http_host $x {\n/a /b;\n}", "", `file:1:5: the map is looked up by "$http_host"`},
		{"\"\" /b;", "", caseless + "the key is empty"},
		{"/a /b\x01;", "", "control character"},
	})
}

func TestListsOfKeysAndDestinationsAreRules(t *testing.T) {
	migratetest.Check(t, nginx.Read, quietMap, []migratetest.Text{
		{"/old.html  https://e.example/new", "old.html https://e.example/new 301 exact", ""},
		{"# of Apache\n\n/a /b\n/a /c\n", "a /b 301 exact", "file:4:1: no request reaches this line"},
		{"old https://e.example/new", "old https://e.example/new 301 exact", ""},
		{"/a b\t/c\n/d\t/e\t\t", "a b /c 301 exact|d /e 301 exact", ""},
		{"/a\t/b\n/c\t\t /d\n/e /f\n \t/g\t/h", "a /b 301 exact|c /d 301 exact|e /f 301 exact|" +
			"g /h 301 exact", ""},
		{"/a\t/b\t301", "", "or --from csv"},
		{"  /a /b\n  /c /d", "a /b 301 exact|c /d 301 exact", ""},
		{"/a /b\n/c /d\tnote", "a /b 301 exact", "and this one has more; write %20 for a blank"},
		{"/a /b|/c", "a /b|/c 301 exact", "Apache's rnd: maps choose one"},
		{"^/a/.* /b", "", "the key is a regular expression, as for map_reg"},
		{"/a\t", "", "the line has no destination"},
		{"/a", "", "file:1:1: the line has no destination"},
		{"/a b", "", `"b" is not a destination`},
		{"/a /b c", "", "and this one has more"},
		{"https://example.com/a /b\nhttps://e.example/a /b", "a /b 301 exact",
			"file:2:1: a rule has no host"},
		{"/a#b /c", "a%23b /c 301 exact", ""},
		{"/a\xff /b", "", "is not Unicode text"},
		{"", "", ""},
	})
}

func TestAMapSaysNeitherStatusNorQueries(t *testing.T) {
	migratetest.Check(t, nginx.Read, rulefile.Reading{}, []migratetest.Text{{"/a /b", "a /b exact",
		"a map says neither the status of redirects nor what happens to queries"}})
	below := false
	migratetest.Check(t, nginx.Read, rulefile.Reading{Exact: &below, Query: resolver.QueryIgnore},
		[]migratetest.Text{{"/a /b", "a /b ignore", ""}})
}

func TestAKeyOfAMapWithAHostIsForThatHost(t *testing.T) {
	migratetest.Check(t, nginx.Read, rulefile.Reading{Hosts: []string{"www.example.com"}, Status: 301},
		[]migratetest.Text{
			{"www.example.com/a /b", "a /b 301 exact", ""},
			{"WWW.example.com/a /b", "a /b 301 exact", ""},
			{"b.example/a /b", "", `if "b.example" is this site's, name it`},
			{"old.html /b", "old.html /b 301 exact", ""},
			{".well-known/x /b", ".well-known/x /b 301 exact", ""},
			{"hostnames;\n*.example.com /x;\n.b.example /y;\n/a /b;", "a /b 301 exact",
				`ignores the case of keys|if "*.example.com" is|if ".b.example" is`},
		})
}

func TestADefaultOfAMapThatIsNoneIsToldOf(t *testing.T) {
	const folds = "ignores the case of keys|"
	migratetest.Check(t, nginx.Read, rulefile.Reading{Status: 301}, []migratetest.Text{
		{"default \"\";\n/a /b;", "a /b 301 exact", "ignores the case of keys"},
		{"default https://x.example$request_uri;\n/a /b;", "a /b 301 exact",
			folds + "\"$\" in the destination does not name a group"},
		{"default x;\n/a /b;", "a /b 301 exact", folds + "file:1:1: \"x\" is not a destination"},
		{"default https://x.example/;\ndefault /y;\n/a /b;",
			"a /b 301 exact|{+splat} https://x.example/ 301 exact",
			folds + "no rule can match|a map has one default, and the line at file:1:1"},
		{"/a;\n/b /c;", "b /c 301 exact", folds + "has 1 word;"},
	})
}

// Without a limit this takes gigabytes.
func TestADestinationThatRepeatsALongGroupIsRefusedSoon(t *testing.T) {
	format := migrate.Format{Name: "map", Read: migrate.LinesOf(nginx.Read)}
	text := "~^/(" + strings.Repeat("a", 8000) + ")$ /" + strings.Repeat("$1", 500_000) + ";"
	rules, done := migratetest.RulesOf(t, quietMap, format, text)
	if rules != "" ||
		!strings.Contains(migratetest.ReportsOf(done.Refused), "longer than 65535 bytes") {
		t.Errorf("%d bytes of rules, %+v", len(rules), done.Refused.Count)
	}
}

func FuzzMap(f *testing.F) {
	migratetest.Fuzz(f, nginx.Read, "/a /b\n/c https://d.example\n", "/a\t/b\nc\t/d\n",
		"server {\nserver_name a.example;\nrewrite ^/a$ /b permanent;\nlocation ^~ /c/ { return 301 /d$uri; }\n"+
			"location ~ /e(.*) { rewrite ^ /f$1? redirect; }\nif ($uri = /g) { return 302 /h?x=1&$args; }\n}\n",
		"map $uri $x {\ndefault /a;\n~^/b(.*)$ /c$1;\n'/d e' /f;\n}\n", "/a%2 /b;\n/c#d /e?f;")
}
