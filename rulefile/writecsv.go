package rulefile

import (
	"cmp"
	"encoding/csv"
	"errors"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// writeCSV writes rules as a table, in their order and with a header, separated by commas.
func writeCSV(w io.Writer, rules iter.Seq[resolver.Rule]) error {
	var errs Errors
	c := csv.NewWriter(w)
	row := make([]string, len(csvColumns))
	for i, column := range csvColumns {
		row[i] = column.name()
	}
	c.Write(row) //nolint:errcheck // c.Error gives the first error of all that is written
	for rule := range rules {
		if err := checkInCSV(rule); err != nil {
			errs.leaveOut(rule, err)
			continue
		}
		for i, column := range csvColumns {
			row[i] = column.fieldOf(rule)
		}
		c.Write(row) //nolint:errcheck // as above
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return err
	}
	return errs.orNil()
}

// notInCSV says why no row can hold a rule; it returns "" where one can.
func checkInCSV(rule resolver.Rule) error {
	if err := cmp.Or(checkWritable(rule), checkKeyField(rule.Key)); err != nil {
		return err
	}
	if _, cut := cutSlash(rule.Key); cut {
		return errors.New("a key has no leading \"/\", and would be read without it; remove it")
	}
	if strings.Contains(rule.Key, "\n") || strings.Contains(rule.Value, "\n") {
		return errors.New("a row holds no line end; write it percent-encoded")
	}
	return nil
}

// fieldOf returns what the column holds of a rule.
func (c csvColumn) fieldOf(rule resolver.Rule) string {
	switch {
	case c == keyColumn:
		return rule.Key
	case c == destinationColumn:
		return rule.Value
	case c == statusColumn && rule.Status != 0:
		return strconv.Itoa(rule.Status)
	case c == exactColumn && rule.Exact, c == unlistedColumn && rule.Unlisted:
		return c.name()
	}
	return ""
}
