package lists

import (
	"cmp"
	"errors"
	"io"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// golink is what golink exports.
type golink struct {
	*migrate.Table
	hasDash, hasQuery bool // in a key, in a destination
}

// ReadGolink reads what golink exports: an object on each line, whose Long can be a template.
func ReadGolink(t *migrate.Table, r io.Reader) error {
	text, err := t.ReadText(r)
	if err != nil {
		return err
	}
	t.Program, t.Status = "golink", cmp.Or(t.Status, 302)
	g := golink{Table: t}
	links, err := t.DecodeJSON(text)
	for _, link := range links.Inside() {
		if t.IsGivenUp(link.At) {
			break
		}
		g.read(link)
	}
	if g.hasDash {
		t.Remark("golink passes over \"-\" in keys, and rules do not: /c-s is not /cs here")
	}
	if t.Entries() > 0 {
		t.Remark("golink takes keys in either letter case; the option fold case does so for a site")
	}
	if g.hasQuery {
		t.Remark("golink adds the parameters of a request to those of a destination, and in rules a " +
			"parameter of the request takes the place of one with its name")
	}
	return err
}

// read takes in a link.
func (g *golink) read(link migrate.Node) {
	short, long := link.Member("Short"), link.Member("Long")
	err := cmp.Or(short.Check("the link"), long.Check("the link"))
	if short.Kind != '"' || short.Text == "" || long.Kind != '"' || long.Text == "" {
		err = errors.New("a link is an object such as {\"Short\": \"docs\", \"Long\": " +
			"\"https://docs.example\"}, and this one has no key or no destination")
	}
	if err != nil {
		g.Wrong(link.At, "%s", err)
		return
	}
	g.add(link.At, short.Text, long.Text)
}

// add adds the line of a link: for its path and all below, which goes on at the destination, or for
// its path alone.
func (g *golink) add(at resolver.Position, short, long string) {
	line := redirects.Line{At: at, Path: redirects.Text("/" + redirects.Encoded(short))}
	target, err := parseTarget(long)
	if err == nil && strings.Contains(short, "/") {
		err = errors.New("golink takes the first segment of a path for the key, so no request gets to " +
			printable.Quote(short))
	}
	if err != nil {
		g.Refuse(at, redirects.Below(line.Path), err)
		return
	}
	g.hasDash = g.hasDash || strings.Contains(short, "-")
	line.To = target.itself
	exact := g.Reading.Exact
	switch isExact := exact != nil && *exact; {
	case target.isWithin && exact == nil:
		line.Notes = []string{"golink appends the rest of a path behind query or fragment of the " +
			"destination, and the rule takes " + redirects.Visible(line.Path) + " alone"}
	case isExact || target.isWithin:
	case target.isPlain:
		line.Onward = redirects.Appends
	default:
		line.Path, line.To, line.Itself = redirects.Below(line.Path), target.below, target.itself
		line.IsPrefix = true
	}
	if migrate.HasQuery(textOf(line.To)) {
		g.hasQuery = true
		line.Query = cmp.Or(g.Reading.Query, resolver.QueryPreserve)
	}
	g.Add(line)
}

// textOf returns the texts of a destination.
func textOf(to []redirects.Piece) (text string) {
	for _, piece := range to {
		text += piece.Text
	}
	return text
}
