package lists

import (
	"cmp"
	"errors"
	"strings"
	"text/template/parse"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
)

// golinkTarget is where a link leads.
type golinkTarget struct {
	below, itself []redirects.Piece // of what is below the path, and of the path itself
	// isWithin tells that the rest of a path would stand behind a query or a fragment.
	isWithin bool
	isPlain  bool // it is a URL, and no template
}

// parseTarget returns where a link leads, or why no rule can do so.
func parseTarget(long string) (t golinkTarget, err error) {
	if !strings.Contains(long, "{{") {
		path := long[:strings.IndexAny(long+"?", "?#")]
		t.isPlain, t.isWithin = migrate.IsURL(long), path != long
		t.below = redirects.WithRest(strings.TrimSuffix(path, "/") + "/")
		t.itself = redirects.Literal(long)
		return t, migrate.CheckDestination(long)
	}
	funcs := map[string]any{"PathEscape": true, "QueryEscape": true, "TrimPrefix": true,
		"TrimSuffix": true, "ToLower": true, "ToUpper": true, "Match": true}
	trees, err := parse.Parse("link", long, "", "", funcs)
	if err != nil {
		return t, errors.New("the template is none that a rule can stand for: " +
			strings.TrimPrefix(err.Error(), "template: "))
	}
	below, itself := golinkTemplate{hasRest: true}, golinkTemplate{}
	if tree := trees["link"]; tree != nil {
		below.write(tree.Root, "")
		itself.write(tree.Root, "")
	}
	t.below, t.itself = below.to, itself.to
	if err = cmp.Or(below.err, itself.err); err != nil {
		return t, err
	}
	if err = cmp.Or(migrate.CheckPieces(t.below), migrate.CheckPieces(t.itself)); err != nil {
		return t, cmp.Or(migrate.CheckDestination(long), err)
	}
	return t, nil
}

// golinkTemplate writes a template of golink for requests with or without a rest of the path.
type golinkTemplate struct {
	hasRest bool
	to      []redirects.Piece
	err     error
}

// write writes a list of nodes. dot is what {{.}} stands for, "" for what no rule knows.
func (w *golinkTemplate) write(list *parse.ListNode, dot string) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		switch n := node.(type) {
		case *parse.TextNode:
			w.to = append(w.to, redirects.Piece{Text: string(n.Text)})
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
	w.err = errors.New("a rule has no template but for the rest of the path, {{.Path}}; write a " +
		"rule for each destination, or use Caddy's redir; this one has " + printable.Quote(node.String()))
}

// choose writes one of two branches that depend on whether there is a rest of the path.
func (w *golinkTemplate) choose(branch *parse.BranchNode, dot string) {
	switch {
	case branch.Pipe.String() != ".Path":
		w.refuse(branch.Pipe)
	case w.hasRest:
		w.write(branch.List, dot)
	default:
		w.write(branch.ElseList, "")
	}
}

// writeAction writes what stands between braces: the rest of the path, perhaps escaped, which is
// done by itself behind the path of a destination.
func (w *golinkTemplate) writeAction(pipe *parse.PipeNode, dot string) {
	var of string
	var isEscape bool
	for _, name := range []string{"PathEscape", "QueryEscape"} {
		text := pipe.String()
		if of, isEscape = strings.CutPrefix(text, name+" "); !isEscape {
			of, isEscape = strings.CutSuffix(text, " | "+name)
		}
		if isEscape {
			break
		}
	}
	if of != ".Path" && (of != "." || dot != ".Path") ||
		isEscape && !strings.ContainsAny(textOf(w.to), "?#") {
		w.refuse(pipe)
		return
	}
	if w.hasRest {
		w.to = append(w.to, redirects.Piece{Variable: redirects.Splat})
	}
}
