package lists

import (
	"cmp"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// golink reads an export of golink.
type golink struct {
	*migrate.Table
	hasDash, hasQuery bool // hasDash is about keys, hasQuery about destinations
}

// ReadGolink reads an export of golink: an object on each line. Its Long can be a template.
func ReadGolink(t *migrate.Table, r io.Reader) error {
	text, err := t.ReadText(r)
	if err != nil {
		return err
	}
	t.Program, t.Status = "golink", cmp.Or(t.Status, 302)
	g := golink{Table: t}
	links, err := t.DecodeJSON(text)
	var others migrate.Names // such as the owner
	readList(t, links, nil, &others, g.read)
	if g.hasDash {
		t.Remark("golink ignores \"-\" in keys, but rules do not: here, /c-s and /cs are different")
	}
	if t.Entries() > 0 {
		t.Remark("golink matches keys in either letter case; the option fold case does so for a site")
	}
	if g.hasQuery {
		t.Remark("golink keeps the parameters of destination and request; in rules, a request's " +
			"parameter replaces the destination's of the same name")
	}
	return err
}

// read adds a link.
func (g *golink) read(o *object) {
	short, long := o.text("Short"), o.text("Long")
	if short == "" || long == "" {
		o.refuse("a link is an object such as {\"Short\": \"docs\", \"Long\": " +
			"\"https://docs.example\"}, and this one has no key or no destination")
	}
	if o.line.Refused != nil {
		g.Wrong(o.line.At, "%s", o.line.Refused)
		return
	}
	g.addLink(o.line.At, short, long)
}

// addLink adds the line of a link. The line is for its path and all below, and appends the rest to
// the destination. Otherwise, the line is for the path alone.
func (g *golink) addLink(at resolver.Position, short, long string) {
	line := redirects.Line{At: at, Path: redirects.Text("/" + redirects.Encoded(short))}
	target, err := parseTarget(long)
	if err == nil && strings.Contains(short, "/") {
		err = errors.New("golink uses the first segment of a path as the key, so no request gets to " +
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
		line.Notes = []string{"golink appends the rest of a path to the destination's query or " +
			"fragment; the rule matches " + redirects.Visible(line.Path) + " alone"}
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

// textOf returns the fixed text of a destination.
func textOf(to []redirects.Piece) (text string) {
	for _, piece := range to {
		text += piece.Text
	}
	return text
}

// golinkTarget is the destination of a link.
type golinkTarget struct {
	below, itself []redirects.Piece // destinations of paths below, and of the path itself
	// isWithin reports whether the rest of a path would follow a query or a fragment.
	isWithin bool
	isPlain  bool // it is a URL, not a template
}

// parseTarget returns the destination of a link. The error explains why no rule can lead there.
func parseTarget(long string) (t golinkTarget, err error) {
	if !strings.Contains(long, "{{") {
		path := long[:strings.IndexAny(long+"?", "?#")]
		t.isPlain, t.isWithin = migrate.IsURL(long), path != long
		t.below = redirects.WithRest(strings.TrimSuffix(path, "/") + "/")
		t.itself = redirects.Literal(long)
		return t, migrate.CheckDestination(long)
	}
	below := golinkBranch.ReplaceAllStringFunc(long, func(text string) string {
		branch := golinkBranch.FindStringSubmatch(text)
		if branch[1] == "with" {
			return golinkDot.ReplaceAllString(branch[2], "{{${1}.Path$2}}")
		}
		return branch[2]
	})
	end := 0
	for _, at := range golinkRest.FindAllStringSubmatchIndex(below, -1) {
		isEscaped := at[2] >= 0 || at[4] >= 0 // rules escape in a query or a fragment anyway
		if isEscaped && !strings.ContainsAny(below[:at[0]], "?#") {
			break
		}
		t.below = append(t.below, redirects.Piece{Text: below[end:at[0]]},
			redirects.Piece{Variable: redirects.Splat})
		end = at[1]
	}
	t.below = append(t.below, redirects.Piece{Text: below[end:]})
	itself := golinkRest.ReplaceAllString(golinkBranch.ReplaceAllString(long, "$3"), "")
	t.itself = redirects.Literal(itself)
	if other := golinkOther.FindStringSubmatch(textOf(t.below) + itself); other != nil {
		return t, errors.New("the only template that a rule can express is {{.Path}}, the rest of the " +
			"path; write a rule for each destination, or use Caddy's redir; this one has " +
			printable.Quote(other[1]))
	}
	if err = cmp.Or(migrate.CheckPieces(t.below), migrate.CheckPieces(t.itself)); err != nil {
		return t, cmp.Or(migrate.CheckDestination(long), err)
	}
	return t, nil
}

var (
	// golinkBranch matches what depends on whether there is a rest of the path, with its branches.
	golinkBranch = regexp.MustCompile(
		`(?s)\{\{\s*(if|with)\s+\.Path\s*\}\}(.*?)(?:\{\{\s*else\s*\}\}(.*?))?\{\{\s*end\s*\}\}`)
	// golinkRest matches the rest of the path, perhaps escaped.
	golinkRest = regexp.MustCompile(
		`\{\{\s*((?:Path|Query)Escape\s+)?\.Path(\s*\|\s*(?:Path|Query)Escape)?\s*\}\}`)
	// golinkDot matches the use of ".", which is the rest of the path in a "with".
	golinkDot = regexp.MustCompile(`\{\{([^{}]*)\.([\s|][^{}]*)?\}\}`)
	// golinkOther matches anything else in braces.
	golinkOther = regexp.MustCompile(`(?s)\{\{\s*(.*?)\s*(?:\}\}|$)`)
)
