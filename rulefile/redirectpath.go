package rulefile

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// addTo adds the line that has been taken apart to a table, or what is wrong with it. at tells the
// place of a column.
func (p *lineParser) addTo(t *redirects.Table, at func(column int) resolver.Position) {
	line := &p.line
	if p.refused == nil && p.isPlain() {
		t.AddPlain(at(line.from.column), strings.TrimSuffix(line.path, "/"), line.to.text, line.status)
		return
	}
	made := p.translate(at)
	if p.refused == nil {
		t.Add(made)
		return
	}
	switch place := at(p.refused.word.column); p.refused.kind {
	case malformed:
		t.Wrong(place, "%s", p.refused.why)
	case neverReached:
		t.Drop(place, p.refused.why.Error())
	default:
		made.Refused, made.RefusedAt = p.refused.why, place
		t.Add(made)
	}
}

// isPlain reports whether nothing in the line stands for anything else. Of such lines a file can
// have a million.
func (p *lineParser) isPlain() bool {
	path := p.line.path
	if p.dialect != Cloudflare {
		path = strings.TrimSuffix(path, "/")
	}
	return p.line.answer == redirects.Leads && !strings.Contains(p.line.to.text, "/:") &&
		!strings.ContainsAny(path, ":*") && redirects.IsPlain(path)
}

// translate makes a line of a table of the one that has been taken apart, and refuses it if its
// path has no equivalent.
func (p *lineParser) translate(at func(column int) resolver.Position) redirects.Line {
	line := &p.line
	made := redirects.Line{At: at(line.from.column), ToAt: at(line.to.column), Answer: line.answer}
	if line.path == "" {
		return made
	}
	e := p.expression(line.path)
	if e == nil {
		return made
	}
	var err error
	made.Path = e.Paths[0].Segments
	if made.To, err = e.Paths[0].Substitute(line.to.text, e.Colon); err != nil {
		p.refuse(unsupported, line.from, "%s", err)
	}
	if line.answer == redirects.Leads {
		made.Status = line.status
	}
	if line.note != "" {
		made.Notes = append(made.Notes, line.note)
	}
	if unknown := unknownPlaceholder(line.to.text, e); unknown != "" {
		made.Notes = append(made.Notes, unknown+" stands for nothing, as the path does not have it, and "+
			"stays as it is in the destination")
	}
	return made
}

// placeholder is what Cloudflare takes for one; Netlify's are whole segments.
var (
	placeholder        = regexp.MustCompile(`:[A-Za-z]\w*`)
	placeholderAtStart = regexp.MustCompile(`^:[A-Za-z]\w*`)
)

const insteadOfLine = "write a line for each path, or use Caddy's redir with a path_regexp matcher"

// expression returns a path as a regular expression, taken apart. It refuses the line, and returns
// nil, if no rule can have that.
//
//	/blog/:x     ^/blog/([^/]+)$
//	/blog/*      ^/blog/(.*)$
//	/blog-*      ^/blog-/?(.*)$       at Cloudflare ^/blog-(.*)$
//	/*/blog      ^/(?:(.+)/)?blog$    at Cloudflare ^/(.+)/blog$
func (p *lineParser) expression(path string) *pathexpr.Expression {
	slashes := p.dialect.slashes()
	text := strings.TrimPrefix(path, "/")
	if p.dialect != Cloudflare || strings.HasSuffix(text, "*/") {
		text = strings.TrimSuffix(text, "/")
	}
	if isReached, err := redirects.Check(redirects.Text("/"+text), slashes); err != nil {
		kind := neverReached
		if isReached {
			kind = unsupported
		}
		p.refuse(kind, p.line.from, "%s", err)
		return nil
	}
	w := pathWriter{dialect: p.dialect}
	w.WriteString("^/")
	for rest, more := text, true; more && w.why == ""; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		w.add(segment, !more)
	}
	w.WriteString("$")
	if w.why != "" {
		p.refuse(w.kind, p.line.from, "%s; %s", w.why, w.instead)
		return nil
	}
	e, err := pathexpr.Parse(w.String(), pathexpr.Options{
		IsEncoded: true, IsMade: true, Spans: true, Slashes: slashes, Names: w.names,
	})
	if err == nil && len(e.Paths) > 1 {
		err = errors.New("the path stands for several; " + insteadOfLine)
	}
	if err != nil {
		p.refuse(unsupported, p.line.from, "%s", err)
		return nil
	}
	return e
}

