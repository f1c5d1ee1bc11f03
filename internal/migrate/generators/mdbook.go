package generators

import (
	"cmp"
	"io"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// ReadMdBook reads [output.html.redirect] of a book.toml. Destinations are URLs, perhaps relative to
// the old page.
func ReadMdBook(t *migrate.Table, r io.Reader) error {
	text, err := t.ReadText(r)
	if err != nil {
		return err
	}
	t.Program = "mdBook"
	dropQueries(t)
	book, err := t.DecodeTOML(text)
	html := book.Member("output").Member("html")
	base := "/" + strings.Trim(html.Member("site-url").Text, "/") + "/"
	if base = strings.ReplaceAll(base, "//", "/"); base != "/" {
		t.Remark("paths begin with %s, as in site-url", base)
	}
	lines := linesOfKeys(text)
	for key, to := range html.Member("redirect").Inside() {
		line := redirects.Line{At: t.Position(max(1, lines[key.Text]), 1)}
		path := base + strings.TrimPrefix(key.Text, "/")
		destination, err := resolve(path, to.Text)
		line.To, line.Refused = redirects.Literal(destination), err
		t.AddPath(line, path, false)
	}
	if t.Entries() == 0 && err == nil {
		t.Remark("there is no [output.html.redirect] in the file")
	}
	remarkOnPages(t)
	return err
}

// resolve returns the URL that a page refers to: a path of the site for a page of it.
func resolve(path, to string) (string, error) {
	if migrate.IsURL(to) || strings.HasPrefix(to, "/") {
		return to, nil
	}
	const site = "https://book.example"
	page, err := weburl.Parse(site + path)
	if err != nil {
		return to, err
	}
	page, err = page.Resolve(to)
	return strings.TrimPrefix(page.Href(), site), err
}

// tomlKey matches a line that begins with a key.
var tomlKey = regexp.MustCompile(`^[ \t]*(?:"([^"]*)"|'([^']*)'|([\w-]+))[ \t]*=`)

// linesOfKeys returns the numbers of the lines that begin with a key.
func linesOfKeys(text string) map[string]int {
	lines, number := map[string]int{}, 0
	for line := range strings.Lines(text) {
		number++
		if key := tomlKey.FindStringSubmatch(line); key != nil {
			lines[cmp.Or(key[1], key[2], key[3])] = number
		}
	}
	return lines
}
