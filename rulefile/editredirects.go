package rulefile

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// inRedirects finds out what an edit changes in a _redirects file. Of the lines that match a path
// the first wins there, so the new ones go behind all those for paths below theirs, and in front of
// those that take theirs whole; in the old ones' place, if that is there.
func (e *Edit) inRedirects(content io.ReadSeeker, source string) ([]splice, error) {
	lines, err := e.linesOf(content, source)
	if err != nil {
		return nil, err
	}
	var splices []splice
	old := -1
	for _, line := range lines.all {
		if e.isOf(line.rule.Key) {
			splices = append(splices, splice{from: line.start, to: line.end})
			old = line.start
		}
	}
	if e.Rule == nil {
		if splices == nil {
			return nil, ErrNoRule
		}
		return splices, nil
	}
	rule := withStatus(*e.Rule, e.DefaultStatus)
	text, err := redirectsOf(rule)
	if err != nil {
		return nil, e.refuse(err)
	}
	return lines.insert(content, splices, old, rule, text)
}

// redirectLines are the lines of a file that are rules.
type redirectLines struct {
	all  []redirectSpan
	last int // where the last line of the file ends
}

// redirectSpan is a line that is a rule, and where in the file it stands.
type redirectSpan struct {
	rule       resolver.Rule
	start, end int
}

func (e *Edit) linesOf(content io.Reader, source string) (redirectLines, error) {
	lines := newLineReader(content, source)
	parser := lineParser{dialect: e.Reading.Dialect, hosts: e.Reading.Hosts}
	var spans redirectLines
	for {
		text, err := lines.next()
		spans.last = lines.end
		if err != nil {
			return spans, Errors(nil).withEnd(err)
		}
		line, refused := parser.parse(string(text))
		if refused != nil {
			continue
		}
		t, refused := translate(line, parser.dialect, lines.position(line.from.column))
		if refused != nil {
			continue
		}
		for rule := range t.ownRules(false) {
			spans.all = append(spans.all, redirectSpan{rule, lines.start, lines.end})
		}
	}
}

// insert adds the lines of a rule to splices. These remove the old ones, the last of them at old.
func (l *redirectLines) insert(
	content io.ReadSeeker, splices []splice, old int, rule resolver.Rule, text string,
) ([]splice, error) {
	earliest, latest := 0, l.last
	pattern := resolver.PatternOf(rule)
	for _, line := range l.all {
		other := resolver.PatternOf(line.rule)
		if _, both := pattern.Overlap(&other); !both {
			continue
		}
		switch order := pattern.Compare(&other); {
		case order > 0:
			earliest = line.end
		case order < 0:
			latest = min(latest, line.start)
		}
	}
	at := latest
	if old >= earliest && old <= latest && old >= 0 {
		at = old
	}
	end, isEnded, err := lastLineEnd(content, l.last)
	if err != nil {
		return nil, err
	}
	if at == l.last && l.last > 0 && !isEnded {
		text = "\n" + text
	}
	text = strings.ReplaceAll(text, "\n", end)
	splices = append(splices, splice{at, at, text})
	slices.SortStableFunc(splices, func(a, b splice) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	return splices, nil
}
