package lists

import (
	"errors"
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

// places returns where n redirects begin, which the library does not tell. Where a text of several
// lines has what looks like a header, that is not known.
func (n *netlifyTOML) places(text string, count int) []resolver.Position {
	places := make([]resolver.Position, count)
	headers := redirectsHeader.FindAllStringIndex(text, -1)
	line, passed := 1, 0
	for i := range places {
		if len(headers) == count {
			line += strings.Count(text[passed:headers[i][0]], "\n")
			passed = headers[i][0]
		}
		places[i] = n.t.Position(line, 1)
	}
	return places
}

// readText reads the redirects of a text.
func (n *netlifyTOML) readText(text string) error {
	var file struct{ Redirects, Context any }
	if _, err := toml.Decode(text, &file); err != nil {
		return n.noTOML(err)
	}
	contexts, _ := file.Context.(map[string]any)
	for _, context := range contexts {
		table, _ := context.(map[string]any)
		n.hasContexts = n.hasContexts || table["redirects"] != nil
	}
	tables, ok := file.Redirects.([]map[string]any)
	if !ok && file.Redirects != nil {
		return migrate.ErrorAt(n.t.Position(1, 1), "redirects are written as [[redirects]], each on its "+
			"own lines, not as an array or a value")
	}
	for i, at := range n.places(text, len(tables)) {
		if n.t.IsGivenUp(at) {
			return nil
		}
		n.add(tables[i], at)
	}
	return nil
}

// noTOML is the error of a file that is no TOML.
func (n *netlifyTOML) noTOML(err error) error {
	at, message := n.t.Position(1, 1), err.Error()
	if wrong, ok := errors.AsType[toml.ParseError](err); ok {
		at = n.t.Position(max(1, wrong.Position.Line), max(1, wrong.Position.Col))
		message = strings.TrimPrefix(wrong.Message, "toml: ")
	}
	return migrate.ErrorAt(at, "this is no TOML: "+message)
}

// add adds the line of a redirect, or says what is wrong with it.
func (n *netlifyTOML) add(table map[string]any, at resolver.Position) {
	e := newTOMLRedirect(table)
	text, why := e.line()
	for m := range e.Inside() {
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
