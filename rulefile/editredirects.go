package rulefile

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/pattern"
)

// redirectLines are the lines of a file that are rules, and those that an edit adds.
type redirectLines struct {
	all  []*editedLine // a line that is two rules is there twice
	last int           // where the last line of the file ends
}

// editedLine is a line that is a rule, or is to be one, and what becomes of it.
type editedLine struct {
	pattern *pattern.Pattern // of its key, nil where the line is taken out
	change  *plannedChange   // that takes it out, nil for none
	splice
}

// planRedirects reads the whole file.
func (p *Plan) planRedirects(content io.Reader) (spot, error) {
	lines := newLineReader(content, p.source)
	l := new(redirectLines)
	seen := func(line redirects.Line) {
		alone, _ := redirects.RulesAlone(line, p.edit.Reading.Dialect.slashes())
		for _, rule := range alone.Own {
			line := &editedLine{change: p.changeOf(rule), splice: splice{lines.start, lines.end, ""}}
			if line.change == nil {
				line.pattern = patternOf(rule)
			} else {
				line.change.isFound = true
			}
			l.all = append(l.all, line)
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

// maxPlacing bounds how many lines are compared with new ones, each with each: that takes seconds.
const maxPlacing = 50_000_000

// splices takes old lines out and puts new ones in, one rule after the other: the place of each
// depends on those of all others.
func (l *redirectLines) splices(
	changes []plannedChange, content io.ReadSeeker,
) (splices []splice, err error) {
	if len(changes)*len(l.all) > maxPlacing {
		return nil, Errors{{Message: fmt.Sprintf("%d changes of a _redirects file of %d lines take too "+
			"long; make less at once, or convert the file to JSON", len(changes), len(l.all))}}
	}
	for i := range changes {
		if err := l.put(&changes[i]); err != nil {
			return nil, err
		}
	}
	for _, line := range l.all {
		if line.change != nil || line.from == line.to {
			splices = append(splices, line.splice)
		}
	}
	slices.SortStableFunc(splices, func(a, b splice) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	return spliceLines(content, l.last, splices)
}

// put puts in the lines of a change. Of the lines that match a path the first wins there, so the
// new ones go behind all those for paths below theirs, and in front of those that take theirs
// whole; in the old ones' place, if that is there.
func (l *redirectLines) put(change *plannedChange) error {
	if change.Rule == nil {
		return nil
	}
	lines, err := redirectsOf(*change.Rule)
	if err != nil {
		return err
	}
	key := patternOf(*change.Rule)
	earliest, latest, old := 0, len(l.all), -1
	for i, line := range l.all {
		switch order := line.orderAfter(key); {
		case line.change == change:
			old = i
		case order > 0:
			earliest = i + 1
		case order < 0:
			latest = min(latest, i)
		}
	}
	if old >= earliest && old <= latest {
		l.all[old].pattern, l.all[old].text = key, lines.text
		return nil
	}
	at := l.last
	if latest < len(l.all) {
		at = l.all[latest].from
	}
	added := &editedLine{pattern: key, splice: splice{at, at, lines.text}}
	l.all = slices.Insert(l.all, latest, added)
	return nil
}

// orderAfter returns how another key is to be ordered, and 0 where no path is of both.
func (l *editedLine) orderAfter(key *pattern.Pattern) int {
	if l.pattern == nil {
		return 0
	}
	if _, both := key.Overlap(l.pattern); !both {
		return 0
	}
	return key.Compare(l.pattern)
}
