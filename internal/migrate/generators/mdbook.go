package generators

import (
	"cmp"
	"errors"
	"io"
	"path"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
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
		page := base + strings.TrimPrefix(key.Text, "/")
		if strings.Contains(page, "#") {
			line.Refused = errors.New("clients never send what follows \"#\", so only a page of the book " +
				"can redirect it; leave the entry there")
		}
		line.To = redirects.Literal(resolve(page, to.Text))
		t.AddPath(line, page, false)
	}
	if t.Entries() == 0 && err == nil {
		t.Remark("there is no [output.html.redirect] in the file")
	}
	remarkOnPages(t)
	return err
}

// resolve returns the destination of a page. A path that is relative to it becomes one of the site.
func resolve(page, to string) string {
	if migrate.IsURL(to) || to == "" || to[0] == '/' {
		return to
	}
	end := strings.IndexAny(to+"#", "?#")
	file, rest := to[:end], to[end:]
	if file == "" {
		return page + rest
	}
	resolved := path.Join(path.Dir(page), file)
	if strings.HasSuffix(file, "/") && resolved != "/" {
		resolved += "/"
	}
	return resolved + rest
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
