package formats_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/migrate/migratetest"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestWhatIsWrittenAsAMapIsReadAsTheSame(t *testing.T) {
	rules := []resolver.Rule{
		{Key: "a", Value: "https://a.example/b?c#d", Exact: true, Query: resolver.QueryIgnore},
		{Key: "~old/x:y*", Value: "/new", Exact: true}, {Key: "a%20b", Value: "/c", Exact: true},
		{Key: "map", Value: "https://a.example/$x", Exact: true},
		{Key: "b%7Bc", Value: "/d", Exact: true},
	}
	var text strings.Builder
	if err := rulefile.WriteJSON(&text, slices.Values(rules)); err != nil {
		t.Fatal(err)
	}
	out, _ := convert(t, rulefile.JSON, migrate.Map, text.String())
	var got []resolver.Rule
	in := migrate.Input{Reader: strings.NewReader(out)}
	_, err := formatOf(t, migrate.Map).Read(in, func(rule resolver.Rule) {
		rule.Position = resolver.Position{}
		got = append(got, rule)
	})
	if err != nil || !slices.Equal(got, rules) {
		t.Errorf("%s\n%+v, %v", out, got, err)
	}
}

func TestWhatAMapDoesNotSayIsToldOf(t *testing.T) {
	for _, tt := range []struct{ rule, out, says string }{
		{`"a": {"to": "/b", "exact": true}`, "/a /b\n", ""},
		{`"a": "/b"`, "/a /b\n", "a map matches the path alone, and nothing below it"},
		{`"a": {"to": "/b", "exact": true, "status": 301}`, "/a /b\n",
			"a map has no status; set 301"},
		{`"a": {"to": "/b", "exact": true, "query": "ignore"}`, "/a /b\n", "a map has no query modes"},
		{`"a": {"to": "/b", "exact": true, "query": "merge"}`, "/a /b\n", "a map has no query modes"},
		{`"a": {"to": "/b?c", "exact": true}`, "/a /b?c\n", "the query of requests is dropped if"},
		{`"a": {"to": "/b?c", "exact": true, "query": "ignore"}`, "/a /b?c\n", ""},
		{`"a": {"to": "/b", "exact": true, "unlisted": true, "note": "x"}`, "/a /b\n",
			"a map has neither unlisted rules nor notes"},
		{`"semi;": {"to": "/x;y$z", "exact": true}`, "/semi; /x;y$z\n",
			"write them percent-encoded for nginx"},
		{`"%C3%A9": {"to": "/b", "exact": true}`, "/%C3%A9 /b\n", "at most one of them finds a key"},
		{`"é": {"to": "/b", "exact": true}`, "/é /b\n", "at most one of them finds a key"},
		{`"a/{x}": "/b"`, "", "rules with templates, windows, gone or pass are for json"},
		{`"a": "gone"`, "", "a line of a map leads one path to one destination"},
		{`"a b": "/c"`, "", "paths and destinations in a map have no spaces"},
		{`"a/": "/c"`, "", "a map would match another path; write the key without"},
		{`"100%": "/c"`, "", "a map would match another path"},
		{`"a": {"to": "/c;", "exact": true}`, "", "write it percent-encoded"},
		{`"a": {"to": "/c{", "exact": true}`, "", "write it percent-encoded"},
		{`"a//b": {"to": "/c", "exact": true}`, "", "a map would match another path"},
	} {
		out, done := convert(t, rulefile.JSON, migrate.Map, "{"+tt.rule+"}")
		says := migratetest.ReportsOf(done.Approximated) + migratetest.ReportsOf(done.Refused)
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
		out, _ := convert(t, migrate.Map, migrate.Map, text)
		again, done := convert(t, migrate.Map, migrate.Map, out)
		if again != out || done.Refused.Count > 0 {
			t.Errorf("%q is read as %q, %s", out, again, migratetest.ReportsOf(done.Refused))
		}
	})
}
