package tables

import (
	"cmp"
	"io"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// ReadCSV reads a table of rules, or of another program.
func ReadCSV(in migrate.Input, add func(resolver.Rule)) (migrate.ReadResult, error) {
	var warnings []lint.Warning
	var wrong error // in rules
	found, err := migrate.LinesOf(func(t *migrate.Table, r io.Reader) error {
		rows := rulefile.NewRows(r, in.Source)
		generic := genericTable{Table: t, rows: rows, isUnstated: in.Reading.Exact == nil}
		rows.Renaming = rulefile.Renaming{Header: generic.rename, Field: generic.field}
		first, err := rows.Next()
		if err == nil {
			exporter := exporterOf(first, in.Reading.Hosts)
			if exporter != nil && in.Columns == nil {
				return readExported(t, rows, exporter, first)
			}
			if message := generic.checkHeader(first); message != "" {
				return migrate.ErrorAt(rows.At(0), message)
			}
		}
		warnings, wrong = generic.read(first, err, add)
		return nil
	})(in, add)
	found.Warnings = append(found.Warnings, warnings...)
	return found, cmp.Or(err, wrong)
}
