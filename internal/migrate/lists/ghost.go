package lists

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// setGhost makes the entries those of Ghost, whose paths are regular expressions.
func (p *pairs) setGhost() {
	p.Program, p.isSaid, p.add = "Ghost", true, p.addGhost
	p.Status = cmp.Or(p.Status, 302)
	p.Remark("Ghost looks for a path without \"^\" at the end of all paths, too, such as /x/a " +
		"for /a; " +
		"rules match the path alone")
}

// readGhost reads the maps of Ghost. It tries those with 302 first.
func (p *pairs) readGhost(table migrate.Node) {
	p.setGhost()
	for _, status := range []int{302, 301} {
		p.add = func(line redirects.Line, path, to string) {
			line.Status = status
			p.addGhost(line, path, to)
		}
		p.readEntries(table.Member(strconv.Itoa(status)))
	}
}

// addGhost adds the lines of an entry of Ghost. A slash at the end of a path makes no difference.
func (p *pairs) addGhost(line redirects.Line, path, to string) {
	expression, folds := path, false
	if inside, is := strings.CutSuffix(path, "/i"); is && len(path) > 2 && path[0] == '/' {
		expression, folds = inside[1:], true
	}
	if expression = strings.TrimSuffix(expression, "/"); !strings.HasSuffix(expression, "$") {
		expression += "/?$"
	}
	if strings.HasPrefix(expression, "/") {
		expression = "^" + expression
	}
	if migrate.HasQuery(to) {
		line.Query = cmp.Or(p.Reading.Query, resolver.QueryPreserve)
	}
	line.Refused = cmp.Or(line.Refused, migrate.CheckText("a path or a destination", path+to))
	p.AddMatch(line, expression, to, pathexpr.Options{Folds: folds, IsEncoded: true})
}
