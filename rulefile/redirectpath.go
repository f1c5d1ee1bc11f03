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

// addTo adds the parsed line to a table, or reports its error. at returns the position of a column.
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
		if p.elsewhere != "" {
			made.Refused = &redirects.Elsewhere{Err: p.refused, URL: p.elsewhere}
		}
		t.Add(made)
	}
}

// isPlain reports whether the line has no wildcards. A file can have a million such lines.
func (p *lineParser) isPlain() bool {
	path := p.path
	if p.dialect != Cloudflare {
		path = strings.TrimSuffix(path, "/")
	}
	return p.answer == redirects.Leads && !strings.Contains(p.to.text, "/:") &&
		!strings.ContainsAny(path, ":*") && redirects.IsPlain(path)
}

// translate returns the line as that of a table, and refuses it if its path has no equivalent.
func (p *lineParser) translate(at func(column int) resolver.Position) redirects.Line {
	made := redirects.Line{At: at(p.from.column), ToAt: at(p.to.column), Answer: p.answer}
	if p.path == "" {
		return made
	}
	e := p.translatePath()
	if e == nil {
		made.To, made.Status = redirects.Literal(p.to.text), p.status
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
		note := unknown + " is not in the path, so it stays as it is in the destination"
		if strings.Contains(p.path, "*") {
			note = "\"" + unknown + "\" stays as it is in the destination; write " + splat +
				" for what the \"*\" of the path matches"
		}
		made.Notes = append(made.Notes, note)
	}
	return made
}

var (
	// placeholder matches Cloudflare's; Netlify's are whole segments.
	placeholder = regexp.MustCompile(`:[A-Za-z]\w*`)
	// lastPlaceholder matches up to the last one that begins a segment, unless it is a host.
	lastPlaceholder = regexp.MustCompile(`^(?:.*[^/])?/(:[A-Za-z]\w*|\*)`)
)

// unknownPlaceholder returns what looks like a placeholder of a destination, but is not in the
// path.
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

// badPath is a form of paths that no rule can have, and why.
type badPath struct {
	form *regexp.Regexp
	kind faultKind
	why  string
}

// badPaths are those of both dialects. At Netlify, a segment that begins with ":" has no "*".
var badPaths = map[redirects.Slashes][]badPath{
	Netlify.slashes(): {
		{regexp.MustCompile(`/([^:/*][^/*]*)?\*[^/]`), neverReached,
			`no request reaches this line: a "*" must end its segment`},
		{regexp.MustCompile(`/([^:/*][^/*]*)?\*/(.*/)?([^:/*][^/*]*)?\*`), unsupported, oneStar},
		{regexp.MustCompile(`/[^:/*][^/*]*\*/`), unsupported, starAtEnd},
	},
	Cloudflare.slashes(): {
		{regexp.MustCompile(`\*[^/]`), unsupported, `a "*" must end its segment`},
		{regexp.MustCompile(`\*.*\*`), unsupported, oneStar},
		{regexp.MustCompile(`[^/]\*/`), unsupported, starAtEnd},
		{regexp.MustCompile(`:[A-Za-z][^/]*\*`), unsupported,
			`a segment can have a placeholder or a "*", but not both: what each matches is ambiguous`},
		{regexp.MustCompile(`:[A-Za-z][^/]*:[A-Za-z]`), unsupported,
			"a segment can have one placeholder: what each of two matches is ambiguous"},
	},
}

const (
	oneStar   = `a path can have one "*": what each of two matches is ambiguous`
	starAtEnd = `a "*" after text must end the path`

	insteadOfLine = "; write a line for each path, or use Caddy's redir with a path_regexp matcher"
)

// refusePath refuses the line if no rule can have its path, and reports whether it did.
func (p *lineParser) refusePath(path string) (isRefused bool) {
	slashes := p.dialect.slashes()
	if isReached, err := redirects.Check(redirects.Text(path), slashes); err != nil {
		kind := neverReached
		if isReached {
			kind = unsupported
		}
		p.refuse(kind, p.from, "%w", err)
		return true
	}
	for _, bad := range badPaths[slashes] {
		if bad.form.MatchString(path) {
			p.refuse(bad.kind, p.from, "%s", bad.why+insteadOfLine)
			return true
		}
	}
	return false
}

