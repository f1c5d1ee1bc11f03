package rulefile

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// A map has a key and a destination on each line. Which kind it is, the first line tells:
//
//	/a https://a.example;      nginx's
//	/a<tab>https://a.example   a list with tabs
//	/a https://a.example       Apache's RewriteMap, or a map file of HAProxy

// mapReader reads a map.
type mapReader struct {
	*foreignTable
	lines *lineReader
	// hasTabs tells that a line can have a tab between key and destination, and blanks within them;
	// isIndented that one began with a blank.
	hasTabs, isIndented bool
}

// readMap is a [foreignReader].
func readMap(t *foreignTable, r io.Reader) error {
	t.program, t.slashesCount = "what looks up a map", true
	m := mapReader{foreignTable: t, lines: newLineReader(r, t.source)}
	line, err := m.lines.next()
	if err != nil {
		return err
	}
	if t.reading.Status == 0 && t.reading.Query == resolver.QueryDefault {
		t.remark("a map tells neither the status of redirects nor what becomes of queries, so the " +
			"site's own hold; say it with --status and --query")
	}
	if isOfNginx(line) {
		return readNginxMap(t, m.lines, line)
	}
	m.hasTabs = bytes.IndexByte(line, '\t') >= 0
	for {
		m.take(string(line))
		if err := t.file.errs.tooMany(m.lines.position(1)); err != nil {
			return err
		}
		if line, err = m.lines.next(); err != nil {
			return err
		}
	}
}

// isOfNginx reports whether a line is one of nginx.
func isOfNginx(line []byte) bool {
	text := strings.TrimSpace(string(line))
	before, _, hasComment := strings.Cut(text, " #")
	isMap := strings.HasPrefix(text, "map ") && strings.Contains(text, "$")
	return isMap || strings.HasSuffix(text, ";") || strings.HasSuffix(text, "{") ||
		hasComment && strings.HasSuffix(strings.TrimSpace(before), ";")
}

// cutAtTab cuts a line of a list with tabs, of which several may stand between the two.
func cutAtTab(line string) (key, value word, err error) {
	start := len(line) - len(strings.TrimLeft(line, lineSpace))
	keyText, behind, _ := strings.Cut(line[start:], "\t")
	valueText := strings.Trim(behind, lineSpace)
	switch {
	case valueText == "":
		return key, value, errNoValue
	case strings.Contains(valueText, "\t"):
		return key, value, errors.New("a line has a key and a destination, and this one has more than " +
			"two columns; write --from csv for a table with more")
	}
	at := len(line) - len(strings.TrimLeft(behind, lineSpace)) + 1
	return word{strings.TrimRight(keyText, lineSpace), start + 1}, word{valueText, at}, nil
}

// errNoValue is the error of a line without a second column.
var errNoValue = errors.New("the line has no destination; write a key, a blank and a destination")

// cutAtBlank cuts a line that has a blank behind its key.
func cutAtBlank(line string) (key, value word, err error) {
	start := len(line) - len(strings.TrimLeft(line, lineSpace))
	text := line[start:]
	end := strings.IndexAny(text, lineSpace)
	if end < 0 {
		return key, value, errNoValue
	}
	behind := strings.TrimLeft(text[end:], lineSpace)
	value = word{strings.TrimRight(behind, lineSpace), len(line) - len(behind) + 1}
	switch {
	case behind == "":
		return key, value, errNoValue
	case strings.ContainsAny(value.text, lineSpace):
		return key, value, errors.New("the destination holds a blank, which ends it for Apache and not " +
			"for HAProxy; write %20, or remove what is behind it")
	}
	return word{text[:end], start + 1}, value, nil
}

// take takes in a line.
func (m *mapReader) take(line string) {
	at := m.lines.position(1)
	if err := checkLine(line); err != nil {
		m.wrong(at, "%s", err)
		return
	}
	cut := cutAtBlank
	if m.hasTabs && strings.IndexByte(line, '\t') >= 0 {
		cut = cutAtTab
	}
	key, value, err := cut(line)
	if err != nil {
		m.wrong(at, "%s", err)
		return
	}
	if key.column > 1 && !m.isIndented {
		m.isIndented = true
		m.remark("lines begin with a blank, which HAProxy takes all the same and Apache passes over")
	}
	at.Column = key.column
	if m.addPair(at, key.text, value.text) && strings.Contains(value.text, "|") {
		m.approximate(at, "maps of rnd: in Apache have one of the destinations between \"|\" at "+
			"random, and here it is part of the destination")
	}
}

// checkLine refuses a line that is no text.
func checkLine(line string) error {
	if hasMarks(line) {
		return errors.New("this line has a control character; remove it")
	}
	if err := checkText(line); err != nil {
		return errors.New("this line " + notUnicode)
	}
	return nil
}

// addPair takes in a key and where it leads, "" for nowhere. It reports whether they make a line.
func (t *foreignTable) addPair(at resolver.Position, key, to string) bool {
	path, err := t.pathOfKey(key)
	if err != nil {
		t.refuse(at, "", err.Error())
		return false
	}
	line := foreignLine{at: at, path: path, to: to, answer: mapAnswer(to)}
	if err := checkDestination(to); err != nil && line.answer == leads {
		t.wrong(at, "%s", err)
		return false
	}
	t.add(line)
	return true
}

// mapAnswer returns what a destination in a map says. Programs do not redirect for an empty one.
func mapAnswer(to string) redirectAnswer {
	if to == "" {
		return rewrites
	}
	return leads
}

// errQuery is why a key with a query has no equivalent.
var errQuery = errors.New("a rule has no query, as it is found by the path alone; use Caddy's " +
	"redir with a query matcher")

// pathOfKey returns the path that a key stands for. It may be decoded or not: a "%" in front of two
// digits is that of a path that is not.
func (t *foreignTable) pathOfKey(key string) (path string, err error) {
	if host, path, ok := cutKeyHost(key); ok {
		if name, err := weburl.ParseHost(host); err != nil || !slices.Contains(t.reading.Hosts, name) {
			return "", errors.New("a rule has no host; if " + quote(host) +
				" is this site's, name it with --line-host")
		}
		key = path
	}
	switch {
	case key == "":
		return "", errors.New("the key is empty, and no request has an empty path; remove the line")
	case strings.Contains(key, "?"):
		return "", errQuery
	case key[0] == '^':
		return "", errors.New("the key is a regular expression, as those of map_reg; convert it " +
			"with --from yaml, which has a colon behind keys")
	case key[0] != '/':
		key = "/" + key
	}
	return withEncodedPercents(strings.ReplaceAll(key, "#", "%23")), nil
}

// cutKeyHost cuts a key into its host and its path, if it is a URL, perhaps without a scheme, or a
// mask of hosts.
func cutKeyHost(key string) (host, path string, ok bool) {
	if host, path, ok = cutHost(key); ok {
		return host, path, true
	}
	host, path, hasPath := strings.Cut(key, "/")
	isMask := strings.HasPrefix(host, "*.") || host != "" && host[0] == '.' &&
		strings.Count(host, ".") > 1
	isHost := strings.Contains(strings.Trim(host, "."), ".") && host[0] != '.'
	return host, "/" + path, isMask || hasPath && isHost
}

// withEncodedPercents encodes each "%" that encodes nothing.
func withEncodedPercents(path string) string {
	if strings.IndexByte(path, '%') < 0 {
		return path
	}
	var b strings.Builder
	for i := range len(path) {
		b.WriteByte(path[i])
		if _, ok := weburl.Triplet(path, i); path[i] == '%' && !ok {
			b.WriteString("25")
		}
	}
	return b.String()
}
