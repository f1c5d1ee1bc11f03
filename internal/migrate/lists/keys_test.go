package lists_test

import (
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/migrate/lists"
	"github.com/caddy-shortlink/shortlink/internal/migrate/migratetest"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestAKeyIsAnExpressionIfItLooksSo(t *testing.T) {
	none := rulefile.Reading{}
	migratetest.CheckAll(t, yaml, []migratetest.Case{
		{"expressions", "/(a|b)/c: /z\n/d\\.html: /e\n/f/.*: /g\nh$: /i\none|two: /t\n/3|/4: /t\n(5|/6): /t\n", none,
			"a/c,/z,,exact\nb/c,/z,,exact\nd.html,/e,,exact\nf,/g,,exact\nf/{+splat},/g,,exact\n" +
				"h,/i,,exact\none,/t,,exact\ntwo,/t,,exact\n" +
				"3,/t,,exact\n4,/t,,exact\n5,/t,,exact\n6,/t,,exact\n",
			`read as such, for whole paths: "/(a|b)/c", "/d\\.html", "/f/.*", "h$", "one|two", "/3|/4", ` +
				`"(5|/6)"; --keys`},
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
		{"elsewhere", "/a*x: /y\n/m/*/b: /q/*/c\n", none, "", "write in YAML ^/a([^/]+)x$: /y\n" +
			"write in YAML ^/m/([^/]+)/b$: /q/$1/c"},
		{"a placeholder", "/u/:id: /v/:id\n/w/:x: /y\n", none, "w/:x,/y,,exact\n",
			"write in YAML ^/u/([^/]+)$: /v/$1"},
		{"a misspelled rest", "/a/*: /b/:splt\n", none, "",
			`file:1:1: ":splt" is not in the path; for the rest of the path write :splat`},
	})
}

// In a table that says nothing of queries, the command line has the last word.
func TestTheQueryModeOfTheCommandLineCountsBesideAQuery(t *testing.T) {
	preserve := rulefile.Reading{Query: resolver.QueryPreserve}
	rules, _ := migratetest.RulesOf(t, preserve, yaml,
		"/a: /b?x=1\n^/c/(.*)$: /d?x=$1\n/e/*: /f?y=1\n")
	if n := strings.Count(rules, "preserve\n"); n == 0 || n != strings.Count(rules, "\n") {
		t.Errorf("the rules are\n%s", rules)
	}
}

func TestKeysOfAListInJSONAreThoseOfOneInYAML(t *testing.T) {
	for kind, want := range map[migrate.KeyKind]string{
		migrate.GuessedKeys: "a /c/ 301", migrate.LiteralKeys: "a/* /c/:splat 301 exact",
	} {
		in := migrate.Input{Source: "file", Keys: kind, Reader: strings.NewReader(
			`[{"loc":"/a/*","to":"/c/:splat","status":301}]`)}
		_, err := migrate.LinesOf(lists.ReadArray)(in, func(rule resolver.Rule) {
			if got := migratetest.InShort(rule); got != want {
				t.Errorf("%s: got %s", kind, got)
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestOtherKindsOfKeysAreNotForATableThatSaysWhatItsKeysAre(t *testing.T) {
	for text, read := range map[string]migrate.Reader{
		"301:\n  /a: /b\n": lists.ReadYAML,
		`[{"source":"/a","destination":"/b","permanent":true}]`: lists.ReadArray,
	} {
		in := migrate.Input{Reader: strings.NewReader(text), Source: "file", Keys: migrate.LiteralKeys}
		found, err := migrate.LinesOf(read)(in, func(resolver.Rule) {})
		isIt := func(w lint.Warning) bool { return strings.HasPrefix(w.Message, "--keys has no effect") }
		if err != nil || !slices.ContainsFunc(found.Warnings, isIt) {
			t.Errorf("%s says %v, %v", text, found.Warnings, err)
		}
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

// A rule for a path alone is for one that the expression of its key matches.
func FuzzKey(f *testing.F) {
	for _, key := range []string{"^/a(/b|/c)?/?$", "/a/*", "/(x|y)z?$", "^/v[0-9]+/(.*)$", "a|b", "/a.b\\?",
		"/u/:id"} {
		f.Add(key, "/to/$1", uint8(2))
		f.Add(key, "https://to.example/:splat?x=:id", uint8(0))
	}
	kinds := []migrate.KeyKind{migrate.GuessedKeys, migrate.LiteralKeys, migrate.RegexpKeys}
	f.Fuzz(func(t *testing.T, key, to string, kind uint8) {
		read := func(t *migrate.Table, _ io.Reader) error {
			t.AddKey(redirects.Line{At: t.Position(1, 1)}, key, to)
			return nil
		}
		checker, keys := resolver.NewRuleChecker(), kinds[int(kind)%len(kinds)]
		var alone []string
		_, _ = migrate.LinesOf(read)(migrate.Input{Source: "file", Keys: keys}, func(r resolver.Rule) {
			if errs := checker.Check(r); errs == nil && r.Exact && !resolver.IsTemplate(r.Key) {
				path, _ := url.PathUnescape(r.Key)
				alone = append(alone, "/"+path)
			}
		})
		expression, err := regexp.Compile(key)
		if keys != migrate.RegexpKeys || !strings.HasPrefix(key, "^") || err != nil {
			return
		}
		for _, path := range alone {
			if !expression.MatchString(path) && !expression.MatchString(path+"/") {
				t.Errorf("%s makes a rule for %s", key, path)
			}
		}
	})
}
