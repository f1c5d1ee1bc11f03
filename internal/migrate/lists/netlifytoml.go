package lists

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
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
	err = n.readText(text)
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

// readText reads a whole file, or if that is no TOML, each of its redirects by itself, so that a
// mistake in one does not hide the others.
func (n *netlifyTOML) readText(text []byte) error {
	if err := n.checkDepth(text); err != nil {
		return err
	}
	pieces := splitAtHeaders(text)
	if n.readTables(strings.Join(pieces, "")) == nil {
		return nil
	}
	for first, i := 1, 0; i < len(pieces); i++ {
		if n.t.IsGivenUp(n.t.Position(first, 1)) {
			return nil
		}
		err, begin := n.readTables(pieces[i]), first
		first += linesOf(pieces[i])
		if err == nil {
			continue
		}
		// What looks like a redirect may stand in a text of several lines.
		if i+1 < len(pieces) && n.readTables(pieces[i]+pieces[i+1]) == nil {
			i++
			first += linesOf(pieces[i])
			continue
		}
		n.report(err, begin, i > 0)
	}
	return nil
}

// linesOf returns how many lines of the file a piece has.
func linesOf(piece string) int {
	return strings.Count(piece, "\n") - strings.Count(piece, placeMember)
}

// redirectsHeader begins a redirect.
var redirectsHeader = regexp.MustCompile(`(?m)^[ \t]*\[\[[ \t"']*redirects[ \t"']*\]\]`)

// placeMember is a member without a name that tells the line of a redirect, as the library does not.
// It is written behind each header.
const placeMember = "\n\"\" = "

// splitAtHeaders splits a text in front of each redirect, and adds the number of its line to it.
func splitAtHeaders(text []byte) (pieces []string) {
	from, number, header := 0, 1, ""
	for _, at := range redirectsHeader.FindAllIndex(text, -1) {
		pieces = append(pieces, header+string(text[from:at[0]]))
		number += bytes.Count(text[from:at[1]], []byte("\n"))
		header = string(text[at[0]:at[1]]) + placeMember + strconv.Itoa(number)
		from = at[1]
	}
	return append(pieces, header+string(text[from:]))
}

// deepest is how many arrays and tables stand in each other at most, in which the library reads in a
// reasonable time.
const deepest = 100

// longKey is a key of too many parts, each of which is a table.
var longKey = regexp.MustCompile(
	fmt.Sprintf(`(?:(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')[ \t]*\.[ \t]*){%d}`, deepest))

// checkDepth refuses a text that the library takes too long for. Brackets in texts count, too.
func (n *netlifyTOML) checkDepth(text []byte) error {
	depth, number := 0, 0
	for line := range bytes.Lines(text) {
		number++
		if redirectsHeader.Match(line) {
			depth = 0
		}
		isDeep := bytes.Count(line, []byte(".")) >= deepest && longKey.Match(line)
		for _, c := range line {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(depth-1, 0)
			}
			isDeep = isDeep || depth > deepest
		}
		if isDeep {
			return &rulefile.Error{Position: n.t.Position(number, 1), Message: "arrays and tables stand " +
				"in each other too deep to be read; write less of them"}
		}
	}
	return nil
}

// report reports what the library says of a piece that begins in a line, perhaps with a member more.
func (n *netlifyTOML) report(err error, first int, hasPlace bool) {
	line, column, message := 1, 1, err.Error()
	if wrong, ok := errors.AsType[toml.ParseError](err); ok {
		line, column = max(1, wrong.Position.Line), max(1, wrong.Position.Col)
		message = "this is no TOML: " + strings.TrimPrefix(wrong.Message, "toml: ")
	}
	if hasPlace && line > 1 {
		line--
	}
	n.t.Wrong(n.t.Position(first+line-1, column), "%s", message)
}

// readTables reads the redirects of a text. Where it is no TOML it reads none.
func (n *netlifyTOML) readTables(text string) error {
	if !strings.Contains(text, "redirects") {
		return nil // it has none, and is not ours to judge
	}
	var file struct {
		Redirects any `toml:"redirects"`
		Context   any `toml:"context"`
	}
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
		return errors.New("redirects are written as [[redirects]], each on its own lines, not as " +
			kindOfTOML(file.Redirects))
	}
	for _, table := range tables {
		n.add(table)
	}
	return nil
}

// add adds the line of a redirect, or says what is wrong with it.
func (n *netlifyTOML) add(table map[string]any) {
	line, _ := table[""].(int64)
	at := n.t.Position(int(line), 1)
	e := tomlRedirect{table: table}
	text, why := e.line()
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if !slices.Contains(netlifyMembers(), name) && !slices.Contains(n.unknown, name) {
			n.unknown = append(n.unknown, name)
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
