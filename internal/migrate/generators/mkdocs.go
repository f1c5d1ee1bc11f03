package generators

import (
	"errors"
	"io"
	"path"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
)

// ReadMkDocs reads the redirect_maps of an mkdocs.yml, which the plugin redirects makes pages of.
func ReadMkDocs(t *migrate.Table, r io.Reader) error {
	text, err := t.ReadText(r)
	if err != nil {
		return err
	}
	t.Program = "mkdocs"
	dropQueries(t)
	documents, err := t.DecodeYAML(text)
	for _, site := range documents.Inside() {
		p := pages{base: "/", suffix: "/"}
		if isFolder, ok := site.Member("use_directory_urls").Truth(); ok && !isFolder {
			p.suffix = ".html"
		}
		if _, base, _ := migrate.CutURL(site.Member("site_url").Text); strings.Trim(base, "/") != "" {
			p.base = "/" + strings.Trim(base, "/") + "/"
			t.Remark("paths begin with %s, as in site_url", p.base)
		}
		for key, plugin := range site.Member("plugins").Inside() {
			if key.Text != "redirects" { // plugins are a list, or a map
				plugin = plugin.Member("redirects")
			}
			for from, to := range plugin.Member("redirect_maps").Inside() {
				p.addMoved(t, from, to)
			}
		}
	}
	if t.Entries() == 0 && err == nil {
		t.Remark("there are no redirect_maps of the plugin redirects in the file")
	}
	remarkOnPages(t)
	return err
}

// addMoved adds the line of an entry of redirect_maps.
func (p pages) addMoved(t *migrate.Table, from, to migrate.Node) {
	line := redirects.Line{At: from.At}
	if file, _, _ := strings.Cut(from.Text, "#"); !sourceSuffix.MatchString(file) {
		line.Refused = errors.New("mkdocs ignores this entry, because its file does not end in .md; " +
			"write the path of the old file")
	}
	p.add(t, line, indexOf(from.Text), indexOf(to.Text))
}

// indexOf returns the name of a file. A README is the index of its folder.
func indexOf(file string) string {
	if folder, name := path.Split(file); strings.HasPrefix(name, "README.") {
		return folder + "index" + strings.TrimPrefix(name, "README")
	}
	return file
}