// pathWriter writes the path of a line as a regular expression.
type pathWriter struct {
	strings.Builder
	dialect  Dialect
	names    []string // of what is captured
	count    int      // of segments
	hasStar  bool
	hasSlash bool // one in front of the next segment is there
	// Why there is none, "" if there is one, and what to write instead.
	kind         refusalKind
	why, instead string
}

// refuse takes down why the path is none of a rule.
func (w *pathWriter) refuse(kind refusalKind, why string) {
	w.kind, w.why, w.instead = kind, why, insteadOfLine
}

// add adds a segment, perhaps the last one.
func (w *pathWriter) add(segment string, isLast bool) {
	if w.count >= 64 && len(w.names) > 0 {
		w.refuse(unsupported, "a path with placeholders or \"*\" has less than 64 segments")
		return
	}
	if w.count++; w.count > 1 && !w.hasSlash {
		w.WriteString("/")
	}
	w.hasSlash = false
	before, after, isStar := strings.Cut(segment, "*")
	switch isPlaceholder := w.dialect != Cloudflare && len(segment) > 1 && segment[0] == ':'; {
	case isPlaceholder:
		w.addGroup(segment[1:], "([^/]+)")
	case isStar && w.hasStar:
		w.refuse(unsupported, "a path has one \"*\", as nothing would settle which of two takes what")
	case isStar:
		w.addStar(before, after, isLast)
	case w.dialect == Cloudflare:
		w.addPlaceholder(segment)
	default:
		w.addText(segment)
	}
}

func (w *pathWriter) addText(text string) { w.WriteString(regexp.QuoteMeta(text)) }

// addGroup adds what captures something.
func (w *pathWriter) addGroup(name, group string) {
	w.names = append(w.names, name)
	w.WriteString(group)
}

// addPlaceholder adds a segment of Cloudflare's, which has a placeholder anywhere.
func (w *pathWriter) addPlaceholder(segment string) {
	found := placeholder.FindAllStringIndex(segment, 2)
	switch len(found) {
	case 0:
		w.addText(segment)
		return
	case 2:
		w.refuse(unsupported, "a segment has one placeholder, as nothing would settle which of two "+
			"takes what")
		return
	}
	from, to := found[0][0], found[0][1]
	name := segment[from+1 : to]
	isPrefix := func(other string) bool { return strings.HasPrefix(name, other) }
	if slices.ContainsFunc(w.names, isPrefix) {
		w.refuse(neverReached, "no request gets to this line, as the name of a placeholder begins with "+
			"that of one in front of it")
		w.instead = "give it another name"
	}
	w.addText(segment[:from])
	w.addGroup(name, "([^/]+)")
	w.addText(segment[to:])
}

// addStar adds the segment that has the "*", with what stands in front of it and behind.
func (w *pathWriter) addStar(before, after string, isLast bool) {
	w.hasStar = true
	isCloudflare := w.dialect == Cloudflare
	switch {
	case after != "" && !isCloudflare:
		w.refuse(neverReached, "no request gets to this line, as a \"*\" stands at the end of a segment")
	case after != "":
		w.refuse(unsupported, "a \"*\" stands at the end of a segment")
	case before != "" && !isLast:
		w.refuse(unsupported, "a \"*\" behind text stands at the end of a path")
	case isCloudflare && placeholder.MatchString(before):
		w.refuse(unsupported, "a segment has a placeholder or a \"*\", as nothing would settle which of "+
			"two takes what")
	}
	w.addText(before)
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
