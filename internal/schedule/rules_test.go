package schedule

import (
	"fmt"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// compileAt compiles rules of several sources for a time.
func compileAt(t *testing.T, at Time, sources ...map[string][]Window) Rules {
	t.Helper()
	c, err := NewCompiler(resolver.Options{NoLines: true, Digest: true}, at)
	if err != nil {
		t.Fatal(err)
	}
	for i, rules := range sources {
		if i > 0 {
			c.NextSource()
		}
		for key, windows := range rules {
			c.Add(Join(key, resolver.Position{}, windows))
		}
	}
	rules, err := c.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func leadingTo(value string, since, until Time) Window {
	return Window{since, until, resolver.Rule{Value: value}}
}

func TestARedirectHoldsUntilARuleOfAnySourceChangesIt(t *testing.T) {
	const to = "https://x.example/"
	always := []Window{leadingTo(to, Begin, End)}
	many := map[string][]Window{"docs": always, "far": {leadingTo(to, 60, End)}}
	for i := range mostBelow + 1 {
		many[fmt.Sprint("docs/", i)] = []Window{leadingTo(to, 70, End)}
		many[fmt.Sprint("docs-", i)] = []Window{leadingTo(to, 65, End)}
	}
	for name, tt := range map[string]struct {
		sources []map[string][]Window
		want    Time
	}{
		"its own window ends": {[]map[string][]Window{{"docs": {leadingTo(to, 0, 90)}}}, 90},
		"the rule of a source behind ends": {[]map[string][]Window{
			{"docs": {leadingTo(to, 0, 10)}}, {"docs": {leadingTo(to, 0, 80)}}}, 80},
		"a longer key begins": {[]map[string][]Window{{"docs": always,
			"docs/new": {leadingTo(to, 70, End)}}}, 70},
		"a key with the same beginning is another one": {[]map[string][]Window{{"docs": always,
			"docs-new": {leadingTo(to, 70, End)}}}, End},
		"a rule of its chain ends": {[]map[string][]Window{{"docs": {leadingTo("/home", Begin, End)},
			"home": {leadingTo(to, 0, 75)}}}, 75},
		"a template begins, which may match": {[]map[string][]Window{{"docs": always,
			"{a}/{b}": {leadingTo(to, 72, End)}}}, 72},
		"there are too many to look at": {[]map[string][]Window{many}, 60},
	} {
		t.Run(name, func(t *testing.T) {
			rules := compileAt(t, 50, tt.sources...)
			result := rules.Ruleset.Resolve("https://go.example/docs")
			for range 2 {
				if got := rules.EndOf(&result); result.Destination != to || got != tt.want {
					t.Errorf("%s holds until %d, want %d", result.Destination, got, tt.want)
				}
			}
		})
	}
}
