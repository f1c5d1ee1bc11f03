// Package generators reads the redirects of programs that make sites of documents: mkdocs, mdBook
// and Sphinx with rediraffe.
//
// Each reader is a [migrate.Reader]. Their tables name source files, or pages that redirect in a
// browser. A [site] turns files into paths.
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

// site is a site that a program makes.
type site struct {
	*migrate.Table
	base   string // its path, which begins and ends with a slash
	suffix string // of the page of a file: "/" or ".html"
}

// newSite returns the site of a program at a path.
func newSite(t *migrate.Table, program, base string) site {
	t.Program = program
	s := site{t, "/", "/"}
	if base = strings.Trim(base, "/"); base != "" {
		s.base = "/" + base + "/"
		t.Remark("paths begin with %s, as the configuration says", s.base)
	}
	return s
}

var (
	// sourceSuffix matches the suffix of a source file, and otherSuffix that of any file.
	sourceSuffix = regexp.MustCompile(`\.(md|markdown|mdown|mkdn|mkd|rst|txt|ipynb|html)$`)
	otherSuffix  = regexp.MustCompile(`\.[a-z][a-z0-9]*$`)
)

// pathOf returns the path of the page of a file, with a fragment. A URL stays as it is.
func (s site) pathOf(text string) string {
	if text == "" || redirects.IsURL(text) {
		return text
	}
	file, fragment, hasFragment := strings.Cut(strings.Trim(text, "/"), "#")
	page := sourceSuffix.ReplaceAllString(file, "")
	folder, name := path.Split(page)
	switch {
	case page == "" || page == file && otherSuffix.MatchString(file):
	case name == "index" && s.suffix == "/":
		page = folder
	default:
		page += s.suffix
	}
	if hasFragment {
		page += "#" + fragment
	}
	return s.base + page
}

// textOf returns the text of a value, or "" for any other value.
func textOf(v migrate.Node) string {
	if v.Kind != '"' {
		return ""
	}
	return v.Text
}

// add adds the line of a page that has moved.
func (s site) add(line redirects.Line, from, to string) {
	line.To = redirects.Literal(to)
	s.AddPath(line, from, false)
}

// finish adds the remarks on pages that redirect. Most drop the query of a request.
func (s site) finish(dropsQuery bool) {
	switch {
	case s.Entries() == 0:
		s.Remark("there are no redirects of %s in the file", s.Program)
	case s.Status == 0:
		s.Remark("pages that redirect have no status, and rules without one have 302; --status sets " +
			"another")
	}
	if dropsQuery {
		s.Query = cmp.Or(s.Query, resolver.QueryIgnore)
	}
}
