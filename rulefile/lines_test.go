package rulefile_test

import (
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestALineThatEndsInACarriageReturnAloneIsAnError(t *testing.T) {
	for format, text := range map[rulefile.Format]string{
		rulefile.Redirects: "/a https://a.example\n# see below\r/b https://b.example\r\n",
		rulefile.CSV:       "from,to\ra,https://a.example\rb,https://b.example\r",
	} {
		none := func(resolver.Rule) {}
		_, err := rulefile.Reading{}.Read(strings.NewReader(text), format, "links", none)
		if err == nil || !strings.Contains(err.Error(), "only a carriage return") {
			t.Errorf("%v: %v", format, err)
		}
	}
	rules := 0
	_, err := rulefile.Reading{}.Read(strings.NewReader("/a https://a.example \r\r\n"),
		rulefile.Redirects, "links", func(resolver.Rule) { rules++ })
	if err != nil || rules != 1 {
		t.Errorf("%d rules, %v", rules, err)
	}
}
