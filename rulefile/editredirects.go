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

// redirectLines are the lines of a file that are rules, and the lines that an edit adds.
type redirectLines struct {
	all  []*editedLine // a line that is two rules is there twice
	last int           // where the last line of the file ends
}

// editedLine is a line that is a rule, or becomes one.
type editedLine struct {
	pattern *pattern.Pattern // of its key, nil where it is taken out
	change  *plannedChange   // that takes it out or puts it in, nil for none
	splice
}

// planRedirects reads the whole file.
func (p *Plan) planRedirects(content io.Reader) (spot, error) {
	lines := NewLineReader(content, p.source)
	l := new(redirectLines)
	seen := func(line redirects.Line) {
		alone, _ := redirects.RulesAlone(line, p.edit.Reading.Dialect.slashes())
		for _, rule := range alone.Own {
			line := &editedLine{change: p.changeOf(rule), splice: splice{lines.start, lines.end, ""}}
			if line.change == nil {
				line.pattern = patternOf(rule)
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

// maxPlacing limits how many pairs of lines are compared, which can take seconds.
const maxPlacing = 20_000_000

// splices removes old lines and adds new ones, one rule after the other: the place of each depends
// on those of all others.
func (l *redirectLines) splices(
	changes []plannedChange, content io.ReaderAt,
) (splices []splice, err error) {
	if len(changes)*len(l.all) > maxPlacing {
		return nil, Errors{{Message: fmt.Sprintf("%d changes of a _redirects file of %d lines take too "+
			"long; make fewer at once, or convert the file to JSON", len(changes), len(l.all))}}
	}
	for i := range changes {
		if changes[i].Rule != nil {
			l.put(&changes[i])
		}
	}
	for _, line := range l.all {
		if line.change != nil {
			splices = append(splices, line.splice)
		}
	}
	slices.SortStableFunc(splices, func(a, b splice) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	for i := 1; i < len(splices); i++ { // a line that is two rules is taken out once
		splices[i].from = max(splices[i].from, splices[i-1].to)
	}
	return spliceLines(content, l.last, splices)
}

// put adds the lines of a change. The first line that matches a path wins, so the new lines go
// after those for paths below theirs, and before those that match all of their paths. If possible,
// they replace the old lines.
func (l *redirectLines) put(change *plannedChange) {
	lines, _ := redirectsOf(*change.Rule) // which has been checked
	key := patternOf(*change.Rule)
	earliest, latest, old := 0, len(l.all), -1
	for i, line := range l.all {
		if line.change == change {
			old = i
		} else if line.pattern == nil {
			continue
		} else if _, both := key.Overlap(line.pattern); !both {
			continue
		} else if order := key.Compare(line.pattern); order > 0 {
			earliest = i + 1
		} else if order < 0 {
			latest = min(latest, i)
		}
	}
	if old >= earliest && old <= latest {
		l.all[old].pattern, l.all[old].text = key, lines.text
		return
	}
	at := l.last
	if latest < len(l.all) {
		at = l.all[latest].from
	}
	l.all = slices.Insert(l.all, latest, &editedLine{key, change, splice{at, at, lines.text}})
}
