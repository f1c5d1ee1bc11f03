package shortlink

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-shortlink/shortlink/internal/command"
	"github.com/caddy-shortlink/shortlink/internal/directives"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

func FuzzDirectivesOfACaddyfileAreFoundWithTheirPlaces(f *testing.F) {
	f.Add("shortlink {\n\tdocs https://docs.example 301\n\tshortlink https://a.example\n}\nroot *\n")
	f.Add("handle {\n\tshortlink /x {\n\t\t/a b\n\t\tfrom file {\n\t\t\tpoll x\n\t\t}\n\t}\n}")
	f.Add("shortlink\nshortlink }\n} {")
	f.Fuzz(func(t *testing.T, text string) {
		var segment []caddyfile.Token
		for n, line := range strings.Split(text, "\n") {
			for _, word := range strings.Fields(line) {
				token := caddyfile.Token{File: "Caddyfile", Line: n + 1, Text: word}
				segment = append(segment, token)
			}
		}
		last := 0
		for _, tokens := range directives.In(segment, "shortlink") {
			written := readDirective(tokens)
			if written.err == nil && sortedJSON(written.Handler) == "" {
				t.Errorf("%v has no form", written.Handler)
			}
			if written.at.Line <= last {
				t.Errorf("a directive at %s follows one at line %d", written.at, last)
			}
			last = written.at.Line
			for _, part := range command.PartsOf(written.err) {
				if p := part.(source.Problem); p.At.Line < last || p.Message == "" {
					t.Errorf("a directive at %s has the problem %#v", written.at, p)
				}
			}
		}
	})
}

func TestARuleIsListedAsALineOfACaddyfile(t *testing.T) {
	for _, key := range append(optionNames(), "rule", "import", "docs", "status/x", "orgin", "{x}") {
		rule := resolver.Rule{Key: key, Value: "https://go.example", Status: 301, Unlisted: true,
			Query: resolver.QueryIgnore}
		if key == "orgin" {
			rule = resolver.Rule{Key: key, Value: "https://go.example"}
		}
		h := new(Handler)
		noted := rule
		noted.Note = `why "not"? {$HOME} {`
		line := ruleLine(noted)
		err := h.UnmarshalCaddyfile(caddyfile.NewTestDispenser("shortlink {\n" + line + "\n}"))
		if err != nil || len(h.Rules) != 1 {
			t.Errorf("%s is no rule: %v", line, err)
			continue
		}
		h.Rules[0].Position = resolver.Position{}
		if h.Rules[0] != rule {
			t.Errorf("%s is the rule %v", line, h.Rules[0])
		}
	}
}

func TestARuleWithWindowsIsListedAsALineOfACaddyfile(t *testing.T) {
	for _, line := range []string{
		"rule status /soon 301 since 2027-01-01 until 2027-03-01T10:00:00Z then gone exact until " +
			"2027-04-01 then /x since 2027-05-01",
		"fair /a until 2027-03-01",
	} {
		h := new(Handler)
		err := h.UnmarshalCaddyfile(caddyfile.NewTestDispenser("shortlink {\n" + line + "\n}"))
		if err != nil {
			t.Fatal(err)
		}
		if got := ruleLine(h.Rules[0]); got != line {
			t.Errorf("got  %s\nwant %s", got, line)
		}
	}
}
