package generators

import (
	"cmp"
	"path"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// pages says which path of the site the page of a source file has.
type pages struct {
	base string // of the site; it begins and ends with a slash
	// suffix follows the name of a file: "/", ".html" or nothing.
	suffix string
}

// sourceSuffix matches the suffix of a source file.
var sourceSuffix = regexp.MustCompile(`\.(md|markdown|mdown|mkdn|mkd|rst|txt|ipynb|html|ya?ml)$`)

// pathOf returns the path of a page, with the fragment of the text. A URL stays as it is.
func (p pages) pathOf(text string) string {
	if migrate.IsURL(text) {
		return text
	}
	file, fragment, hasFragment := strings.Cut(strings.TrimPrefix(text, "/"), "#")
	file = sourceSuffix.ReplaceAllString(strings.TrimSuffix(file, "/"), "")
	folder, name := path.Split(file)
	switch {
	case name == "index" && p.suffix != ".html":
		file = folder
	case file != "":
		file += p.suffix
	}
	if hasFragment {
		file += "#" + fragment
	}
	return p.base + file
}

// add adds the line of a page that has moved.
func (p pages) add(t *migrate.Table, line redirects.Line, from, to string) {
	line.To = redirects.Literal(p.pathOf(to))
	t.AddPath(line, p.pathOf(from), false)
}

// remarkOnPages says what pages that redirect in a browser leave open.
func remarkOnPages(t *migrate.Table) {
	if t.Status == 0 && t.Entries() > 0 {
		t.Remark("the pages of %s that redirect have no status, and rules without one have 302; "+
			"--status sets another", t.Program)
	}
}

// dropQueries sets the query mode of pages that redirect without the query of a request.
func dropQueries(t *migrate.Table) {
	if t.Query == resolver.QueryDefault {
		t.Remark("the pages of %s that redirect drop the query of a request, and so do the rules; "+
			"--query sets another mode", t.Program)
	}
	t.Query = cmp.Or(t.Query, resolver.QueryIgnore)
}
