package nginx

import (
	"errors"
	"io"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Read reads a map. It is a [migrate.Reader].
func Read(t *migrate.Table, r io.Reader) error {
	t.Program, t.Slashes = "what looks up a map", redirects.SlashesMerged
	lines := t.NewLineReader(r)
	line, err := lines.NextEntry()
	if err != nil {
		return err
	}
	// If the first line has a tab, tabs separate key and destination, and both may contain blanks.
	hasTabs := strings.Contains(line, "\t")
	take := func(line string, lines *migrate.LineReader) {
		readPair(t, line, lines, hasTabs && strings.Contains(line, "\t"))
	}
	finish := func() { remarkOnMaps(t) }
	if isOfNginx(line) {
		t.Program, t.PassesThere = "nginx", true
		n := blockReader{Table: t}
		take, finish = n.readLine, n.finish
	}
	for ; err == nil; line, err = lines.NextEntry() {
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

// remarkOnMaps adds the remark on what maps do not say.
func remarkOnMaps(t *migrate.Table) {
	if t.Status == 0 && t.Query == resolver.QueryDefault {
		t.Remark("a map says neither the status of redirects nor what happens to queries, so the " +
			"site's settings apply; set others with --status and --query")
	}
}

// isOfNginx reports whether a line has the syntax of nginx.
func isOfNginx(line string) bool {
	text := strings.TrimSpace(line)
	before, _, hasComment := strings.Cut(text, " #")
	isMap := strings.HasPrefix(text, "map ") && strings.Contains(text, "$")
	return isMap || strings.HasSuffix(text, ";") || strings.HasSuffix(text, "{") ||
		strings.HasSuffix(text, "}") ||
		hasComment && strings.HasSuffix(strings.TrimSpace(before), ";")
}

// readPair handles a line with a tab, or a blank, after its key.
func readPair(t *migrate.Table, line string, lines *migrate.LineReader, isTab bool) {
	text := strings.TrimLeft(line, migrate.Space)
	at := lines.At(len(line) - len(text) + 1)
	key, to, err := cut(text, isTab)
	if err != nil {
		t.Wrong(lines.At(1), "%s", err)
		return
	}
	if addPair(t, at, key, to) && strings.Contains(to, "|") {
		t.Approximate(at, "Apache's rnd: maps choose one of the destinations between \"|\"; here \"|\" "+
			"is part of the destination")
	}
}

// cut cuts a line at a tab, or at a blank, into its key and its destination.
func cut(text string, isTab bool) (key, to string, err error) {
	between, errMore := migrate.Space, errors.New("the destination has a blank, which ends it for "+
		"Apache but not for HAProxy; write %20, or remove what follows")
	if isTab {
		between, errMore = "\t", errors.New("a line has a key and a destination, and this one has more "+
			"than two columns; write --from csv for a table with more")
	}
	end := max(0, strings.IndexAny(text, between))
	to = strings.Trim(text[end:], migrate.Space)
	switch {
	case end == 0 || to == "":
		return "", "", errors.New("the line has no destination; write a key, a blank and a destination")
	case strings.ContainsAny(to, between):
		return "", "", errMore
	}
	return strings.TrimRight(text[:end], migrate.Space), to, nil
}

// addPair adds a key and its destination, or "" for none. It reports whether they make a line.
func addPair(t *migrate.Table, at resolver.Position, key, to string) bool {
	path, inPath := pathOf(t, key)
	inDestination := migrate.CheckDestination(to)
	switch answer := answerOf(to); {
	case inPath != nil:
		t.Refuse(at, nil, inPath)
	case inDestination != nil && answer == redirects.Leads:
		t.Wrong(at, "%s", inDestination)
	default:
		t.Add(redirects.Line{At: at, Path: redirects.Text(path), To: redirects.Literal(to),
			Answer: answer, Query: t.Reading.Query})
		return true
	}
	return false
}

// answerOf returns the answer of a destination. Programs do not redirect to an empty destination.
func answerOf(to string) redirects.Answer {
	if to == "" {
		return redirects.Passes
	}
	return redirects.Leads
}

// pathOf returns the path of a key, which may be encoded or not. It is encoded if a "%" precedes
// two digits.
func pathOf(t *migrate.Table, key string) (path string, err error) {
	if host, path, ok := cutHost(key); ok {
		if !t.HasHost(host) {
			return "", migrate.OtherHostError(host)
		}
		key = path
	}
	switch {
	case key == "":
		return "", errors.New("the key is empty, and no request has an empty path; remove the line")
	case strings.Contains(key, "?"):
		return "", pathexpr.ErrQuery
	case key[0] == '^':
		return "", errors.New("the key is a regular expression, as for map_reg; add a colon after each " +
			"key, and convert with --from yaml")
	case key[0] != '/':
		key = "/" + key
	}
	return migrate.EncodePercents(strings.ReplaceAll(key, "#", "%23")), nil
}

// cutHost cuts a key into its host and its path. The key must be a URL, perhaps without a scheme,
// or a host mask.
func cutHost(key string) (host, path string, ok bool) {
	if host, path, ok = migrate.CutURL(key); ok {
		return host, path, true
	}
	host, path, hasPath := strings.Cut(key, "/")
	isMask := strings.HasPrefix(host, "*.") || host != "" && host[0] == '.' &&
		strings.Count(host, ".") > 1
	isHost := strings.Contains(strings.Trim(host, "."), ".") && host[0] != '.'
	return host, "/" + path, isMask || hasPath && isHost
}
