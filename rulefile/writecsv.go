package rulefile

import (
	"encoding/csv"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// WriteCSV writes rules as a table, in their order and with a header, separated by commas: the
// form that [ReadCSV] reads. The error is w's own, or of type [Errors] and lists the
// rules that are left out, as no row can hold them: their keys are empty or begin with
// "#", or a line ends in them.
func WriteCSV(w io.Writer, rules iter.Seq[resolver.Rule]) error {
	var errs Errors
	c := csv.NewWriter(w)
	row := make([]string, len(csvColumns))
	for i, column := range csvColumns {
		row[i] = column.name()
	}
	c.Write(row) //nolint:errcheck // c.Error gives the first error of all that is written
	for rule := range rules {
		if problem := notInCSV(rule); problem != "" {
			errs.leaveOut(rule, problem)
			continue
		}
		for i, column := range csvColumns {
			row[i] = column.of(rule)
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
func notInCSV(rule resolver.Rule) string {
	if problem := unwritable(rule); problem != "" {
		return problem
	}
	if problem := keyFieldProblem(rule.Key); problem != "" {
		return problem
	}
	if strings.Contains(rule.Key, "\n") || strings.Contains(rule.Value, "\n") {
		return "a row holds no line end; write it percent-encoded"
	}
	return ""
}

// of returns what the column holds of a rule.
func (c csvColumn) of(rule resolver.Rule) string {
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
