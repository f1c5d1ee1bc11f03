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
	t        *migrate.Table
	hasDash  bool // in a key
	hasQuery bool // in a destination
}

// golinkLink is a link of golink.
type golinkLink struct{ Short, Long string }

// ReadGolink reads what golink exports: an object on each line, whose Long can be a template.
func ReadGolink(t *migrate.Table, r io.Reader) error {
	text, err := migrate.ReadText(r, t.Source)
	if err != nil {
		return err
	}
	t.Program, t.Status = "golink", cmp.Or(t.Status, 302)
	g := golink{t: t}
	links, err := migrate.DecodeJSON(text, t.Source)
	for _, v := range links {
		if t.IsGivenUp(v.At) {
			break
		}
		if link, err := parseGolink(v); err != nil {
			t.Wrong(v.At, "%s", err)
		} else {
			g.add(v.At, link)
		}
	}
	g.remark()
	return err
}

// remark says what is true of all links.
func (g *golink) remark() {
	if g.hasDash {
		g.t.Remark("golink passes over \"-\" in keys, and rules do not: /c-s is not /cs here")
	}
	if g.t.Entries() > 0 {
		g.t.Remark("golink takes keys in either letter case; the option fold case does so for a site")
	}
	if g.hasQuery {
		g.t.Remark("golink adds the parameters of a request to those of a destination, and in rules a " +
			"parameter of the request takes the place of one with its name")
	}
}

// parseGolink takes a link apart.
func parseGolink(v migrate.JSON) (link golinkLink, err error) {
	short, long := v.Member("Short"), v.Member("Long")
	switch {
	case short.Kind != '"' || short.Text == "" || long.Kind != '"' || long.Text == "":
		return link, errors.New("a link is an object such as {\"Short\": \"docs\", \"Long\": " +
			"\"https://docs.example\"}, and this one has no key or no destination")
	case short.IsBroken || long.IsBroken:
		return link, errors.New("a string of the link " + migrate.NotUnicode)
	}
	return golinkLink{short.Text, long.Text}, migrate.CheckText("the link", short.Text+long.Text)
}

// add adds the line of a link: for its path and all below, which goes on at the destination.
func (g *golink) add(at resolver.Position, link golinkLink) {
	path := redirects.Text("/" + redirects.Encoded(link.Short))
	target, err := parseGolinkTarget(link.Long)
	if err == nil && strings.Contains(link.Short, "/") {
		err = errors.New("golink takes the first segment of a path for the key, so no request gets to " +
			printable.Quote(link.Short))
	}
	if err != nil {
		g.t.Refuse(at, redirects.Below(path), err)
		return
	}
	g.hasDash = g.hasDash || strings.Contains(link.Short, "-")
	g.t.Add(g.line(redirects.Line{At: at, Path: path, To: target.itself}, target))
}

// line returns the line of a link: for its path alone, unless it goes on below.
func (g *golink) line(line redirects.Line, target golinkTarget) redirects.Line {
	exact := g.t.Reading.Exact
	switch isExact := exact != nil && *exact; {
	case target.isWithin && exact == nil:
		line.Notes = []string{"golink appends the rest of a path behind query or fragment of the " +
			"destination, and the rule takes " + redirects.Visible(line.Path) + " alone"}
	case isExact || target.isWithin:
	case target.isPlain:
		line.Onward = redirects.Appends
	default:
		line.Path, line.To, line.Itself = redirects.Below(line.Path), target.to, target.itself
	}
	if hasQuery(line.To) {
		g.hasQuery = true
		line.Query = cmp.Or(g.t.Reading.Query, resolver.QueryPreserve)
	}
	return line
}

// hasQuery reports whether a destination has a query.
func hasQuery(to []redirects.Piece) bool {
	text := ""
	for _, piece := range to {
		text += piece.Text
	}
	return migrate.HasQuery(text)
}
