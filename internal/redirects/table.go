package redirects

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Options say how a program reads its table, and what its rules have where a line says nothing. A
// reader may set those of a [Table] that it finds out as long as it adds lines.
type Options struct {
	// Program is what the table is for, as reports name it: "nginx".
	Program string
	Slashes Slashes
	// LastCounts tells that of lines with the same path, in either letter case, the last one counts.
	LastCounts bool
	// PassesThere tells that the program passes on what a line redirects nowhere, too.
	PassesThere bool
	// EndsThere tells that the program ends a line's way to what it takes itself.
	EndsThere bool
	// LaterRemedy is what to do if a line that is no later one takes all of one that is; "" for
	// nothing else than for other lines.
	LaterRemedy string
	// RefusedIsWrong makes errors of lines without an equivalent, which are left out otherwise.
	RefusedIsWrong bool
	// PairsBelow makes one rule of a line for a path, and the next one for all below, if that goes on
	// with the destination of the first.
	PairsBelow bool
	// TakesBelow tells that lines that capture nothing are to take what is below their path, too.
	TakesBelow bool
	Status     int                // of lines without one
	Query      resolver.QueryMode // of lines without one whose destination has no query
	// Report is called with what is to be said of the lines.
	Report func(Report)
}

// Slashes is what a slash at the end of a path means to a program.
type Slashes uint8

// What slashes mean.
const (
	SlashesIgnored Slashes = iota // /a and /a/ are one path, as they are for rules
	SlashesMerged                 // they are two, and rules take both: reports say so
	SlashesKept                   // they are two, and a rule more tells them apart
)

// Table takes in lines, and makes rules of them. Make it with [NewTable].
type Table struct {
	Options
	lines   []storedLine
	later   []Line
	source  string // of all places
	entries int
	last    resolver.Position // of the last entry
	wrong   int
	// captured are the places of lines that capture something, if rules are to take what is below.
	captured map[resolver.Position]bool
	// wildcards are the entries of lines that capture something, size the bytes of all lines.
	wildcards    int
	lastWildcard resolver.Position
	size         int
	isFull       bool
}

// The most entries of a table that capture something, and the most bytes of all lines.
const (
	MaxWildcards = 10_000
	MaxSize      = 256 << 20
)

// storedLine is a line of a table: a plain one, a translated one, or one that is refused.
type storedLine struct {
	key, to      string // of a plain one
	translation  *translation
	refused      *refusal
	line, column int32
	status       int16
	query        resolver.QueryMode
	answer       Answer
	onward       Onward
	hasSlash     bool // its path ends in one
}

// refusal says why a line has no equivalent, and what it would have taken.
type refusal struct {
	at   resolver.Position
	why  error
	sets []paths
	next int // the first line behind it that gets requests of it, 0 for none
}

// NewTable makes an empty table.
func NewTable(o Options) *Table {
	return &Table{Options: o, captured: make(map[resolver.Position]bool)}
}

// Add takes in a line.
func (t *Table) Add(line Line) {
	t.Count(line.At)
	captures := line.captures()
	if captures && t.TakesBelow {
		t.captured[line.At] = true
	}
	t.grow(line.At, len(pathText(line.Path))+len(piecesText(line.To)), captures && !line.IsPrefix)
	if t.isFull {
		return
	}
	switch {
	case t.Slashes == SlashesMerged && !t.LastCounts && line.turnsSlash():
		t.Approximate(line.At, "the line leads to its own path with a slash more or less at the end, "+
			"and a rule takes both: it makes no rule, and lines behind it answer")
	case line.IsLater || t.LastCounts:
		t.later = append(t.later, line)
	default:
		t.store(&line)
	}
}

// turnsSlash reports whether a line leads to its own path, with a slash more or less at the end. A
// rule for it would keep the path from the lines that the program asks next.
func (l *Line) turnsSlash() bool {
	if l.Answer != Leads || l.Refused != nil || len(l.To) == 0 || l.To[0].Variable != "" ||
		!strings.HasPrefix(l.To[0].Text, "/") {
		return false
	}
	path, to := pathText(l.Path), piecesText(l.To)
	return path != to && strings.TrimSuffix(path, "/") == strings.TrimSuffix(to, "/")
}

// store keeps a line for when all have been read.
func (t *Table) store(line *Line) {
	t.source = line.At.Source
	stored := storedLine{line: int32(line.At.Line), column: int32(line.At.Column),
		status: int16(line.Status), query: line.Query, answer: line.Answer, onward: line.Onward,
		hasSlash: line.endsInSlash()}
	isReached := true
	if line.Refused == nil {
		isReached, line.Refused = Check(line.Path, t.Slashes)
	}
	if key, isPlain := t.plainKey(line); isPlain && line.Refused == nil {
		stored.key, stored.to = key, piecesText(line.To)
	} else if line.Refused == nil {
		stored.translation, line.Refused = translate(line, t.Slashes)
		line.RefusedAt = line.ToAt
	}
	at := cmp.Or(line.RefusedAt, line.At)
	if !isReached {
		t.Report(Report{NeverReached, at, line.Refused.Error()})
		return
	}
	if line.Refused != nil {
		stored.refused = &refusal{at: at, why: line.Refused}
		if len(line.Path) > 0 {
			stored.refused.sets = pathsOf(line.Path, t.Slashes)
		}
	}
	t.lines = append(t.lines, stored)
}

