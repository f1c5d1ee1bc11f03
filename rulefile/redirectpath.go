package rulefile

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// What stands in a path for any segments, and in a destination for those that it matched.
const (
	star  = "/*"
	splat = ":splat"
)

// addTo adds a line that has been taken apart to a table, or what is wrong with it. at tells the
// place of a column.
func (p *lineParser) addTo(
	t *redirects.Table, line *redirectLine, refused *refusal, at func(column int) resolver.Position,
) {
	if refused == nil && p.isPlain(line) {
		t.AddPlain(at(line.from.column), strings.TrimSuffix(line.path, "/"), line.to.text, line.status)
		return
	}
	made, err := p.translate(line, at)
	switch {
	case refused != nil:
	case err != nil:
		refused = &refusal{line.from, err, unsupported}
		if _, isNever := errors.AsType[neverReachedError](err); isNever {
			refused.kind = neverReached
		}
	default:
		t.Add(made)
		return
	}
	switch place := at(refused.word.column); refused.kind {
	case malformed:
		t.Wrong(place, "%s", refused.why)
	case neverReached:
		t.Drop(place, refused.why.Error())
	default:
		made.Refused, made.RefusedAt = refused.why, place
		t.Add(made)
	}
}

// isPlain reports whether nothing in a line stands for anything else. Of such lines a file can have
// a million.
func (p *lineParser) isPlain(line *redirectLine) bool {
	path := line.path
	if p.dialect != Cloudflare {
		path = strings.TrimSuffix(path, "/")
	}
	return line.answer == leads && !strings.Contains(line.to.text, "/:") &&
		!strings.ContainsAny(path, ":*") && redirects.IsPlain(path)
}

// translate makes a line of a table of one that has been taken apart. The error is why its path has
// no equivalent.
func (p *lineParser) translate(
	line *redirectLine, at func(column int) resolver.Position,
) (made redirects.Line, err error) {
	made = redirects.Line{At: at(line.from.column), ToAt: at(line.to.column)}
	if line.path == "" {
		return made, nil
	}
	e, err := p.expression(line.path)
	if err != nil {
		return made, err
	}
	made.Path = e.Paths[0].Segments
	made.To, err = e.Paths[0].Substitute(line.to.text, e.Colon)
	if err != nil {
		return made, err
	}
	switch line.answer {
	case leads:
		made.Status = line.status
	case gone:
		made.Answer = redirects.Gone
	case rewrites:
		made.Answer, made.Notes = redirects.Passes, []string{rewritesNote}
	case notFound:
		made.Answer, made.Notes = redirects.Passes, []string{notFoundNote}
	}
	if unknown := unknownPlaceholder(line.to.text, e); unknown != "" {
		made.Notes = append(made.Notes, unknown+" stands for nothing, as the path does not have it, and "+
			"stays as it is in the destination")
	}
	return made, nil
}

const (
	rewritesNote = "200 is a rewrite, and no redirect: the next handler answers what this " +
		"line takes; use Caddy's rewrite or try_files, or reverse_proxy for another host"
	notFoundNote = "404 is an error page, and no redirect: the next handler answers what " +
		"this line takes; use Caddy's handle_errors for the page"
)

// neverReachedError is why no request gets to a line.
type neverReachedError struct{ error }

func never(why string) error { return neverReachedError{errors.New(why)} }

// placeholder is what Cloudflare takes for one; Netlify's are whole segments.
var (
	placeholder        = regexp.MustCompile(`:[A-Za-z]\w*`)
	placeholderAtStart = regexp.MustCompile(`^:[A-Za-z]\w*`)
)

const insteadOfLine = "write a line for each path, or use Caddy's redir with a path_regexp matcher"

// expression returns the path of a line as a regular expression, taken apart, or says why no rule
// can have it.
//
//	/blog/:x     ^/blog/([^/]+)$
//	/blog/*      ^/blog/(.*)$
//	/blog-*      ^/blog-/?(.*)$       at Cloudflare ^/blog-(.*)$
//	/*/blog      ^/(?:(.+)/)?blog$    at Cloudflare ^/(.+)/blog$
func (p *lineParser) expression(path string) (*pathexpr.Expression, error) {
	w := pathWriter{dialect: p.dialect}
	text := strings.TrimPrefix(path, "/")
	if p.dialect != Cloudflare || strings.HasSuffix(text, "*/") {
		text = strings.TrimSuffix(text, "/")
	}
	if isReached, err := redirects.Check(redirects.Text("/"+text), w.dialect.slashes()); err != nil {
		if isReached {
			return nil, err
		}
		return nil, neverReachedError{err}
	}
	w.WriteString("^/")
	for rest, more := text, true; more; {
		var segment string
		if segment, rest, more = strings.Cut(rest, "/"); w.count >= 64 && len(w.names) > 0 {
			return nil, errManySegments
		}
		if err := w.add(segment, !more); err != nil {
			return nil, err
		}
	}
	w.WriteString("$")
	e, err := pathexpr.Parse(w.String(), pathexpr.Options{
		IsEncoded: true, IsMade: true, Spans: true, Slashes: w.dialect.slashes(), Names: w.names,
	})
	if err == nil && len(e.Paths) > 1 {
		err = fmt.Errorf("the path stands for several; %s", insteadOfLine)
	}
	return e, err
}

