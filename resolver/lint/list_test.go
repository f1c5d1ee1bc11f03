package lint

import (
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

func TestARuleThatBelongsToNoSourceIsCalledInline(t *testing.T) {
	for name, tt := range map[string]struct {
		first, second string
		want          string
	}{
		"a key":      {"a", "a", "as an inline rule has the key, too"},
		"a template": {"a/{x}", "a/{y}", "as an inline rule has the key, too"},
		"ambiguous":  {"a{x}/b", "{x}a/b", `matches the key "a{x}/b" of an inline rule, too`},
	} {
		t.Run(name, func(t *testing.T) {
			inline := resolver.Rule{Key: tt.first, Value: "/z",
				Position: resolver.Position{Source: "shortlink"}}
			rs := compileSources(t, []resolver.Rule{inline},
				[]resolver.Rule{{Key: tt.second, Value: "/z"}})
			found := Ruleset(rs).Warnings()
			for _, w := range found {
				if strings.Contains(w.Message, tt.want) {
					return
				}
			}
			t.Errorf("no warning has %q: %v", tt.want, found)
		})
	}
}

func TestWhatAReaderWarnsOfStandsInItsPlaceAmongItsSource(t *testing.T) {
	c, err := resolver.NewCompiler(resolver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list := New(resolver.Options{})
	lineOf := func(source string, line int) resolver.Position {
		return resolver.Position{Source: source, Line: line, Column: 1}
	}
	for i, source := range []string{"one", "two"} {
		c.NextSource()
		for _, line := range []int{3, 1} { // a reader may have an order of its own
			key := source + strings.Repeat("x", line) + "/"
			rule := resolver.Rule{Key: key, Value: "https://x.example", Position: lineOf(source, line)}
			c.Add(rule)
			list.Add(i+1, rule)
		}
		list.AddRead(i+1, Warning{Position: lineOf(source, 2), Message: "left out"},
			Warning{Position: lineOf(source, 4), Message: "left out"})
	}
	rs, err := c.Compile()
	if err != nil {
		t.Fatal(err)
	}
	list.Finish(rs)
	var places []string
	for _, w := range list.Warnings() {
		places = append(places, w.Position.String())
	}
	want := "one:1:1 one:2:1 one:3:1 one:4:1 two:1:1 two:2:1 two:3:1 two:4:1"
	if got := strings.Join(places, " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := list.Warnings()[1].String(); got != "one:2:1: left out" {
		t.Errorf("got %s", got)
	}
}

func TestAmbiguousTemplatesAreReportedWithAPathThatBothMatch(t *testing.T) {
	for _, test := range []struct{ a, b, path string }{
		{"a{x}", "{x}b", "axb"},
		{"v/a{x}", "v/{y}b", "v/axb"},
		{"ab{x}", "a{y}b", "abxb"},
		{"{+p}/a{x}", "{+q}/{y}b", "x/axb"},
		{"a{x}", "b{y}", ""},
		{"a{x}", "{x}ab", ""},
		{"a/{x}", "{x}/a", ""},
		{"a{x}/b", "{x}b/c", ""},
	} {
		rs := mustCompile(t, []resolver.Rule{{Key: test.a, Value: "https://a.example",
			Position: resolver.Position{Source: "a", Line: 1, Column: 1}},
			{Key: test.b, Value: "https://b.example", Position: at}}, resolver.Options{})
		path := ""
		for _, w := range Ruleset(rs).Warnings() {
			if w.Kind == WarnAmbiguous {
				_, rest, _ := strings.Cut(w.Message, "the path /")
				path, _, _ = strings.Cut(rest, " ")
			}
		}
		if path != test.path {
			t.Errorf("%s and %s have the path %q in common, not %q", test.a, test.b, path,
				test.path)
		}
		if destination, _ := resolve(rs, "https://go.example/"+path); path != "" &&
			!strings.HasPrefix(destination, "https://a.example/") {
			t.Errorf("/%s goes to %q, not where the first rule leads", path, destination)
		}
	}
}
