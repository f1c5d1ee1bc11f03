package rulefile

import (
	"errors"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// nginxReader reads what stands in nginx's map block, or the block itself. Plain keys come first
// there, whatever their case, then regular expressions in their order, then the default.
type nginxReader struct {
	*foreignTable
	lines *lineReader
	words []nginxWord // of the statement that is read
	// fallback is the line of the default, if it has one.
	fallback *foreignLine
	block    nginxBlock
	maps     []string // the variables that blocks set
	hasPlain bool
}

// nginxBlock is the block in which a statement stands.
type nginxBlock struct {
	// isOpen tells that there is one, isOther that it is none of paths.
	isOpen, isOther bool
	// lookedUp is what the block looks up: "$uri" or "$request_uri"; "" where that is not known.
	lookedUp string
	// hasMasks tells that keys can be masks of hosts.
	hasMasks bool
}

// nginxWord is a word, or what ends a statement: ";", "{" or "}".
type nginxWord struct {
	text  string
	isEnd bool
	at    resolver.Position
}

// readNginxMap reads a map of which a line has been read.
func readNginxMap(t *foreignTable, lines *lineReader, line []byte) error {
	t.program = "nginx"
	t.file.passesThere = true
	n := nginxReader{foreignTable: t, lines: lines}
	var err error
	for ; err == nil; line, err = lines.next() {
		n.takeLine(string(line))
		if err := t.file.errs.tooMany(lines.position(1)); err != nil {
			return err
		}
	}
	if len(n.words) > 0 {
		n.wrong(n.words[0].at, "the statement does not end; write \";\" behind it")
	}
	t.isPlain = len(t.later) == 0 && n.fallback == nil && t.capturing == nil
	if len(n.maps) > 1 {
		n.remark("the maps of %s are read as one, in which the first line for a path counts; convert "+
			"them one by one if they are for different things", quotedList(n.maps))
	}
	if n.fallback != nil {
		n.isLater = true
		n.add(*n.fallback)
	}
	if n.hasPlain {
		n.remark("nginx looks up keys without regard to case, and here case counts; fold case in the " +
			"shortlink block if that is meant")
	}
	return err
}

// takeLine takes in the words of a line.
func (n *nginxReader) takeLine(line string) {
	if err := checkLine(line); err != nil {
		n.wrong(n.lines.position(1), "%s", err)
		return
	}
	for at := 0; ; {
		w, next, err := nextNginxWord(line, at)
		if w.at = n.lines.position(w.at.Column); err != nil {
			n.wrong(w.at, "%s", err)
			n.words = nil
			return
		}
		if next < 0 {
			return
		}
		if at = next; !w.isEnd {
			n.words = append(n.words, w)
			continue
		}
		n.takeStatement(w)
		n.words = n.words[:0]
	}
}

// nextNginxWord returns the next word of a line from somewhere on, and what is behind it; that is
// negative where there is none.
func nextNginxWord(line string, from int) (w nginxWord, next int, err error) {
	rest := strings.TrimLeft(line[from:], lineSpace)
	start := len(line) - len(rest)
	w.at.Column = start + 1
	switch {
	case rest == "" || rest[0] == '#':
		return w, -1, nil
	case strings.IndexByte(";{}", rest[0]) >= 0:
		return nginxWord{text: rest[:1], isEnd: true, at: w.at}, start + 1, nil
	}
	var b strings.Builder
	quotes, i := byte(0), start
	if c := line[i]; c == '"' || c == '\'' {
		quotes = c
		i++
	}
	for ; i < len(line); i++ {
		c := line[i]
		switch {
		case quotes != 0 && c == quotes:
			w.text = b.String()
			return w, i + 1, nil
		case quotes == 0 && (strings.IndexByte(lineSpace+";", c) >= 0 || c == '{' && line[i-1] != '$'):
			w.text = b.String()
			return w, i, nil
		case c == '\\' && i+1 < len(line):
			i++
			b.WriteString(unescapedByNginx(line[i]))
		default:
			b.WriteByte(c)
		}
	}
	if quotes != 0 {
		return w, i, errors.New("a quotation mark is not closed; write it at the word's end, too")
	}
	w.text = b.String()
	return w, i, nil
}

// unescapedByNginx returns what a backslash and a character stand for.
func unescapedByNginx(c byte) string {
	switch c {
	case '"', '\'', '\\':
		return string(c)
	case 't':
		return "\t"
	case 'r':
		return "\r"
	case 'n':
		return "\n"
	}
	return `\` + string(c)
}

// takeStatement takes in a statement, which ends here.
func (n *nginxReader) takeStatement(end nginxWord) {
	words := n.words
	switch {
	case end.text == "}":
		n.block = nginxBlock{}
		if len(words) > 0 {
			n.wrong(words[0].at, "the statement does not end; write \";\" behind it")
		}
		return
	case len(words) == 0 || n.block.isOther && end.text == ";":
		return
	case end.text == "{":
		n.openBlock()
		return
	}
	at := words[0].at
	switch key := words[0].text; {
	case len(words) == 1 && (key == "hostnames" || key == "volatile"):
		n.block.hasMasks = n.block.hasMasks || key == "hostnames"
	case len(words) == 2 && key == "include":
		n.refuse(at, "", "the file "+quote(words[1].text)+" stands on its own; convert it, too")
	case len(words) != 2:
		n.wrong(at, "a line of a map has a key and a destination, and this one has %s; quote "+
			"those with blanks", printable.Count(len(words), "word"))
	default:
		n.addKey(at, key, words[1].text)
	}
}

// openBlock takes in the beginning of a block.
func (n *nginxReader) openBlock() {
	words := n.words
	if n.block.isOpen || len(words) != 3 || words[0].text != "map" {
		n.wrong(words[0].at, "a map begins with: map $uri $destination {")
		n.block.isOther = true
		return
	}
	n.block.isOpen = true
	switch words[1].text {
	case "$uri", "$document_uri":
		n.block.lookedUp = "$uri"
	case "$request_uri":
		n.block.lookedUp = "$request_uri"
		n.remark("nginx looks up the path with its query there, as the request spells them, and rules " +
			"go by the path alone, however it is spelled")
	default:
		n.block.isOther = true
		n.wrong(words[1].at, "the map is looked up by %s, and a rule by its path; convert maps of $uri "+
			"and $request_uri", quote(words[1].text))
		return
	}
	n.maps = append(n.maps, words[2].text)
}

// addKey takes in a key and its destination.
func (n *nginxReader) addKey(at resolver.Position, key, to string) {
	n.isLater = false
	if key == "default" {
		n.addDefault(at, to)
		return
	}
	if expression, is := strings.CutPrefix(key, "~"); is {
		expression, folds := strings.CutPrefix(expression, "*")
		n.isLater = true
		n.addMatch(at, expression, to, expressionOptions{
			folds: folds, isEncoded: n.block.lookedUp == "$request_uri",
		})
		return
	}
	n.addPlain(at, strings.TrimPrefix(key, `\`), to)
}

// addPlain takes in a key that is no regular expression.
func (n *nginxReader) addPlain(at resolver.Position, key, to string) {
	switch {
	case strings.Contains(to, "$"):
		n.refuse(at, "", errVariable.Error())
	case n.block.hasMasks && strings.HasSuffix(key, ".*"):
		n.refuse(at, "", "a key that ends in \".*\" is a mask because of hostnames; remove hostnames, "+
			"or write a rule for each path")
	case n.block.lookedUp != "" && key != "" && key[0] != '/':
		n.drop(at, "no request gets to this line, as a path begins with \"/\"; write it in front")
	case n.addPair(at, key, to):
		n.hasPlain = true
		if n.block.lookedUp == "$uri" && hasTriplet(key) {
			n.approximate(at, "nginx looks up decoded paths in $uri, in which this key stands for "+
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
func (n *nginxReader) addDefault(at resolver.Position, to string) {
	switch err := checkDestination(to); {
	case to == "":
	case n.fallback != nil:
		n.wrong(at, "a map has one default, and the line at %s has it already", n.fallback.at)
	case strings.Contains(to, "$"):
		n.refuse(at, "", errVariable.Error()) // which comes last: no other line gets its requests
	case err != nil:
		n.wrong(at, "%s", err)
	default:
		n.fallback = &foreignLine{at: at, path: "/" + capturedRest, to: to}
	}
}

// errVariable is why a destination with a variable has no equivalent.
var errVariable = errors.New("a destination has no variables but parts of the path; use Caddy's " +
	"redir with placeholders")

// addMatch takes in a regular expression and its destination.
func (t *foreignTable) addMatch(
	at resolver.Position, expression, to string, options expressionOptions,
) {
	e, err := options.parse(expression)
	if err != nil {
		t.refuse(at, frontOfExpression(expression, "/"), err.Error())
		return
	}
	line := foreignLine{at: at, answer: mapAnswer(to)}
	lines, err := e.lines(line, func(v *pathVariant) (string, error) {
		to, err := e.destination(v, to)
		if err == nil {
			err = checkDestination(to)
		}
		return to, err
	})
	if err != nil {
		t.refuse(at, e.variants[0].path, err.Error())
		return
	}
	t.addExpression(at, e, lines)
}
