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

// row is a row of a table of another program.
type row struct {
	program                 *program
	key, link, host         string
	destination             string
	status, kind            string
	isPermanent, isDisabled bool
	saysQuery               resolver.QueryMode // resolver.QueryDefault for nothing
	isSubpath, keepsSuffix  bool
	refused                 error // why it has no equivalent
	wrong                   error // why it is nothing to its program either
}

// newRow takes in the fields of a row.
func newRow(p *program, fields []string) *row {
	r := &row{program: p}
	for i, field := range fields {
		err := migrate.CheckText("the row", field)
		if i >= len(p.columns) && field != "" {
			err = errors.New(printable.Quote(field) + " stands behind the last column; put a field with " +
				"what separates columns into quotation marks")
		}
		r.wrong = cmp.Or(err, r.wrong)
		if i < len(p.columns) && p.columns[i] != nil {
			p.columns[i](r, strings.Clone(strings.TrimSpace(field)))
		}
	}
	return r
}

func (r *row) setKey(field string)         { r.key = field }
func (r *row) setLink(field string)        { r.link = cmp.Or(r.link, field) }
func (r *row) setDestination(field string) { r.destination = field }
func (r *row) setStatus(field string)      { r.status = field }
func (r *row) setType(field string)        { r.kind = strings.ToLower(field) }
func (r *row) setState(field string)       { r.isDisabled = strings.EqualFold(field, "disabled") }
func (r *row) setPermanent(field string)   { r.isPermanent = r.isTrue(field) }
func (r *row) setSubpath(field string)     { r.isSubpath = r.isTrue(field) }
func (r *row) setSuffix(field string)      { r.keepsSuffix = r.isTrue(field) }

func (r *row) setDomain(field string) {
	if field != "" {
		r.setHost(field)
	}
}

func (r *row) setRegex(field string) {
	if field != "" && field != "0" && !strings.EqualFold(field, "plain") {
		r.refused = errors.New("a rule's path is no regular expression; write path and destination " +
			"into a map in YAML for --from yaml, or use Caddy's redir with a path_regexp matcher")
	}
}

func (r *row) setSubdomains(field string) {
	if r.isTrue(field) {
		r.refused = errors.New("a rule has no host, and none of its subdomains; write a row for each")
	}
}

func (r *row) setQuery(field string) {
	if r.isTrue(field) {
		r.saysQuery = resolver.QueryPreserve
	} else if field != "" {
		r.saysQuery = resolver.QueryIgnore
	}
}

// isTrue reports what a field of true or false says.
func (r *row) isTrue(field string) bool {
	switch strings.ToLower(field) {
	case "true", "t":
		return true
	case "false", "f", "":
		return false
	}
	r.wrong = errors.New("this column holds true or false, not " + printable.Quote(field))
	return false
}

// line makes a line of the row, or takes down why it has none.
func (r *row) line(t *migrate.Table) (line redirects.Line) {
	path, to := r.path(), r.target()
	if r.wrong == nil && r.refused == nil {
		r.answer(&line)
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
		r.refused = errors.New("a row of " + r.program.name + " has no \"*\" and \"$1\", and is for a " +
			"path alone; " + pathexpr.Remedy)
	}
	line.Path, line.To = redirects.Text(path), redirects.Literal(to)
	line.Query = cmp.Or(r.saysQuery, t.Reading.Query, r.query(to))
	switch {
	case r.isSubpath && r.keepsSuffix:
		line.Onward = redirects.Appends
	case r.isSubpath:
		line.Onward = redirects.Swallows
	}
	return line
}

// query returns what a row that does not say it does with the query of a request.
func (r *row) query(to string) resolver.QueryMode {
	if r.program.query == resolver.QueryMerge && !migrate.HasQuery(to) {
		return resolver.QueryDefault
	}
	return r.program.query
}

// path returns the path of a key, and takes in its host.
func (r *row) path() string {
	text := cmp.Or(r.link, r.key)
	switch host, path, hasScheme := migrate.CutURL(text); {
	case text == "" || text == "/":
		r.refused = errors.New("the row has no key")
	case hasScheme:
		r.setHost(host)
		return path
	case r.link != "":
		host, path, _ := strings.Cut(text, "/")
		r.setHost(host)
		return "/" + path
	case text[0] == '/':
		return text
	}
	return "/" + text
}

// setHost takes in the host of a link.
func (r *row) setHost(host string) {
	name, err := weburl.ParseHost(host)
	if err != nil {
		r.refused = errors.New(printable.Quote(host) + " is the name of no host; write the key as a path")
		return
	}
	r.host = name
}

// target returns the destination. Dub writes a "'" in front of what a spreadsheet would compute.
func (r *row) target() string {
	rest, is := strings.CutPrefix(r.destination, "'")
	if is && rest != "" && strings.IndexByte("=+-@", rest[0]) >= 0 {
		return rest
	}
	return r.destination
}

// answer gives the line its status, or makes it one that is gone.
func (r *row) answer(line *redirects.Line) {
	code, err := strconv.Atoi(r.status)
	switch {
	case r.kind != "" && r.kind != "url" && r.kind != "error":
		r.refused = errors.New("a rule leads somewhere by a redirect, and not by " +
			printable.Quote(r.kind) + "; use Caddy's rewrite or respond")
	case code == 410:
		line.Answer = redirects.Gone
	case err == nil && resolver.ValidStatus(code):
		line.Status = code
	case r.status == "" && r.isPermanent:
		line.Status = 308
	case r.status == "":
	case code >= 200 && code < 600:
		r.refused = migrate.NoStatus(code)
	default:
		r.wrong = errors.New("the status is " + migrate.StatusCodes + ", not " +
			printable.Quote(r.status))
	}
}
