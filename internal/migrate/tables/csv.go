package tables

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// ReadCSV reads a table of rules, or of another program.
func ReadCSV(in migrate.Input, add func(resolver.Rule)) (migrate.ReadResult, error) {
	u := newGenericTable(in)
	rows := u.rows
	first, err := rows.Next()
	if err != nil {
		return u.readRules(first, err, add)
	}
	if len(in.Columns) > 0 {
		err = u.checkColumns(first)
	} else if p := exporterOf(first, in.Reading.Hosts); p != nil {
		read := func(t *migrate.Table, _ io.Reader) error {
			table := table{t: t, rows: rows, exporter: p}
			return table.read(first)
		}
		return migrate.LinesOf(read)(in, add)
	} else if !rows.IsHeader(first) && isHeaderWithoutKey(first) {
		err = u.headerError("the header has no column for the key, or none for the destination: " +
			migrate.QuoteAll(first) + "; name the columns key and destination, or say which they are " +
			"with --columns key=NAME,to=NAME")
	}
	if err != nil {
		return migrate.ReadResult{}, err
	}
	return u.readRules(first, nil, add)
}

// table reads a table that another program exported. A host is accepted only if all lines have
// the same host, so lines are held until the end.
type table struct {
	t        *migrate.Table
	rows     *rulefile.Rows
	exporter *exporter
	held     []heldLine
}

// heldLine is a line with its host, or "" for no host.
type heldLine struct {
	line redirects.Line
	host string
}

// read reads all rows. The caller has read the first.
func (p *table) read(row []string) (err error) {
	from := p.exporter
	p.t.Program, p.t.LastCounts = from.name, from.lastCounts
	if from.slashesCount {
		p.t.Slashes = redirects.SlashesMerged
	}
	p.t.Remark("this is read as a table of %s", from.name)
	for _, remark := range from.remarks {
		p.t.Remark("%s", remark)
	}
	if from.isBulk {
		p.addRow(row)
	} else {
		var others migrate.Names
		for i, holds := range from.columns {
			if holds == "" && row[i] != "" {
				others.Add(row[i])
			}
		}
		p.t.RemarkSkipped("columns without a meaning here are", others)
	}
	for row, err = p.rows.Next(); err == nil; row, err = p.rows.Next() {
		p.addRow(row)
	}
	for _, e := range p.rows.Errors() {
		p.t.Wrong(e.Position, "%s", e.Message)
	}
	p.release()
	p.t.Status = cmp.Or(p.t.Status, from.status)
	return err
}

// addRow adds a row.
func (p *table) addRow(fields []string) {
	at := p.rows.At(0)
	r := newRow(p.exporter, fields)
	line := r.line(p.t)
	line.At = at
	switch {
	case r.wrong != nil:
		p.t.Wrong(at, "%s", r.wrong)
	case isOff(r.fields["state"]):
		p.t.Drop(at, "the redirect is disabled in "+p.exporter.name)
	case r.refused != nil:
		p.t.Refuse(at, nil, r.refused)
	default:
		p.held = append(p.held, heldLine{line, r.host})
	}
}

// isOff reports whether a redirect in a state does nothing.
func isOff(state string) bool {
	return slices.Contains([]string{"disabled", "inactive", "trashed"}, strings.ToLower(state))
}

// release adds the held lines.
func (p *table) release() {
	others := map[string]bool{}
	for _, held := range p.held {
		if held.host != "" && !slices.Contains(p.t.Reading.Hosts, held.host) {
			others[held.host] = true
		}
	}
	isOne := len(others) == 1 && len(p.t.Reading.Hosts) == 0
	for i, held := range p.held {
		p.held[i] = heldLine{} // frees memory for the table
		if others[held.host] && !isOne {
			held.line.Refused = migrate.OtherHostError(held.host)
		}
		p.t.Add(held.line)
	}
	for host := range others {
		if isOne {
			p.t.Remark("all keys with a host have %s, which is left out", printable.Quote(host))
		}
	}
}
