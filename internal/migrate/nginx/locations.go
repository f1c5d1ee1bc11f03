package nginx

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
)

// finishServers adds the lines of all servers.
func (n *blockReader) finishServers() {
	var own []*server
	for _, s := range n.servers {
		if n.finishItself(s); s.leads() {
			own = append(own, s)
		}
	}
	for _, s := range own {
		if len(own) > 1 && !slices.ContainsFunc(s.names, n.HasHost) {
			s.refuse(migrate.OtherHostError(strings.Join(s.names, " ")))
		}
		n.addServer(s)
	}
	if n.count > 0 {
		n.Remark("what redirects nothing is left out: %s (%s); included files are not read",
			printable.Count(n.count, "directive"), migrate.QuoteAll(n.skipped))
	}
}

// finishItself handles a return for all paths of a server.
func (n *blockReader) finishItself(s *server) {
	s.itself.redirects = slices.DeleteFunc(s.itself.redirects, func(r redirect) bool {
		switch isAll := r.pattern == "" && r.line.Refused == nil; {
		case isAll && r.to == "${0}":
			n.Drop(r.line.At, "this leads every path to itself with HTTPS, as Caddy does without a rule; "+
				"leave it out")
		case isAll:
			n.Refuse(r.line.At, nil, errors.New("this is for every path of "+cmp.Or(migrate.QuoteAll(
				s.names), "a host")+", and rules have no host; write a site block for it, with: redir "+
				strings.ReplaceAll(r.to, "${0}", "{uri}")))
		default:
			return false
		}
		return true
	})
}

// leads reports whether a server has redirects.
func (s *server) leads() bool {
	return len(s.itself.redirects) > 0 || slices.ContainsFunc(s.locations, (*location).leads)
}

func (l *location) leads() bool { return len(l.redirects) > 0 }

// refuse refuses all redirects of a server.
func (s *server) refuse(why error) {
	for _, l := range append(s.locations, &s.itself) {
		for i := range l.redirects {
			l.redirects[i].line.Refused = why
		}
	}
}

// addServer adds the lines of a server in the order in which nginx tries them.
func (n *blockReader) addServer(s *server) {
	for i := range s.itself.redirects {
		n.addRedirect(nil, &s.itself.redirects[i])
	}
	s.checkPriorities()
	slices.SortStableFunc(s.locations, func(a, b *location) int {
		if order := cmp.Compare(a.rank(), b.rank()); order != 0 || a.isMatch() || a.modifier == "=" {
			return order
		}
		return cmp.Compare(len(b.path), len(a.path))
	})
	var first []string
	for i, l := range s.locations {
		for j := range l.redirects {
			n.addRedirect(l, &l.redirects[j])
		}
		isLater := func(later *location) bool {
			return later.leads() && (later.isMatch() || strings.HasPrefix(l.path, later.path))
		}
		switch hasLater := slices.ContainsFunc(s.locations[i+1:], isLater); {
		case l.isEnded && l.leads():
		case l.isMatch() && slices.ContainsFunc(s.locations[i+1:], (*location).leads):
			first = append(first, l.path)
		case hasLater && !l.isMatch():
			n.addRedirect(l, &redirect{line: redirects.Line{At: l.at, IsLater: true,
				Answer: redirects.Passes}})
		}
	}
	if first != nil {
		n.Remark("nginx tries these locations with a regular expression before those for the beginning "+
			"of a path, and they redirect nothing; rules come first: %s", migrate.QuoteAll(first))
	}
}

// checkPriorities handles locations with "^~". They precede regular expressions, but a longer
// location without "^~" does not.
func (s *server) checkPriorities() {
	hasMatch := slices.ContainsFunc(s.locations, (*location).isMatch)
	for _, l := range s.locations {
		isWithin := func(o *location) bool {
			return o.modifier == "" && o.path != l.path && strings.HasPrefix(o.path, l.path)
		}
		switch {
		case l.modifier != "^~":
		case !hasMatch:
			l.modifier = ""
		case slices.ContainsFunc(s.locations, isWithin):
			for i := range l.redirects {
				l.redirects[i].line.Refused = errors.New("the server has a location within this one without " +
					"\"^~\"; write \"^~\" there, too")
			}
		}
	}
}

// rank orders kinds of locations. The longest of a kind counts, but the first regular expression.
func (l *location) rank() int {
	return map[string]int{"=": 0, "^~": 1, "~": 2, "~*": 2, "": 3}[l.modifier]
}

// isMatch reports whether the path is a regular expression.
func (l *location) isMatch() bool { return strings.HasPrefix(l.modifier, "~") }

// expression returns the paths of a location as a regular expression.
func (l *location) expression() string {
	switch {
	case l.isMatch():
		return l.path
	case l.modifier == "=":
		return "^" + regexp.QuoteMeta(l.path) + "$"
	}
	return "^" + regexp.QuoteMeta(l.path) + ".*$"
}

// everyPath matches expressions for every path.
var everyPath = regexp.MustCompile(`^(\^|\^?\.\*\$?|\^/)$`)

// addRedirect adds the lines of a redirect in a location, or of one outside.
func (n *blockReader) addRedirect(l *location, r *redirect) {
	expression, options := r.pattern, r.options
	switch {
	case l == nil:
	case expression == "" || everyPath.MatchString(expression):
		expression, options = l.expression(), pathexpr.Options{Folds: l.modifier == "~*"}
	case l.modifier != "" && l.modifier != "^~" || !strings.HasPrefix(strings.TrimSuffix(
		redirects.Visible(pathexpr.Front(expression, "/")), ":"+redirects.Splat), l.path):
		r.line.Refused = cmp.Or(r.line.Refused, errors.New("the expression matches paths of other "+
			"locations than "+printable.Quote(l.path)+", too; write one that begins with that path"))
	}
	if r.to == "${0}" && r.line.Answer == redirects.Leads {
		n.Drop(r.line.At, "this leads to the request itself")
		return
	}
	n.AddMatch(r.line, expression, r.to, options)
}
