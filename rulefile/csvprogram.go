package rulefile

import (
	"errors"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// csvProgram is a program whose tables can be told from ours by their columns.
type csvProgram struct {
	name string
	// header has for each column what it holds, by its name in small letters and without blanks,
	// which count if isSpelled is set.
	header    map[string]programColumn
	isSpelled bool
	// has are columns that its tables have, and any is one of several of which they have one.
	has, any []string
	status   int
	query    resolver.QueryMode // of rules, also where a destination has a query
	// isLink tells that a key is a URL, perhaps without a scheme.
	isLink, slashesCount bool
	lastCounts           bool // of rows with the same path
	remarks              []string
}

// programColumn is what a column of another program's table holds.
type programColumn uint8

const (
	otherColumn programColumn = iota
	programKey
	programLink // the key as a URL
	programHost
	programDestination
	programStatus
	programPermanent
	programState // active or disabled
	programRegex
	programFormat // plain or regex
	programType
	programQuery
	programSubdomains
	programSubpath
	programSuffix
)

// csvPrograms returns the programs, of which the first counts whose columns a table has.
func csvPrograms() []csvProgram {
	return []csvProgram{{
		name: "WordPress Redirection", has: []string{"source", "target", "regex"},
		header: map[string]programColumn{"source": programKey, "target": programDestination,
			"regex": programRegex, "code": programStatus, "type": programType, "status": programState},
		status: 301, slashesCount: true,
		remarks: []string{"WordPress Redirection answers a path with a query only where it is set to, " +
			"and " +
			"rules answer both"},
	}, {
		name: "Yoast", has: []string{"origin", "target", "type", "format"},
		header: map[string]programColumn{"origin": programKey, "target": programDestination,
			"type": programStatus, "format": programFormat},
		status: 301,
	}, {
		name: "Shlink", has: []string{"longurl"}, any: []string{"shortcode", "shorturl"},
		header: map[string]programColumn{"longurl": programDestination, "shortcode": programKey,
			"shorturl": programLink, "domain": programHost},
		status: 302, query: resolver.QueryMerge,
		remarks: []string{"rules of Shlink for devices, languages and dates are not in its tables"},
	}, {
		name: "Dub", has: []string{"shortlink", "destinationurl"},
		header: map[string]programColumn{"shortlink": programLink,
			"destinationurl": programDestination},
		status: 302, query: resolver.QueryMerge,
	}, {
		name: "Bitly", has: []string{"long_url"}, any: []string{"link", "bitlink", "custom_bitlinks"},
		header: map[string]programColumn{"long_url": programDestination, "link": programLink,
			"bitlink": programLink, "custom_bitlinks": programLink},
		status: 301,
	}, {
		name: "Kutt", has: []string{"address", "target"},
		header: map[string]programColumn{"address": programKey, "target": programDestination,
			"domain": programHost},
		status: 302,
	}, {
		name: "YOURLS", has: []string{"keyword", "url"},
		header: map[string]programColumn{"keyword": programKey, "url": programDestination},
		status: 301, query: resolver.QueryIgnore,
		remarks: []string{"YOURLS does not pass on the query of a request, unless a plugin does; " +
			"--query sets another mode"},
	}, {
		name: "Vercel", has: []string{"source", "destination"}, isSpelled: true,
		any: []string{"permanent", "statuscode", "casesensitive", "sensitive", "preservequeryparams"},
		header: map[string]programColumn{"source": programKey, "destination": programDestination,
			"permanent": programPermanent, "statuscode": programStatus, "query": programQuery,
			"preservequeryparams": programQuery},
		status: 307, query: resolver.QueryIgnore, slashesCount: true, lastCounts: true,
		remarks: []string{"Vercel takes paths of bulk redirects in either letter case, unless a row " +
			"says caseSensitive; the option fold case does so for a whole site",
			"Vercel does not pass on the query of a request, unless a row says so; --query sets " +
				"another mode"},
	}}
}

// cloudflareBulk are Cloudflare's bulk redirects, whose tables have no header.
func cloudflareBulk() *csvProgram {
	return &csvProgram{name: "Cloudflare", status: 301, query: resolver.QueryIgnore, isLink: true,
		slashesCount: true}
}

// cloudflareColumns are the columns of Cloudflare's bulk redirects.
func cloudflareColumns() []programColumn {
	return []programColumn{programLink, programDestination, programStatus, programQuery,
		programSubdomains, programSubpath, programSuffix}
}

// programOf returns the program whose table has a first row, and its columns; nil for none, or our
// own.
func programOf(row, hosts []string) (
	program *csvProgram, columns []programColumn, hasHeader bool,
) {
	for _, p := range csvPrograms() {
		names := p.namesOf(row)
		has := func(name string) bool { return slices.Contains(names, name) }
		lacks := func(name string) bool { return !has(name) }
		if slices.ContainsFunc(p.has, lacks) || p.any != nil && !slices.ContainsFunc(p.any, has) {
			continue
		}
		for _, name := range names {
			columns = append(columns, p.header[name])
		}
		return &p, columns, true
	}
	if isCloudflareRow(row, hosts) {
		return cloudflareBulk(), cloudflareColumns(), false
	}
	return nil, nil, false
}

// namesOf returns the names of columns as the program's header has them.
func (p *csvProgram) namesOf(row []string) []string {
	names := make([]string, len(row))
	for i, field := range row {
		names[i] = strings.ToLower(strings.TrimSpace(field))
		if !p.isSpelled {
			names[i] = strings.Join(strings.Fields(names[i]), "")
		}
	}
	return names
}

// isCloudflareRow reports whether a first row is one of Cloudflare's bulk redirects: its key is a
// URL or begins with one of the site's hosts, or it holds what is true or false, or more than ours.
func isCloudflareRow(row, hosts []string) bool {
	if len(row) < 2 || len(row) > len(cloudflareColumns()) ||
		!resolver.IsDestination(strings.TrimSpace(row[1])) {
		return false
	}
	host, _, isBelow := strings.Cut(row[0], "/")
	if isURL(row[0]) || len(row) > fewColumns || isBelow && isHostOf(hosts, host) {
		return true
	}
	isTruth := func(field string) bool {
		return strings.EqualFold(field, "true") || strings.EqualFold(field, "false")
	}
	return slices.ContainsFunc(row[2:], isTruth)
}

// isHostOf reports whether a host is one of a site's.
func isHostOf(hosts []string, host string) bool {
	name, err := weburl.ParseHost(host)
	return err == nil && slices.Contains(hosts, name)
}

// errOtherHost is why an entry of another host is refused.
func errOtherHost(host string) error {
	return errors.New("a rule has no host; if " + quote(host) + " is this site's, name it with " +
		"--line-host, else write the entry into the file of that host's site")
}
