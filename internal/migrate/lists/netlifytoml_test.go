package lists_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate/lists"
	"github.com/caddy-shortlink/shortlink/internal/migrate/migratetest"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

const netlifyQueries = "Netlify and Cloudflare Pages pass on all parameters"

func TestRedirectsOfNetlifyTOMLMeanWhatLinesMean(t *testing.T) {
	migratetest.CheckAll(t, netlifyTOML, []migratetest.Case{
		{"among other tables", `[build]
command = "make"
[[headers]]
for = "/*"
[[redirects]]
from = "/news/*"
to = "/blog/:splat"
[[redirects]]
  from = "/home"
  to = "/"
  status = 302
  force = true
[context.production]
x = 1
`, rulefile.Reading{}, "news,/blog/,301\nhome,/,302,exact\n", netlifyQueries},
		{"placeholders", "[[redirects]]\nfrom = \"/u/:id\"\nto = \"/p?id=:id\"\n", rulefile.Reading{},
			"u/{id},/p?id={id},301,exact,,ignore\n", netlifyQueries},
		{"old names", "[[redirects]]\norigin = '/a'\ndestination = '/b'\n", rulefile.Reading{},
			"a,/b,301,exact\n", netlifyQueries},
		{"a list", "redirects = [{from=\"/a\",to=\"/b\"},\n{from=\"/c\",to=\"/d\"}]\n",
			rulefile.Reading{},
			"", "file:1:1: redirects are written as [[redirects]], each on its own lines, not as an array"},
		{"another context", "[[context.production.redirects]]\nfrom='/c'\nto='/d'\n[[redirects]]\n" +
			"from='/a'\nto='/b'\n", rulefile.Reading{}, "a,/b,301,exact\n",
			"the redirects of contexts, [[context.*.redirects]], are left out"},
		{"several reasons",
			"[[redirects]]\nfrom='/a'\nto='/b'\nrate_limit={x=1}\nsigned='K'\nheaders={y='z'}\n",
			rulefile.Reading{}, "", "file:1:1: a rule has no \"headers\""},
		{"a page, and an error", "[[redirects]]\nfrom='/x/*'\nto='/index.html'\nstatus=200\n" +
			"[[redirects]]\nfrom='/y'\nto='/404.html'\nstatus=410\n",
			rulefile.Reading{}, "x,pass\ny,gone,,exact\n", "file:1:1: 200 is a rewrite"},
		{"a host", "[[redirects]]\nfrom='http://a.example/*'\nto='https://b.example/:splat'\nforce=true\n",
			rulefile.Reading{Hosts: []string{"a.example"}}, "{+splat},https://b.example/{+splat},301\n",
			"no rule can match \"/\""},
		{"conditions", `[[redirects]]
from = "/s"
to = "/item/:id"
query = {id = ":id"}
[[redirects]]
from = "/c"
to = "/d"
conditions = {Country = ["us"], role = "admin"}
[[redirects]]
from = "/api/*"
to = "https://api.example/:splat"
status = 200
[redirects.headers]
X-From = "Netlify"
[[redirects]]
from = "/e"
to = "/f"
signed = "KEY"
[[redirects]]
from = "http://b.example/g"
to = "/h"
`, rulefile.Reading{}, "", "file:1:1: a rule has no query\nfile:5:1: a rule has no condition Country\n" +
			"file:9:1: a rule has no \"headers\"\nfile:15:1: a rule has no \"signed\"\nfile:19:1: a " +
			"rule has no host"},
		{"several mistakes", `[[redirects]]
from = "/a"
[[redirects]]
from = 3
to = "b"
[[redirects]]
from = "/e"
to = "/f"
status = "301"
comment = "x"
[[redirects]]
from = "/g"
to = "/h"
status = 99
force = 1
[[redirects]]
from = "/i"
to = "/j"
[[redirects]]
from = ""
to = "/k"

[[redirects]]
from = "/l"
to = "/\u0001"
`, rulefile.Reading{}, "i,/j,301,exact\n", "file:1:1: the redirect has no \"to\"\nfile:3:1: " +
			"\"from\" takes a text, not 3\nfile:6:1: the status must be 301, 302, 303, 307 or 308, " +
			"not \"\\\"301\\\"\"\nfile:11:1: the status must be\nfile:19:1: the redirect has no " +
			"\"from\"\nfile:23:1: the text holds control characters\nignored: \"comment\""},
		{"what is no TOML", "[[redirects]]\nfrom = \"/a\"\nto = \"/b\"\n[[redirects]]\n" +
			"from = \"/c\nto = 1\n", rulefile.Reading{}, "", "file:5:11: this is not valid TOML: strings cannot contain newlines"},
		{"no redirects", "[build]\nx = 1\n", rulefile.Reading{}, "", "there are no [[redirects]]"},
		{"something else", "redirects = 3\n", rulefile.Reading{}, "",
			"redirects are written as [[redirects]]"},
		{"a text of several lines",
			"[[redirects]]\nfrom=\"/a\"\nto=\"/b\"\nnote=\"\"\"\n[[redirects]]\n\"\"\"\n",
			rulefile.Reading{}, "a,/b,301,exact\n", "ignored: \"note\""},
	})
}

func TestManyRedirectsOfNetlifyTOMLKeepTheirPlaces(t *testing.T) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "[[redirects]]\nfrom = \"/a%d\"\nto = \"/b\"\n\n", i%999)
	}
	_, done := migratetest.RulesOf(t, rulefile.Reading{}, netlifyTOML, text.String())
	const want = "file:3997:1: no request reaches this line: the line at file:1:1 comes first"
	if got := migratetest.ReportsOf(done.Dropped); done.Exact != 999 || !strings.HasPrefix(got, want) {
		t.Errorf("%d exact, dropped %s", done.Exact, got)
	}
}

func FuzzNetlifyTOML(f *testing.F) {
	migratetest.Fuzz(f, lists.ReadNetlifyTOML,
		"[[redirects]]\nfrom = \"/news/*\"\nto = \"/blog/:splat\"\nstatus = 301\nforce = true\n",
		"[[redirects]]\nfrom = '/s'\nto = \"/item\"\nquery = {id = \":id\"}\n[redirects.headers]\nx = "+
			"\"y\"\n",
		"redirects = [{from=\"/a\",to=\"/b\"}]\n[build]\nx = \"\"\"\n[[redirects]]\n\"\"\"\n")
}
