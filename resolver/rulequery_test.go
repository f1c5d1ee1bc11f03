package resolver

import (
	"errors"
	"reflect"
	"testing"
)

func TestARuleWithoutAQueryModeKeepsItsDigest(t *testing.T) {
	rules := []Rule{
		{Key: "a", Value: "https://x.example/?b"},
		{Key: "b", Value: "/a?c", Status: 301, Exact: true, Unlisted: true},
		{Key: "c/{x}", Value: "gone"},
	}
	// from before rules had query modes
	const want = "9b419e8dba32fd7d837e3a8abb50b4a9d1fa379bafd85a78e80abd2f4e24144b"
	if got := digestOf(t, rules, Options{}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestAQueryModeWithoutARedirectIsAnErrorThatSaysSo(t *testing.T) {
	_, err := Compile([]Rule{
		{Key: "a", Value: "gone", Query: QueryIgnore},
		{Key: "b/{x}", Value: "pass", Query: QueryMerge},
		{Key: "c", Value: "/a", Query: queryOwn},
	}, Options{})
	const want = `key "a": gone has no destination, and takes no query mode; remove ignore, or ` +
		`write a destination` + "\n" + `key "b/{x}": pass has no destination, and takes no query ` +
		`mode; remove merge, or write a destination` + "\n" + `key "c": query: it is merge, ` +
		`preserve or ignore`
	if err == nil || err.Error() != want || !errors.Is(err, ErrInvalidQuery) {
		t.Errorf("%v\nwant %s", err, want)
	}
}

func TestATemplateHasAQueryModeOfItsOwn(t *testing.T) {
	rules := []Rule{
		{Key: "to/{x}", Value: "https://x.example/?{x}&flag&&{x}", Query: QueryIgnore},
		{Key: "in/{x}", Value: "/next/{x}?in={x}", Query: QueryIgnore},
		{Key: "plain/{x}", Value: "/next/{x}?in={x}"},
		{Key: "kept/{x}", Value: "/to/{x}", Query: QueryPreserve},
		{Key: "next/{x}", Value: "/last/{x}?next&{x}"},
		{Key: "last/a", Value: "https://a.example"},
		{Key: "last/b", Value: "https://b.example?b&&~", Query: QueryMerge},
		{Key: "last/c", Value: "https://c.example?c&&~"},
		{Key: "literal", Value: "/in/c", Query: QueryIgnore},
		{Key: "literal-too", Value: "/in/a", Query: QueryIgnore},
		{Key: "merged", Value: "/in/c?m"},
	}
	for path, want := range map[string]string{
		"to/é%20b":    "https://x.example/?%C3%A9%20b&flag&&%C3%A9%20b",
		"in/a":        "https://a.example/?next&a",
		"in/b":        "https://b.example/?b&&~",
		"in/c":        "https://c.example/?c&&~",
		"in/é":        "https://go.example/last/%C3%A9?next&%C3%A9",
		"plain/a":     "https://a.example/?in=a&q=",
		"plain/b":     "https://b.example/?b=&%7E=&in=b&q=",
		"kept/a":      "https://x.example/?a&flag&a&q",
		"to/a":        "https://x.example/?a&flag&&a",
		"literal":     "https://c.example/?c&&~",
		"literal-too": "https://a.example/?next&a",
		"merged":      "https://c.example/?c=&%7E=&m=&q=",
	} {
		rs := mustCompile(t, rules, Options{})
		if got, result := resolve(rs, "https://go.example/"+path+"?q"); got != want {
			t.Errorf("%s: %s, %v, want %s", path, got, result.Err, want)
		}
	}
}

func TestAnExplanationNamesTheModeAndWhatItIgnores(t *testing.T) {
	rules := []Rule{
		{Key: "a", Value: "/b?x=1", Query: QueryIgnore},
		{Key: "b", Value: "/c?y&z=2"},
		{Key: "c", Value: "https://x.example/?"},
	}
	e := explain(t, rules, Options{}, "https://go.example/a?q=3")
	later := From{FromEmbedded, "b"}
	want := []Parameter{
		{Given: Given{"y", "", later}, Bare: true}, {Given: Given{"z", "2", later}},
	}
	if e.Query != QueryIgnore || !reflect.DeepEqual(e.Parameters, want) {
		t.Errorf("mode %s, parameters %+v", e.Query, e.Parameters)
	}
	dropped := []Given{
		{"x", "1", From{FromEmbedded, "a"}}, {"q", "3", From{Kind: FromRequest}},
	}
	if !reflect.DeepEqual(e.Dropped, dropped) {
		t.Errorf("dropped %+v", e.Dropped)
	}
}

func TestAQueryModeTakesNoMemory(t *testing.T) {
	rules := []Rule{
		{Key: "a", Value: "https://x.example"}, {Key: "b", Value: "/a"}, {Key: "c", Value: "/b"},
	}
	before := mustCompile(t, rules, Options{}).Size()
	for i := range rules {
		rules[i].Query = QueryIgnore
	}
	if after := mustCompile(t, rules, Options{}).Size(); after != before {
		t.Errorf("%d bytes, and %d with query modes", before, after)
	}
}
