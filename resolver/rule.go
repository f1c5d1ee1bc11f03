package resolver

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Rule is one entry of a ruleset: a key and the value that it leads to (section 2).
type Rule struct {
	// Key is the shortlink: not empty, without a leading "/" (R5). A key with braces is a template, an
	// extension of the draft (RFC 6570). {x} stands for a segment or a part of one, and {+x} for one
	// or more. {/x,y} stands for a segment each.
	Key string
	// Value is an absolute destination, which begins with "http://" or "https://", or an internal
	// redirect, which begins with "/" (R10). If the key is a template, it may use the variables of the
	// key, after the host; otherwise it is literal. It may also be [GoneValue] or [PassValue], which
	// are an extension of the draft and have no status.
	Value string
	// Status is 301, 302, 303, 307 or 308; 0 stands for the ruleset's default.
	Status int
	// Exact makes the key match its own path only, with or without one trailing slash, and nothing
	// below it.
	Exact bool
	// Unlisted keeps the rule out of what is advertised.
	Unlisted bool
	// Query is the query mode of requests that match the rule first, an extension of the draft. A rule
	// with the value gone or pass has none.
	Query QueryMode
	// Note says why the rule is there. It is one line of at most 500 bytes, and is part of no
	// response.
	Note string
	// Windows are the values of the key at different times, for callers that know the time. Package
	// internal/schedule makes and reads them. A rule with windows has no Value and cannot be compiled: compile the rule
	// of the window that is open.
	Windows string
	// Position is where the rule stands.
	Position Position
}

// IsPlain reports whether a rule has only a key and a value.
func (r Rule) IsPlain() bool {
	return r == Rule{Key: r.Key, Value: r.Value, Position: r.Position}
}

// Clone returns a copy of the rule that shares no memory with it.
func (r Rule) Clone() Rule {
	r.Key, r.Value = strings.Clone(r.Key), strings.Clone(r.Value)
	r.Note, r.Windows = strings.Clone(r.Note), strings.Clone(r.Windows)
	return r
}

// Position is where a rule stands.
type Position struct {
	// Source names the file, storage entry or configuration.
	Source string
	// Line and Column count from 1; 0 where they are not known.
	Line, Column int
}

// Compare orders positions by the names of their sources, and then by their places there.
func (p Position) Compare(other Position) int {
	return cmp.Or(cmp.Compare(p.Source, other.Source), cmp.Compare(p.Line, other.Line),
		cmp.Compare(p.Column, other.Column))
}

// ComparePlace orders positions in one source in the order in which rules are added. A position
// without a line comes last: it is that of an edit, whose rules are added after all others.
func (p Position) ComparePlace(other Position) int {
	return cmp.Or(cmp.Compare(uint(p.Line-1), uint(other.Line-1)),
		cmp.Compare(p.Column, other.Column))
}

// String returns source:line:column, without the parts that are not known.
func (p Position) String() string {
	s := p.Source
	if p.Line > 0 {
		if s != "" {
			s += ":"
		}
		s += strconv.Itoa(p.Line)
		if p.Column > 0 {
			s += ":" + strconv.Itoa(p.Column)
		}
	}
	return s
}

// maxNote is the length of the longest note, in bytes.
const maxNote = 500

// checkNote says what is wrong with a note and what to write instead.
func checkNote(note string) error {
	switch {
	case len(note) > maxNote:
		return fmt.Errorf("note: it has %d bytes, and may have %d; shorten it", len(note), maxNote)
	case !utf8.ValidString(note):
		return errors.New("note: it is not valid UTF-8; write it as UTF-8")
	case hasControl(note):
		return errors.New("note: it is one line, without control characters; write a space for a " +
			"line end or a tab")
	}
	return nil
}
