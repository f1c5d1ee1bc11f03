package resolver

import (
	"strings"
	"testing"
)

func TestAnExplanationNamesTheKeyThatComesNearest(t *testing.T) {
	const page = "https://x.example"
	key := func(key string) Rule { return Rule{Key: key, Value: page} }
	exact := func(key string) Rule { return Rule{Key: key, Value: page, Exact: true} }
	const (
		letters = "letters differ in case, and fold case is not set"
		isExact = "it is exact, and the path goes on with "
	)
	for _, test := range []struct {
		name  string
		rules []Rule
		path  string
		near  string // the key, "" for none
		why   string
	}{
		{"exact", []Rule{exact("a/b"), key("c")}, "/a/b/c/d", "a/b", isExact + "/c/d"},
		{
			"exact in another spelling", []Rule{exact("café")},
			"/caf%c3%a9/x", "café", isExact + "/x",
		},
		{
			"exact with variables", []Rule{exact("u/{name}")},
			"/u/ann/photo", "u/{name}", isExact + "/photo",
		},
		{"case", []Rule{key("Docs")}, "/docs/api", "Docs", letters},
		{"case of an exact key", []Rule{exact("Docs")}, "/docs/", "Docs", letters},
		{
			"case of a segment of a template", []Rule{key("GH/{repo}")},
			"/gh/caddy", "GH/{repo}", letters,
		},
		{"a letter", []Rule{key("docs"), key("blog")}, "/dcos", "docs", "it is one letter away"},
		{
			"a segment that is missing", []Rule{key("docs/api/v2"), key("docs/api/v2/x")},
			"/docs/api", "docs/api/v2", "the path lacks /v2",
		},
		{
			"a variable that is missing", []Rule{key("gh/{owner}/{repo}")},
			"/gh/caddy", "gh/{owner}/{repo}", "the path lacks /{repo}",
		},
		{
			"several that are missing", []Rule{key("gh/{owner}/at-{repo}.x/{+p}")},
			"/gh/caddy", "gh/{owner}/at-{repo}.x/{+p}", "the path lacks /at-{repo}.x/{+p}",
		},
		{
			"several segments that are missing", []Rule{key("v{version}/{+page}")},
			"/v2", "v{version}/{+page}", "the path lacks /{+page}",
		},
		{
			"text around a variable", []Rule{key("issue/{id}.html")},
			"/issue/7", "issue/{id}.html", "7 has not the form {id}.html",
		},
		{
			"nothing for a variable", []Rule{key("v{version}")},
			"/v", "v{version}", "v has not the form v{version}",
		},
		{
			"half of the text", []Rule{key("{page}.html")},
			"/a.htm", "{page}.html", "a.htm has not the form {page}.html",
		},
		{
			"text behind several segments", []Rule{key("{+page}/v{version}/edit")},
			"/a/b/2/edit", "{+page}/v{version}/edit", "2 has not the form v{version}",
		},
		{
			"the key that has more segments in common", []Rule{exact("a"), key("a/b/c/{x}.html")},
			"/a/b/c/d", "a/b/c/{x}.html", "d has not the form {x}.html",
		},
		{
			"the smaller miss of two", []Rule{key("docs/x"), exact("docs")},
			"/docs/y", "docs", isExact + "/y",
		},
		{
			"the first key of two alike", []Rule{key("docs/y"), key("docs/x")},
			"/docs", "docs/x", "the path lacks /x",
		},
		{
			"a path of the site behind a hop", []Rule{{Key: "a", Value: "/b/c"}, exact("b")},
			"/a", "b", isExact + "/c",
		},
		{
			"nothing in common", []Rule{key("docs"), key("{page}.html"), key("{a}/{b}")},
			"/about", "", "",
		},
		{"a beginning of a segment", []Rule{key("documents")}, "/doc", "", ""},
		{"the front page", []Rule{key("docs")}, "/", "", ""},
		{"a match", []Rule{exact("docs"), key("docs/x")}, "/docs", "", ""},
		{
			"the request itself", []Rule{{Key: "a", Value: "/a/b", Exact: true}, key("a/b/c")},
			"/a/b", "a/b/c", "the path lacks /c",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := explain(t, test.rules, Options{}, "https://go.example"+test.path)
			var got NearMiss
			if e.Near != nil {
				got = *e.Near
			}
			if got.Rule.Key != test.near || got.Reason != test.why {
				t.Errorf("got %q, %s\nwant %q, %s", got.Rule.Key, got.Reason, test.near, test.why)
			}
		})
	}
}

func FuzzNearMiss(f *testing.F) {
	f.Add("gh/{owner}/{repo}", true, "/gh/caddy")
	f.Add("v{x}/{+page}/edit.html", false, "/v2/a//b/edit.htm")
	f.Add("docs/api", true, "/%44ocs/%zz/")
	f.Fuzz(func(t *testing.T, key string, exact bool, path string) {
		rules := []Rule{{Key: key, Value: "https://x.example", Exact: exact}}
		rs, err := Compile(rules, Options{})
		req, inPath := ParseRequest("https://go.example/" + strings.TrimLeft(path, "/"))
		if err != nil || inPath != nil {
			return
		}
		e := rs.Explain(req)
		if e.Near != nil && (len(e.Walk) > 0 || e.Near.Reason == "" || e.Near.Rule.Key != key) {
			t.Errorf("%s: %+v comes nearest, and the walk is %+v", path, e.Near, e.Walk)
		}
	})
}
