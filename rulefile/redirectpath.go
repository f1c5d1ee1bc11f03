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
	if p.refused == nil && p.isPlain() {
		path := strings.TrimSuffix(p.path, "/")
		t.AddPlain(at(p.from.column), path, p.to.text, p.status)
		return
	}
	made := p.translate(at)
	switch place := at(p.blamed.column); {
	case p.refused == nil:
		t.Add(made)
	case p.kind == malformed:
		t.Wrong(place, "%s", p.refused)
	case p.kind == neverReached:
		t.Drop(place, p.refused.Error())
	default:
		made.Refused, made.RefusedAt = p.refused, place
		t.Add(made)
	}
}

// isPlain reports whether nothing in the line stands for anything else. Of such lines a file can
// have a million.
func (p *lineParser) isPlain() bool {
	path := p.path
	if p.dialect != Cloudflare {
		path = strings.TrimSuffix(path, "/")
	}
	return p.answer == redirects.Leads && !strings.Contains(p.to.text, "/:") &&
		!strings.ContainsAny(path, ":*") && redirects.IsPlain(path)
}

// translate makes a line of a table of the one that has been taken apart, and refuses it if its
// path has no equivalent.
func (p *lineParser) translate(at func(column int) resolver.Position) redirects.Line {
	made := redirects.Line{At: at(p.from.column), ToAt: at(p.to.column), Answer: p.answer}
	if p.path == "" {
		return made
	}
	e := p.translatePath()
	if e == nil {
		return made
	}
	var err error
	made.Path = e.Paths[0].Segments
	if made.To, err = e.Paths[0].Substitute(p.to.text, e.Colon); err != nil {
		p.refuse(unsupported, p.from, "%s", err)
	}
	if p.answer == redirects.Leads {
		made.Status = p.status
	}
	if p.note != "" {
		made.Notes = append(made.Notes, p.note)
	}
	if unknown := unknownPlaceholder(made.To); unknown != "" {
		made.Notes = append(made.Notes, unknown+" stands for nothing, as the path does not have it, and "+
			"stays as it is in the destination")
	}
	return made
}

var (
	// placeholder is what Cloudflare takes for one; Netlify's are whole segments.
	placeholder = regexp.MustCompile(`:[A-Za-z]\w*`)
	// lastPlaceholder is the last one that begins a segment, and is no host.
	lastPlaceholder = regexp.MustCompile(`^(?:.*[^/])?/(:[A-Za-z]\w*)`)
)

// unknownPlaceholder returns what looks like a placeholder in the path of a destination, at the
// beginning of a segment, and is none of the line's path.
func unknownPlaceholder(to []redirects.Piece) (unknown string) {
	for _, piece := range to {
		path, rest := cutPath(piece.Text)
		if found := lastPlaceholder.FindStringSubmatch(path); found != nil {
			unknown = found[1]
		}
		if rest != "" {
			break
		}
	}
	return unknown
}

const insteadOfLine = "; write a line for each path, or use Caddy's redir with a path_regexp matcher"

// translatePath returns the path of a line as a regular expression, taken apart. It refuses the
// line, and returns nil, if no rule can have that.
//
//	/blog/:x     ^/blog/([^/]+)$
//	/blog/*      ^/blog/(.*)$
//	/blog-*      ^/blog-/?(.*)$       at Cloudflare ^/blog-(.*)$
//	/*/blog      ^/(?:(.+)/)?blog$    at Cloudflare ^/(.+)/blog$
func (p *lineParser) translatePath() *pathexpr.Expression {
	slashes := p.dialect.slashes()
	text := strings.TrimPrefix(p.path, "/")
	if p.dialect != Cloudflare || strings.HasSuffix(text, "*/") {
		text = strings.TrimSuffix(text, "/")
	}
	if isReached, err := redirects.Check(redirects.Text("/"+text), slashes); err != nil {
		kind := neverReached
		if isReached {
			kind = unsupported
		}
		p.refuse(kind, p.from, "%s", err)
		return nil
	}
	w := pathWriter{parser: p}
	w.WriteString("^/")
	for rest, more := text, true; more && !w.isRefused; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		w.add(segment, !more)
	}
	w.WriteString("$")
	if w.isRefused {
		return nil
	}
	e, err := pathexpr.Parse(w.String(), pathexpr.Options{
		IsEncoded: true, IsMade: true, Spans: true, Slashes: slashes, Names: w.names,
	})
	if err == nil && len(e.Paths) > 1 {
		err = errors.New("the path stands for several" + insteadOfLine)
	}
	if err != nil {
		p.refuse(unsupported, p.from, "%s", err)
		return nil
	}
	return e
}

// pathWriter writes the path of a line as a regular expression.
type pathWriter struct {
	strings.Builder
	parser    *lineParser
	names     []string // of what is captured
	count     int      // of segments
	hasStar   bool
	hasSlash  bool // one in front of the next segment is there
	isRefused bool
}

// refuse refuses the line, as its path is none of a rule.
func (w *pathWriter) refuse(kind refusalKind, why string) {
	w.isRefused = true
	w.parser.refuse(kind, w.parser.from, "%s", why)
}

// add adds a segment, perhaps the last one.
func (w *pathWriter) add(segment string, isLast bool) {
	if w.count >= 64 && len(w.names) > 0 {
		w.refuse(unsupported, "a path with placeholders or \"*\" has less than 64 segments"+insteadOfLine)
		return
	}
	if w.count++; w.count > 1 && !w.hasSlash {
		w.WriteString("/")
	}
	w.hasSlash = false
	isCloudflare := w.parser.dialect == Cloudflare
	before, after, isStar := strings.Cut(segment, "*")
	switch isPlaceholder := !isCloudflare && len(segment) > 1 && segment[0] == ':'; {
	case isPlaceholder:
		w.addGroup(segment[1:], "([^/]+)")
	case isStar && w.hasStar:
		w.refuse(unsupported, "a path has one \"*\", as nothing would settle which of two takes what"+
			insteadOfLine)
	case isStar:
		w.addStar(before, after, isLast)
	case isCloudflare:
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
			"takes what"+insteadOfLine)
		return
	}
	from, to := found[0][0], found[0][1]
	name := segment[from+1 : to]
	isPrefix := func(other string) bool { return strings.HasPrefix(name, other) }
	if slices.ContainsFunc(w.names, isPrefix) {
		w.refuse(neverReached, "no request gets to this line, as the name of a placeholder begins with "+
			"that of one in front of it; give it another name")
	}
	w.addText(segment[:from])
	w.addGroup(name, "([^/]+)")
	w.addText(segment[to:])
}

// addStar adds the segment that has the "*", with what stands in front of it and behind.
func (w *pathWriter) addStar(before, after string, isLast bool) {
	w.hasStar = true
	isCloudflare := w.parser.dialect == Cloudflare
	switch {
	case after != "" && !isCloudflare:
		w.refuse(neverReached, "no request gets to this line, as a \"*\" stands at the end of a segment"+
			insteadOfLine)
	case after != "":
		w.refuse(unsupported, "a \"*\" stands at the end of a segment"+insteadOfLine)
	case before != "" && !isLast:
		w.refuse(unsupported, "a \"*\" behind text stands at the end of a path"+insteadOfLine)
	case isCloudflare && placeholder.MatchString(before):
		w.refuse(unsupported, "a segment has a placeholder or a \"*\", as nothing would settle which of "+
			"two takes what"+insteadOfLine)
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
