package lists

import (
	"cmp"
	"io"
	"regexp"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
)

// ReadOpenPublishing reads a .openpublishing.redirection.json, which Microsoft's documentation has.
// It names files of a repository.
func ReadOpenPublishing(t *migrate.Table, r io.Reader) error {
	t.Program, t.Status = "Open Publishing", cmp.Or(t.Status, 301)
	known := []string{"source_path", "source_path_from_root", "redirect_url", "redirect_document_id"}
	return readObjects(t, r, "redirections", known, func(o *object) {
		file := cmp.Or(o.text("source_path"), o.text("source_path_from_root"))
		path := indexFile.ReplaceAllString(sourceFile.ReplaceAllString(file, ""), "$1")
		o.line.Notes = []string{"the path is that of the file in the repository, " +
			printable.Quote(file) + "; if its folder has another path on the site, write that one"}
		o.line.To = redirects.Literal(o.text("redirect_url"))
		t.AddPath(o.line, path, false)
	})
}

var (
	sourceFile = regexp.MustCompile(`\.(md|ya?ml|json)$`)
	indexFile  = regexp.MustCompile(`(^|/)index$`)
)
