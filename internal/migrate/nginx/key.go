package nginx

import (
	"errors"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// addKey takes in a key of nginx and its destination.
func (n *blockReader) addKey(at resolver.Position, key, to string) {
	expression, isMatch := strings.CutPrefix(key, "~")
	switch {
	case key == "default":
		n.addDefault(at, to)
	case isMatch:
		n.addMatch(at, expression, to)
	default:
		n.addPlain(at, strings.TrimPrefix(key, `\`), to)
	}
}

// addPlain takes in a key that is no regular expression.
func (n *blockReader) addPlain(at resolver.Position, key, to string) {
	switch {
	case strings.Contains(to, "$"):
		n.Refuse(at, nil, errVariable)
	case n.block.hasMasks && strings.HasSuffix(key, ".*"):
		n.Refuse(at, nil, errors.New("a key that ends in \".*\" is a mask because of hostnames; remove "+
			"hostnames, or write a rule for each path"))
	case n.block.lookedUp != "" && key != "" && key[0] != '/':
		n.Drop(at, "no request gets to this line, as a path begins with \"/\"; write it in front")
	case addPair(n.Table, at, key, to):
		n.hasPlain = true
		if n.block.lookedUp == "$uri" && hasTriplet(key) {
			n.Approximate(at, "nginx looks up decoded paths in $uri, in which this key stands for "+
				"itself, and here it is decoded, too")
		}
	}
}

// hasTriplet reports whether a text has a "%" that encodes something.
func hasTriplet(text string) bool {
	for i := range len(text) {
		if _, ok := weburl.Triplet(text, i); ok {
			return true
		}
	}
	return false
}

// addDefault takes in the destination of what no key is for. Most maps have "" there.
func (n *blockReader) addDefault(at resolver.Position, to string) {
	switch err := migrate.CheckDestination(to); {
	case to == "":
	case n.fallback != nil:
		n.Wrong(at, "a map has one default, and the line at %s has it already", n.fallback.At)
	case strings.Contains(to, "$"):
		n.Refuse(at, nil, errVariable) // which comes last: no other line gets its requests
	case err != nil:
		n.Wrong(at, "%s", err)
	default:
		n.fallback = &redirects.Line{At: at, IsLater: true, To: redirects.Literal(to),
			Path: redirects.Below(nil)}
	}
}

// errVariable is why a destination with a variable has no equivalent.
var errVariable = errors.New("a destination has no variables but parts of the path; use Caddy's " +
	"redir with placeholders")

// addMatch takes in a regular expression and its destination.
func (n *blockReader) addMatch(at resolver.Position, expression, to string) {
	expression, folds := strings.CutPrefix(expression, "*")
	line := lineTo(at, to)
	line.IsLater = true
	n.AddMatch(line, expression, to, pathexpr.Options{
		Folds: folds, IsEncoded: n.block.lookedUp == "$request_uri",
	})
}
