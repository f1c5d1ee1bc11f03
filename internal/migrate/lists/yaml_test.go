package lists_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/migrate/lists"
	"github.com/caddy-shortlink/shortlink/internal/migrate/migratetest"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestMapsInYAMLBecomeRules(t *testing.T) {
	none := rulefile.Reading{}
	migratetest.CheckAll(t, yaml, []migratetest.Case{
		{"paths", "# moved\n/a: /b\nc: \"https://x.example/?q=1\"\n'/d e': /f # g\n", none,
			"a,/b,,exact\nc,https://x.example/?q=1,,exact,,ignore\nd e,/f,,exact\n",
			"says neither the status"},
		{"a regular expression", "^/blog/(.*)$: https://b.example/$1\n^/u/([^/]+)/(?P<page>[^/]+)$: " +
			"/v/${page}?u=$1\n", none, "blog,https://b.example/,\n" +
			"u/{p1}/{p2},/v/{+p2}?u={p1},,exact,,ignore\n", "says neither the status"},
		{"the first entry counts", "/a/b: /c\n^/a/(.*)$: /d/$1\n/a/e: /f\n", none,
			"a/b,/c,,exact\na,/d/\n", "file:3:1: no request reaches this line: the line at file:2:1"},
		{"several documents", "---\n/a: /b\n---\n/c: /d\n...\n---\n", none, "a,/b,,exact\nc,/d,,exact\n",
			"says neither the status"},
		{"under redirects", "version: 2\nredirects:\n  /a: /b\n", none, "a,/b,,exact\n",
			`members beside the redirects are ignored: "version"`},
		{"anchors", "/a: &new /b\n/c: *new\n", none, "a,/b,,exact\nc,/b,,exact\n",
			"says neither the status"},
		{"a refused expression",
			"^/v[0-9]+/(.*)$: /new/$1\n/about: /us\n^/(.*)$: https://old.example/$1\n", none,
			"about,/us,,exact\n{+splat},https://old.example/{+splat}\n",
			"and the line at file:3:1 gets some of its requests"},
		{"what the whole file has", "/a: /b\n", rulefile.Reading{Status: 308, Exact: new(bool)},
			"a,/b,308\n", ""},
	})
}

func TestListsAndMapsOfMapsInYAMLBecomeRules(t *testing.T) {
	none := rulefile.Reading{}
	migratetest.CheckAll(t, yaml, []migratetest.Case{
		{"from and to", "- from: /a\n  to: /b\n- {from: [/c, d], to: https://x.example/, status: 301}\n",
			none, "a,/b,,exact\nc,https://x.example/,301,exact\nd,https://x.example/,301,exact\n", ""},
		{"other names", "redirects:\n- {loc: /a/, url: /b}\n- {source: /c, destination: /d}\n" +
			"- {source_path: /e, redirect_url: /f, permanent: true, by: ann}\n- {sources: [/g], target: " +
			"/h, type: 410}\n", none, "a,/b,,exact\nc,/d,,exact\ne,/f,301,exact\ng,gone,,exact\n",
			`members without a meaning here are ignored: "by"`},
		{"one redirect", "redirects:\n  from: /a\n  to: /b\n", none, "a,/b,,exact\n",
			"says neither the status"},
		{"a page of Jekyll", "---\ntitle: New\npermalink: /new/\nredirect_from:\n  - /old/\n  - older\n---\n" +
			"# Text: it\n", none, "old,/new/,,exact\nolder,/new/,,exact\n", `ignored: "title"`},
		{"a page without a path", "---\nredirect_from: /old/\n---\n", none, "",
			`file:2:1: the redirect of "/old/" has no destination`},
		{"Redocly", "/a/:\n  to: /b/\n/c: {to: https://x.example, type: 302}\n", none,
			"a,/b/,301,exact\nc,https://x.example,302,exact\n", "have 301, as at Redocly"},
		{"a status that is none", "- {from: /a, to: /b, status: 200}\n- {from: /c, to: /d, code: x}\n",
			none, "", "file:1:3: a rule has no status 200\nfile:2:3: a status is one of"},
	})
}