// plainKey returns the path of a line as a key, if it captures nothing, and requests have it as it
// is.
func (t *Table) plainKey(line *Line) (key string, ok bool) {
	if line.captures() || line.Itself != nil || line.Notes != nil || line.endsInSlash() &&
		t.Slashes == SlashesKept {
		return "", false
	}
	key = strings.TrimSuffix(strings.TrimPrefix(pathText(line.Path), "/"), "/")
	return key, IsPlain("/" + key)
}

// IsPlain reports whether a path is a key as it is, without the slash in front.
func IsPlain(path string) bool {
	return len(path) > 1 && !strings.ContainsAny(path, "\\{}") && !strings.HasSuffix(path, "/") &&
		!strings.Contains(path, "//") && !strings.Contains(path, "/.")
}

// AddPlain is Add for a line that leads from a path, which [IsPlain], to a destination, where a
// slash at the end of a path makes no difference.
func (t *Table) AddPlain(at resolver.Position, path, to string, status int) {
	t.Count(at)
	t.source = at.Source
	t.grow(at, len(path)+len(to), false)
	t.lines = append(t.lines, storedLine{key: path[1:], to: to, line: int32(at.Line),
		column: int32(at.Column), status: int16(status)})
}

// grow adds to the size of the table, and reports a table that gets too large.
func (t *Table) grow(at resolver.Position, size int, isWildcard bool) {
	if isWildcard && at != t.lastWildcard {
		t.wildcards++
		t.lastWildcard = at
	}
	t.size += size
	switch {
	case t.isFull:
	case t.wildcards > MaxWildcards:
		t.isFull = true
		t.Wrong(at, "a table has at most %d lines with wildcards, placeholders or expressions; write "+
			"a line for each path, or use Caddy's redir with a path_regexp matcher", MaxWildcards)
	case t.size > MaxSize:
		t.isFull = true
		t.Wrong(at, "the lines of a table have at most 256 MiB; write a JSON or CSV file")
	}
}

// Alone are the rules of a line by itself.
type Alone struct {
	// Own are those that it makes, Instead those that it may make in their place where lines in front
	// take paths, or it leads to other lines. Ends are those that end its way to itself.
	Own, Instead, Ends []resolver.Rule
	// PassesAll tells that in a table the line makes no rule, as it lets pass what is left.
	PassesAll bool
}

// RulesAlone returns the rules of a line by itself.
func RulesAlone(line Line, slashes Slashes) (alone Alone, err error) {
	if _, err := Check(line.Path, slashes); err != nil {
		return alone, err
	}
	t, err := translate(&line, slashes)
	if err != nil {
		return alone, err
	}
	alone.PassesAll = t.takesAll() && t.passes()
	add := func(to *[]resolver.Rule, made []madeRule) {
		for i := range made {
			*to = append(*to, made[i].rule)
		}
	}
	for i := range t.sets {
		add(&alone.Own, t.rules(&t.sets[i], true, false))
		add(&alone.Instead, t.rules(&t.sets[i], true, true))
	}
	for _, end := range t.ends() {
		add(&alone.Ends, end.rules(&end.sets[0], false, false))
	}
	return alone, nil
}

// Refuse takes in an entry that has no equivalent. The path is what it takes, nil if that cannot be
// said.
func (t *Table) Refuse(at resolver.Position, path []Segment, why error) {
	t.Add(Line{At: at, Path: path, Refused: why})
}

// Count counts an entry of the table that makes no line. Lines of one place are one entry.
func (t *Table) Count(at resolver.Position) {
	if at != t.last || t.entries == 0 {
		t.entries++
	}
	t.last = at
}

// Entries returns how many entries have been counted.
func (t *Table) Entries() int { return t.entries }

// Wrong reports something that is nothing to the program either.
func (t *Table) Wrong(at resolver.Position, format string, args ...any) {
	t.Count(at)
	t.wrong++
	t.Report(Report{Wrong, at, fmt.Sprintf(format, args...)})
}

// IsGivenUp reports whether there have been as many errors as are reported, and says so at a place.
// A reader asks it now and then, and stops.
func (t *Table) IsGivenUp(at resolver.Position) bool {
	if t.wrong < MaxErrors {
		return t.isFull
	}
	if t.wrong == MaxErrors {
		t.Wrong(at, "this is error number %d, and reading ends here", MaxErrors)
	}
	return true
}

// Approximate says in which way what has been taken in at a place differs.
func (t *Table) Approximate(at resolver.Position, why string) {
	t.Report(Report{Approximated, at, why})
}

// Drop says that what stands at a place makes no rule, as no request gets to it.
func (t *Table) Drop(at resolver.Position, why string) {
	t.Count(at)
	t.Report(Report{NeverReached, at, why})
}

// Remark says what is true of the table as a whole.
func (t *Table) Remark(format string, args ...any) {
	t.Report(Report{Kind: WholeTable, Message: fmt.Sprintf(format, args...)})
}
