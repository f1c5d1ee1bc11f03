package generators

import (
	"errors"
	"io"
	"net/url"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
)

// ReadMdBook reads [output.html.redirect] of a book.toml: pages, and URLs that can be relative to
// them.
func ReadMdBook(t *migrate.Table, r io.Reader) error {
	text, err := t.ReadText(r)
	if err != nil {
		return err
	}
	file, err := t.DecodeTOML(text)
	if err != nil {
		return err
	}
	html, lines := file.Member("output").Member("html"), linesOfKeys(text)
	s := newSite(t, "mdBook", html.Member("site-url").Text)
	for key, to := range html.Member("redirect").Inside() {
		line := redirects.Line{At: t.Position(max(1, lines[key.Text]), 1)}
		if strings.Contains(key.Text, "#") {
			line.Refused = errors.New("clients never send what follows \"#\", so only a page of the book " +
				"can redirect it; leave the entry there")
		}
		page := s.base + strings.TrimPrefix(key.Text, "/")
		s.add(line, page, resolve(page, textOf(to)))
	}
	s.finish(true)
	return nil
}

// resolve returns the destination of a page. A path that is relative to it becomes one of the site.
func resolve(page, to string) string {
	base, err := url.Parse(page)
	if err != nil || to == "" || to[0] == '/' || redirects.IsURL(to) {
		return to
	}
	resolved, err := base.Parse(to)
	if err != nil {
		return to
	}
	return resolved.String()
}

// keyOfLine matches a line of TOML that begins with a key.
var keyOfLine = regexp.MustCompile(`^[ \t]*(?:"([^"\n]*)"|'([^'\n]*)'|([\w-]+))[ \t]*=`)

// linesOfKeys returns the numbers of the lines that begin with a key.
func linesOfKeys(text string) map[string]int {
	lines, number := map[string]int{}, 0
	for line := range strings.Lines(text) {
		number++
		if key := keyOfLine.FindStringSubmatch(line); key != nil {
			lines[key[1]+key[2]+key[3]] = number
		}
	}
	return lines
}
