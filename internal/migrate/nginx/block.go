package nginx

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// blockReader reads nginx's configuration: map blocks, the content of one, and servers.
type blockReader struct {
	*migrate.Table
	words    []word          // of the current statement
	fallback *redirects.Line // of the default, if it leads somewhere
	blocks   []block         // that are open
	maps     []string        // the variables that blocks set
	// hasPlain: there are keys without a regular expression. hasMasks: keys can be masks of hosts.
	hasPlain, hasMasks bool
	// top are statements outside of blocks: those of a map, or of a server if isServer is set.
	top      [][]word
	isServer bool
	servers  []*server
	skipped  migrate.Names // directives that redirect nothing, and their count
	count    int
}

// word is a word of a statement, which may go over several lines.
type word struct {
	text string
	at   resolver.Position
}

// block is an open block.
type block struct {
	kind string // "map", "server", "location", "if", "http", or "" for one without redirects
	// lookedUp is the variable that a map looks up: "$uri" or "$request_uri", or "" if unknown.
	lookedUp string
	// location is that of the redirects in a block, and condition that of an if.
	location  *location
	condition *redirect
}

// block returns the innermost open block.
func (n *blockReader) block() *block {
	if len(n.blocks) == 0 {
		return new(block)
	}
	return &n.blocks[len(n.blocks)-1]
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
	words, isTop := n.words, len(n.blocks) == 0
	switch kind := n.block().kind; {
	case mark == "}":
		n.blocks = n.blocks[:max(0, len(n.blocks)-1)]
		if len(words) > 0 {
			n.Wrong(words[0].at, "the statement does not end; add \";\"")
		}
	case len(words) == 0:
	case mark == "{":
		n.openBlock()
	case kind == "map":
		n.readPair(words)
	case isTop && !n.isServer && words[0].text != "return" && words[0].text != "rewrite":
		const enough = 100 // to know that it is a map
		if n.top = append(n.top, slices.Clone(words)); len(n.top) > enough {
			n.readTop()
		}
	case isTop || kind != "":
		n.openServer(false)
		n.readDirective(words)
	}
}

// readTop reads the statements outside of blocks as those of a map.
func (n *blockReader) readTop() {
	for _, words := range n.top {
		n.readPair(words)
	}
	n.top = n.top[:0]
}

// readPair handles a statement of a map.
func (n *blockReader) readPair(words []word) {
	at := words[0].at
	switch key := words[0].text; {
	case len(words) == 1 && (key == "hostnames" || key == "volatile"):
		n.hasMasks = n.hasMasks || key == "hostnames"
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
	words, b := n.words, block{kind: n.words[0].text, location: n.block().location}
	isMap := b.kind == "map" && len(words) == 3
	switch {
	case isMap && !n.isServer:
		n.readTop()
	case isMap:
	case b.kind == "map" || !blockName.MatchString(b.kind):
		n.Wrong(words[0].at, "a map begins with: map $uri $destination {")
		b.kind = ""
	default:
		n.openServer(b.kind == "server")
	}
	switch b.kind {
	case "map":
		n.hasMasks = false
		b.kind, b.lookedUp = n.openMap(words)
	case "location":
		b.location = n.openLocation(words)
	case "if":
		b.condition = conditionOf(words)
	case "server", "http":
	default:
		b.kind = ""
	}
	n.blocks = append(n.blocks, b)
}

// blockName matches the names of nginx's blocks.
var blockName = regexp.MustCompile(`^[a-z_]+$`)

// openMap returns the kind of a map, and the variable that it looks up.
func (n *blockReader) openMap(words []word) (kind, lookedUp string) {
	switch words[1].text {
	case "$uri", "$document_uri":
		lookedUp = "$uri"
	case "$request_uri":
		lookedUp = "$request_uri"
		n.Remark("nginx looks up path and query as the request spells them; rules match the path " +
			"alone, however it is spelled")
	default:
		if !n.isServer {
			n.Wrong(words[1].at, "the map is looked up by %s, but rules match paths; convert maps of "+
				"$uri and $request_uri", printable.Quote(words[1].text))
		}
		return "", ""
	}
	n.maps = append(n.maps, words[2].text)
	return "map", lookedUp
}

// finish adds the remarks on all blocks, and the default.
func (n *blockReader) finish() {
	if len(n.words) > 0 {
		n.Wrong(n.words[0].at, "the statement does not end; add \";\"")
	}
	if !n.isServer {
		n.readTop()
	}
	if len(n.maps) > 0 || !n.isServer {
		remarkOnMaps(n.Table)
	}
	if len(n.maps) > 1 {
		n.Remark("the maps of %s are read as one, in which the first line for a path counts; convert "+
			"them one by one if they are for different things", migrate.QuoteAll(n.maps))
	}
	if n.fallback != nil {
		n.Add(*n.fallback)
	}
	n.finishServers()
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
			pathexpr.Options{Folds: folds, IsEncoded: n.block().lookedUp == "$request_uri"})
	default:
		n.addPlain(at, strings.TrimPrefix(key, `\`), to)
	}
}

// addPlain adds a key that is not a regular expression.
func (n *blockReader) addPlain(at resolver.Position, key, to string) {
	switch {
	case strings.Contains(to, "$"):
		n.Refuse(at, nil, errVariable)
	case n.hasMasks && strings.HasSuffix(key, ".*"):
		n.Refuse(at, nil, errors.New("a key that ends in \".*\" is a mask because of hostnames; remove "+
			"hostnames, or write a rule for each path"))
	case n.block().lookedUp != "" && key != "" && key[0] != '/':
		n.Drop(at, "no request reaches this line: a path begins with \"/\"; add it in front")
	case addPair(n.Table, at, key, to):
		n.hasPlain = true
		if n.block().lookedUp == "$uri" && triplet.MatchString(key) {
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
