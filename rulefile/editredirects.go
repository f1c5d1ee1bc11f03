package rulefile

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
)

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

// planRedirects reads the whole file.
func (p *Plan) planRedirects(content io.Reader) (spot, error) {
	lines := newLineReader(content, p.source)
	l := new(redirectLines)
	seen := func(line redirects.Line) {
		alone, _ := redirects.RulesAlone(line, p.edit.Reading.Dialect.slashes())
		for _, rule := range alone.Own {
			l.all = append(l.all, redirectSpan{rule, lines.start, lines.end})
		}
	}
	_, err := p.edit.Reading.readRedirects(lines, seen, func(rule resolver.Rule) { p.take(rule) })
	l.last = lines.end
	return l, err
}

// splices returns what an edit changes in the file. Of the lines that match a path the first wins
// there, so the new ones go behind all those for paths below theirs, and in front of those that
// take theirs whole; in the old ones' place, if that is there.
func (l *redirectLines) splices(e *Edit, content io.ReadSeeker) ([]splice, error) {
	var splices []splice
	old := -1
	for _, line := range l.all {
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
	lines, err := redirectsOf(rule)
	if err != nil {
		return nil, e.refuse(err)
	}
	return l.insert(content, splices, old, rule, lines.text)
}

// insert adds the lines of a rule to splices. These remove the old ones, the last of them at old.
func (l *redirectLines) insert(
	content io.ReadSeeker, splices []splice, old int, rule resolver.Rule, text string,
) ([]splice, error) {
	earliest, latest := 0, l.last
	key := patternOf(rule)
	for _, line := range l.all {
		other := patternOf(line.rule)
		if _, both := key.Overlap(other); !both {
			continue
		}
		switch order := key.Compare(other); {
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
