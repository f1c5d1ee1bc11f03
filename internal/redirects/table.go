package redirects

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Options say how a program reads its table, and the defaults of its rules. A reader may change
// those of a [Table] while it adds lines.
type Options struct {
	// Program is the name of the program in reports: "nginx".
	Program string
	Slashes Slashes
	// LastCounts says that the last of several lines with the same path, in either letter case,
	// wins.
	LastCounts bool
	// PassesThere says that the program, too, passes on what a line does not redirect.
	PassesThere bool
	// EndsThere says that the program ends a line's chain to itself.
	EndsThere bool
	// LaterRemedy is what to do if a line matches all paths of a later line (see [Line]); "" for
	// the same as for other lines.
	LaterRemedy string
	// RefusedIsWrong reports lines without an equivalent as errors; otherwise they are left out.
	RefusedIsWrong bool
	// PairsBelow makes one rule of a line for a path and the next one for all below it, if that
	// continues the destination of the first.
	PairsBelow bool
	// TakesBelow makes lines without captures match what is below their path, too.
	TakesBelow bool
	Status     int                // of lines without one
	Query      resolver.QueryMode // of lines without one whose destination has no query
	// Report is called with the messages about the lines.
	Report func(Report)
	// LeftOut, if not nil, is called with each line without an equivalent.
	LeftOut func(Line)
}

// Slashes is what a slash at the end of a path means to a program.
type Slashes uint8

// What slashes mean.
const (
	SlashesIgnored Slashes = iota // /a and /a/ are one path, as they are for rules
	SlashesMerged                 // they differ, but rules match both: reports say so
	SlashesKept                   // they differ, and one more rule tells them apart
)

// Table collects lines, and makes rules from them. Make it with [NewTable].
type Table struct {
	Options
	lines   []storedLine
	later   []Line
	source  string // of all positions
	entries int
	last    resolver.Position // of the last entry
	wrong   int
	// captured are the positions of lines with captures, if rules match what is below.
	captured map[resolver.Position]bool
	// wildcards is the number of entries with captures, and size the bytes of all lines.
	wildcards    int
	lastWildcard resolver.Position
	size         int
	isFull       bool
}

// Limits for entries with captures, and for the bytes of all lines.
const (
	MaxWildcards = 10_000
	MaxSize      = 256 << 20
)

// storedLine is a line of a table: a plain one, a translated one, or a refused one.
type storedLine struct {
	key, to      string // of a plain one
	translation  *translation
	refused      *refusedLine
	line, column int32
	status       int16
	query        resolver.QueryMode
	answer       Answer
	onward       Onward
	hasSlash     bool // its path ends in a slash
	isOwned      bool // an earlier line matches all of its paths
}

// refusedLine says why a line has no equivalent, and what it would have matched.
type refusedLine struct {
	at   resolver.Position
	why  error
	sets []paths
	next int // the first later line that gets its requests, or 0
}

// NewTable returns an empty table.
func NewTable(o Options) *Table {
	return &Table{Options: o, captured: make(map[resolver.Position]bool)}
}

// Add adds a line.
func (t *Table) Add(line Line) {
	t.Count(line.At)
	captures := line.Captures()
	if captures && t.TakesBelow {
		t.captured[line.At] = true
	}
	t.grow(line.At, len(pathText(line.Path))+len(DestinationText(line.To)), captures && !line.IsPrefix)
	if t.isFull {
		return
	}
	switch {
	case t.Slashes == SlashesMerged && !t.LastCounts && line.turnsSlash():
		t.Approximate(line.At, "the line only adds or removes the slash at the end of its own path, "+
			"but a rule matches both: it makes no rule, and later lines answer")
	case line.IsLater || t.LastCounts:
		t.later = append(t.later, line)
	default:
		t.store(&line)
	}
}

// turnsSlash reports whether a line leads to its own path, with a slash more or less at the end. A
// rule for it would hide the path from later lines.
func (l *Line) turnsSlash() bool {
	if l.Answer != Leads || l.Refused != nil || len(l.To) == 0 || l.To[0].Variable != "" ||
		!strings.HasPrefix(l.To[0].Text, "/") {
		return false
	}
	path, to := pathText(l.Path), DestinationText(l.To)
	return path != to && strings.TrimSuffix(path, "/") == strings.TrimSuffix(to, "/")
}