func TestRedirectsOfGhostAreRegularExpressions(t *testing.T) {
	none := rulefile.Reading{}
	const anywhere = "Ghost looks for a path without \"^\" at the end of all paths"
	migratetest.CheckAll(t, yaml, []migratetest.Case{
		{"a path and an expression", "301:\n  /a/: /b\n  ^\\/t\\/(.*)$: /tag/$1\n302:\n  /c: /d?x=1\n",
			none, "c,/d?x=1,302,exact,,preserve\na,/b,301,exact\nt,/tag/,301\n", anywhere},
		{"the first counts", "301:\n  /a: /b\n302:\n  ^/(a|c)$: /d\n", none,
			"a,/d,302,exact\nc,/d,302,exact\n", "file:2:3: no request reaches this line"},
		{"either case", "302:\n  /^\\/A$/i: /b\n", none, "A,/b,302,exact\n",
			"letters of either case\n" + anywhere},
		{"some characters", "302:\n  ^/v[0-9]+$: /b\n", none, "", "matches only some characters"},
	})
	migratetest.CheckAll(t, array, []migratetest.Case{{"in JSON",
		`[{"from":"^/a/?$","to":"/b","permanent":true},{"from":"/c","to":"/d","permanent":false},` +
			`{"from":"/e","to":"/f"}]`, none, "a,/b,301,exact\nc,/d,302,exact\ne,/f,302,exact\n",
		anywhere}})
}

func TestPathsOfCanonicalAreRegularExpressionsForAllOfAPath(t *testing.T) {
	const head = "docs/(?P<page>.*): /guide/{page}\n"
	const groups = "read as a file of Canonical's yaml-responses"
	migratetest.CheckAll(t, yaml, []migratetest.Case{
		{"a path", head + "/install: /docs/x\n", rulefile.Reading{},
			"docs,/guide/,302\ninstall,/docs/x,302,exact\n", groups},
		{"parts that may lack", head + "a(/en)?/?: https://x.example/$a\n", rulefile.Reading{Status: 301},
			"docs,/guide/,301\na/en,https://x.example/%24a,301,exact\na,https://x.example/%24a,301," +
				"exact\n", groups},
		{"alternatives", head + "(?P<v>2|3)/(?P<p>.+): /{v}?p={p}\nx|y: /z\n", rulefile.Reading{},
			"docs,/guide/,302\n2/{splat},/2?p={splat},302,exact,,preserve\n2/{splat}/{+rest},/2?p={splat}/" +
				"{rest},302,exact,,preserve\n3/{splat},/3?p={splat},302,exact,,preserve\n3/{splat}/{+rest}," +
				"/3?p={splat}/{rest},302,exact,,preserve\nx,/z,302,exact\n", groups},
		{"a name that is none", head + "a: /{b}\n", rulefile.Reading{}, "docs,/guide/,302\n",
			"file:2:1: \"$\" in the destination does not name a group"},
	})
}

