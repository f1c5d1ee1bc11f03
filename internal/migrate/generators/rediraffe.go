package generators

import (
	"io"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// ReadRediraffe reads the file of rediraffe, an extension of Sphinx: an old page and a new one on
// each line.
func ReadRediraffe(t *migrate.Table, r io.Reader) error {
	t.Program = "rediraffe"
	words := migrate.Splitter{HasComments: true, Unescape: unescapeNothing}
	p := pages{base: "/", suffix: ".html"}
	var moved []movedPage
	lines := t.NewLineReader(r)
	line, err := lines.NextEntry()
	for ; err == nil && !t.IsGivenUp(lines.At(1)); line, err = lines.NextEntry() {
		line = strings.ReplaceAll(line, `\`, "/") // of Windows
		pair, wrong := words.Split(line, 0)
		switch {
		case wrong != nil:
			t.Wrong(lines.At(pair[len(pair)-1].Column), "%s", wrong)
		case len(pair) != 2:
			t.Wrong(lines.At(1), "a line has an old page and a new one; write two words, and put a path "+
				"with blanks into quotation marks")
		default:
			from, to := pair[0], pair[1]
			moved = append(moved, movedPage{lines.At(from.Column), from.Text, to.Text})
			if strings.HasSuffix(from.Text, "/") || strings.HasSuffix(to.Text, "/") {
				p.suffix = "/"
			}
		}
	}
	for _, m := range moved {
		p.add(t, redirects.Line{At: m.at}, m.from, m.to)
	}
	switch {
	case len(moved) == 0:
	case p.suffix == "/":
		t.Remark("some paths end in \"/\", so pages are those of Sphinx's builder dirhtml: /page/")
	default:
		t.Remark("no path ends in \"/\", so pages are those of Sphinx's builder html: /page.html; for " +
			"dirhtml, end one in \"/\"")
	}
	remarkOnPages(t)
	return err
}

// movedPage is a line of the file.
type movedPage struct {
	at       resolver.Position
	from, to string
}

func unescapeNothing(byte, byte) (string, bool) { return "", false }
