package generators_test

import (
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/migrate/generators"
	"github.com/caddy-shortlink/shortlink/internal/migrate/migratetest"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

const noStatus = "pages that redirect have no status, and rules without one have 302"

func TestRedirectMapsOfMkDocsBecomeRules(t *testing.T) {
	mkdocs := migrate.Format{Read: migrate.LinesOf(generators.ReadMkDocs)}
	none := rulefile.Reading{}
	migratetest.CheckAll(t, mkdocs, []migratetest.Case{
		{"files", `site_url: https://docs.example/
markdown_extensions:
  - emoji:
      generator: !!python/name:material.emoji
plugins:
  - search
  - redirects:
      redirect_maps:
        old.md: new.md#part
        a/index.md: 'b/README.md'
        my-README.md: files/a.pdf
        "c/d.md": https://x.example/?q=1
`, none, "old,/new/#part,,exact,,ignore\na,/b/,,exact,,ignore\n" +
			"my-README,/files/a.pdf,,exact,,ignore\n" +
			"c/d,https://x.example/?q=1,,exact,,ignore\n", noStatus},
		{"pages that are files, below a path", `site_url: https://docs.example/guide/
use_directory_urls: false
plugins:
  redirects: {redirect_maps: {old.md: new.md, index.md: start.md}}
`, rulefile.Reading{Status: 301, Query: resolver.QueryPreserve},
			"guide/old.html,/guide/new.html,301,exact,,preserve\n" +
				"guide/index.html,/guide/start.html,301,exact,,preserve\n", "paths begin with /guide/"},
		{"what no rule can do", `plugins:
- redirects:
    redirect_maps:
      old: new.md
      a.md#b: c.md
      index.md: d.md
      e.md:
`, none, "", "file:4:7: mkdocs ignores an entry whose file does not end in .md\n" +
			"file:5:7: clients never send \"#\"\nfile:6:7: a key cannot be empty\n" +
			"file:7:7: \"\" is not a destination"},
		{"no redirects", "plugins: [search]\n", none, "", "there are no redirects of mkdocs in the file"},
		{"no YAML", "plugins: [\n", none, "", "file:1:1: this is not valid YAML"},
	})
}

func TestRedirectsOfMdBookBecomeRules(t *testing.T) {
	mdbook := migrate.Format{Read: migrate.LinesOf(generators.ReadMdBook)}
	none := rulefile.Reading{}
	migratetest.CheckAll(t, mdbook, []migratetest.Case{
		{"pages", `[book]
title = "x"
[output.html.redirect]
"/a/b.html" = "c.html"
"/a/d.html" = "../e/"
'f.html' = "https://x.example/#g"
"/h.html" = "/i.html"
`, none, "a/b.html,/a/c.html,,exact,,ignore\na/d.html,/e/,,exact,,ignore\n" +
			"h.html,/i.html,,exact,,ignore\nf.html,https://x.example/#g,,exact,,ignore\n", noStatus},
		{"a book below a path", `[output.html]
site-url = "/book/"
redirect = {"/a.html" = "b.html?c"}
`, rulefile.Reading{Status: 301}, "book/a.html,/book/b.html?c,301,exact,,ignore\n",
			"paths begin with /book/"},
		{"what no rule can do", `[output.html.redirect]
"/a.html" = 5

"/b.html#c" = "d.html"
"/e.html?f" = "g.html"
`, none, "", "file:2:1: \"\" is not a destination\n" +
			"file:4:1: clients never send what follows \"#\", so only a page of the book can redirect it\n" +
			"file:5:1: a rule matches the path alone"},
		{"no redirects", "[book]\n", none, "", "there are no redirects of mdBook in the file"},
		{"no TOML", "[book\n", none, "", "file:2:6: this is not valid TOML"},
	})
}

func TestLinesOfRediraffeBecomeRules(t *testing.T) {
	rediraffe := migrate.Format{Read: migrate.LinesOf(generators.ReadRediraffe)}
	none := rulefile.Reading{}
	migratetest.CheckAll(t, rediraffe, []migratetest.Case{
		{"files", "# moved\n\"old page.rst\" new.rst\na\\b.md  'c/index.md'  # d/\n" +
			"e f\ng https://x.example/\n", none, "old page.html,/new.html,,exact\n" +
			"a/b.html,/c/index.html,,exact\ne.html,/f.html,,exact\ng.html,https://x.example/,,exact\n",
			"pages are those of Sphinx's builder html, since no path ends in \"/\": /page.html\n" + noStatus},
		{"folders", "a/ b/c/\n/d e/index\n", rulefile.Reading{Status: 301},
			"a,/b/c/,301,exact\nd,/e/,301,exact\n",
			"pages are those of Sphinx's builder dirhtml, since a path ends in \"/\": /page/"},
		{"what is no line", "a\nb c d\n\"e f\n#\n\n", none, "",
			"file:1:1: a line is an old page and a new one; write two words\n" +
				"file:2:1: a line is\nfile:3:1: a line is"},
	})
}

func FuzzMkDocs(f *testing.F) {
	migratetest.Fuzz(f, generators.ReadMkDocs, "site_url: https://a.example/b\nplugins:\n- redirects:\n"+
		"    redirect_maps:\n      a.md: b/README.md#c\n      index.md: https://x.example\n")
}

func FuzzMdBook(f *testing.F) {
	migratetest.Fuzz(f, generators.ReadMdBook, "[output.html]\nsite-url = '/a'\n[output.html.redirect]\n"+
		"\"/b.html\" = \"../c/?d#e\"\n")
}

func FuzzRediraffe(f *testing.F) {
	migratetest.Fuzz(f, generators.ReadRediraffe, "a.md b.rst\n'c d/' \"e\\f\" # g\n", "a/ /index\n")
}
