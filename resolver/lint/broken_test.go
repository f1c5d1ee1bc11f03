package lint

import (
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

func TestWhatIsBrokenIsSaidWithTheReasonAndWhatToWrite(t *testing.T) {
	rules := []resolver.Rule{
		{Key: "Docs", Value: "/Docs/v2"},
		{Key: "ping", Value: "/pong"},
		{Key: "pong", Value: "/ping"},
		{Key: "in", Value: "/ping"},
		{Key: "long", Value: "/short"}, {Key: "short", Value: "/page"},
		{Key: "t/{x}", Value: "/t/{x}"},
		{Key: "unsafe", Value: "/gh/..%2Fx"}, {Key: "gh/{x}", Value: "https://github.com/{x}"},
		{Key: "good", Value: "https://example.com"},
	}
	one := 1
	after := mustCompile(t, rules, resolver.Options{MaxRedirects: &one})
	count, first := Broken(after, nil, 10)
	want := map[string]string{
		"Docs":   "mark the rule exact, so that it takes /Docs alone",
		"ping":   "loop ping -> pong -> ping: ",
		"pong":   "loop ping -> pong -> ping: ",
		"in":     "leads into the loop ping -> pong -> ping",
		"long":   "the chain takes more than 1 ",
		"t/{x}":  "loop t/{x} -> t/{x} for every value",
		"unsafe": "remove that, or change the rule's destination",
	}
	if count != len(want) || len(first) != len(want) {
		t.Errorf("%d are broken: %v", count, first)
	}
	for _, err := range first {
		if !strings.Contains(err.Message, want[err.Key]) ||
			(FailureKind(err.Kind) == WarnLoop) == (err.Key == "long" || err.Key == "unsafe") {
			t.Errorf("got %v, want %s", err, want[err.Key])
		}
	}
	folded := mustCompile(t, rules, resolver.Options{FoldCase: true})
	if count, first := Broken(after, []*resolver.Ruleset{{}, folded}, 10); count != 1 ||
		first[0].Key != "long" {
		t.Errorf("after the same rules without a limit %d are broken: %v", count, first)
	}
	if count, first := Broken(after, nil, 2); count != len(want) || len(first) != 2 {
		t.Errorf("%d are broken, and %d named", count, len(first))
	}
}

func TestWhatWasBrokenBeforeIsNotToldAgain(t *testing.T) {
	at := func(line int) resolver.Position {
		return resolver.Position{Source: "links.json", Line: line}
	}
	old := resolver.Rule{Key: "old-loop", Value: "/old-loop", Position: at(4)}
	before := mustCompile(t, []resolver.Rule{old}, resolver.Options{})
	after := mustCompile(t, []resolver.Rule{
		old, {Key: "new", Value: "/new-loop", Position: at(6)},
		{Key: "new-loop", Value: "/new", Position: at(5)},
	}, resolver.Options{})
	_, broken := Broken(after, []*resolver.Ruleset{before}, 10)
	var got []string
	for _, err := range broken {
		got = append(got, err.Error())
	}
	want := []string{
		`links.json:5: key "new-loop": loop new-loop -> new -> new-loop: its requests are answered with an error; change the destination of one of the rules`,
		`links.json:6: key "new": loop new-loop -> new -> new-loop: its requests are answered with an error; change the destination of one of the rules`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("broken %q\nwant   %q", got, want)
	}
}
