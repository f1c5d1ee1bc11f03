package rulefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// netlifyTOML reads the [[redirects]] of a netlify.toml, of which each is a line of _redirects that
// is written in another way. It gives the library so many of them at once that neither the tables
// take much memory nor a mistake in one hides the others.
type netlifyTOML struct {
	file  *redirectsFile
	lines *lineReader
	text  lineStore
	// piece is the part of the file that is held, which begins in a line, and entries are the lines
	// of the [[redirects]] in it.
	piece   bytes.Buffer
	first   int
	entries []int
	// quotes are those of a string of several lines that is open, and depth is how many brackets are.
	quotes  string
	depth   int
	unknown []string
	wrong   int // how many redirects are no lines
	// hasContexts tells that there are redirects of contexts.
	hasContexts bool
}

// readNetlifyTOML reads rules from a netlify.toml. They are passed to add when all of it has been
// read.
func (o Reading) readNetlifyTOML(
	r io.Reader, source string, add func(resolver.Rule),
) ([]resolver.Warning, error) {
	o.Dialect, o.SkipUnsupported = Netlify, true
	n := &netlifyTOML{file: newRedirectsFile(o), lines: newLineReader(r, source), first: 1}
	f := n.file
	f.source, f.parser.hasReasons = source, true
	end := n.readFile()
	if len(n.unknown) > 0 {
		f.warned.add(WarnWholeTable, resolver.Position{}, "",
			"members of [[redirects]] that say nothing "+
				"here are passed over: %s", quotedList(n.unknown))
	}
	if n.hasContexts {
		f.warned.add(WarnWholeTable, resolver.Position{}, "", "the redirects of contexts, "+
			"[[context.*.redirects]], are left out, as Netlify has them for some deploys alone")
	}
	if len(f.lines)+n.wrong+len(f.errs) == 0 {
		f.warned.add(WarnWholeTable, resolver.Position{}, "", "there are no [[redirects]] in the file")
	}
	f.findMeetings()
	f.makeRules(add)
	if o.observer != nil {
		o.observer.lines = len(f.lines) + n.wrong
	}
	slices.SortStableFunc(f.errs, inOrder)
	return f.warned.all(), f.errs.withEnd(end)
}

// readFile reads all pieces. The error is io.EOF, or what ended the reading before.
func (n *netlifyTOML) readFile() error {
	const mostEntries = 256
	for {
		line, err := n.lines.read()
		n.lines.number++
		switch {
		case len(line) > maxText:
			return &Error{n.lines.position(1), "the line is longer than a mebibyte"}
		case err != nil && (err != io.EOF || len(line) == 0):
			n.readPiece()
			return err
		}
		if n.isEntry(line) {
			if len(n.entries) >= mostEntries {
				n.readPiece()
			}
			n.entries = append(n.entries, n.lines.number)
			n.depth = 0
		}
		if err := n.follow(line); err != nil {
			return err
		}
		if err := n.file.errs.tooMany(n.lines.position(1)); err != nil {
			return err
		}
		n.piece.Write(line)
	}
}

// isEntry reports whether a line begins a redirect.
func (n *netlifyTOML) isEntry(line []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(line, " \t"), []byte("[["))
	if !ok || n.quotes != "" {
		return false
	}
	name, _, ok := bytes.Cut(rest, []byte("]]"))
	return ok && string(bytes.Trim(name, " \t\"'")) == "redirects"
}

// follow finds out whether a string of several lines is open behind a line, and how deep it is. It
// takes a string for open where a comment or another string has such quotation marks: then the
// piece is larger than it had to be.
func (n *netlifyTOML) follow(line []byte) error {
	if !n.followDepth(line) || bytes.Count(line, []byte(".")) >= 100 && longKey.Match(line) {
		return &Error{n.lines.position(1), "arrays and tables stand in each other too deep to be read; " +
			"write less of them"}
	}
	for {
		if n.quotes != "" {
			_, behind, ok := bytes.Cut(line, []byte(n.quotes))
			if !ok {
				return nil
			}
			line, n.quotes = behind, ""
		}
		double, single := bytes.Index(line, []byte(`"""`)), bytes.Index(line, []byte(`'''`))
		at := double
		if n.quotes = `"""`; double < 0 || single >= 0 && single < double {
			at, n.quotes = single, `'''`
		}
		if at < 0 {
			n.quotes = ""
			return nil
		}
		line = line[at+3:]
	}
}

