package tables

import (
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// exporter is a program whose tables have recognisable columns.
type exporter struct {
	name string
	// header has the names of columns and what they hold. A key is a path or a URL. A link is a
	// URL, perhaps without a scheme. A table of the exporter has all columns with a "!" in front,
	// and one of those with a "?". Names are in lower case without blanks, unless isSpelled is set.
	header    string
	isSpelled bool
	status    int
	query     resolver.QueryMode // of rules, also where a destination has a query
	// slashesCount reports whether a slash at the end of a path makes a difference, and lastCounts
	// whether of rows with the same path the last one holds.
	slashesCount, lastCounts bool
	hasRelative              bool // a destination that is no URL is a path, also without "/"
	remarks                  []string

	isBulk  bool     // the table has no header
	columns []string // what the table's columns hold; "" for nothing with a meaning here
}

// exporters returns the exporters. The first whose columns match a table counts.
func exporters() []exporter {
	return []exporter{
		{name: "WordPress Redirection", status: 301, slashesCount: true,
			header: "!source=key !target=destination !regex=matching code=status type=kind status=state",
			remarks: []string{"WordPress Redirection ignores requests with a query unless a redirect " +
				"says otherwise; rules answer them, too"}},
		{name: "Rank Math", status: 301, hasRelative: true,
			header: "!source=key !matching=matching !destination=destination type=status status=state " +
				"ignore=ignore"},
		{name: "Yoast", status: 301,
			header: "!origin=key !target=destination !type=status !format=matching"},
		{name: "Shlink", status: 302, query: resolver.QueryMerge,
			header:  "!longurl=destination ?shortcode=key ?shorturl=link domain=domain",
			remarks: []string{"Shlink's tables do not contain its rules for devices, languages and dates"}},
		{name: "Dub", status: 302, query: resolver.QueryMerge,
			header: "!shortlink=link !destinationurl=destination"},
		{name: "Bitly", status: 301,
			header: "!long_url=destination ?link=link ?bitlink=link ?custom_bitlinks=link"},
		{name: "Kutt", status: 302, header: "!address=key !target=destination domain=domain"},
		{name: "YOURLS", status: 301, query: resolver.QueryIgnore,
			header: "!keyword=key !url=destination",
			remarks: []string{"YOURLS does not pass on the query of a request, unless a plugin does; " +
				"--query sets another mode"}},
		{name: "Vercel", status: 307, query: resolver.QueryIgnore,
			isSpelled: true, slashesCount: true, lastCounts: true,
			header: "!source=key !destination=destination ?permanent=permanent ?statuscode=status " +
				"?casesensitive= ?sensitive= ?preservequeryparams=query query=query",
			remarks: []string{"Vercel matches paths of bulk redirects in either letter case, unless a " +
				"row says caseSensitive; the option fold case does so for a whole site",
				"Vercel does not pass on the query of a request, unless a row says so; --query sets " +
					"another mode"}},
		{name: "Cloudflare", status: 301, query: resolver.QueryIgnore, slashesCount: true,
			header: "!source_url=link !target_url=destination ?status_code=status " +
				"?preserve_query_string=query ?include_subdomains=subdomains ?subpath_matching=subpath " +
				"?preserve_path_suffix=suffix"},
	}
}

// bulkHeader are the columns of Cloudflare's bulk redirects. Most tables do not have this row.
var bulkHeader = []string{"source_url", "target_url", "status_code", "preserve_query_string",
	"include_subdomains", "subpath_matching", "preserve_path_suffix"}

// exporterOf returns the exporter of a table with the given first row. It returns nil for a table
// of rules.
func exporterOf(first, hosts []string) *exporter {
	isBulk := isBulkRow(first, hosts)
	if isBulk {
		first = bulkHeader
	}
	for _, p := range exporters() {
		if p.isOf(first) {
			p.isBulk = isBulk
			return &p
		}
	}
	return nil
}

// isOf reports whether a header is one of the exporter's, and sets what its columns hold.
func (p *exporter) isOf(header []string) bool {
	names := make([]string, len(header))
	for i, field := range header {
		names[i] = strings.ToLower(strings.TrimSpace(field))
		if !p.isSpelled {
			names[i] = strings.Join(strings.Fields(names[i]), "")
		}
	}
	holds, needsOne, hasOne := map[string]string{}, false, false
	for column := range strings.FieldsSeq(p.header) {
		name, what, _ := strings.Cut(strings.TrimLeft(column, "!?"), "=")
		holds[name] = what
		isThere := slices.Contains(names, name)
		switch {
		case column[0] == '!' && !isThere:
			return false
		case column[0] == '?':
			needsOne, hasOne = true, hasOne || isThere
		}
	}
	for _, name := range names {
		p.columns = append(p.columns, holds[name])
	}
	return hasOne || !needsOne
}

// isBulkRow reports whether a row is one of Cloudflare's bulk redirects. The key is a URL or begins
// with one of the site's hosts. Or a field is true or false, or there are more columns than ours.
func isBulkRow(row, hosts []string) bool {
	const columnsWithoutHeader = 5 // of ours
	if len(row) < 2 || len(row) > len(bulkHeader) ||
		!resolver.IsDestination(strings.TrimSpace(row[1])) {
		return false
	}
	name, _, isBelow := strings.Cut(row[0], "/")
	host, err := weburl.ParseHost(name)
	isOwn := isBelow && err == nil && slices.Contains(hosts, host)
	isTruth := func(field string) bool {
		return strings.EqualFold(field, "true") || strings.EqualFold(field, "false")
	}
	return redirects.IsURL(row[0]) || len(row) > columnsWithoutHeader || isOwn ||
		slices.ContainsFunc(row[2:], isTruth)
}
