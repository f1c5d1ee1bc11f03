package nginx

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// blockReader reads nginx's configuration: map blocks, the content of one, and servers.
type blockReader struct {
	*migrate.Table
	words    []word    // of the current statement
	blocks   []block   // that are open; the first one is the file
	maps     []string  // the variables that blocks set
	fallback *redirect // the default of maps
	hasPlain bool      // there are keys without a regular expression
	servers  []*server // the first one is for what stands outside of servers
	skipped  migrate.Names
	count    int // of skipped directives, which redirect nothing
}

// word is a word of a statement, which may go over several lines.
type word struct {
	text string
	at   resolver.Position
}

// block is an open block. Its statements are keys of a map, or directives of a location. They are
// ignored if it has neither.
type block struct {
	at       resolver.Position
	isMap    bool
	lookedUp string    // the variable that a map looks up, or "" if unknown
	location *location // of the redirects in a block
	refused  error     // of those in an if
}

// block returns the innermost open block.
func (n *blockReader) block() *block { return &n.blocks[len(n.blocks)-1] }

// ofServer matches files with blocks other than maps, or with redirects outside of blocks.
var ofServer = regexp.MustCompile(`(?m)^\s*((return|rewrite)\s|[a-ln-z][a-z_]*(\s[^;{}#]*)?\{)`)

// beServer makes what stands outside of blocks that of a server.
func (n *blockReader) beServer() {
	n.blocks[0] = block{location: &n.servers[0].itself}
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
func (n *blockReader) readLine(line string, lines *rulefile.LineReader) {
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
	switch b := n.block(); {
	case mark == "}":
		n.checkEnd()
		n.blocks = n.blocks[:max(1, len(n.blocks)-1)]
	case len(n.words) == 0:
	case mark == "{":
		n.openBlock()
	case b.isMap:
		n.readKey()
	case b.location != nil:
		n.readDirective()
	}
}

// checkEnd refuses a statement that does not end.
func (n *blockReader) checkEnd() {
	if len(n.words) > 0 {
		n.Wrong(n.words[0].at, "the statement does not end; add \";\"")
	}
}

// openBlock handles the beginning of a block.
func (n *blockReader) openBlock() {
	words, b, kind := n.words, block{}, n.words[0].text
	if kind != "map" {
		n.beServer()
	}
	switch {
	case kind == "map" && len(words) == 3:
		b = n.openMap(words)
	case kind == "map" || !blockName.MatchString(kind):
		n.Wrong(words[0].at, "a map begins with: map $uri $destination {")
	case kind == "server":
		n.servers = append(n.servers, new(server))
		b.location = &n.servers[len(n.servers)-1].itself
	case kind == "location":
		b.location = n.openLocation(words)
	case kind == "http":
		b.location = n.block().location
	case kind == "if":
		b.location = n.block().location
		b.refused = fmt.Errorf("this is in an if at %s, on %s, and a rule matches the path alone: use "+
			"a location or a rewrite for a path, and Caddy's redir with a matcher for anything else",
			words[0].at, printable.Quote(textOf(words[1:])))
	}
	b.at = words[0].at
	n.blocks = append(n.blocks, b)
}

// blockName matches the names of nginx's blocks.
var blockName = regexp.MustCompile(`^[a-z_]+$`)

// openMap begins a map of paths. Other maps are passed over where there are servers.
func (n *blockReader) openMap(words []word) block {
	lookedUp := words[1].text
	switch lookedUp {
	case "$uri", "$document_uri":
	case "$request_uri":
		n.Remark("nginx looks up path and query as the request spells them; rules match the path " +
			"alone, however it is spelled")
	default:
		if n.blocks[0].isMap {
			n.Wrong(words[1].at, "the map is looked up by %s, but rules match paths; convert maps of "+
				"$uri and $request_uri", printable.Quote(lookedUp))
		}
		return block{}
	}
	n.maps = append(n.maps, words[2].text)
	return block{isMap: true, lookedUp: lookedUp}
}

// readKey handles a statement of a map: mostly a key and its destination. In most maps, the
// default is "". nginx does not redirect to "".
func (n *blockReader) readKey() {
	words := n.words
	at, key, to := words[0].at, words[0].text, words[len(words)-1].text
	line := redirects.Line{At: at, IsLater: true, Query: n.Reading.Query}
	if to == "" {
		line.Answer = redirects.Passes
	}
	expression, isMatch := strings.CutPrefix(key, "~")
	expression, folds := strings.CutPrefix(expression, "*")
	switch {
	case len(words) == 1 && (key == "hostnames" || key == "volatile"):
	case len(words) != 2:
		n.Wrong(at, "a line of a map has a key and a destination, and this one has %s; quote "+
			"those with blanks", printable.Count(len(words), "word"))
	case key == "include":
		n.Refuse(at, nil, errors.New("the file "+printable.Quote(to)+
			" is a file of its own; convert it, too"))
	case key == "default" && to == "":
	case key == "default" && n.fallback != nil:
		n.Wrong(at, "a map has one default, and the line at %s has it already", n.fallback.line.At)
	case key == "default":
		n.fallback = &redirect{line: line, to: to}
	case isMatch:
		n.AddMatch(line, expression, to,
			pathexpr.Options{Folds: folds, IsEncoded: n.block().lookedUp == "$request_uri"})
	default:
		line.IsLater = false
		n.addPlain(line, strings.TrimPrefix(key, `\`), to)
	}
}

// addPlain adds a key that is not a regular expression.
func (n *blockReader) addPlain(line redirects.Line, key, to string) {
	why, lookedUp := "", n.block().lookedUp
	switch {
	case strings.Contains(to, "$"):
		why = "a destination has no variables but parts of the path; use Caddy's redir with placeholders"
	case strings.HasSuffix(key, ".*"):
		why = "a key that ends in \".*\" is a mask, if the map has hostnames; write a rule for each path"
	case lookedUp != "" && !strings.HasPrefix(key, "/"),
		lookedUp != "" && lookedUp != "$request_uri" && triplet.MatchString(key):
		why = "nginx looks up paths that begin with \"/\" and, in $uri, are decoded; write the key so"
	default:
		n.hasPlain = true
		addPair(n.Table, line, key, to)
		return
	}
	n.Refuse(line.At, nil, errors.New(why))
}

// triplet is a percent-encoded byte.
var triplet = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// finish adds the default, the redirects of servers, and the remarks on all blocks.
func (n *blockReader) finish() {
	n.checkEnd()
	if len(n.blocks) > 1 {
		n.Wrong(n.block().at, "the block does not end; add \"}\", or the rest of a file that was cut off")
	}
	if len(n.maps) > 0 || n.blocks[0].isMap {
		remarkOnMaps(n.Table)
	}
	if len(n.maps) > 1 {
		n.Remark("the maps of %s are read as one, in which the first line for a path counts; convert "+
			"them one by one if they are for different things", migrate.QuoteAll(n.maps))
	}
	if n.fallback != nil {
		n.AddMatch(n.fallback.line, "^.*$", n.fallback.to, pathexpr.Options{})
	}
	n.addServers()
	if n.hasPlain {
		n.Remark("nginx ignores the case of keys, but rules do not; if it does not matter, add fold " +
			"case to the shortlink block")
	}
}
