package lists

import (
	"cmp"
	"errors"
	"io"
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

// netlifyMembers are the known members of [[redirects]].
var netlifyMembers = strings.Fields("from origin to destination status force query params " +
	"parameters conditions headers signed sign signing rate_limit edge_handler")

// readTables reads [[redirects]].
func readTables(t *migrate.Table, list migrate.Node) {
	var unknown migrate.Names
	readList(t, list, netlifyMembers, &unknown, func(o *object) {
		line := o.netlifyLine()
		if o.line.Refused != nil {
			t.Wrong(o.line.At, "%s", o.line.Refused)
		} else {
			t.Reading.AddLine(t.Table, o.line.At, line, o.unsupported())
		}
	})
	t.RemarkSkipped("members of [[redirects]] without a meaning here are", unknown)
}

// netlifyLine returns the line of _redirects that is equivalent.
func (o *object) netlifyLine() string {
	words := []string{o.word("from", "origin")}
	if len(o.namesIn("query", "params", "parameters")) > 0 {
		words = append(words, "query=x")
	}
	words = append(words, o.word("to", "destination"))
	if status := o.status(); status != "" {
		words = append(words, status)
	}
	for _, name := range o.namesIn("conditions") {
		words = append(words, asWord(name)+"=x")
	}
	return strings.Join(words, " ")
}

// unsupported returns an error for members that a line of _redirects cannot express.
func (o *object) unsupported() error {
	for _, name := range []string{"headers", "signed", "sign", "signing", "rate_limit"} {
		m := o.Member(name)
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

// word returns a path or a URL, which can have one of two names, as a word of a line.
func (o *object) word(name, oldName string) string {
	text := strings.TrimSpace(cmp.Or(o.text(name), o.text(oldName)))
	if text == "" {
		o.refuse("the redirect has no %q", name)
	} else if name == "to" {
		o.line.Refused = cmp.Or(o.line.Refused, migrate.CheckDestination(text))
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
func (o *object) status() (text string) {
	isForced, _ := o.truth("force")
	status := o.Member("status")
	code, err := strconv.Atoi(status.Text)
	isKnown := resolver.ValidStatus(code) || code == 200 || code >= 400 && code <= 599
	if status.Kind != 0 && (status.Kind != 'w' || err != nil || !isKnown) {
		o.refuse("the status must be %s as a number, not %s", migrate.StatusCodes, status)
	}
	if isForced {
		return cmp.Or(status.Text, "301") + "!"
	}
	return status.Text
}

// namesIn returns the keys in those tables of the redirect that have one of the given names.
func (o *object) namesIn(names ...string) (inside []string) {
	for _, name := range names {
		m := o.Member(name)
		if m.Kind != 0 && m.Kind != '{' {
			o.refuse("%q takes a table, not %s", name, m)
		}
		for key := range m.Inside() {
			inside = append(inside, key.Text)
		}
	}
	return inside
}