// translatePath returns the path as a parsed expression, or refuses the line and returns nil.
func (p *lineParser) translatePath() *pathexpr.Expression {
	path := strings.TrimPrefix(p.path, "/")
	if p.dialect != Cloudflare || strings.HasSuffix(path, "*/") {
		path = strings.TrimSuffix(path, "/")
	}
	path = "/" + path
	if p.refusePath(path) {
		return nil
	}
	text, names, ok := p.expression(path)
	if !ok {
		return nil
	}
	e, err := pathexpr.Parse(text, pathexpr.Options{
		IsEncoded: true, IsMade: true, Spans: true, Slashes: p.dialect.slashes(), Names: names,
	})
	if err == nil && len(e.Paths) > 1 {
		err = errors.New("the path matches several others" + insteadOfLine)
	}
	if err != nil {
		p.refuse(unsupported, p.from, "%w", err)
		return nil
	}
	return e
}

// expression returns a path as a regular expression, and the names of its groups. It refuses the
// line if there are too many or, at Cloudflare, if one name is the beginning of another.
//
//	/blog/:x     ^/blog/([^/]+)$
//	/blog/*      ^/blog/(.*)$
//	/blog-*      ^/blog-/?(.*)$       at Cloudflare ^/blog-(.*)$
//	/*/blog      ^/(?:(.+)/)?blog$    at Cloudflare ^/(.+)/blog$
func (p *lineParser) expression(path string) (text string, names []string, ok bool) {
	var b strings.Builder
	segments, slash := strings.Split(path[1:], "/"), "/"
	for i, segment := range segments {
		if i >= 64 && names != nil {
			p.refuse(unsupported, p.from, "%s", "a path with placeholders or \"*\" has less than 64 "+
				"segments"+insteadOfLine)
			return "", nil, false
		}
		before, name, after := p.capture(segment)
		isBegin := func(other string) bool { return strings.HasPrefix(name, other) }
		group, between := "([^/]+)", "/"
		switch {
		case name == "":
			group = ""
		case name == star:
			name = splat[1:]
			group, between = p.starGroup(before != "", i == len(segments)-1)
		case p.dialect == Cloudflare && slices.ContainsFunc(names, isBegin):
			p.refuse(neverReached, p.from, "no request reaches this line: the name of a placeholder "+
				"begins with that of an earlier one; give it another name")
			return "", nil, false
		}
		if name != "" {
			names = append(names, name)
		}
		b.WriteString(slash + regexp.QuoteMeta(before) + group + regexp.QuoteMeta(after))
		slash = between
	}
	return "^" + b.String() + "$", names, true
}

// capture splits a segment around its placeholder, or around its "*", which is named star.
func (p *lineParser) capture(segment string) (before, name, after string) {
	if p.dialect != Cloudflare && len(segment) > 1 && segment[0] == ':' {
		return "", segment[1:], ""
	}
	if before, after, ok := strings.Cut(segment, "*"); ok {
		return before, star, after
	}
	if at := placeholder.FindStringIndex(segment); at != nil && p.dialect == Cloudflare {
		return segment[:at[0]], segment[at[0]+1 : at[1]], segment[at[1]:]
	}
	return segment, "", ""
}

// starGroup returns the group of a "*", and what is between it and the next segment.
func (p *lineParser) starGroup(hasText, isLast bool) (group, between string) {
	isCloudflare := p.dialect == Cloudflare
	switch {
	case hasText && !isCloudflare:
		return "/?(.*)", "/"
	case hasText || isLast:
		return "(.*)", "/"
	case isCloudflare:
		return "(.+)", "/"
	}
	return "(?:(.+)/)?", ""
}
