// Package generators reads the redirects of programs that make sites of documents: mkdocs, mdBook
// and Sphinx with rediraffe.
//
// Each reader is a [migrate.Reader]. Their tables name source files; a [pages] turns these into the
// paths of the site.
package generators
