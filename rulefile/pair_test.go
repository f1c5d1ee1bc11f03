package rulefile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestALineBehindOneWithAPlaceholderForItsPathIsNoPartOfThePairBelow(t *testing.T) {
	const pair = "/a https://two.example/t\n/a/* https://two.example/t/:splat\n"
	for text, want := range map[string]string{
		"/:x/* https://one.example/:x\n" + pair: "https://one.example/a",
		"/:x https://one.example/:x\n" + pair:   "https://one.example/a",
		"/:x/b https://one.example/:x\n" + pair: "https://two.example/t",
	} {
		rules, warnings, _ := readLines(rulefile.Reading{Dialect: rulefile.Netlify}, text)
		ruleset, err := resolver.Compile(rules, resolver.Options{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := ruleset.Resolve("https://site.example/a").Destination; got != want {
			t.Errorf("%s: /a leads to %q, not %q\n%s", text, got, want, warnings)
		}
	}
}

func TestTheFirstLineOfAPairIsMadeWhereTheSecondIsLeftOut(t *testing.T) {
	var text strings.Builder
	text.WriteString("/:q/c* https://one.example/\n/y/:k https://two.example/:k\n")
	const forms = 600
	for n := range forms {
		for bit := range 10 {
			if n>>bit&1 == 1 {
				fmt.Fprintf(&text, "/:p%d", bit)
			} else {
				fmt.Fprintf(&text, "/s%d", bit)
			}
		}
		fmt.Fprintf(&text, "/n%d https://three.example/\n", n)
	}
	text.WriteString("/z/:k https://two.example/:k\n/z/:k/* https://two.example/:k/:splat\n")
	reading := rulefile.Reading{Dialect: rulefile.Netlify, SkipUnsupported: true}
	rules, warnings, err := readLines(reading, text.String())
	second := fmt.Sprintf(" redirects:%d:1: ", forms+4)
	if err != nil || !strings.Contains(warnings, second) {
		t.Fatalf("the second line is not left out: %v", err)
	}
	ruleset, err := resolver.Compile(rules, resolver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, want := ruleset.Resolve("https://site.example/z/x").Destination, "https://two.example/x"
	if got != want {
		t.Errorf("/z/x leads to %q, not %q", got, want)
	}
}
