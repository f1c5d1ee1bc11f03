package nginx

import (
	"errors"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// blockReader reads nginx's map blocks, or the content of one.
type blockReader struct {
	*migrate.Table
	words    []word          // of the current statement
	fallback *redirects.Line // of the default, if it leads somewhere
	block    block
	maps     []string // the variables that blocks set
	hasPlain bool     // there are keys without a regular expression
}

// word is a word of a statement, which may go over several lines.
type word struct {
	text string
	at   resolver.Position
}

// block is the block in which a statement stands.
type block struct {
	// isOpen reports whether a block is open. isOther reports whether it does not map paths.
	isOpen, isOther bool
	// lookedUp is the variable that the block looks up: "$uri" or "$request_uri", or "" if unknown.
	lookedUp string
	hasMasks bool // keys can be masks of hosts
}

// words splits a line like nginx.
var words = migrate.Splitter{
	Marks: ";{}", Ends: ";{", HasComments: true,
	Unescape: func(c, _ byte) (string, bool) {
		if at := strings.IndexByte(`"'\trn`, c); at >= 0 {
			return "\"'\\\t\r\n"[at : at+1], true
		}
		return `\` + string(c), true
	},
}

// readLine reads the words of a line.
func (n *blockReader) readLine(line string, lines *migrate.LineReader) {
	split, err := words.Split(line, 0)
	for _, w := range split {
		if w.IsMark {
			n.readStatement(w.Text)
			n.words = n.words[:0]
			continue
		}
		n.words = append(n.words, word{w.Text, lines.At(w.Column)})
	}
	if err != nil {
		n.Wrong(n.words[len(n.words)-1].at, "%s", err)
		n.words = nil
	}
}

// readStatement handles a statement, which ends with a mark.
func (n *blockReader) readStatement(mark string) {
	words := n.words
	switch {
	case mark == "}":
		n.block = block{}
		if len(words) > 0 {
			n.Wrong(words[0].at, "the statement does not end; add \";\"")
		}
		return
	case len(words) == 0 || n.block.isOther && mark == ";":
		return
	case mark == "{":
		n.openBlock()
		return
	}
	at := words[0].at
	switch key := words[0].text; {
	case len(words) == 1 && (key == "hostnames" || key == "volatile"):
		n.block.hasMasks = n.block.hasMasks || key == "hostnames"
	case len(words) == 2 && key == "include":
		n.Refuse(at, nil, errors.New("the file "+printable.Quote(words[1].text)+
			" is a file of its own; convert it, too"))
	case len(words) != 2:
		n.Wrong(at, "a line of a map has a key and a destination, and this one has %s; quote "+
			"those with blanks", printable.Count(len(words), "word"))
	default:
		n.addKey(at, key, words[1].text)
	}
}

// openBlock handles the beginning of a block.
func (n *blockReader) openBlock() {
	words := n.words
	if n.block.isOpen || len(words) != 3 || words[0].text != "map" {
		n.Wrong(words[0].at, "a map begins with: map $uri $destination {")
		n.block.isOther = true
		return
	}
	n.block.isOpen = true
	switch words[1].text {
	case "$uri", "$document_uri":
		n.block.lookedUp = "$uri"
	case "$request_uri":
		n.block.lookedUp = "$request_uri"
		n.Remark("nginx looks up path and query as the request spells them; rules match the path " +
			"alone, however it is spelled")
	default:
		n.block.isOther = true
		n.Wrong(words[1].at, "the map is looked up by %s, but rules match paths; convert maps of $uri "+
			"and $request_uri", printable.Quote(words[1].text))
		return
	}
	n.maps = append(n.maps, words[2].text)
}

// finish adds the remarks on all blocks, and the default.
func (n *blockReader) finish() {
	if len(n.words) > 0 {
		n.Wrong(n.words[0].at, "the statement does not end; add \";\"")
	}
	if len(n.maps) > 1 {
		n.Remark("the maps of %s are read as one, in which the first line for a path counts; convert "+
			"them one by one if they are for different things", migrate.QuoteAll(n.maps))
	}
	if n.fallback != nil {
		n.Add(*n.fallback)
	}
	if n.hasPlain {
		n.Remark("nginx ignores the case of keys, but rules do not; if it does not matter, add fold " +
			"case to the shortlink block")
	}
}

// addKey adds a key of nginx and its destination.
func (n *blockReader) addKey(at resolver.Position, key, to string) {
	expression, isMatch := strings.CutPrefix(key, "~")
	expression, folds := strings.CutPrefix(expression, "*")
	switch {
	case key == "default":
		n.addDefault(at, to)
	case isMatch:
		n.AddMatch(redirects.Line{At: at, IsLater: true, Answer: answerOf(to),
			Query: n.Reading.Query}, expression, to,
			pathexpr.Options{Folds: folds, IsEncoded: n.block.lookedUp == "$request_uri"})
	default:
		n.addPlain(at, strings.TrimPrefix(key, `\`), to)
	}
}

// addPlain adds a key that is not a regular expression.
func (n *blockReader) addPlain(at resolver.Position, key, to string) {
	switch {
	case strings.Contains(to, "$"):
		n.Refuse(at, nil, errVariable)
	case n.block.hasMasks && strings.HasSuffix(key, ".*"):
		n.Refuse(at, nil, errors.New("a key that ends in \".*\" is a mask because of hostnames; remove "+
			"hostnames, or write a rule for each path"))
	case n.block.lookedUp != "" && key != "" && key[0] != '/':
		n.Drop(at, "no request reaches this line: a path begins with \"/\"; add it in front")
	case addPair(n.Table, at, key, to):
		n.hasPlain = true
		if n.block.lookedUp == "$uri" && triplet.MatchString(key) {
			n.Approximate(at, "nginx compares decoded paths, $uri, with this key as it is written; here "+
				"the key is decoded, too")
		}
	}
}

// triplet is a percent-encoded byte.
var triplet = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// addDefault records the destination for paths without a key. In most maps it is "".
func (n *blockReader) addDefault(at resolver.Position, to string) {
	switch err := migrate.CheckDestination(to); {
	case to == "":
	case n.fallback != nil:
		n.Wrong(at, "a map has one default, and the line at %s has it already", n.fallback.At)
	case strings.Contains(to, "$"):
		n.Refuse(at, nil, errVariable) // the default is last, so no other line gets its requests
	case err != nil:
		n.Wrong(at, "%s", err)
	default:
		n.fallback = &redirects.Line{At: at, IsLater: true, To: redirects.Literal(to),
			Query: n.Reading.Query,
			Path:  redirects.Below(nil)}
	}
}

// errVariable is the error for a destination with a variable.
var errVariable = errors.New("a destination has no variables except parts of the path; use " +
	"Caddy's redir with placeholders")