var errManySegments = errors.New("a path with placeholders or \"*\" has less than 64 segments; " +
	insteadOfLine)

// pathWriter writes the path of a line as a regular expression.
type pathWriter struct {
	strings.Builder
	dialect  Dialect
	names    []string // of what is captured
	count    int      // of segments
	hasStar  bool
	hasSlash bool // one in front of the next segment is there
}

// add adds a segment, perhaps the last one.
func (w *pathWriter) add(segment string, isLast bool) error {
	if w.count++; w.count > 1 && !w.hasSlash {
		w.WriteString("/")
	}
	w.hasSlash = false
	at := strings.IndexByte(segment, '*')
	switch isPlaceholder := w.dialect != Cloudflare && len(segment) > 1 && segment[0] == ':'; {
	case isPlaceholder:
		w.addGroup(segment[1:], "([^/]+)")
		return nil
	case at >= 0 && w.hasStar:
		return errors.New("a path has one \"*\", as nothing would settle which of two takes what; " +
			insteadOfLine)
	case at >= 0:
		return w.addStar(segment[:at], segment[at+1:], isLast)
	case w.dialect == Cloudflare:
		return w.addPlaceholder(segment)
	}
	w.WriteString(regexp.QuoteMeta(segment))
	return nil
}

// addGroup adds what captures something.
func (w *pathWriter) addGroup(name, group string) {
	w.names = append(w.names, name)
	w.WriteString(group)
}

// addPlaceholder adds a segment of Cloudflare's, which has a placeholder anywhere.
func (w *pathWriter) addPlaceholder(segment string) error {
	found := placeholder.FindAllStringIndex(segment, 2)
	switch {
	case len(found) > 1:
		return errors.New("a segment has one placeholder, as nothing would settle which of two takes " +
			"what; " + insteadOfLine)
	case found == nil:
		w.WriteString(regexp.QuoteMeta(segment))
		return nil
	}
	from, to := found[0][0], found[0][1]
	name := segment[from+1 : to]
	for _, other := range w.names {
		if strings.HasPrefix(name, other) {
			return never("no request gets to this line, as the name of a placeholder begins with that of " +
				"one in front of it; give it another name")
		}
	}
	w.WriteString(regexp.QuoteMeta(segment[:from]))
	w.addGroup(name, "([^/]+)")
	w.WriteString(regexp.QuoteMeta(segment[to:]))
	return nil
}

// addStar adds the segment that has the "*", with what stands in front of it and behind.
func (w *pathWriter) addStar(before, after string, isLast bool) error {
	w.hasStar = true
	isCloudflare := w.dialect == Cloudflare
	switch {
	case after != "" && !isCloudflare:
		return never("no request gets to this line, as a \"*\" stands at the end of a segment; " +
			insteadOfLine)
	case after != "":
		return errors.New("a \"*\" stands at the end of a segment; " + insteadOfLine)
	case before != "" && !isLast:
		return errors.New("a \"*\" behind text stands at the end of a path; " + insteadOfLine)
	case isCloudflare && placeholder.MatchString(before):
		return errors.New("a segment has a placeholder or a \"*\", as nothing would settle which of " +
			"two takes what; " + insteadOfLine)
	}
	w.WriteString(regexp.QuoteMeta(before))
	group := "(.*)"
	switch {
	case before != "" && !isCloudflare:
		group = "/?(.*)"
	case before == "" && !isLast && isCloudflare:
		group = "(.+)"
	case before == "" && !isLast:
		group, w.hasSlash = "(?:(.+)/)?", true
	}
	w.addGroup(splat[1:], group)
	return nil
}

// unknownPlaceholder returns what looks like a placeholder in the path of a destination, at the
// beginning of a segment, and is none of the line's path.
func unknownPlaceholder(to string, e *pathexpr.Expression) (unknown string) {
	path, _ := cutPath(to)
	from := 0
	if isURL(to) {
		_, behind, _ := strings.Cut(path, "://")
		from = len(path) - len(behind) + max(0, strings.IndexByte(behind, '/'))
	}
	for i := from + 1; i < len(path); i++ {
		if path[i] != ':' || path[i-1] != '/' {
			continue
		}
		if found, _ := e.Colon(path[i:]); found.Length == 0 {
			if name := placeholderAtStart.FindString(path[i:]); name != "" {
				unknown = name
			}
		}
	}
	return unknown
}
