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
	parts := variable.FindStringSubmatch(text)
	if parts == nil {
		return r, nil
	}
	hasSlash, name, modifier := parts[1] != "", parts[2], parts[3]
	number, _ := strconv.Atoi(name[1:])
	for i, g := range d.pattern.groups {
		if name != ":"+g.name && (name[0] == ':' || number != i+1) {
			continue
		}
		lacks := g.mayLack && d.path.Groups[i+1] == nil
		d.lacks = d.lacks || lacks
		switch {
		case hasSlash && !lacks:
			return r, nil
		case !g.isSeveral:
			return pathexpr.Reference{Group: i + 1, Length: len(parts[0]) - len(modifier)}, nil
		}
		return pathexpr.Reference{Group: i + 1, Length: len(parts[0])}, nil
	}
	if isNamed := name[0] == ':' && name[1] > '9'; isNamed && hasSlash ||
		name[0] == '$' && name[1] > '0' && name[1] <= '9' && !hasSlash {
		d.unknown = cmp.Or(d.unknown, name)
	}
	return r, nil
}

// variable is what can stand for a group in a destination.
var variable = regexp.MustCompile(`^(/?)([:$]\w+)([*+]?)`)
