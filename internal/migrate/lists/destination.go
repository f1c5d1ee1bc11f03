package lists

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
)

// lines returns the lines of a pattern.
func (p *pattern) lines(line redirects.Line, d *destination) ([]redirects.Line, error) {
	visible := p.visible.String()
	if len(p.groups) == 0 || strings.Contains(visible, "//") { // as most are, or as no request has it
		d.pattern = new(pattern)
		to, err := d.write(new(pathexpr.Path))
		line.Path, line.To = redirects.Text(visible), to
		return []redirects.Line{line}, err
	}
	options := pathexpr.Options{IsEncoded: true, IsMade: p.alternatives == ""}
	for i := range p.groups {
		options.Names = append(options.Names, p.variable(i))
	}
	e, err := pathexpr.Parse("^"+p.expression.String()+"$", options)
	switch {
	case err != nil && p.alternatives != "":
		return nil, noExpression(p.alternatives)
	case err != nil:
		return nil, err
	}
	return e.Lines(line, d.write)
}

// variable returns the name of a group's variable, which no other one has.
func (p *pattern) variable(i int) string {
	switch name := p.groups[i].name; {
	case p.isGlob:
		return name
	case name == redirects.Splat || name[0] >= '0' && name[0] <= '9' || name[0] == '_':
		return "part" + strconv.Itoa(i+1)
	case strings.HasPrefix(name, "part"):
		return name + strconv.Itoa(i+1)
	default:
		return name
	}
}

// destination writes where the paths of a pattern lead.
type destination struct {
	written string
	pattern *pattern
	path    *pathexpr.Path
	// lacks tells that a group is named that is nothing of the path.
	lacks bool
	// unknown is the first that looks like a variable, and is none of the path's.
	unknown string
}

// write returns the destination of a path.
func (d *destination) write(path *pathexpr.Path) ([]redirects.Piece, error) {
	if d.pattern.isGlob {
		return redirects.Literal(d.written), nil
	}
	d.path, d.lacks = path, false
	to, err := path.Substitute(d.written, d.find)
	if d.lacks && (len(to) == 0 || strings.HasPrefix(to[0].Text, "?") ||
		strings.HasPrefix(to[0].Text, "#")) {
		to = slices.Insert(to, 0, redirects.Piece{Text: "/"})
	}
	return to, err
}

// find finds :name and $1, with the slash in front where that is nothing of the path, and
// characters with a backslash.
func (d *destination) find(text string) (r pathexpr.Reference, err error) {
	if text[0] == '\\' && len(text) > 1 && strings.IndexByte(`:*+?(){}\$`, text[1]) >= 0 {
		return pathexpr.Reference{Text: text[1:2], Length: 2}, nil
	}
	name := strings.TrimPrefix(text, "/")
	i, length := d.pattern.groupAt(name)
	lacks := i >= 0 && d.pattern.groups[i].mayLack && d.path.Groups[i+1] == nil
	switch hasSlash := text[0] == '/'; {
	case i < 0 && (hasSlash || text[0] == '$'):
		d.unknown = cmp.Or(d.unknown, strings.TrimPrefix(unknown.FindString(text), "/"))
	case i >= 0 && (lacks || !hasSlash):
		d.lacks = d.lacks || lacks
		return pathexpr.Reference{Group: i + 1, Length: length + len(text) - len(name)}, nil
	}
	return r, nil
}

// unknown is what looks like a variable.
var unknown = regexp.MustCompile(`^(/:[A-Za-z]\w*|\$[1-9])`)

// groupAt returns the place of the group that a text of a destination begins with, -1 for none, and
// the length of what names it.
func (p *pattern) groupAt(text string) (i, length int) {
	if text == "" || text[0] != ':' && text[0] != '$' {
		return -1, 0
	}
	name := patternName.FindString(text[1:])
	if text[0] == '$' {
		n, err := strconv.Atoi(name)
		if i = n - 1; err != nil || i >= len(p.groups) {
			i = -1
		}
	} else {
		i = slices.IndexFunc(p.groups, func(g group) bool { return name != "" && g.name == name })
	}
	length = 1 + len(name)
	if i >= 0 && p.groups[i].isSeveral && length < len(text) &&
		strings.IndexByte("*+", text[length]) >= 0 {
		length++
	}
	return i, length
}
