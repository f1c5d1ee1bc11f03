package rulefile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/template/parse"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// golinkReader reads what golink exports: an object on each line, whose Long can be a template.
type golinkReader struct {
	t        *foreignTable
	hasDash  bool // in a key
	hasQuery bool // in a destination
}

// golinkLink is a link of golink.
type golinkLink struct{ Short, Long string }

// readGolink reads what golink exports.
func readGolink(t *foreignTable, r io.Reader) error {
	t.program, t.defaultStatus = "golink", 302
	g := golinkReader{t: t}
	lines := newLineReader(r, t.source)
	for {
		line, err := lines.next()
		if err != nil {
			g.finish()
			return err
		}
		at := lines.position(1)
		if err := t.file.errs.tooMany(at); err != nil {
			return err
		}
		link, err := parseGolink(line)
		if err != nil {
			t.wrong(at, "%s", err)
			continue
		}
		g.add(at, link)
	}
}

// finish says what is true of all links.
func (g *golinkReader) finish() {
	if g.hasDash {
		g.t.remark("golink passes over \"-\" in keys, and rules do not: /c-s is not /cs here")
	}
	if g.t.entries > 0 {
		g.t.remark("golink takes keys in either letter case; the option fold case does so for a site")
	}
	if g.hasQuery {
		g.t.remark("golink adds the parameters of a request to those of a destination, and in rules a " +
			"parameter of the request takes the place of one with its name")
	}
}

// parseGolink reads a line.
func parseGolink(line []byte) (link golinkLink, err error) {
	if !utf8.Valid(line) {
		return link, errors.New("the line " + notUnicode)
	}
	err = json.Unmarshal(line, &link)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return link, fmt.Errorf("%q takes a string, not a JSON %s", wrong.Field, wrong.Value)
	}
	both := link.Short + link.Long
	switch {
	case err != nil:
		message := "the line is no object such as {\"Short\": \"docs\", \"Long\": " +
			"\"https://docs.example\"}"
		if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
			message += ": " + wrong.Error()
		}
		return link, errors.New(message)
	case link.Short == "" || link.Long == "":
		return link, errors.New("the link has no \"Short\", which is the key, or no \"Long\", " +
			"which is the destination")
	case hasMarks(both):
		return link, errors.New("the link holds control characters; remove them")
	case strings.Contains(both, "\uFFFD") && hasHalfCharacter(both, line):
		return link, errors.New("a string of the link " + notUnicode)
	}
	return link, nil
}

// add adds the line of a link: for its path and all below, which goes on at the destination.
func (g *golinkReader) add(at resolver.Position, link golinkLink) {
	path := "/" + encodedPath(link.Short)
	line, err := lineOfGolink(link.Long)
	if err == nil && strings.Contains(link.Short, "/") {
		err = errors.New("golink takes the first segment of a path for the key, so no request gets to " +
			quote(link.Short))
	}
	if err != nil {
		g.t.refuse(at, below(path), err.Error())
		return
	}
	if line.isWithin && g.t.reading.Exact == nil {
		g.t.approximate(at, "golink appends the rest of a path behind query or fragment of the "+
			"destination, and the rule takes /"+link.Short+" alone")
	}
	g.hasDash = g.hasDash || strings.Contains(link.Short, "-")
	isExact := line.isWithin || g.t.reading.isExact()
	made := foreignLine{at: at, path: below(path), to: line.to, itself: line.itself}
	isPlain := line.isPlain && isURL(line.itself) // most are, and so they take half of the time
	if isExact || isPlain {
		made.path, made.to, made.itself = path, line.itself, ""
	}
	if isPlain && !isExact {
		g.t.goOn(at.Line, appends)
	}
	if hasQuery(made.to) {
		g.hasQuery = true
		made.query = cmp.Or(g.t.reading.Query, resolver.QueryPreserve)
	}
	g.t.add(made)
}

// golinkTarget is where a link leads.
type golinkTarget struct {
	to, itself string // of what is below the path, and of the path itself
	// isWithin tells that the rest of a path would stand behind a query or a fragment.
	isWithin bool
	isPlain  bool // it is no template
}