// store keeps a line until all have been read.
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
		stored.key, stored.to = key, DestinationText(line.To)
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
		if t.LeftOut != nil {
			t.LeftOut(*line)
		}
		stored.refused = &refusedLine{at: at, why: line.Refused}
		if len(line.Path) > 0 {
			stored.refused.sets = pathsOf(line.Path, t.Slashes)
		}
	}
	t.lines = append(t.lines, stored)
}

// plainKey returns the path of a line as a key, if it has no captures and requests have it as it
// is.
func (t *Table) plainKey(line *Line) (key string, ok bool) {
	if line.Captures() || line.Itself != nil || line.Notes != nil || line.endsInSlash() &&
		t.Slashes == SlashesKept {
		return "", false
	}
	key = strings.TrimSuffix(strings.TrimPrefix(pathText(line.Path), "/"), "/")
	return key, IsPlain("/" + key)
}

// IsPlain reports whether a path without its leading slash is a key as it is.
func IsPlain(path string) bool {
	return len(path) > 1 && !strings.ContainsAny(path, "\\{}") && !strings.HasSuffix(path, "/") &&
		!strings.Contains(path, "//") && !strings.Contains(path, "/.")
}

// AddPlain is Add for a line from a path, which [IsPlain], to a destination, if a slash at the end
// of a path makes no difference.
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
		t.Wrong(at, "a table has at most %d lines with wildcards, placeholders or expressions, and "+
			"lines after this one are left out; write a line for each path, or use Caddy's redir with "+
			"a path_regexp matcher", MaxWildcards)
	case t.size > MaxSize:
		t.isFull = true
		t.Wrong(at, "the lines of a table have at most 256 MiB; write a JSON or CSV file")
	}
}

// Alone are the rules of a line by itself.
type Alone struct {
	// Own are the rules that it makes, Instead those that may replace them if earlier lines match
	// some paths, or it leads to other lines. Ends are those that end its chain to itself.
	Own, Instead, Ends []resolver.Rule
	// PassesAll says that in a table the line makes no rule, because it passes all remaining paths.
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

// Refuse adds an entry without an equivalent. The path is what it matches, or nil if that is not
// known.
func (t *Table) Refuse(at resolver.Position, path []Segment, why error) {
	t.Add(Line{At: at, Path: path, Refused: why})
}

// Count counts an entry that makes no line, unless the table is full. Lines at one position are one
// entry.
func (t *Table) Count(at resolver.Position) {
	if !t.isFull && (at != t.last || t.entries == 0) {
		t.entries++
	}
	t.last = at
}

// Entries returns how many entries have been counted.
func (t *Table) Entries() int { return t.entries }

// Wrong reports an error for which the program does not accept the line, either.
func (t *Table) Wrong(at resolver.Position, format string, args ...any) {
	t.Count(at)
	t.wrong++
	t.Report(Report{Wrong, at, fmt.Sprintf(format, args...)})
}

// IsGivenUp reports whether there are too many errors, and if so reports that at a position. A
// reader asks it now and then, and stops.
func (t *Table) IsGivenUp(at resolver.Position) bool {
	if t.wrong < MaxErrors {
		return t.isFull
	}
	if t.wrong == MaxErrors {
		t.Wrong(at, "this is error number %d, and reading ends here", MaxErrors)
	}
	return true
}

// Approximate reports how the line at a position differs.
func (t *Table) Approximate(at resolver.Position, why string) {
	t.Report(Report{Approximated, at, why})
}

// Drop reports that the line at a position makes no rule, because no request reaches it.
func (t *Table) Drop(at resolver.Position, why string) {
	t.Count(at)
	t.Report(Report{NeverReached, at, why})
}

// Remark reports a property of the table as a whole.
func (t *Table) Remark(format string, args ...any) {
	t.Report(Report{Kind: WholeTable, Message: fmt.Sprintf(format, args...)})
}
