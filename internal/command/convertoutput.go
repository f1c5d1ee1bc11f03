package command

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// standardOutput is the name of standard output.
const standardOutput = "-"

// conversion writes a table.
type conversion func(io.Writer) (migrate.Conversion, error)

// write writes a table in a format to its destination, unless it has no rules and should have. Then
// the error is a [negative].
func (c *converting) write(
	cmd *cobra.Command, format rulefile.Format, convert conversion,
) (done migrate.Conversion, err error) {
	if c.output == standardOutput {
		return c.writeTable(cmd.OutOrStdout(), format, convert)
	}
	inFile := source.ReplaceFile(cmd.Context(), c.output, func(file io.Writer) error {
		done, err = c.writeTable(file, format, convert)
		return err
	})
	if err == nil && inFile != nil {
		err = fmt.Errorf("%s: %w", c.output, inFile)
	}
	return done, err
}

// writeTable is write to a writer.
func (c *converting) writeTable(
	w io.Writer, format rulefile.Format, convert conversion,
) (done migrate.Conversion, err error) {
	table, err := newHeldTable(w, format)
	if err != nil {
		return done, err
	}
	out := bufio.NewWriter(table)
	done, err = convert(out)
	if err = errors.Join(err, out.Flush()); err != nil || table.hasRules {
		return done, err
	}
	if err := c.checkEmpty(format, done); err != nil {
		return done, err
	}
	return done, table.release()
}

// checkEmpty returns why a table without rules is not written, or nil.
func (c *converting) checkEmpty(format rulefile.Format, done migrate.Conversion) error {
	switch {
	case differs(done) && c.output == standardOutput:
		return errNegative
	case differs(done):
		return negative{fmt.Errorf("no line makes a rule, so %s is not written", c.output)}
	case c.output != standardOutput && !isEmptyTable(c.output, format):
		return negative{fmt.Errorf("there are no rules, and %s is not replaced by a table without any; "+
			"remove it first if that is meant", c.output)}
	}
	return nil
}

// differs reports whether lines have changed their meaning.
func differs(done migrate.Conversion) bool {
	return done.Approximated.Count+done.Refused.Count > 0
}

// isEmptyTable reports whether a file is missing or a table without rules.
func isEmptyTable(path string, format rulefile.Format) bool {
	file, err := os.Open(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer file.Close()
	isEmpty := true
	err = rulefile.Read(file, format, path, func(resolver.Rule) { isEmpty = false })
	return isEmpty && err == nil
}

// heldTable holds back a table until it has rules. Then it is longer than an empty one.
type heldTable struct {
	to       io.Writer
	empty    int // the length of a table without rules
	held     bytes.Buffer
	hasRules bool
}

func newHeldTable(to io.Writer, format rulefile.Format) (*heldTable, error) {
	var empty bytes.Buffer
	err := migrate.Write(&empty, format, func(func(resolver.Rule) bool) {})
	return &heldTable{to: to, empty: empty.Len()}, err
}

// Write writes a part of the table.
func (t *heldTable) Write(p []byte) (int, error) {
	if t.hasRules {
		return t.to.Write(p)
	}
	t.held.Write(p)
	if t.held.Len() <= t.empty {
		return len(p), nil
	}
	t.hasRules = true
	return len(p), t.release()
}

// release passes on the held bytes.
func (t *heldTable) release() error {
	_, err := t.held.WriteTo(t.to)
	return err
}
