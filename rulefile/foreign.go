package rulefile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Tables of other programs are read into lines, of which the first that matches a path answers, as
// in a _redirects file. What makes rules of those lines is the same for all.

// foreign is the dialect of lines that a reader of another program's format has taken apart. A
// slash at the end of a path makes no difference, as it makes none to rules.
const foreign Dialect = "foreign"

// foreignTable takes in the lines of a table of another program.
type foreignTable struct {
	reading Reading
	file    *redirectsFile
	source  string
	// program is what the table is for, as remarks name it: "nginx".
	program string
	// slashesCount tells that the program tells a path from that with a slash at its end.
	slashesCount bool
	// lastCounts tells that of entries with the same path, in either letter case, the program takes
	// the last one.
	lastCounts bool
	entries    int
	text       lineStore
	// later are lines that come behind all others, and isLater tells that what is added is one.
	later   []storedLine
	isLater bool
	last    resolver.Position // of the last entry
	// capturing are the places of lines that capture something, if rules are to be no exact ones.
	capturing map[resolver.Position]bool
	// defaultStatus and defaultQuery are what rules have that are left with none.
	defaultStatus int
	defaultQuery  resolver.QueryMode
	goesOn        []goingOn // by line
	// isPlain tells that all rules are for a path alone, so that one that passes does nothing.
	isPlain bool
}

// foreignLine is what a line of a table of another program says. Path and destinations can have
// captures, see [captured].
type foreignLine struct {
	// at is where the path stands. Lines that come of one entry of the table have the same place.
	at resolver.Position
	// path is percent-encoded, and begins with "/". It has neither a query nor a fragment.
	path string
	// to is the destination: a URL, or a path of the site, with query and fragment.
	to string
	// itself is the destination of the path without what is captured of its end, "" for to with
	// nothing in that place.
	itself string
	answer redirectAnswer // leads or gone
	status int            // 0 for that of the whole table
	// query is resolver.QueryDefault for that of the whole table, where the query of the
	// destination takes the place of the request's.
	query resolver.QueryMode
}

// The marks around the name of what is captured. No text of a table has them.
const (
	captureStart = '\x01'
	captureEnd   = '\x02'
)

// captured is what stands in a path for one segment or a part of one, and in a destination for what
// it was.
func captured(name string) string {
	return string(captureStart) + name + string(captureEnd)
}

// capturedRest stands at the end of a path for all that is left, several segments or nothing, and
// in a destination for what that was.
const capturedRest = string(captureStart) + splatName + string(captureEnd)

// capturedSome is capturedRest for what is not nothing, in a path. In a destination that is
// capturedRest, too.
const capturedSome = string(captureStart) + splatName + "+" + string(captureEnd)

// below is a line's path and all below it: "/a" takes /a, /a/ and /a/b.
func below(path string) string { return strings.TrimSuffix(path, "/") + "/" + capturedRest }

// encodedPath returns a path for a line that a program compares with decoded ones.
func encodedPath(decoded string) string { return decodedText.Replace(decoded) }

// decodedText writes what means something else in a URL than in a decoded path.
var decodedText = strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23")

// foreignReader reads a table of another program. It sets what the table is for, and the error is
// nil, io.EOF, or what ended the reading before.
type foreignReader func(t *foreignTable, r io.Reader) error

// foreignReaderOf returns the reader of a format that other programs have; nil for any other.
func foreignReaderOf(format Format) foreignReader {
	switch format {
	case Array:
		return readArray
	case Htaccess:
		return readHtaccess
	case YAML:
		return readYAML
	case Golink:
		return readGolink
	case Map:
		return readMap
	}
	return nil
}

// readForeign reads rules from a table of another program. They are passed to add when all of it
// has been read.
func (o Reading) readForeign(
	r io.Reader, read foreignReader, source string, add func(resolver.Rule),
) ([]resolver.Warning, error) {
	o.Dialect, o.SkipUnsupported = foreign, true
	t := &foreignTable{reading: o, file: newRedirectsFile(o), source: source}
	t.file.source = source
	if o.Exact != nil && !*o.Exact {
		t.capturing = make(map[resolver.Position]bool)
	}
	return t.makeRules(read(t, r), t.withDefaults(add))
}

// withDefaults returns add for rules that take what is below their key, too, if that is asked for
// and their line captures nothing, and that have what the table says of those without status and
// query. What is below goes by the order of rules: the longest key wins.
func (t *foreignTable) withDefaults(add func(resolver.Rule)) func(resolver.Rule) {
	return func(rule resolver.Rule) {
		if t.isPlain && rule.Value == resolver.PassValue {
			return
		}
		if t.capturing != nil && rule.Value != resolver.PassValue && !t.capturing[rule.Position] {
			rule.Exact = false
		}
		if rule.Value != resolver.PassValue && rule.Value != resolver.GoneValue {
			rule.Status = cmp.Or(rule.Status, t.defaultStatus)
			rule.Query = cmp.Or(rule.Query, t.defaultQuery)
		}
		t.addGoingOn(rule, add)
	}
}