// followDepth finds out how many brackets and braces are open behind a line. It reports false where
// more are open in it than the library reads in a reasonable time.
func (n *netlifyTOML) followDepth(line []byte) bool {
	const deepest = 100
	for _, c := range line {
		switch c {
		case '[', '{':
			n.depth++
		case ']', '}':
			n.depth = max(n.depth-1, 0)
		}
		if n.depth > deepest {
			return false
		}
	}
	return true
}

// longKey is a key of a hundred parts, each of which is a table.
var longKey = regexp.MustCompile(`(?:(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')[ \t]*\.[ \t]*){100}`)

// readPiece reads the piece that is held, and lets go of it.
func (n *netlifyTOML) readPiece() {
	err := n.readText(n.piece.String(), n.first, n.entries)
	if err != nil && len(n.entries) > 1 {
		n.readApart()
	} else if err != nil {
		n.report(err, n.first)
	}
	n.piece.Reset()
	n.first, n.entries = n.lines.number, n.entries[:0]
}

// readApart reads a piece with a mistake redirect by redirect.
func (n *netlifyTOML) readApart() {
	lines := strings.SplitAfter(n.piece.String(), "\n")
	begins := append(slices.Clone(n.entries), n.first+len(lines))
	from := n.first
	for i, end := range begins {
		text := strings.Join(lines[from-n.first:end-n.first], "")
		var entries []int
		if i > 0 {
			entries = begins[i-1 : i]
		}
		if err := n.readText(text, from, entries); err != nil {
			n.report(err, from)
		}
		from = end
	}
}

// report reports what the library says of a text that begins in a line.
func (n *netlifyTOML) report(err error, first int) {
	at := resolver.Position{Source: n.lines.source, Line: first, Column: 1}
	message := err.Error()
	if wrong, ok := errors.AsType[toml.ParseError](err); ok {
		at.Line += max(0, wrong.Position.Line-1)
		at.Column = max(1, wrong.Position.Col)
		message = "this is no TOML: " + strings.TrimPrefix(wrong.Message, "toml: ")
	}
	n.file.errs.add(at, "%s", message)
}

// readText reads the redirects of a text, which stand in these lines.
func (n *netlifyTOML) readText(text string, first int, entries []int) error {
	if !strings.Contains(text, "redirects") {
		text = "" // it has none, and is not ours to judge
	}
	var file struct {
		Redirects any `toml:"redirects"`
		Context   any `toml:"context"`
	}
	if _, err := toml.Decode(text, &file); err != nil {
		return err
	}
	contexts, _ := file.Context.(map[string]any)
	for _, context := range contexts {
		table, _ := context.(map[string]any)
		n.hasContexts = n.hasContexts || table["redirects"] != nil
	}
	tables, ok := file.Redirects.([]map[string]any)
	if !ok && file.Redirects != nil {
		return errors.New("redirects are written as [[redirects]], each on its own lines, not as " +
			kindOfTOML(file.Redirects))
	}
	for i, table := range tables {
		line := first
		if len(tables) == len(entries) {
			line = entries[i]
		}
		n.add(table, line)
	}
	return nil
}

// add adds the line of a redirect, or says what is wrong with it.
func (n *netlifyTOML) add(table map[string]any, number int) {
	e := tomlRedirect{table: table}
	text := e.line()
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if !slices.Contains(netlifyMembers(), name) && !slices.Contains(n.unknown, name) {
			n.unknown = append(n.unknown, name)
		}
	}
	if e.wrong == nil {
		n.file.store(n.text.keep([]byte(text)), number)
		return
	}
	n.wrong++
	for _, wrong := range e.wrong {
		n.file.errs.add(resolver.Position{Source: n.lines.source, Line: number, Column: 1}, "%s", wrong)
	}
}

// netlifyMembers are the members of a redirect.
func netlifyMembers() []string {
	return []string{"from", "origin", "to", "destination", "status", "force", "query", "params",
		"parameters", "conditions", "headers", "signed", "sign", "signing", "rate_limit", "edge_handler"}
}

// tomlRedirect is a redirect of a netlify.toml on its way to a line of _redirects.
type tomlRedirect struct {
	table map[string]any
	wrong []string
}

