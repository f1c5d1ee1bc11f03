package apache

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// reader reads directives.
type reader struct {
	*migrate.Table
	lines   *migrate.LineReader
	blocks  []block // open blocks, such as <IfModule>
	rewrite rewriting
	aliases []directive // those of mod_alias
	said    remarks
}

// directive is a line, including its continuation lines.
type directive struct {
	name, written string // in lower case, and as written
	line          string
	end           int // of the name in the line
	at            resolver.Position
	conditions    []condition // in front of a RewriteRule
}

// block is a block of directives.
type block struct {
	kind, opening string // "VirtualHost", "<VirtualHost *:80"
	at            resolver.Position
}

// Read reads a .htaccess file. It is a [migrate.Reader].
func Read(t *migrate.Table, r io.Reader) error {
	t.Program, t.Slashes = "Apache", redirects.SlashesMerged
	t.Status = cmp.Or(t.Status, resolver.DefaultStatus)
	t.LaterRemedy = "write it as a RewriteRule in front of that, as RewriteRules come first"
	h := reader{Table: t, lines: t.NewLineReader(r)}
	h.rewrite.base = cmp.Or(t.Base, "/")
	end := h.readAll()
	h.convertRules()
	for i := range h.aliases {
		if h.IsGivenUp(h.aliases[i].at) {
			break
		}
		h.convertAlias(&h.aliases[i])
	}
	for _, b := range h.blocks {
		if h.IsGivenUp(b.at) {
			break
		}
		h.Wrong(b.at, "the block %s> is not closed; write </%s>", b.opening, b.kind)
	}
	h.remarkAll()
	return end
}

// readAll reads all directives. The error is io.EOF, or the reason for stopping early.
func (h *reader) readAll() error {
	for {
		d, err := h.next()
		if err != nil {
			return err
		}
		if err := migrate.CheckText("this line", d.line); err != nil {
			h.Wrong(d.at, "%s", err)
		} else if d.name != "" {
			h.readDirective(&d)
		}
		if h.IsGivenUp(d.at) {
			return nil
		}
	}
}

// next returns the next directive. Its name is empty for a comment or a blank line.
func (h *reader) next() (d directive, err error) {
	if d.line, err = h.lines.Next(); err != nil {
		return d, err
	}
	at := h.lines.At(1)
	if d.line, err = h.join(d.line); err != nil {
		return d, err
	}
	text := strings.TrimLeft(d.line, migrate.Space)
	if text == "" || text[0] == '#' {
		return directive{at: at}, nil
	}
	start := len(d.line) - len(text)
	length := strings.IndexAny(text+" ", migrate.Space)
	d.written, d.end = text[:length], start+length
	d.name = strings.ToLower(d.written)
	at.Column = start + 1
	d.at = at
	return d, nil
}

// join appends the continuation lines to a line.
func (h *reader) join(line string) (string, error) {
	var whole strings.Builder
	for {
		before, goesOn := strings.CutSuffix(line, `\`)
		if whole.WriteString(before); !goesOn {
			return whole.String(), nil
		}
		var err error
		if line, err = h.lines.Next(); err != nil && err != io.EOF {
			return "", err
		}
	}
}

// readDirective reads a directive.
func (h *reader) readDirective(d *directive) {
	isAlias := slices.Contains([]string{"redirect", "redirectmatch", "redirectpermanent",
		"redirecttemp"}, d.name)
	isRule := d.name == "rewriterule"
	isRewriting := strings.HasPrefix(d.name, "rewrite")
	switch {
	case d.name[0] == '<':
		h.readBlock(d)
		return
	case !isAlias && !isRewriting:
		h.said.countSkipped(d)
		return
	}
	switch why := h.blockError(); {
	case why != nil && (isAlias || isRule):
		h.Refuse(d.at, nil, why)
	case why != nil:
	case isAlias:
		h.aliases = append(h.aliases, *d)
	case isRule:
		d.conditions, h.rewrite.conditions = h.rewrite.conditions, nil
		h.rewrite.rules = append(h.rewrite.rules, *d)
	default:
		h.readRewriteDirective(d)
	}
}

// readBlock handles the beginning or the end of a block.
func (h *reader) readBlock(d *directive) {
	kind, isEnd := strings.CutPrefix(strings.TrimSuffix(d.written, ">"), "</")
	last := len(h.blocks) - 1
	switch {
	case !isEnd:
		text := strings.TrimRight(d.line[d.at.Column-1:], migrate.Space)
		kind = kind[1:]
		h.blocks = append(h.blocks, block{kind, strings.TrimSuffix(text, ">"), d.at})
		h.said.protects(kind)
	case last < 0 || !strings.EqualFold(h.blocks[last].kind, kind):
		h.Wrong(d.at, "%s closes no block; remove it", d.written)
	default:
		h.blocks = h.blocks[:last]
	}
}

// blockError returns an error inside a conditional block. An <IfModule> without "!" is accepted.
func (h *reader) blockError() error {
	for _, b := range h.blocks {
		switch kind := strings.ToLower(b.kind); {
		case kind == "ifmodule" && !strings.Contains(b.opening, "!"):
		case kind == "virtualhost":
			return errors.New("rules have no host, and this is in the block " + b.opening + ">; move its " +
				"lines to a file of their own, and use the rules in that site's block")
		default:
			return errors.New("this is in the block " + b.opening + ">, which applies only in some cases; " +
				"move its lines to a file of their own, or use Caddy's redir with a matcher")
		}
	}
	return nil
}

// substitute returns a destination with the groups of a path instead of $0 to $9. A backslash makes
// the next character literal.
func substitute(e *pathexpr.Expression, p *pathexpr.Path, to string) ([]redirects.Piece, error) {
	return p.Substitute(to, func(text string) (pathexpr.Reference, error) {
		if text[0] == '\\' && len(text) > 1 {
			return pathexpr.Reference{Text: text[1:2], Length: 2}, nil
		}
		return e.Numbered(text)
	})
}

// wantsQuery reports whether every path of an expression contains a "?".
func wantsQuery(e *pathexpr.Expression) bool {
	hasQuery := func(s redirects.Segment) bool { return strings.Contains(s.Before+s.After, "%3F") }
	return !slices.ContainsFunc(e.Paths, func(p pathexpr.Path) bool {
		return !slices.ContainsFunc(p.Segments, hasQuery)
	})
}
