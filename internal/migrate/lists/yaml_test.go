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
			`members beside "redirects" are ignored: "version"`},
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

func TestWhatIsNoMapInYAMLIsToldAllAtOnce(t *testing.T) {
	none := rulefile.Reading{}
	migratetest.CheckAll(t, yaml, []migratetest.Case{
		{"a list", "- from: /a\n  to: /b\n", none, "", "file:1:1: redirects in YAML are a map of paths"},
		{"one redirect", "redirects:\n  from: /a\n  to: /b\n", none, "",
			"file:2:3: redirects in YAML are a map of paths and destinations, not one redirect; write a " +
				"line such as \"/a\": \"/b\""},
		{"entries", "/n: 5\n/l: [a]\n/m: {to: /a}\n/e:\n? [a]\n: /b\n/f: /g\n<<: {/h: /i}\n", none,
			"f,/g,,exact\n", "file:1:1: \"5\" is not a destination\nfile:2:1: the destination of \"/l\" " +
				"is a text, not a list\nfile:3:1: the destination of \"/m\" is a text, not a map\nfile:4:1: " +
				"the destination of \"/e\" is a text, not null\nfile:5:3: a path is a text, not a " +
				"list\nfile:8:1: maps that are merged with \"<<\""},
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
			"file:2:1: this is not valid YAML: unknown anchor 'b'"},
		{"a character that is none", "/a: /b\n/caf\xe9: /c\n/d: /e\n", none, "",
			"file:2:1: this is not valid YAML: "},
		{"a mistake in a document behind another", "/a: /b\n---\n/c: /d: e\n/f: /g\n", none, "",
			"file:3:1: this is not valid YAML: mapping values"},
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
		"/a: /b: c\n/d: \"e\n/f: |\n  /g\n")
}
