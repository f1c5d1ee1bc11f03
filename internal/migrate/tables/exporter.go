package tables

import (
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// exporter is a program whose tables have recognisable columns.
type exporter struct {
	name string
	// header maps a column name to the meaning of the column. Names are in lower case without
	// blanks, unless isSpelled is set. A key is a path or a URL. A link is a URL, perhaps without a
	// scheme.
	header    map[string]string
	isSpelled bool
	// A table of the exporter has all columns in has, and one of those in any.
	has, any []string
	status   int
	query    resolver.QueryMode // of rules, also where a destination has a query
	// isBulk reports whether the table has no header.
	isBulk, slashesCount bool
	lastCounts           bool // of rows with the same path, the last one holds
	hasRelative          bool // a destination that is no URL is a path, also without "/"
	remarks              []string
	columns              []string // meanings of the table's columns; "" for none
}

// exporters returns the exporters. The first whose columns match a table counts.
func exporters() []exporter {
	return []exporter{{
		name: "WordPress Redirection", has: []string{"source", "target", "regex"},
		header: map[string]string{"source": "key", "target": "destination",
			"regex": "matching", "code": "status", "type": "kind", "status": "state"},
		status: 301, slashesCount: true,
		remarks: []string{"WordPress Redirection ignores requests with a query unless a redirect says " +
			"otherwise; rules answer them, too"},
	}, {
		name: "Rank Math", has: []string{"source", "matching", "destination"},
		header: map[string]string{"source": "key", "matching": "matching",
			"destination": "destination", "type": "status", "status": "state", "ignore": "ignore"},
		status: 301, hasRelative: true,
	}, {
		name: "Yoast", has: []string{"origin", "target", "type", "format"},
		header: map[string]string{"origin": "key", "target": "destination",
			"type": "status", "format": "matching"},
		status: 301,
	}, {
		name: "Shlink", has: []string{"longurl"}, any: []string{"shortcode", "shorturl"},
		header: map[string]string{"longurl": "destination", "shortcode": "key",
			"shorturl": "link", "domain": "domain"},
		status: 302, query: resolver.QueryMerge,
		remarks: []string{"Shlink's tables do not contain its rules for devices, languages and dates"},
	}, {
		name: "Dub", has: []string{"shortlink", "destinationurl"},
		header: map[string]string{"shortlink": "link", "destinationurl": "destination"},
		status: 302, query: resolver.QueryMerge,
	}, {
		name: "Bitly", has: []string{"long_url"}, any: []string{"link", "bitlink", "custom_bitlinks"},
		header: map[string]string{"long_url": "destination", "link": "link",
			"bitlink": "link", "custom_bitlinks": "link"},
		status: 301,
	}, {
		name: "Kutt", has: []string{"address", "target"},
		header: map[string]string{"address": "key", "target": "destination",
			"domain": "domain"},
		status: 302,
	}, {
		name: "YOURLS", has: []string{"keyword", "url"},
		header: map[string]string{"keyword": "key", "url": "destination"},
		status: 301, query: resolver.QueryIgnore,
		remarks: []string{"YOURLS does not pass on the query of a request, unless a plugin does; " +
			"--query sets another mode"},
	}, {
		name: "Vercel", has: []string{"source", "destination"}, isSpelled: true,
		any: []string{"permanent", "statuscode", "casesensitive", "sensitive", "preservequeryparams"},
		header: map[string]string{"source": "key", "destination": "destination",
			"permanent": "permanent", "statuscode": "status", "query": "query",
			"preservequeryparams": "query"},
		status: 307, query: resolver.QueryIgnore, slashesCount: true, lastCounts: true,
		remarks: []string{"Vercel matches paths of bulk redirects in either letter case, unless a row " +
			"says caseSensitive; the option fold case does so for a whole site",
			"Vercel does not pass on the query of a request, unless a row says so; --query sets " +
				"another mode"},
	}, {
		name: "Cloudflare", has: bulkHeader[:2], any: bulkHeader[2:],
		header: map[string]string{"source_url": "link", "target_url": "destination",
			"status_code": "status", "preserve_query_string": "query",
			"include_subdomains": "subdomains", "subpath_matching": "subpath",
			"preserve_path_suffix": "suffix"},
		status: 301, query: resolver.QueryIgnore, slashesCount: true,
	}}
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
		names := p.namesOf(first)
		lacks := func(name string) bool { return !slices.Contains(names, name) }
		has := func(name string) bool { return !lacks(name) }
		if slices.ContainsFunc(p.has, lacks) || p.any != nil && !slices.ContainsFunc(p.any, has) {
			continue
		}
		for _, name := range names {
			p.columns = append(p.columns, p.header[name])
		}
		p.isBulk = isBulk
		return &p
	}
	return nil
}

// namesOf returns the column names in the form that the exporter's header uses.
func (p *exporter) namesOf(first []string) []string {
	names := make([]string, len(first))
	for i, field := range first {
		names[i] = strings.ToLower(strings.TrimSpace(field))
		if !p.isSpelled {
			names[i] = strings.Join(strings.Fields(names[i]), "")
		}
	}
	return names
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
	return migrate.IsURL(row[0]) || len(row) > columnsWithoutHeader || isOwn ||
		slices.ContainsFunc(row[2:], isTruth)
}