// add takes in a line.
func (t *foreignTable) add(line foreignLine) {
	if t.slashesCount && !t.lastCounts && line.turnsSlash() { // the last one replaces others
		t.note(line.at)
		t.approximate(line.at, "the line leads to its own path with a slash more or less at the end, "+
			"and a rule takes both: it makes no rule, and lines behind it answer")
		return
	}
	if line.status == 0 {
		line.status = t.reading.Status
	}
	if line.query == resolver.QueryDefault && !hasQuery(line.to) {
		line.query = t.reading.Query
	}
	if t.capturing != nil && strings.IndexByte(line.path, captureStart) >= 0 {
		t.capturing[line.at] = true
	}
	t.store(line.at, line.encode(""))
}

// turnsSlash reports whether a line leads to its own path, with a slash more or less at the end. A
// rule for it would keep the path from the lines that the program asks next.
func (l *foreignLine) turnsSlash() bool {
	return l.answer == leads && l.path != l.to &&
		strings.TrimSuffix(l.path, "/") == strings.TrimSuffix(l.to, "/")
}

// hasMarks reports whether a text of a table holds what marks captures and ends fields, which no
// path and no URL does. Readers refuse such a text before they add a line of it.
func hasMarks(text string) bool { return strings.ContainsAny(text, "\x00\x01\x02") }

// refuse reports that something of the table has no equivalent, and what it takes: a path, or "" if
// that cannot be said.
func (t *foreignTable) refuse(at resolver.Position, path, why string) {
	t.store(at, foreignLine{at: at, path: path}.encode(why))
}

// store keeps a line for when all have been read.
func (t *foreignTable) store(at resolver.Position, text string) {
	t.note(at)
	t.storeText(t.text.keep([]byte(text)), at.Line)
}

// storeText keeps a line that has been encoded.
func (t *foreignTable) storeText(text string, number int) {
	if t.isLater || t.lastCounts {
		t.later = append(t.later, storedLine{text: text, number: int32(number)})
		return
	}
	t.file.store(text, number)
}

// note counts entries of the table.
func (t *foreignTable) note(at resolver.Position) {
	if at != t.last || t.entries == 0 {
		t.entries++
	}
	t.last = at
}

// wrong reports something that is nothing to the program either.
func (t *foreignTable) wrong(at resolver.Position, format string, args ...any) {
	t.note(at)
	t.file.errs.add(at, format, args...)
}

// approximate says in which way what has been taken in at a place differs.
func (t *foreignTable) approximate(at resolver.Position, why string) {
	t.file.warned.add(WarnApproximated, at, "", "%s", why)
}

// drop says that what stands at a place makes no rule, as no request gets to it.
func (t *foreignTable) drop(at resolver.Position, why string) {
	t.note(at)
	t.file.warned.add(WarnNeverReached, at, "", "%s", why)
}

// remark says what is true of the table as a whole.
func (t *foreignTable) remark(format string, args ...any) {
	t.file.warned.add(WarnWholeTable, resolver.Position{}, "", format, args...)
}

// makeRules passes the rules of all lines to add. end is what ended the reading: nil or io.EOF, or
// an error.
func (t *foreignTable) makeRules(end error, add func(resolver.Rule)) ([]resolver.Warning, error) {
	f := t.file
	f.slashesCount = t.slashesCount
	if end == nil {
		end = io.EOF
	}
	f.firstLater = len(f.lines)
	if t.lastCounts {
		t.later = t.dropReplaced()
	}
	for _, line := range t.later {
		f.store(line.text, int(line.number))
	}
	t.later = nil
	f.findMeetings()
	f.makeRules(add)
	if t.slashesCount && len(f.lines) > 0 {
		t.remark("%s tells a path from that with a slash at its end, and rules take both", t.program)
	}
	if t.reading.observer != nil {
		t.reading.observer.lines = t.entries
	}
	return f.warned.all(), f.errs.withEnd(end)
}

// dropReplaced drops those of the later lines whose path one behind them has, too, in either letter
// case. It returns the others.
func (t *foreignTable) dropReplaced() (kept []storedLine) {
	lastOf := make(map[string]resolver.Position, len(t.later))
	for _, stored := range slices.Backward(t.later) {
		line, refused := decodeForeign(stored.text)
		at := resolver.Position{Source: t.source, Line: int(stored.number), Column: line.from.column}
		path := strings.ToLower(line.path)
		if refused != nil {
			kept = append(kept, stored)
		} else if last, isReplaced := lastOf[path]; isReplaced {
			t.file.warned.add(WarnNeverReached, at, "", "%s takes the last of several redirects of "+
				"a path, which is that at %s", t.program, last)
		} else {
			lastOf[path], kept = at, append(kept, stored)
		}
	}
	slices.Reverse(kept)
	return kept
}

// encode writes a line down as text that a lineParser takes apart again. why says that it is
// refused; "" if it is not.
func (l foreignLine) encode(why string) string {
	return strings.Join([]string{l.path, l.to, l.itself, why, strconv.Itoa(l.at.Column),
		strconv.Itoa(l.status), strconv.Itoa(int(l.query)), strconv.Itoa(int(l.answer))}, "\x00")
}

