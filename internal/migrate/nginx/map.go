package nginx

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// Read reads a map. It is a [migrate.Reader].
func Read(t *migrate.Table, r io.Reader) error {
	t.Program, t.Slashes = "what looks up a map", redirects.SlashesMerged
	const enough = 1 << 16 // to find a server
	text := bufio.NewReaderSize(r, enough)
	begin, _ := text.Peek(enough)
	lines := rulefile.NewLineReader(text, t.Source)
	first, err := lines.Next()
	if err != nil {
		return err
	}
	// If the first line has a tab, tabs separate key and destination, and both may contain blanks.
	hasTabs := bytes.ContainsRune(first, '\t')
	take := func(line string, lines *rulefile.LineReader) {
		readPair(t, line, lines, hasTabs && strings.Contains(line, "\t"))
	}
	finish := func() { remarkOnMaps(t) }
	if ofNginx.Match(first) {
		t.Program, t.PassesThere = "nginx", true
		n := blockReader{Table: t, servers: []*server{{}}, blocks: []block{{isMap: true}}}
		if ofServer.Match(begin) {
			n.beServer()
		}
		take, finish = n.readLine, n.finish
	}
	for next := first; err == nil; next, err = lines.Next() {
		line := string(next)
		if wrong := migrate.CheckText("this line", line); wrong != nil {
			t.Wrong(lines.At(1), "%s", wrong)
		} else {
			take(line, lines)
		}
		if t.IsGivenUp(lines.At(1)) {
			return nil
		}
	}
	finish()
	return err
}

// ofNginx matches a line with the syntax of nginx.
var ofNginx = regexp.MustCompile(`^\s*map .*\$|[;{}]\s*$|;\s* #`)

// remarkOnMaps adds the remark on what maps do not say.
func remarkOnMaps(t *migrate.Table) {
	if t.Status == 0 && t.Query == resolver.QueryDefault {
		t.Remark("a map says neither the status of redirects nor what happens to queries, so the " +
			"site's settings apply; set others with --status and --query")
	}
}

// readPair handles a line with a tab, or a blank, after its key.
func readPair(t *migrate.Table, line string, lines *rulefile.LineReader, isTab bool) {
	between := migrate.Space
	if isTab {
		between = "\t"
	}
	text := strings.TrimLeft(line, migrate.Space)
	at := lines.At(len(line) - len(text) + 1)
	end := max(0, strings.IndexAny(text, between))
	key, to := strings.TrimRight(text[:end], migrate.Space), strings.Trim(text[end:], migrate.Space)
	switch {
	case key == "" || to == "":
		t.Wrong(at, "the line has no destination; write a key, a blank and a destination")
	case strings.ContainsAny(to, between):
		t.Wrong(at, "a line has a key and a destination, and this one has more; write %%20 for a blank, "+
			"or --from csv for a table with more columns")
	default:
		addPair(t, redirects.Line{At: at}, key, to)
		if strings.Contains(to, "|") {
			t.Approximate(at, "Apache's rnd: maps choose one of the destinations between \"|\"; here \"|\" "+
				"is part of the destination")
		}
	}
}

// addPair adds the line of a key and its destination. A key may be encoded or not: it is encoded if
// a "%" precedes two digits.
func addPair(t *migrate.Table, line redirects.Line, key, to string) {
	var why error
	switch {
	case key == "":
		why = errors.New("the key is empty, and no request has an empty path; remove the line")
	case strings.Contains(key, "?"):
		why = pathexpr.ErrQuery
	case key[0] == '^':
		why = errors.New("the key is a regular expression, as for map_reg; add a colon after each key, " +
			"and convert with --from yaml")
	case hostMask.MatchString(key):
		why = migrate.OtherHostError(key)
	case withHost.MatchString(key):
		key = "https://" + key
	}
	if why != nil {
		t.Refuse(line.At, nil, why)
		return
	}
	line.To, line.Query = redirects.Literal(to), t.Reading.Query
	t.AddPath(line, migrate.EncodePercents(strings.ReplaceAll(key, "#", "%23")), false)
}

// hostMask matches the masks *.a.example and .a.example, and withHost keys such as a.example/b.
var (
	hostMask = regexp.MustCompile(`^(\*|\.[^/.]*)\.`)
	withHost = regexp.MustCompile(`^[^/.][^/]*\.[^/.][^/]*/`)
)
