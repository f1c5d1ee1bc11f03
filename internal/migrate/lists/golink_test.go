package lists_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate/lists"
	"github.com/caddy-shortlink/shortlink/internal/migrate/migratetest"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestLinksOfGolinkBecomeRules(t *testing.T) {
	yes := true
	const anyCase = "golink matches keys in either letter case"
	migratetest.CheckAll(t, golink, []migratetest.Case{
		{"a host", `{"Short":"cs","Long":"http://cs/","Created":"2022-06-02T22:20:06Z","Owner":"a@b"}`,
			rulefile.Reading{}, "cs,http://cs/,302\n", anyCase},
		{"a path", `{"Short":"who","Long":"https://e.example/who"}`, rulefile.Reading{Status: 301},
			"who,https://e.example/who,301\n", anyCase},
		{"a dash", `{"Short":"c-s","Long":"/b"}`, rulefile.Reading{}, "c-s,/b,302\n",
			anyCase},
		{"a query", `{"Short":"s","Long":"https://e.example/?q=1"}`, rulefile.Reading{},
			"s,https://e.example/?q=1,302,exact,,preserve\n",
			"file:1:1: golink appends the rest of a path to the destination's query\nkeeps the " +
				"parameters"},
		{"the query of all", `{"Short":"s","Long":"https://e.example/?q=1"}`,
			rulefile.Reading{Query: resolver.QueryIgnore}, "s,https://e.example/?q=1,302,exact,,ignore\n",
			"file:1:1: golink appends the rest"},
		{"exact", `{"Short":"a","Long":"https://e.example/b#c"}`, rulefile.Reading{Exact: &yes},
			"a,https://e.example/b#c,302,exact\n", anyCase},
		{"the rest", `{"Short":"a","Long":"https://e.example/{{.Path}}"}`, rulefile.Reading{},
			"a,https://e.example/,302\n", anyCase},
		{"the rest behind a slash",
			`{"Short":"a","Long":"https://e.example/x{{with .Path}}/{{.}}{{end}}"}`,
			rulefile.Reading{}, "a,https://e.example/x,302\n", anyCase},
		{"one or another",
			`{"Short":"a","Long":"https://e.example/{{if .Path}}x/{{.Path}}{{else}}y{{end}}"}`,
			rulefile.Reading{},
			"a,https://e.example/y,302,exact\na/{+splat},https://e.example/x/{+splat},302\n",
			anyCase},
		{"the rest behind a host alone",
			`{"Short":"a","Long":"https://e.example{{if .Path}}/x/{{.Path}}{{end}}"}`,
			rulefile.Reading{}, "a,https://e.example,302,exact\n" +
				"a/{+splat},https://e.example/x/{+splat},302\n", anyCase},
		{"the rest in a query", `{"Short":"s","Long":"https://e.example/?q={{QueryEscape .Path}}"}`,
			rulefile.Reading{}, "s,https://e.example/?q=,302,exact,,preserve\n" +
				"s/{+splat},https://e.example/?q={splat},302,exact,,preserve\n", anyCase},
		{"piped", `{"Short":"s","Long":"https://e.example/{{if .Path}}?q={{.Path | PathEscape}}{{end}}"}`,
			rulefile.Reading{}, "s,https://e.example/,302,exact,,preserve\n" +
				"s/{+splat},https://e.example/?q={splat},302,exact,,preserve\n", anyCase},
		{"a user", `{"Short":"me","Long":"/who/{{.User}}"}`, rulefile.Reading{}, "",
			`file:1:1: the only template that a rule can express is {{.Path}}, the rest of the path; ` +
				`write a rule for each destination, or use Caddy's redir; this one has ".User"`},
		{"a function", `{"Short":"me","Long":"/who/{{TrimSuffix .Path \"/\"}}"}`, rulefile.Reading{}, "",
			`this one has "TrimSuffix .Path`},
		{"no template", `{"Short":"me","Long":"/who/{{.User"}`, rulefile.Reading{}, "",
			`file:1:1: the only template that a rule can express is {{.Path}}`},
		{"a condition in another", `{"Short":"a","Long":"/b{{if .Path}}/{{if .Path}}c{{end}}{{end}}"}`,
			rulefile.Reading{}, "a,/b,302,exact\na/{+splat},/b/c,302,exact\n", anyCase},
		{"several errors", "{\"Short\":1}\n\n[]\n{}\n{\"Short\":\"a\",\"Long\":\"b\"}\n" +
			"{\"Short\":\"a/b\",\"Long\":\"/b\"}\n{\"Short\":\"\\u0001\",\"Long\":\"/b\"}\n" +
			"{\"Short\":\"\xff\",\"Long\":\"/b\"}\n{\"Short\":\"\\ud800\",\"Long\":\"/b\"}\nno\n",
			rulefile.Reading{}, "",
			"file:1:1: \"Short\" takes a text, not 1\nfile:3:1: a redirect is an object, not an array\n" +
				"file:4:1: a link is an object such as {\"Short\": \"docs\", \"Long\": " +
				"\"https://docs.example\"}\nfile:5:1: \"b\" is not " +
				"a destination\nfile:6:1: golink uses the first segment\nfile:7:1: the text holds control " +
				"characters\nfile:8:1: the text is not Unicode\nfile:9:1: the text is not Unicode\n" +
				"file:10:2: this is not JSON"},
	})
}

func FuzzGolink(f *testing.F) {
	migratetest.Fuzz(f, lists.ReadGolink,
		`{"Short":"cs","Long":"http://cs/","Owner":"a@b"}`+"\n"+`{"Short":"c","Long":"/cs/?q"}`,
		`{"Short":"a","Long":"https://e.example/{{if .Path}}x/{{.Path}}{{else}}y{{end}}"}`,
		`{"Short":"s","Long":"/a{{with .Path}}?q={{QueryEscape .}}{{end}}"}`)
}

func TestLinksOfGolinkAreAsManyAsTheyAre(t *testing.T) {
	const links = redirects.MaxWildcards + 100
	var list, rules strings.Builder
	for i := range links {
		fmt.Fprintf(&list, "{\"Short\":\"k%d\",\"Long\":\"/docs/%d\"}\n", i, i)
		fmt.Fprintf(&rules, "k%d,/docs/%d,302\n", i, i)
	}
	migratetest.CheckAll(t, golink, []migratetest.Case{
		{"paths of the site", list.String(), rulefile.Reading{}, rules.String(),
			"golink matches keys in either letter case"},
	})
}
