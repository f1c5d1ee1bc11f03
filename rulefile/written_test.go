package rulefile_test

import (
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestARuleIsWrittenForPeopleAsItsFileHasIt(t *testing.T) {
	rule := resolver.Rule{Key: "docs", Value: "https://docs.example/a,b", Status: 301, Exact: true}
	for format, want := range map[rulefile.Format]string{
		rulefile.JSON:      `"docs": {"to":"https://docs.example/a,b","status":301,"exact":true}`,
		rulefile.CSV:       "key,destination,status,exact\ndocs,\"https://docs.example/a,b\",301,exact",
		rulefile.Redirects: "/docs https://docs.example/a,b 301",
	} {
		if got, err := rulefile.Written(rule, format); got != want || err != nil {
			t.Errorf("%s: %s, %v", format, got, err)
		}
	}
	below := resolver.Rule{Key: "d", Value: "/docs"}
	const lines = "/d /docs 302\n/d/* /docs/:splat 302"
	if got, err := rulefile.Written(below, rulefile.Redirects); got != lines || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	noted := resolver.Rule{Key: "d", Value: "/docs", Note: "why"}
	if got, err := rulefile.Written(noted, rulefile.Redirects); err == nil {
		t.Errorf("a note became %s", got)
	}
}
