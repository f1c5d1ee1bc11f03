package lists

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// addLines adds the lines of an entry.
func (a *array) addLines(e *entry) {
	if err := migrate.CheckDestination(e.destination); err != nil {
		e.refuse(err)
	}
	if a.program == vercel && e.status != 0 && e.permanent != 0 {
		e.refuse(fmt.Errorf("%s takes no entry with both \"permanent\" and \"statusCode\"; remove one "+
			"of the two", programs[vercel].name))
	}
	if len(e.sources) == 0 {
		a.t.Refuse(e.at, nil, e.refused)
	}
	for _, source := range e.sources {
		lines, err := a.linesOf(e, source)
		if err != nil {
			lines = []redirects.Line{{At: e.at, Refused: err}}
		}
		for _, line := range lines {
			a.t.Add(line)
		}
	}
}

// linesOf returns the lines of one path of an entry.
func (a *array) linesOf(e *entry, source string) ([]redirects.Line, error) {
	line := redirects.Line{At: e.at, Status: cmp.Or(e.status, e.permanent), Query: a.queryOf(e),
		Refused: e.refused, Notes: e.notes, To: redirects.Literal(e.destination)}
	if host, path, isURL := migrate.CutURL(source); isURL {
		if !a.t.HasHost(host) {
			return nil, migrate.OtherHost(host)
		}
		source = path
	}
	if a.program == firebase && source != "" && source[0] != '/' {
		source = "/" + source
	}
	parse := parsePattern
	switch {
	case programs[a.program].isPlain:
		parse = parsePlain
	case a.program == firebase && !strings.Contains(e.destination, "/:"):
		parse = parseGlob
	}
	p, err := parse(source)
	if err != nil {
		return nil, err
	}
	d := destination{written: e.destination, pattern: p}
	lines, err := p.lines(line, &d)
	isNoted := d.unknown != "" && !programs[a.program].isPlain &&
		(d.unknown[0] == ':' || a.program == vercel)
	for i := range lines {
		if isNoted {
			lines[i].Notes = append(slices.Clip(e.notes), d.unknown+" stands for nothing, as the path "+
				"does not have it, and stays as it is in the destination")
		}
	}
	return lines, err
}

// keepsQuery reports whether the query of a request goes along also to a destination with one.
func (a *array) keepsQuery() bool { return a.program != vercelBulk && a.program != docusaurus }

// queryOf returns what an entry does with queries.
func (a *array) queryOf(e *entry) resolver.QueryMode {
	switch {
	case a.program == vercelBulk:
		return cmp.Or(e.query, a.t.Reading.Query)
	case a.program == docusaurus && strings.ContainsAny(e.destination, "?#"):
		return resolver.QueryIgnore
	case a.keepsQuery() && migrate.HasQuery(e.destination):
		return cmp.Or(a.t.Reading.Query, resolver.QueryPreserve)
	}
	return resolver.QueryDefault
}