// line returns the line, with the reason for which it has no equivalent behind it.
func (e *tomlRedirect) line() string {
	words := []string{e.path("from", "origin")}
	if len(e.namesIn("query", "params", "parameters")) > 0 {
		words = append(words, "query=x")
	}
	words = append(words, e.path("to", "destination"))
	if status := e.status(); status != "" {
		words = append(words, status)
	}
	for _, name := range e.namesIn("conditions") {
		words = append(words, wordOfTOML(name)+"=x")
	}
	text := strings.Join(words, " ")
	has := func(name string) bool {
		value, there := e.table[name]
		return there && !isEmptyTOML(value)
	}
	switch {
	case has("headers"):
		return text + "\x00a rule sets no headers for another server; use Caddy's reverse_proxy"
	case has("signed") || has("sign") || has("signing"):
		return text + "\x00a rule signs nothing; use Caddy's reverse_proxy"
	case has("rate_limit"):
		return text + "\x00a rule does not count requests; use a rate limit in front of it"
	}
	return text
}

// isEmptyTOML reports whether a value says nothing.
func isEmptyTOML(value any) bool {
	table, isTable := value.(map[string]any)
	return value == "" || value == false || isTable && len(table) == 0
}

// path returns a path or a URL, which stands under one of two names.
func (e *tomlRedirect) path(name, oldName string) string {
	value, there := e.table[name]
	if !there {
		value, there = e.table[oldName]
	}
	text, isText := value.(string)
	switch {
	case !there || isText && strings.TrimSpace(text) == "":
		e.wrong = append(e.wrong, fmt.Sprintf("the redirect has no %q", name))
	case !isText:
		e.wrong = append(e.wrong, fmt.Sprintf("%q takes a string, not %s", name, kindOfTOML(value)))
	case hasMarks(text):
		e.wrong = append(e.wrong, fmt.Sprintf("%q holds control characters; remove them", name))
	case name == "to" && !resolver.IsDestination(strings.TrimSpace(text)):
		e.wrong = append(e.wrong, quote(text)+" is no destination; it begins with \"/\", \"http://\" or "+
			"\"https://\"")
	case strings.HasPrefix(text, "/.netlify"):
		e.wrong = append(e.wrong, "no redirect is for paths that begin with /.netlify; remove it")
	}
	return wordOfTOML(strings.TrimSpace(text))
}

// wordOfTOML returns a text as a word of a line.
func wordOfTOML(text string) string {
	if strings.HasPrefix(text, "#") {
		text = "%23" + text[1:]
	}
	if !strings.ContainsAny(text, lineSpace+"\n") {
		return text
	}
	return strings.NewReplacer(" ", "%20", "\t", "%09", "\r", "%0D", "\v", "%0B", "\f", "%0C",
		"\n", "%0A").Replace(text)
}

// status returns the status as a line has it.
func (e *tomlRedirect) status() (text string) {
	isForced := false
	switch force := e.table["force"].(type) {
	case nil:
	case bool:
		isForced = force
	default:
		e.wrong = append(e.wrong, `"force" takes true or false, not `+kindOfTOML(force))
	}
	switch status := e.table["status"].(type) {
	case nil:
	case int64:
		text = strconv.FormatInt(status, 10)
		if _, isRedirect := statusCode(text); !isRedirect && text != "200" && !isErrorStatus(text) {
			e.wrong = append(e.wrong, "the status is "+statusCodes+", not "+text)
		}
	default:
		e.wrong = append(e.wrong, `"status" takes a number, not `+kindOfTOML(status))
	}
	if isForced && text == "" {
		text = "301"
	}
	if isForced {
		text += "!"
	}
	return text
}

// namesIn returns what stands in a table of the redirect, under any of some names.
func (e *tomlRedirect) namesIn(names ...string) (inside []string) {
	for _, name := range names {
		switch value := e.table[name].(type) {
		case nil:
		case map[string]any:
			inside = append(inside, slices.Sorted(maps.Keys(value))...)
		default:
			e.wrong = append(e.wrong, fmt.Sprintf("%q takes a table, not %s", name, kindOfTOML(value)))
		}
	}
	return inside
}

// kindOfTOML says in words what a value is.
func kindOfTOML(value any) string {
	switch v := value.(type) {
	case string:
		return quote(v)
	case map[string]any:
		return "a table"
	case []any, []map[string]any:
		return "an array"
	}
	return quote(fmt.Sprint(value))
}
