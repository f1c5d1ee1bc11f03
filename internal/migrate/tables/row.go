package tables

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// row is a row of a table of an exporter, and its line.
type row struct {
	redirects.Line
	exporter *exporter
	fields   map[string]string // by the meanings of their columns
	host     string            // of the key, or ""
	wrong    error             // why its exporter would reject it, too
}

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
	return r
}

// refuse records why no rule is equivalent. The first reason counts.
func (r *row) refuse(why error) { r.Refused = cmp.Or(r.Refused, why) }

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

// setLine makes a line from the row, or records why it cannot.
func (r *row) setLine(query resolver.QueryMode) {
	path, to := r.path(), r.target()
	r.checkMatching()
	r.setAnswer()
	if r.Answer == redirects.Leads {
		r.refuse(migrate.CheckDestination(to))
	}
	if strings.Contains(path, "*") || strings.Contains(to, "$1") {
		r.refuse(errors.New("a row of " + r.exporter.name + " has no patterns such as \"*\" and " +
			"\"$1\"; " + pathexpr.Remedy))
	}
	r.refuse(migrate.CheckPath(path))
	r.To = redirects.Literal(to)
	if r.Refused == nil {
		r.Path = redirects.Text(path)
	}
	r.Query = cmp.Or(query, r.exporter.query)
	switch keepsQuery := r.isTrue("query"); {
	case keepsQuery:
		r.Query = resolver.QueryPreserve
	case r.fields["query"] != "":
		r.Query = resolver.QueryIgnore
	case r.exporter.query == resolver.QueryMerge && !redirects.HasQuery(to):
		r.Query = query
	}
	if strings.EqualFold(r.fields["ignore"], "case") {
		r.Notes = append(r.Notes, "the redirect also matches its path in other letter case; the "+
			"option fold case does so for the whole site")
	}
	switch isSubpath, keepsSuffix := r.isTrue("subpath"), r.isTrue("suffix"); {
	case isSubpath && keepsSuffix:
		r.Onward = redirects.Appends
	case isSubpath:
		r.Onward = redirects.Swallows
	}
}

// checkMatching refuses a row that matches more than one path of one host.
func (r *row) checkMatching() {
	matching := strings.ToLower(r.fields["matching"])
	if !slices.Contains([]string{"", "0", "plain", "exact"}, matching) {
		r.refuse(errors.New("a rule matches a whole path, or all below it, not by " +
			printable.Quote(matching) + " (a regular expression, or a part of a path); write path and " +
			"destination as a map in YAML for --from yaml, or use Caddy's redir with a path_regexp matcher"))
	}
	if r.isTrue("subdomains") {
		r.refuse(errors.New("a rule has no host, and cannot match subdomains; write a row for each"))
	}
}

// path returns the path of the key, and records its host.
func (r *row) path() string {
	link := r.fields["link"]
	text := cmp.Or(link, r.fields["key"])
	host, path, isURL := redirects.CutURL(text)
	switch {
	case text == "" || text == "/":
		r.refuse(errors.New("the row has no key"))
	case !isURL && link != "":
		host, path, _ = strings.Cut(text, "/")
		path = "/" + path
	case !isURL:
		path = "/" + strings.TrimPrefix(text, "/")
	}
	if host = cmp.Or(host, r.fields["domain"]); host != "" {
		name, err := weburl.ParseHost(host)
		if err != nil {
			r.refuse(errors.New(printable.Quote(host) + " is not the name of a host; write the key as a " +
				"path"))
		}
		r.host = name
	}
	return path
}

// target returns the destination.
func (r *row) target() string {
	to := r.fields["destination"]
	if r.exporter.hasRelative && to != "" && to[0] != '/' && !redirects.IsURL(to) {
		return "/" + to
	}
	return to
}

// setAnswer sets the status, or says that the link is gone.
func (r *row) setAnswer() {
	status, kind := r.fields["status"], strings.ToLower(r.fields["kind"])
	code, err := strconv.Atoi(status)
	isPermanent := r.isTrue("permanent")
	switch {
	case kind != "" && kind != "url" && kind != "error":
		r.refuse(errors.New("a rule can redirect, but not " + printable.Quote(kind) + "; use Caddy's " +
			"rewrite or respond"))
	case code == 410:
		r.Answer = redirects.Gone
	case err == nil && resolver.ValidStatus(code):
		r.Status = code
	case status == "" && isPermanent:
		r.Status = 308
	case status == "":
	case code >= 200 && code < 600:
		r.refuse(migrate.StatusError(code))
	default:
		r.wrong = cmp.Or(r.wrong, errors.New("the status must be "+migrate.StatusCodes+", not "+
			printable.Quote(status)))
	}
}
