package generators

import (
	"io"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// ReadRediraffe reads the file of rediraffe, an extension of Sphinx: an old page and a new one on
// each line.
func ReadRediraffe(t *migrate.Table, r io.Reader) error {
	text, err := t.ReadText(r)
	if err != nil {
		return err
	}
	s := newSite(t, "rediraffe", "")
	pages := "dirhtml, since a path ends in \"/\": /page/"
	if !endsInSlash.MatchString(text) {
		s.suffix, pages = ".html", "html, since no path ends in \"/\": /page.html"
	}
	t.Remark("pages are those of Sphinx's builder %s", pages)
	words := migrate.Splitter{HasComments: true}
	lines := rulefile.NewLineReader(strings.NewReader(text), t.Source)
	line, err := lines.Next()
	for ; err == nil && !t.IsGivenUp(lines.At(1)); line, err = lines.Next() {
		moved, wrong := words.Split(strings.ReplaceAll(string(line), `\`, "/"), 0) // "\" as on Windows
		if len(moved) != 2 || wrong != nil {
			t.Wrong(lines.At(1), "a line is an old page and a new one; write two words, each in quotation "+
				"marks if it has blanks")
			continue
		}
		s.add(redirects.Line{At: lines.At(moved[0].Column)}, s.pathOf(moved[0].Text),
			s.pathOf(moved[1].Text))
	}
	s.finish(false)
	return err
}

// endsInSlash matches a path that ends in a slash, outside of comments and URLs.
var endsInSlash = regexp.MustCompile(`(?m)^[^#:\n]*/["']?([ \t\r]|$)`)
