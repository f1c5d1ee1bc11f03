package lists_test

import (
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/migrate/lists"
	"github.com/caddy-shortlink/shortlink/internal/migrate/migratetest"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestAKeyIsAnExpressionIfItLooksSo(t *testing.T) {
	none := rulefile.Reading{}
	migratetest.CheckAll(t, yaml, []migratetest.Case{
		{"expressions", "/(a|b)/c: /z\n/d\\.html: /e\n/f/.*: /g\nh$: /i\none|two: /t\n/3|/4: /t\n", none,
			"a/c,/z,,exact\nb/c,/z,,exact\nd.html,/e,,exact\nf,/g,,exact\nf/{+splat},/g,,exact\n" +
				"h,/i,,exact\none,/t,,exact\ntwo,/t,,exact\n" +
				"3,/t,,exact\n4,/t,,exact\n",
			`read as such, for whole paths: "/(a|b)/c", "/d\\.html", "/f/.*", "h$", "one|two", "/3|/4"; --keys`},
		{"paths", "d/Foo_(bar): /foo\n/c++: /cpp\n/e.html: /e\n/f?: /g\n", none,
			"d/Foo_(bar),/foo,,exact\nc++,/cpp,,exact\ne.html,/e,,exact\n",
			"file:4:1: a rule matches the path alone\nsays neither the status"},
		{"an expression that no rule equals", "/v[0-9]+: /v\n", none, "", `file:1:1: in the regular ` +
			`expression, "[0-9]+"`},
		{"a host", "https://a.example/x: /y\nhttps://b.example/x: /z\n",
			rulefile.Reading{Hosts: []string{"a.example"}}, "x,/y,,exact\n",
			`file:2:1: a rule has no host; if "b.example" is this site's, name it with --line-host`},
	})
}

func TestAStarAtTheEndOfAKeyStandsForTheRest(t *testing.T) {
	none := rulefile.Reading{}
	migratetest.CheckAll(t, yaml, []migratetest.Case{
		{"in the destination", "/a/*: https://x.example/:splat\n/b/*: /c/$1\nd/*: /e/*\n/f/*: /g\n" +
			"/h/*: /i?of=:splat\n", none, "a,https://x.example/,\nb,/c/,\nd,/e/,\nf,/g,,exact\n" +
			"f/{+splat},/g,,exact\nh,/i?of=,,exact,,ignore\n" +
			"h/{+splat},/i?of={splat},,exact,,ignore\n", "says neither the status"},
		{"not for the path itself, if that has a line", "/a/*: /b\n/a: /c\n", none,
			"a/{splat},/b,,exact\na/{_splat}/{+_rest},/b,,exact\na,/c,,exact\n", "says neither the status"},
		{"elsewhere", "/a*x: /y\n/m/*/b: /q/*/c\n", none, "", "write ^/a([^/]+)x$: /y\n" +
			"write ^/m/([^/]+)/b$: /q/$1/c"},
		{"a placeholder", "/u/:id: /v/:id\n/w/:x: /y\n", none, "w/:x,/y,,exact\n",
			"write ^/u/([^/]+)$: /v/$1"},
		{"a misspelled rest", "/a/*: /b/:splt\n", none, "",
			`file:1:1: ":splt" is not in the path; for the rest of the path write :splat`},
	})
}

// In a table that says nothing of queries, the command line has the last word.
func TestTheQueryModeOfTheCommandLineCountsBesideAQuery(t *testing.T) {
	preserve := rulefile.Reading{Query: resolver.QueryPreserve}
	rules, _ := migratetest.RulesOf(t, preserve, yaml, "/a: /b?x=1\n^/c/(.*)$: /d?x=$1\n/e/*: /f?y=1\n")
	if n := strings.Count(rules, "preserve\n"); n == 0 || n != strings.Count(rules, "\n") {
		t.Errorf("the rules are\n%s", rules)
	}
}

func TestWhatKeysAreCanBeSaid(t *testing.T) {
	for kind, want := range map[migrate.KeyKind]string{
		migrate.LiteralKeys: "(a|b) /c exact|d/* /e/* exact",
		migrate.RegexpKeys:  "a /c exact|b /c exact",
	} {
		in := migrate.Input{Reader: strings.NewReader("/(a|b): /c\n/d/*: /e/*\n"), Source: "file",
			Keys: kind}
		var rules []string
		_, err := migrate.LinesOf(lists.ReadYAML)(in, func(rule resolver.Rule) {
			rules = append(rules, migratetest.InShort(rule))
		})
		if got := strings.Join(rules, "|"); got != want || err != nil {
			t.Errorf("%s: got %s, %v", kind, got, err)
		}
	}
}
