package lists

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// netlifyTOML is a netlify.toml. Each of its [[redirects]] is a line of _redirects that is written
// in another way.
type netlifyTOML struct {
	t           *migrate.Table
	unknown     []string // members that say nothing
	hasContexts bool     // there are redirects of contexts
}

// ReadNetlifyTOML reads the redirects of a netlify.toml.
func ReadNetlifyTOML(t *migrate.Table, r io.Reader) error {
	text, err := migrate.ReadText(r, t.Source)
	if err != nil {
		return err
	}
	t.Reading.Dialect, t.Reading.SkipUnsupported = rulefile.Netlify, true
	useRedirects(t)
	n := netlifyTOML{t: t}
	err = n.readText(string(text))
	if len(n.unknown) > 0 {
		t.Remark("members of [[redirects]] that say nothing here are passed over: %s",
			migrate.QuoteAll(n.unknown))
	}
	if n.hasContexts {
		t.Remark("the redirects of contexts, [[context.*.redirects]], are left out, as Netlify has " +
			"them for some deploys alone")
	}
	if t.Entries() == 0 && err == nil {
		t.Remark("there are no [[redirects]] in the file")
	}
	return err
}

// useRedirects gives a table the options of lines of _redirects.
func useRedirects(t *migrate.Table) {
	report := t.Report
	t.Options = t.Reading.RedirectsOptions()
	t.Report, t.Query = report, t.Reading.Query
}

// redirectsHeader begins a redirect.
var redirectsHeader = regexp.MustCompile(`(?m)^[ \t]*\[\[[ \t"']*redirects[ \t"']*\]\]`)

// readText reads each redirect by itself, so that a mistake in one does not hide the others, and as
// the library does not tell places.
func (n *netlifyTOML) readText(text string) error {
	begins := []int{0}
	for _, at := range redirectsHeader.FindAllStringIndex(text, -1) {
		begins = append(begins, at[0])
	}
	begins = append(begins, len(text), len(text))
	for i, number := 0, 1; i+2 < len(begins); i++ {
		piece, next := text[begins[i]:begins[i+1]], text[begins[i+1]:begins[i+2]]
		at := n.t.Position(number, 1)
		number += strings.Count(piece, "\n")
		if n.t.IsGivenUp(at) {
			return nil
		}
		if err := checkDepth(piece, at); err != nil {
			return err
		}
		err := n.readPiece(piece, at)
		// What looks like the next redirect may stand in a text of several lines.
		if err != nil && next != "" && n.readPiece(piece+next, at) == nil {
			number += strings.Count(next, "\n")
			i++
		} else if err != nil {
			n.report(err, at)
		}
	}
	return nil
}

// deepest is how many arrays and tables stand in each other at most, which the library reads in a
// reasonable time.
const deepest = 100

// longKey is a key of too many parts, each of which is a table.
var longKey = regexp.MustCompile(
	fmt.Sprintf(`(?:(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')[ \t]*\.[ \t]*){%d}`, deepest))

// checkDepth refuses a text that the library takes too long for. Brackets in texts count, too.
func checkDepth(text string, at resolver.Position) error {
	depth := 0
	for line := range strings.Lines(text) {
		isDeep := strings.Count(line, ".") >= deepest && longKey.MatchString(line)
		for _, c := range []byte(line) {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(depth-1, 0)
			}
			isDeep = isDeep || depth > deepest
		}
		if isDeep {
			return migrate.ErrorAt(at, "arrays and tables stand in each other too deep to be read; "+
				"write less of them")
		}
		at.Line++
	}
	return nil
}

// report reports what the library says of a piece that begins at a place.
func (n *netlifyTOML) report(err error, at resolver.Position) {
	message := err.Error()
	if wrong, ok := errors.AsType[toml.ParseError](err); ok {
		at.Line += max(0, wrong.Position.Line-1)
		at.Column = max(1, wrong.Position.Col)
		message = "this is no TOML: " + strings.TrimPrefix(wrong.Message, "toml: ")
	}
	n.t.Wrong(at, "%s", message)
}

// readPiece reads a text with one redirect, or none. Where it is no TOML it reads nothing.
func (n *netlifyTOML) readPiece(text string, at resolver.Position) error {
	if !strings.Contains(text, "redirects") {
		return nil // it has none, and is not ours to judge
	}
	var file struct{ Redirects, Context any }
	if _, err := toml.Decode(text, &file); err != nil {
		return err
	}
	contexts, _ := file.Context.(map[string]any)
	for _, context := range contexts {
		table, _ := context.(map[string]any)
		n.hasContexts = n.hasContexts || table["redirects"] != nil
	}
	tables, ok := file.Redirects.([]map[string]any)
	if !ok && file.Redirects != nil {
		return errors.New("redirects are written as [[redirects]], each on its own lines, not as an " +
			"array or a value")
	}
	for _, table := range tables {
		n.add(table, at)
	}
	return nil
}

// add adds the line of a redirect, or says what is wrong with it.
func (n *netlifyTOML) add(table map[string]any, at resolver.Position) {
	e := newTOMLRedirect(table)
	text, why := e.line()
	for _, m := range e.Inside {
		if !slices.Contains(netlifyMembers(), m.Name) && !slices.Contains(n.unknown, m.Name) {
			n.unknown = append(n.unknown, m.Name)
		}
	}
	for _, wrong := range e.wrong {
		n.t.Wrong(at, "%s", wrong)
	}
	if e.wrong == nil {
		n.t.Reading.AddLine(n.t.Table, at, text, why)
	}
}

// ReadRedirects reads a _redirects file.
func ReadRedirects(t *migrate.Table, r io.Reader) error {
	useRedirects(t)
	return t.Reading.ReadLines(t.Table, r, t.Source)
}
