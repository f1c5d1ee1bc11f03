package generators

import (
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
)

// ReadMkDocs reads the redirect_maps of an mkdocs.yml, which the plugin redirects makes pages of.
func ReadMkDocs(t *migrate.Table, r io.Reader) error {
	documents, err := t.Decode(r, t.DecodeYAML)
	if err != nil {
		return err
	}
	for _, file := range documents.Inside() {
		_, base, _ := redirects.CutURL(file.Member("site_url").Text)
		s := newSite(t, "mkdocs", base)
		if file.Member("use_directory_urls").Text == "false" {
			s.suffix = ".html"
		}
		for key, plugin := range file.Member("plugins").Inside() {
			if key.Text != "redirects" { // plugins are a map or a list
				plugin = plugin.Member("redirects")
			}
			for from, to := range plugin.Member("redirect_maps").Inside() {
				s.addMoved(from, to)
			}
		}
		s.finish(true)
	}
	return nil
}

// addMoved adds the line of an entry of redirect_maps.
func (s site) addMoved(from, to migrate.Node) {
	line := redirects.Line{At: from.At}
	if file, _, _ := strings.Cut(from.Text, "#"); !strings.HasSuffix(file, ".md") {
		line.Refused = errors.New("mkdocs ignores an entry whose file does not end in .md; write the " +
			"path of the old file")
	}
	s.add(line, s.pathOf(readme.ReplaceAllString(from.Text, "${1}index.md")),
		s.pathOf(readme.ReplaceAllString(textOf(to), "${1}index.md")))
}

// readme matches a README, which is the index of its folder.
var readme = regexp.MustCompile(`(^|/)README\.md`)