// decodeForeign takes a line apart that has been encoded.
func decodeForeign(text string) (line redirectLine, refused *refusal) {
	var why string
	numbers := [4]int{}
	for _, field := range [...]*string{&line.path, &line.to.text, &line.itself, &why} {
		*field, text, _ = strings.Cut(text, "\x00")
	}
	for i := range numbers {
		var number string
		number, text, _ = strings.Cut(text, "\x00")
		numbers[i], _ = strconv.Atoi(number)
	}
	line.from = word{line.path, numbers[0]}
	line.to.column = numbers[0]
	line.status, line.query = numbers[1], resolver.QueryMode(numbers[2])
	line.answer = redirectAnswer(numbers[3])
	if why != "" {
		return line, &refusal{line.from, errors.New(why), unsupported}
	}
	return line, nil
}

// addCaptures adds a segment that may have one capture.
func (b *pathBuilder) addCaptures(segment string, isLast bool) error {
	before, rest, hasCapture := strings.Cut(segment, string(captureStart))
	if !hasCapture {
		b.appendSegment(setSegment{before: segment})
		return nil
	}
	name, after, _ := strings.Cut(rest, string(captureEnd))
	switch {
	case strings.IndexByte(after, captureStart) >= 0:
		return b.refuse(unsupported, "a segment has one variable, as nothing would settle which of "+
			"two takes what; write a rule for each path")
	case (name == splatName || name == someName) && (after != "" || !isLast):
		return b.refuse(unsupported, "what takes several segments stands at the end of a path; write "+
			"a rule for each path")
	case name == splatName:
		return b.addStar(before, after, isLast)
	case name == someName:
		b.addSome(canonical(before))
		return nil
	}
	before, after = canonical(before), canonical(after)
	b.appendSegment(setSegment{
		before: before, after: after, capture: name, cutBefore: len(before), cutAfter: len(after),
	})
	return nil
}

const someName = splatName + "+"

// addSome adds the segment at a path's end that takes one or more, with what stands in front of it.
func (b *pathBuilder) addSome(before string) {
	b.hasStar = true
	b.captured = append(b.captured, splatName)
	name := b.nameOf(splatName)
	above := slices.Clip(b.segments)
	if before != "" {
		below := append(above, setSegment{before: before}, setSegment{name: name})
		b.close(pathSet{segments: below, below: true, splatAt: len(above) + 1, bareSlash: true})
	}
	within := append(above, setSegment{before: before, name: name})
	b.close(pathSet{segments: within, below: true, splatAt: len(above), splatCut: len(before)})
}

// markedCaptureAt returns the name that a text begins with, behind its mark, if it is captured.
func markedCaptureAt(text string, captured []string) string {
	name, _, _ := strings.Cut(text, string(captureEnd))
	if !slices.Contains(captured, name) {
		return ""
	}
	return name
}

// marksOf are the bytes with which begins what stands for something else in the path of a line.
func (d Dialect) marksOf() string {
	if d == foreign {
		return string(captureStart)
	}
	return "*:"
}

// slashApart reports whether a line has paths without a slash at the end, and another one in front
// of it the same with one, or the other way round, and whether both say the same.
func (f *redirectsFile) slashApart(i, other int) (isApart, isSame bool) {
	if !f.slashesCount || other == none {
		return false, false
	}
	a, _ := f.parser.parse(f.lines[i].text)
	b, _ := f.parser.parse(f.lines[other].text)
	isRest := strings.HasSuffix(a.path, capturedRest) || strings.HasSuffix(b.path, capturedRest) ||
		strings.HasSuffix(a.path, capturedSome) || strings.HasSuffix(b.path, capturedSome)
	if isRest || strings.HasSuffix(a.path, "/") == strings.HasSuffix(b.path, "/") {
		return false, false
	}
	isSamePath := strings.TrimSuffix(a.path, "/") == strings.TrimSuffix(b.path, "/")
	isSame = (isSamePath || strings.IndexByte(a.to.text, captureStart) < 0) &&
		a.to.text == b.to.text && a.itself == b.itself && a.answer == b.answer &&
		a.status == b.status && a.query == b.query
	return true, isSame
}

// errSlashApart is why a line is left out whose path another one has but for a slash.
func (f *redirectsFile) errSlashApart(other int) error {
	return fmt.Errorf("a rule takes a path with and without a slash at its end, and the line at %s "+
		"has this one already, and leads elsewhere; use Caddy's redir for one of the two",
		f.placeOf(other))
}

// warnOfSlash warns of a destination from which another line leads on, though the program tells its
// path from the destination's, as one of the two has a slash at the end.
func (f *redirectsFile) warnOfSlash(to string, by int, at resolver.Position) {
	if !f.slashesCount {
		return
	}
	line, _ := f.parser.parse(f.lines[by].text)
	if strings.HasSuffix(line.path, capturedRest) ||
		strings.HasSuffix(line.path, "/") == strings.HasSuffix(to, "/") {
		return
	}
	f.warned.add(WarnApproximated, at, "", "the line at %s leads on from the destination here, as a "+
		"slash at the end of a path makes no difference; there clients stay at %s", f.placeOf(by), to)
}
