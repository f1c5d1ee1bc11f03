package lists

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
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
		return migrate.ErrorAt(t.Position(1, 1), "redirects are written as [[redirects]], each on its "+
			"own lines, not as an array or a value")
	}
	readList(t, list, netlifyMembers, (*object).addNetlify)
	if strings.Contains(text, ".redirects]]") {
		t.Remark("the redirects of contexts, [[context.*.redirects]], are left out: they apply to " +
			"some deploys only")
	}
	if t.Entries() == 0 {
		t.Remark("there are no [[redirects]] in the file")
	}
	return nil
}

// netlifyMembers are the known members of [[redirects]].
var netlifyMembers = strings.Fields("from origin to destination status force query params " +
	"parameters conditions headers signed sign signing rate_limit edge_handler")

// addNetlify adds the line of _redirects that is equivalent.
func (o *object) addNetlify() {
	words := []string{o.word("from", "origin")}
	for _, name := range []string{"query", "params", "parameters"} {
		for key, value := range o.table(name) {
			words = append(words, asWord(key.Text+"="+value.Text))
		}
	}
	words = append(words, o.word("to", "destination"))
	status := o.Member("status").String() // "" if there is none
	if o.Member("force").Text == "true" {
		status = cmp.Or(status, "301") + "!"
	}
	if status != "" {
		words = append(words, asWord(status))
	}
	for key := range o.table("conditions") {
		words = append(words, asWord(key.Text)+"=x")
	}
	if o.line.Refused != nil {
		o.Wrong(o.line.At, "%s", o.line.Refused)
		return
	}
	o.Reading.AddLine(o.Table.Table, o.line.At, strings.Join(words, " "), o.unsupported())
}

// unsupported returns an error for members that a line of _redirects cannot express.
func (o *object) unsupported() error {
	for key, m := range o.Inside() {
		instead := insteadOfMember[key.Text]
		if instead != "" && (!m.IsEmpty() || m.Text != "" && m.Text != "false") {
			return fmt.Errorf("a rule has no %q; use %s", key.Text, instead)
		}
	}
	return nil
}

var insteadOfMember = map[string]string{
	"headers": "Caddy's reverse_proxy", "signed": "Caddy's reverse_proxy",
	"sign": "Caddy's reverse_proxy", "signing": "Caddy's reverse_proxy",
	"rate_limit": "a rate limit in front of it",
}

// table returns the members of a table in an entry.
func (o *object) table(name string) iter.Seq2[migrate.Node, migrate.Node] {
	m := o.Member(name)
	if m.Kind != 0 && m.Kind != '{' {
		o.refuse("%q takes a table, not %s", name, m)
	}
	return m.Inside()
}

// word returns a path or a URL, which can have one of two names, as a word of a line.
func (o *object) word(name, oldName string) string {
	text := strings.TrimSpace(cmp.Or(o.text(name), o.text(oldName)))
	if text == "" {
		o.refuse("the redirect has no %q", name)
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
