package rulefile

import (
	"io"

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

func (l *redirectLines) check(rule resolver.Rule) error {
	_, err := redirectsOf(rule)
	return err
}

// splices returns what an edit changes in the file. Of the lines that match a path the first wins
// there, so the new ones go behind all those for paths below theirs, and in front of those that
// take theirs whole; in the old ones' place, if that is there.
func (l *redirectLines) splices(e *Edit, content io.ReadSeeker) (old []splice, err error) {
	for _, line := range l.all {
		if e.isOf(line.rule.Key) {
			old = append(old, splice{from: line.start, to: line.end})
		}
	}
	if e.Rule == nil {
		return old, nil
	}
	lines, err := redirectsOf(*e.Rule)
	if err != nil {
		return nil, err
	}
	earliest, latest := 0, l.last
	key := patternOf(*e.Rule)
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
	if n := len(old); n > 0 && old[n-1].from >= earliest && old[n-1].from <= latest {
		at = old[n-1].from
	}
	return spliceLines(content, l.last, at, lines.text, old...)
}
