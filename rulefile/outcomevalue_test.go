package rulefile_test

import (
	"slices"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestGoneAndPassAreReadAsTheyAreWritten(t *testing.T) {
	rules := []resolver.Rule{
		{Key: "key", Value: "gone"}, {Key: "old", Value: "gone", Exact: true},
		{Key: "docs/api", Value: "pass"}, {Key: "p/{id}", Value: "pass", Exact: true},
	}
	for format, text := range map[rulefile.Format]string{
		rulefile.JSON: `{"key": "gone", "old": {"to": "gone", "exact": true}, "docs/api": "pass",
			"p/{id}": {"to": "pass", "exact": true}}`,
		rulefile.CSV: "key,gone\nold,gone,,exact\ndocs/api,pass\np/{id},pass,,exact\n",
	} {
		got, err := read(format, text)
		if err != nil || !slices.Equal(withoutPositions(got), rules) {
			t.Errorf("%s: %v, %v", format, got, err)
		}
		if again := writtenAndRead(t, format, rules); !slices.Equal(again, rules) {
			t.Errorf("%s: %v", format, again)
		}
	}
}

func TestLinesWithStatus410AreGone(t *testing.T) {
	got, err := read(rulefile.Redirects, "/a /410.html 410\n/b/* /410 410!\n/c/:id /x 410\n"+
		"/d-* /:splat 410\n/e /x 410\n/e/* /y 410\n")
	want := []resolver.Rule{
		{Key: "a", Value: "gone", Exact: true}, {Key: "b", Value: "gone"},
		{Key: "c/{id}", Value: "gone", Exact: true},
		{Key: "d-", Value: "gone"}, {Key: "d-{splat}", Value: "gone"},
		{Key: "e", Value: "gone", Exact: true}, {Key: "e/{+splat}", Value: "gone"},
	}
	if err != nil || !slices.Equal(withoutPositions(got), want) {
		t.Errorf("%v, %v", got, err)
	}
}
