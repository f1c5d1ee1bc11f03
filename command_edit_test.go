package shortlink

import (
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-shortlink/shortlink/resolver"
)

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
