package tables

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// exportedTable is a table that another program exported. A host is accepted only if all lines have
// the same host, so lines are held until the end.
type exportedTable struct {
	*migrate.Table
	exporter *exporter
	held     []lineOfHost
}

// lineOfHost is a line whose key has a host, or "" for none.
type lineOfHost struct {
	redirects.Line
	host string
}

// readExported reads all rows of a table. The caller has read the first one.
func readExported(
	t *migrate.Table, rows *rulefile.Rows, from *exporter, row []string,
) (err error) {
	p := exportedTable{Table: t, exporter: from}
	p.Program, p.LastCounts = from.name, from.lastCounts
	if from.slashesCount {
		p.Slashes = redirects.SlashesMerged
	}
	p.Remark("this is read as a table of %s", from.name)
	for _, remark := range from.remarks {
		p.Remark("%s", remark)
	}
	if !from.isBulk {
		var others migrate.Names
		for i, holds := range from.columns {
			if holds == "" && row[i] != "" {
				others.Add(row[i])
			}
		}
		p.RemarkSkipped("columns without a meaning here are", others)
		row, err = rows.Next()
	}
	for ; err == nil; row, err = rows.Next() {
		p.addRow(row, rows)
	}
	for _, e := range rows.Errors() {
		p.Wrong(e.Position, "%s", e.Message)
	}
	p.release()
	p.Status = cmp.Or(p.Status, from.status)
	return err
}

// addRow adds a row.
func (p *exportedTable) addRow(fields []string, rows *rulefile.Rows) {
	r := newRow(p.exporter, fields)
	r.setLine(p.Reading.Query)
	r.At = rows.At(0)
	switch state := strings.ToLower(r.fields["state"]); {
	case r.wrong != nil:
		p.Wrong(r.At, "%s", r.wrong)
	case slices.Contains([]string{"disabled", "inactive", "trashed"}, state):
		p.Drop(r.At, "the redirect is disabled in "+p.exporter.name)
	default:
		p.held = append(p.held, lineOfHost{r.Line, r.host})
	}
}

// release adds the held lines.
func (p *exportedTable) release() {
	others := map[string]bool{}
	for _, held := range p.held {
		if held.Refused == nil && held.host != "" && !slices.Contains(p.Reading.Hosts, held.host) {
			others[held.host] = true
		}
	}
	isOne := len(others) == 1 && len(p.Reading.Hosts) == 0
	for i, held := range p.held {
		p.held[i] = lineOfHost{} // frees memory for the table
		if held.Refused == nil && others[held.host] && !isOne {
			held.Refused = &redirects.Elsewhere{Err: migrate.OtherHostError(held.host),
				URL: "https://" + held.host + redirects.Visible(held.Path)}
		}
		p.Add(held.Line)
	}
	for host := range others {
		if isOne {
			p.Remark("all keys with a host have %s, which is left out", printable.Quote(host))
		}
	}
}
