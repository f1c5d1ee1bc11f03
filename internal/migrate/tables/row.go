package tables

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// row is a row of a table of an exporter.
type row struct {
	exporter *exporter
	fields   map[string]string
	host     string
	refused  error // why no rule is equivalent
	wrong    error // why its exporter would reject it, too
}

var errNoExpression = errors.New("a rule's path is not a regular expression; write path and " +
	"destination as a map in YAML for --from yaml, or use Caddy's redir with a path_regexp matcher")

// newRow parses the fields of a row. If several columns have the same meaning, the first one with
// text counts.
func newRow(p *exporter, fields []string) *row {
	r := &row{exporter: p, fields: map[string]string{}}
	for i, field := range fields {
		err := migrate.CheckText("the row", field)
		if i < len(p.columns) {
			name := p.columns[i]
			r.fields[name] = cmp.Or(r.fields[name], strings.Clone(strings.TrimSpace(field)))
		} else if field != "" {
			err = errors.New(printable.Quote(field) + " is beyond the last column; put fields that " +
				"contain the separator into quotation marks")
		}
		r.wrong = cmp.Or(err, r.wrong)
	}
	if domain := r.fields["domain"]; domain != "" {
		r.setHost(domain)
	}
	regex := r.fields["regex"]
	if regex != "" && regex != "0" && !strings.EqualFold(regex, "plain") {
		r.refused = errNoExpression
	}
	switch matching := strings.ToLower(r.fields["matching"]); matching {
	case "", "exact":
	case "regex":
		r.refused = errNoExpression
	default:
		r.refused = errors.New("a rule matches a whole path, or all below it, not what " +
			printable.Quote(matching) + " says; write a row for each path, or use Caddy's redir with a " +
			"path matcher")
	}
	if r.isTrue("subdomains") {
		r.refused = errors.New("a rule has no host, and cannot match subdomains; write a row for each")
	}
	return r
}

// isTrue returns the value of a boolean field.
func (r *row) isTrue(name string) bool {
	switch field := r.fields[name]; strings.ToLower(field) {
	case "true", "t":
		return true
	case "false", "f", "":
	default:
		r.wrong = cmp.Or(r.wrong, errors.New("this column holds true or false, not "+
			printable.Quote(field)))
	}
	return false
}

// line makes a line from the row, or records why it cannot.
func (r *row) line(t *migrate.Table) (line redirects.Line) {
	path, to, keepsQuery := r.path(), r.target(), r.isTrue("query")
	isSubpath, keepsSuffix := r.isTrue("subpath"), r.isTrue("suffix")
	isPermanent := r.isTrue("permanent")
	if r.wrong == nil && r.refused == nil {
		r.answer(&line, isPermanent)
	}
	if r.wrong != nil || r.refused != nil {
		return line
	}
	if line.Answer == redirects.Leads {
		r.refused = migrate.CheckDestination(to)
	}
	if err := migrate.CheckPath(path); err != nil {
		r.refused = err
	} else if strings.Contains(path, "*") || strings.Contains(to, "$1") {
		r.refused = errors.New("a row of " + r.exporter.name + " has no patterns such as \"*\" and " +
			"\"$1\"; " + pathexpr.Remedy)
	}
	line.Path, line.To = redirects.Text(path), redirects.Literal(to)
	switch {
	case keepsQuery:
		line.Query = resolver.QueryPreserve
	case r.fields["query"] != "":
		line.Query = resolver.QueryIgnore
	case r.exporter.query == resolver.QueryMerge && !migrate.HasQuery(to):
		line.Query = t.Reading.Query
	default:
		line.Query = cmp.Or(t.Reading.Query, r.exporter.query)
	}
	if strings.EqualFold(r.fields["ignore"], "case") {
		line.Notes = append(line.Notes, "the redirect also matches its path in other letter case; the "+
			"option fold case does so for the whole site")
	}
	switch {
	case isSubpath && keepsSuffix:
		line.Onward = redirects.Appends
	case isSubpath:
		line.Onward = redirects.Swallows
	}
	return line
}

// path returns the path of the key, and records its host.
func (r *row) path() string {
	link := r.fields["link"]
	text := cmp.Or(link, r.fields["key"])
	switch host, path, hasScheme := migrate.CutURL(text); {
	case text == "" || text == "/":
		r.refused = errors.New("the row has no key")
	case hasScheme:
		r.setHost(host)
		return path
	case link != "":
		host, path, _ := strings.Cut(text, "/")
		r.setHost(host)
		return "/" + path
	case text[0] == '/':
		return text
	}
	return "/" + text
}

// setHost records the host of a link.
func (r *row) setHost(host string) {
	name, err := weburl.ParseHost(host)
	if err != nil {
		r.refused = errors.New(printable.Quote(host) + " is not the name of a host; write the key as a " +
			"path")
		return
	}
	r.host = name
}

// target returns the destination. Dub writes a "'" before text that a spreadsheet would take for a
// formula.
func (r *row) target() string {
	to := r.fields["destination"]
	rest, is := strings.CutPrefix(to, "'")
	if is && rest != "" && strings.IndexByte("=+-@", rest[0]) >= 0 {
		return rest
	}
	if r.exporter.hasRelative && to != "" && to[0] != '/' && !migrate.IsURL(to) {
		return "/" + to
	}
	return to
}

// answer sets the status of the line, or marks the line as gone.
func (r *row) answer(line *redirects.Line, isPermanent bool) {
	status, kind := r.fields["status"], strings.ToLower(r.fields["kind"])
	code, err := strconv.Atoi(status)
	switch {
	case kind != "" && kind != "url" && kind != "error":
		r.refused = errors.New("a rule can redirect, but not " +
			printable.Quote(kind) + "; use Caddy's rewrite or respond")
	case code == 410:
		line.Answer = redirects.Gone
	case err == nil && resolver.ValidStatus(code):
		line.Status = code
	case status == "" && isPermanent:
		line.Status = 308
	case status == "":
	case code >= 200 && code < 600:
		r.refused = migrate.StatusError(code)
	default:
		r.wrong = errors.New("the status must be " + migrate.StatusCodes + ", not " +
			printable.Quote(status))
	}
}