func TestWhatIsNoMapInYAMLIsToldAllAtOnce(t *testing.T) {
	none := rulefile.Reading{}
	migratetest.CheckAll(t, yaml, []migratetest.Case{
		{"another file", "http:\n  routers:\n    r: {rule: \"Host(`a`)\"}\ntls: {}\n", none, "",
			"file:1:1: this is no table of redirects: it has \"http\", \"tls\", and no path with a " +
				"destination; write a line such as /old: /new for each"},
		{"URLs of a configuration", "name: x\nurl: https://a.example/\ntheme: {url: /b}\nnav: [/c]\n",
			none, "", "file:1:1: this is no table of redirects: it has \"name\", \"theme\", \"nav\""},
		{"a list of texts", "- /a\n- /b\n", none, "", "it is an array, and no path with a destination"},
		{"entries of a list", "- from: /a\n- 5\n- {to: /b}\n- {from: [5, [/a]], to: /b}\n", none, "",
			"file:1:3: the redirect of \"/a\" has no destination\nfile:2:3: a redirect is an object with " +
				"a path and a destination, not 5\nfile:3:3: the redirect has no path\nfile:4:3: the " +
				"redirect has no path"},
		{"entries", "/n: 5\n/l: [a]\n/m: {to: /a}\n/e:\n? [a]\n: /b\n/f: /g\n<<: {/h: /i}\n", none,
			"m,/a,,exact\nf,/g,,exact\n", "file:1:1: \"5\" is not a destination\nfile:2:1: the " +
				"destination of \"/l\" is a text, not an array\nfile:4:1: " +
				"the destination of \"/e\" is a text, not null\nfile:5:3: a path is a text, not an " +
				"array\nfile:8:1: maps that are merged with \"<<\""},
		{"what is no YAML", "/a: /b\n/c: /d: e\n/f: /g\n/h: \"i\n/j: /k\n", none, "",
			"file:2:1: this is not valid YAML: mapping values are not allowed"},
		{"expressions", "^/a(b|: /c\n/d/[xy]+: /e\n^/x/([0-9]+)$: /f\n^/y/(.*)$: /z/${p}\n", none, "",
			"file:1:1: in the regular expression\nfile:2:1: in the regular expression\n" +
				"file:3:1: in the regular expression\nfile:4:1: \"$\" in the destination does not name a " +
				"group"},
		{"a query", "/a?b=c: /d\n", none, "", `file:1:1: a rule matches the path alone`},
		{"control characters", "\"/a\\x01x\\x02\": /b\n", none, "",
			"file:1:1: a path or a destination holds"},
		{"an anchor that is none", "/c: /d\n/a: *b\n", none, "",
			"file:1:1: this is not valid YAML: unknown anchor 'b'"},
		{"a character that is none", "/a: /b\n/caf\xe9: /c\n/d: /e\n", none, "",
			"file:2:1: this is not valid YAML: "},
		{"a mistake in a document behind another", "/a: /b\n---\n/c: /d: e\n/f: /g\n", none, "",
			"file:3:1: this is not valid YAML: mapping values"},
		{"a value inside itself", "&a {redirects: *a}\n", none, "",
			"file:1:16: this is no table of redirects: it has \"redirects\""},
		{"depth", strings.Repeat("[", 100_000), none, "", "file:1:1: this is not valid YAML: "},
	})
}

func TestPlacesInALongMapAreThoseOfItsLines(t *testing.T) {
	const n = 60_000
	var text strings.Builder
	for i := range n {
		switch i {
		case n / 2:
			text.WriteString("/middle: 6\n")
		case n - 1:
			text.WriteString("/last: 5\n")
		default:
			fmt.Fprintf(&text, "/old/path-%d: https://www.example.com/%d\n", i, i)
		}
	}
	at := 0
	in := migrate.Input{Reader: strings.NewReader(text.String()), Source: "file"}
	_, err := yaml.Read(in, func(rule resolver.Rule) {
		if at++; at == n/2+1 || at == n {
			at++
		}
		if rule.Position.Line != at {
			t.Fatalf("the rule of line %d is said to be in line %d", at, rule.Position.Line)
		}
	})
	want := fmt.Sprintf("file:%d:1: \"6\" is not a destination", n/2+1)
	if err == nil || !strings.HasPrefix(err.Error(), want) ||
		!strings.Contains(err.Error(), fmt.Sprintf("\nfile:%d:1: \"5\" is not a destination", n)) {
		t.Errorf("the errors are %v", err)
	}
}

func FuzzYAML(f *testing.F) {
	migratetest.Fuzz(f, lists.ReadYAML, "/a: /b\n\"/c d\": 'https://x.example'\n^/e/(.*)$: /f/$1\n",
		"redirects:\n  ^/u/([^/]+)/?$: /v?u=${1}\nother: 1\n", "{/a: /b, /c: &d /e, /f: *d}",
		"301:\n  /a/: /b\n  /^\\/c$/i: /d?x\n", "a(/b)?/(?P<c>.*): /d/{c}?e\n", "- {from: [/a, b], to: /c}\n",
		"---\nredirect_from: /a\npermalink: /b\n---\n# c", "/a: {to: /b, type: 410}\n",
		"/a: /b: c\n/d: \"e\n/f: |\n  /g\n")
}
