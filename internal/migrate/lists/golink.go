package lists

import (
	"cmp"
	"io"
	"regexp"
	"strings"
	"text/template"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// ReadGolink reads an export of golink: an object on each line. Its Long can be a template.
func ReadGolink(t *migrate.Table, r io.Reader) error {
	t.Program, t.Status = "golink", cmp.Or(t.Status, 302)
	links, err := t.Decode(r, t.DecodeJSON)
	readList(t, links, strings.Fields("Short Long Created LastEdit Owner"), (*object).addLink)
	if t.Entries() > 0 {
		t.Remark("golink matches keys in either letter case and with any \"-\" in them, and keeps the " +
			"parameters of request and destination; rules do not, but the option fold case matches keys " +
			"in either case, and a request's parameter replaces the destination's of the same name")
	}
	return err
}

// addLink adds the line of a link: for its path and all below, with the rest in the destination. It
// is for the path alone if the rest would follow a query or a fragment.
func (o *object) addLink() {
	short, long := o.text("Short"), o.text("Long")
	if short == "" || long == "" {
		o.refuse("a link is an object such as {\"Short\": \"docs\", \"Long\": " +
			"\"https://docs.example\"}, and this one has no key or no destination")
	}
	line, to, below := &o.line, long, ""
	line.Path = redirects.Text("/" + redirects.Encoded(short))
	if strings.Contains(short, "/") {
		o.refuse("golink uses the first segment of a path as the key, so no request gets to %s",
			printable.Quote(short))
	}
	switch exact := o.Reading.Exact; {
	case strings.Contains(long, "{{"):
		to, below = o.execute(long, ""), o.execute(long, rest)
	case !strings.ContainsAny(long, "?#"):
		below = strings.TrimSuffix(long, "/") + "/" + rest
	case exact == nil:
		line.Notes = []string{"golink appends the rest of a path to the destination's query or " +
			"fragment; the rule matches " + redirects.Visible(line.Path) + " alone"}
	}
	line.To = redirects.Literal(to)
	if below != "" && (o.Reading.Exact == nil || !*o.Reading.Exact) {
		line.Itself, line.IsPrefix = line.To, true
		line.Path, line.To = redirects.Below(line.Path), migrate.RestIn(below, rest)
	}
	if cmp.Or(migrate.CheckDestination(to), migrate.CheckPieces(line.To)) != nil {
		o.refuse("%w", migrate.CheckDestination(long))
	}
	if redirects.HasQuery(to + below) {
		line.Query = cmp.Or(o.Reading.Query, resolver.QueryPreserve)
	}
	o.Add(*line)
}

// rest stands for the rest of the path in a destination. No text has it.
const rest = "\x01"

// linkData is what a template can use: .Path, the rest of the path. It is a function, which a
// template does not print, so that "." has a text within "with" alone.
type linkData func() string

// Path returns the rest of the path.
func (d linkData) Path() string { return d() }

// execute returns the destination of a template for a rest of the path.
func (o *object) execute(long, path string) string {
	const longest = 1 << 16 // of any destination; a template may not nest without limit
	if len(long) > longest {
		o.refuse("the template is longer than 64 KiB; no destination is so long")
		return ""
	}
	for _, action := range golinkAction.FindAllStringSubmatch(long, -1) {
		if !golinkKnown.MatchString(action[1]) {
			o.refuse("the only template that a rule can express is {{.Path}}, the rest of the path; "+
				"write a rule for each destination, or use Caddy's redir; this one has %s",
				printable.Quote(action[1]))
			return ""
		}
	}
	var to strings.Builder
	escape := func(text string) string {
		if !strings.ContainsAny(to.String(), "?#") { // rules escape there anyway
			o.refuse("a rule escapes the rest of the path only in a query or a fragment; write {{.Path}}")
		}
		return text
	}
	functions := template.FuncMap{"PathEscape": escape, "QueryEscape": escape}
	t, err := template.New("Long").Funcs(functions).Parse(long)
	if err == nil {
		err = t.Execute(&to, linkData(func() string { return path }))
	}
	if err != nil {
		o.refuse("golink does not accept this template: %w", err)
	}
	return to.String()
}

var (
	// golinkAction matches an action of a template, golinkKnown one that a rule can express.
	golinkAction = regexp.MustCompile(`(?s)\{\{\s*(.*?)\s*(?:\}\}|$)`)
	golinkKnown  = regexp.MustCompile(`^(?:(?:if|with)\s+\.Path|else|end|` +
		`(?:(?:Path|Query)Escape\s+)?\.(?:Path)?|\.(?:Path)?\s*\|\s*(?:Path|Query)Escape)$`)
)
