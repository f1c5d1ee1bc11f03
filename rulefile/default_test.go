package rulefile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestDefaultsOfAFileCountWhereItSaysNothing(t *testing.T) {
	yes, no := true, false
	for _, tt := range []struct {
		reading rulefile.Reading
		from    rulefile.Format
		text    string
		want    string
	}{
		{rulefile.Reading{Status: 301, Query: resolver.QueryIgnore, Exact: &yes}, rulefile.CSV,
			"key,destination,status,query\na,/b\nc,/d,308,merge\ne,gone\n",
			"a,/b,301,exact,,ignore\nc,/d,308,exact,,merge\ne,gone,,exact,,\n"},
		{rulefile.Reading{Status: 301, Query: resolver.QueryIgnore, Exact: &yes}, rulefile.JSON,
			`{"a": "/b", "c": {"to": "/d", "exact": false, "status": 308}, "e": "pass"}`,
			"a,/b,301,exact,,ignore\nc,/d,308,,,ignore\ne,pass,,exact,,\n"},
		{rulefile.Reading{Exact: &no}, rulefile.CSV, "a,/b,,exact\nc,/d\n", "a,/b,,exact,\nc,/d,,,\n"},
		{rulefile.Reading{Query: resolver.QueryPreserve}, rulefile.Redirects, "/a /b\n/c /d?e\n",
			"a,/b,301,exact,,preserve\nc,/d?e,301,exact,,ignore\n"},
	} {
		var out strings.Builder
		var rules []resolver.Rule
		_, err := tt.reading.Read(strings.NewReader(tt.text), tt.from, "file",
			func(rule resolver.Rule) { rules = append(rules, rule) })
		if err == nil {
			err = rulefile.Write(&out, rulefile.CSV, slices.Values(rules))
		}
		if _, got, _ := strings.Cut(out.String(), "\n"); err != nil || got != tt.want {
			t.Errorf("%q: got\n%s (%v), want\n%s", tt.text, got, err, tt.want)
		}
	}
}
