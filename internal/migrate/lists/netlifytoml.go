package lists

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// ReadRedirects reads a _redirects file.
func ReadRedirects(t *migrate.Table, r io.Reader) error {
	useRedirectsOptions(t)
	return t.Reading.ReadLines(t.Table, r, t.Source)
}

// useRedirectsOptions sets the table's options for lines of _redirects.
func useRedirectsOptions(t *migrate.Table) {
	report, leftOut := t.Report, t.LeftOut
	t.Options = t.Reading.RedirectsOptions()
	t.Report, t.LeftOut, t.Query = report, leftOut, t.Reading.Query
}

// ReadNetlifyTOML reads the redirects of a netlify.toml. Each of its [[redirects]] is equivalent to
// a line of _redirects.
func ReadNetlifyTOML(t *migrate.Table, r io.Reader) error {
	text, err := t.ReadText(r)
	if err != nil {
		return err
	}
	t.Reading.Dialect, t.Reading.SkipUnsupported = rulefile.Netlify, true
	useRedirectsOptions(t)
	file, err := t.DecodeTOML(text)
	if err != nil {
		return err
	}
	list := file.Member("redirects")
	if list.Kind != 0 && list.At.Line == 0 {
		err = migrate.ErrorAt(t.Position(1, 1), "redirects are written as [[redirects]], each on its "+
			"own lines, not as an array or a value")
	} else {
		readTables(t, list)
	}
	for _, context := range file.Member("context").Inside() {
		if context.Member("redirects").Kind != 0 {
			t.Remark("the redirects of contexts, [[context.*.redirects]], are left out: they apply to " +
				"some deploys only")
			break
		}
	}
	if t.Entries() == 0 && err == nil {
		t.Remark("there are no [[redirects]] in the file")
	}
	return err
}

// readTables reads [[redirects]].
func readTables(t *migrate.Table, list migrate.Node) {
	known := []string{"from", "origin", "to", "destination", "status", "force", "query", "params",
		"parameters", "conditions", "headers", "signed", "sign", "signing", "rate_limit", "edge_handler"}
	var unknown migrate.Names
	for _, v := range list.Inside() {
		if t.IsGivenUp(v.At) {
			break
		}
		e := tomlRedirect{members: map[string]migrate.Node{}}
		for key, m := range v.Inside() {
			e.members[key.Text] = m
			if !slices.Contains(known, key.Text) {
				unknown.Add(key.Text)
			}
		}
		line := e.line()
		for _, wrong := range e.wrong {
			t.Wrong(v.At, "%s", wrong)
		}
		if e.wrong == nil {
			t.Reading.AddLine(t.Table, v.At, line, e.unsupported())
		}
	}
	t.RemarkSkipped("members of [[redirects]] without a meaning here are", unknown)
}

// tomlRedirect is a redirect of a netlify.toml that becomes a line of _redirects.
type tomlRedirect struct {
	members map[string]migrate.Node
	wrong   []string
}

func (e *tomlRedirect) refuse(format string, args ...any) {
	e.wrong = append(e.wrong, fmt.Sprintf(format, args...))
}

// line returns the line of _redirects.
func (e *tomlRedirect) line() string {
	words := []string{e.path("from", "origin")}
	if len(e.namesIn("query", "params", "parameters")) > 0 {
		words = append(words, "query=x")
	}
	words = append(words, e.path("to", "destination"))
	if status := e.status(); status != "" {
		words = append(words, status)
	}
	for _, name := range e.namesIn("conditions") {
		words = append(words, asWord(name)+"=x")
	}
	return strings.Join(words, " ")
}

// unsupported returns an error for members that a line of _redirects cannot express.
func (e *tomlRedirect) unsupported() error {
	for _, name := range []string{"headers", "signed", "sign", "signing", "rate_limit"} {
		m := e.members[name]
		switch has := !m.IsEmpty() || m.Text != "" && m.Text != "false"; {
		case !has:
		case name == "headers":
			return errors.New("a rule sets no headers for another server; use Caddy's reverse_proxy")
		case name == "rate_limit":
			return errors.New("a rule does not count requests; use a rate limit in front of it")
		default:
			return errors.New("a rule signs nothing; use Caddy's reverse_proxy")
		}
	}
	return nil
}

// path returns a path or a URL, which can have one of two names.
func (e *tomlRedirect) path(name, oldName string) string {
	m := e.members[name]
	if m.Kind == 0 {
		m = e.members[oldName]
	}
	text := strings.TrimSpace(m.Text)
	err := migrate.CheckText(strconv.Quote(name), text)
	switch {
	case m.Kind == 0 || m.Kind == '"' && text == "":
		err = fmt.Errorf("the redirect has no %q", name)
	case m.Kind != '"':
		err = fmt.Errorf("%q takes a string, not %s", name, m)
	case err == nil && name == "to":
		err = migrate.CheckDestination(text)
	}
	if err != nil {
		e.refuse("%s", err)
	}
	return asWord(text)
}

// asWord returns a text as a word of a line of _redirects.
func asWord(text string) string {
	if strings.HasPrefix(text, "#") {
		text = "%23" + text[1:]
	}
	return blanksEncoded.Replace(text)
}

var blanksEncoded = strings.NewReplacer(" ", "%20", "\t", "%09", "\r", "%0D", "\v", "%0B",
	"\f", "%0C", "\n", "%0A")

// status returns the status as a line of _redirects writes it.
func (e *tomlRedirect) status() (text string) {
	force, status := e.members["force"], e.members["status"]
	isForced, isTruth := force.Truth()
	if force.Kind != 0 && !isTruth {
		e.refuse(`"force" takes true or false, not %s`, force)
	}
	code, err := strconv.Atoi(status.Text)
	switch isError := code >= 400 && code <= 599; {
	case status.Kind == 0:
	case status.Kind != 'w' || err != nil:
		e.refuse(`"status" takes a number, not %s`, status)
	case !resolver.ValidStatus(code) && code != 200 && !isError:
		e.refuse("the status must be %s, not %d", migrate.StatusCodes, code)
	}
	if isForced {
		return cmp.Or(status.Text, "301") + "!"
	}
	return status.Text
}

// namesIn returns the keys in those tables of the redirect that have one of the given names.
func (e *tomlRedirect) namesIn(names ...string) (inside []string) {
	for _, name := range names {
		m := e.members[name]
		if m.Kind != 0 && m.Kind != '{' {
			e.refuse("%q takes a table, not %s", name, m)
		}
		for key := range m.Inside() {
			inside = append(inside, key.Text)
		}
	}
	return inside
}
