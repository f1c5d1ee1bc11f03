package resolver

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// This file counts what the limits apply to. The counts do not depend on the order of rules, nor on
// whether they are compiled or derived. So an edit is refused exactly if the rules that it makes
// could not be compiled.

// ErrTooLarge is the error of rules that take more memory than [Options.MaxSize] when they are
// compiled, or more than 8 GiB.
var ErrTooLarge = errors.New("the rules are too large")

// extent counts the size of the rules together.
type extent struct {
	// written is the length of all keys and values, in bytes. modal counts the rules with a query
	// mode, literal those without variables.
	written, modal, literal int
	// compiled is the size of the compiled rules in bytes, without their chains; chained is what the
	// chains add.
	compiled, chained int
	// derived is how many bytes of text following the chains has made. The work to find templates is
	// included.
	derived int
}

// count adds a rule to the counts of what is written.
func (e *extent) count(rule Rule) { e.addWritten(rule, 1) }

// uncount undoes count.
func (e *extent) uncount(rule Rule) { e.addWritten(rule, -1) }

func (e *extent) addWritten(rule Rule, sign int) {
	e.written += sign * (len(rule.Key) + len(rule.Value))
	if rule.Query != QueryDefault {
		e.modal += sign
	}
}

// addLiteral counts a rule without variables, or with a sign of -1 no longer counts it.
func (e *extent) addLiteral(rule Rule, sign int) {
	e.literal += sign
	e.compiled += sign * literalSize(rule)
}

// literalSize estimates the size of a compiled rule without variables, in bytes. It depends only on
// the rule, and needs no parsing.
func literalSize(rule Rule) int {
	return recordOverhead + encodedLength(rule.Key) + encodedLength(rule.Value) + len(rule.Note)
}

// encodedLength returns the length of a text with its bytes beyond ASCII percent-encoded.
func encodedLength(text string) int {
	n := len(text)
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			n += len("%20") - 1
		}
	}
	return n
}

// size is the size of the compiled rules, in bytes.
func (e *extent) size() int64 {
	return int64(e.compiled) + int64(e.chained) + slotSize*int64(slotsFor(e.literal))
}

// resetChains sets the counts of chains to zero.
func (e *extent) resetChains() { e.chained, e.derived = 0, 0 }

// Chains may make this many bytes of text, and this many for each byte that is written.
const derivedAlways, derivedTimes = 16 << 20, 64

// mostDerived is how many bytes chains may make.
func (e *extent) mostDerived() int { return derivedAlways + derivedTimes*e.written }

// isExceeded reports whether the chains that have been followed made too much text.
func (e *extent) isExceeded() bool { return e.derived > e.mostDerived() }

// checkSize returns the error of rules that take too much memory, nil for others.
func (c *compiled) checkSize() error {
	if !c.table.arena.full && c.size() <= c.opts.maxSize {
		return nil
	}
	return fmt.Errorf("%w: compiled they take more than %s; allow more with max_size, or serve "+
		"them by several handlers", ErrTooLarge, sizeText(c.opts.maxSize))
}

// sizeText returns a number of bytes exactly, in the largest unit that divides it.
func sizeText(bytes int64) string {
	for _, unit := range [...]struct {
		name  string
		bytes int64
	}{{"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"kB", 1e3}} {
		if bytes%unit.bytes == 0 {
			return strconv.FormatInt(bytes/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(bytes, 10) + " bytes"
}