// lineOfGolink returns where a link leads, or why no rule can do so.
func lineOfGolink(long string) (t golinkTarget, err error) {
	if !strings.Contains(long, "{{") {
		path, rest := cutPath(long)
		t.itself, t.isWithin, t.isPlain = long, rest != "", true
		t.to = strings.TrimSuffix(path, "/") + "/" + capturedRest
		return t, checkGolinkTarget(t, long)
	}
	funcs := make(map[string]any)
	for _, name := range []string{
		"PathEscape", "QueryEscape", "TrimPrefix", "TrimSuffix", "ToLower", "ToUpper", "Match",
	} {
		funcs[name] = true
	}
	trees, err := parse.Parse("link", long, "", "", funcs)
	if err != nil {
		return t, errors.New("the template is none that a rule can stand for: " +
			strings.TrimPrefix(err.Error(), "template: "))
	}
	var below, itself golinkTemplate
	below.rest = capturedRest
	if tree := trees["link"]; tree != nil && tree.Root != nil {
		below.write(tree.Root, "")
		itself.write(tree.Root, "")
	}
	if err := cmp.Or(below.err, itself.err); err != nil {
		return t, err
	}
	t.to, t.itself = below.text.String(), itself.text.String()
	return t, checkGolinkTarget(t, long)
}

// checkGolinkTarget refuses a link that leads nowhere where a rule leads.
func checkGolinkTarget(t golinkTarget, long string) error {
	if resolver.IsDestination(t.to) && resolver.IsDestination(t.itself) {
		return nil
	}
	return cmp.Or(checkDestination(long), checkDestination(t.to), checkDestination(t.itself))
}

// golinkTemplate writes a template of golink for requests with or without a rest of the path.
type golinkTemplate struct {
	rest string // of the path, "" for none
	text strings.Builder
	err  error
}

const noGolinkTemplate = "a rule has no template but for the rest of the path, {{.Path}}; write " +
	"a rule " +
	"for each destination, or use Caddy's redir"

// write writes a list of nodes. dot is what {{.}} stands for, "" for what no rule knows.
func (w *golinkTemplate) write(list *parse.ListNode, dot string) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		switch n := node.(type) {
		case *parse.TextNode:
			w.text.Write(n.Text)
		case *parse.ActionNode:
			w.writeAction(n.Pipe, dot)
		case *parse.IfNode:
			w.choose(&n.BranchNode, dot)
		case *parse.WithNode:
			w.choose(&n.BranchNode, ".Path")
		case *parse.CommentNode:
		default:
			w.refuse(node)
		}
		if w.err != nil {
			return
		}
	}
}

// refuse says that a part of the template has no equivalent.
func (w *golinkTemplate) refuse(node parse.Node) {
	w.err = errors.New(noGolinkTemplate + "; this one has " + quote(node.String()))
}

// choose writes one of two branches that depend on whether there is a rest of the path.
func (w *golinkTemplate) choose(branch *parse.BranchNode, dot string) {
	if branch.Pipe.String() != ".Path" {
		w.refuse(branch.Pipe)
		return
	}
	if w.rest != "" {
		w.write(branch.List, dot)
		return
	}
	w.write(branch.ElseList, "")
}

// writeAction writes what stands between braces: the rest of the path, perhaps escaped.
func (w *golinkTemplate) writeAction(pipe *parse.PipeNode, dot string) {
	text := pipe.String()
	name, of, isCall := strings.Cut(text, " ")
	isEscape := isCall && (name == "PathEscape" || name == "QueryEscape")
	if before, after, isPiped := strings.Cut(text, " | "); isPiped {
		isEscape, of = after == "PathEscape" || after == "QueryEscape", before
	}
	if !isEscape {
		of = text
	}
	inQuery := strings.ContainsAny(w.text.String(), "?#")
	if of != ".Path" && (of != "." || dot != ".Path") || isEscape && !inQuery {
		w.refuse(pipe)
		return
	}
	w.text.WriteString(w.rest)
}
