package apache

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// reader reads directives.
type reader struct {
	*migrate.Table
	lines   *rulefile.LineReader
	blocks  []*directive // open blocks, such as <IfModule>
	rewrite rewriting
	aliases []*directive // those of mod_alias
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

// Read reads a .htaccess file. It is a [migrate.Reader].
func Read(t *migrate.Table, r io.Reader) error {
	t.Program, t.Slashes = "Apache", redirects.SlashesMerged
	t.Status = cmp.Or(t.Status, resolver.DefaultStatus)
	t.LaterRemedy = "write it as a RewriteRule in front of that, as RewriteRules come first"
	h := reader{Table: t, lines: rulefile.NewLineReader(r, t.Source)}
	h.lines.KeepsAll = true
	h.rewrite.base = cmp.Or(t.Base, "/")
	end := h.readAll()
	h.rewrite.directory = cmp.Or(t.Base, h.rewrite.base)
	for _, d := range slices.Concat(h.rewrite.rules, h.aliases) {
		if h.IsGivenUp(d.at) {
			break
		}
		if d.name == "rewriterule" {
			h.convertRule(d)
		} else {
			h.convertAlias(d)
		}
	}
	if n := len(h.blocks); n > 0 {
		b := h.blocks[n-1]
		h.Wrong(b.at, "the block %s is not closed; add its end", b.opening())
	}
	h.remarkAll()
	return end
}

// readAll reads all directives. The error is io.EOF, or the reason for stopping early.
func (h *reader) readAll() error {
	for {
		line, at, err := h.next()
		if err != nil {
			return err
		}
		text := strings.TrimLeft(line, migrate.Space)
		at.Column += len(line) - len(text)
		switch err := migrate.CheckText("this line", line); {
		case text == "" || text[0] == '#':
		case err != nil:
			h.Wrong(at, "%s", err)
		default:
			written := text[:strings.IndexAny(text+" ", migrate.Space)]
			h.readDirective(&directive{name: strings.ToLower(written), written: written, line: line,
				end: at.Column - 1 + len(written), at: at})
		}
		if h.IsGivenUp(at) {
			return nil
		}
	}
}

// next returns the next line, including its continuation lines.
func (h *reader) next() (line string, at resolver.Position, err error) {
	next, err := h.lines.Next()
	at = h.lines.At(1)
	var whole strings.Builder
	for err == nil {
		before, goesOn := strings.CutSuffix(string(next), `\`)
		if whole.WriteString(before); !goesOn {
			break
		}
		if next, err = h.lines.Next(); err == io.EOF {
			err = nil
		}
	}
	return whole.String(), at, err
}

// aliasName matches the names of mod_alias's redirects, in lower case.
var aliasName = regexp.MustCompile(`^redirect(match|permanent|temp)?$`)

// readDirective reads a directive.
func (h *reader) readDirective(d *directive) {
	isAlias, isRule := aliasName.MatchString(d.name), d.name == "rewriterule"
	switch why := h.blockError(); {
	case d.name[0] == '<':
		h.readBlock(d)
	case !isAlias && !strings.HasPrefix(d.name, "rewrite"):
		h.said.skip(d.written)
	case why != nil && (isAlias || isRule):
		h.Refuse(d.at, nil, why)
	case why != nil:
	case isAlias:
		h.aliases = append(h.aliases, d)
	case isRule:
		d.conditions, h.rewrite.conditions = h.rewrite.conditions, nil
		h.rewrite.rules = append(h.rewrite.rules, d)
	default:
		h.readRewriteDirective(d)
	}
}

// readBlock handles the beginning or the end of a block.
func (h *reader) readBlock(d *directive) {
	last := len(h.blocks) - 1
	switch {
	case !strings.HasPrefix(d.name, "</"):
		h.blocks = append(h.blocks, d)
		if kind := d.written[1:]; protecting.MatchString(kind) {
			h.said.skip(kind)
		}
	case last < 0 || strings.Trim(h.blocks[last].name, "<>") != strings.Trim(d.name, "</>"):
		h.Wrong(d.at, "%s closes no block; remove it", d.written)
	default:
		h.blocks = h.blocks[:last]
	}
}

// opening returns the line that opens a block.
func (d *directive) opening() string { return strings.Trim(d.line, migrate.Space) }

// blockError returns an error inside a conditional block. An <IfModule> without "!" is accepted.
func (h *reader) blockError() error {
	for _, b := range h.blocks {
		if b.name != "<ifmodule" || strings.Contains(b.line, "!") {
			return fmt.Errorf("this is in the block %s, which applies only in some cases; move its lines "+
				"to a file of their own, for that host's site or with Caddy's redir and a matcher", b.opening())
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

// remarks collects what to report about a file as a whole.
type remarks struct {
	skipped      migrate.Names // directives that redirect nothing, and their count
	skippedCount int
	// hasFront reports whether a line leads all requests to one program. hasQSA reports whether a
	// line adds the parameters of the request to its destination. letsFilesPass reports whether a
	// line lets requests for files pass. protects reports whether a directive restricts access.
	hasFront, hasQSA, letsFilesPass, protects bool
	// decidingLine is the first line that makes no rule but affects later RewriteRules. ruleLine is
	// the last line of mod_rewrite that makes a rule. They are 0 if there is none.
	decidingLine, ruleLine int
}

// protecting matches directives and blocks that restrict access.
var protecting = regexp.MustCompile(
	`(?i)^(auth\w+|require\w*|deny|allow|order|satisfy|limit|limitexcept)$`)

// skip records a directive that redirects nothing.
func (s *remarks) skip(name string) {
	s.protects = s.protects || protecting.MatchString(name)
	s.skippedCount++
	s.skipped.Add(name)
}

// decide records a line that makes no rule but affects later RewriteRules.
func (s *remarks) decide(line int) { s.decidingLine = cmp.Or(s.decidingLine, line) }

// remarkAll adds the remarks on the whole file.
func (h *reader) remarkAll() {
	s := &h.said
	for _, remark := range []struct {
		holds bool
		says  string
	}{
		{h.Base != "", "patterns of RewriteRule are read as relative to " + h.Base},
		{h.Base == "" && h.rewrite.base != "/", "the file is read as that of " + h.rewrite.base +
			", as RewriteBase says, and patterns of RewriteRule as relative to it"},
		{s.skipped != nil, "what redirects nothing is left out: " + printable.Count(s.skippedCount,
			"directive") + " (" + strings.Join(s.skipped, ", ") + ")"},
		{s.protects, "shortlink protects nothing: protect the site with Caddy's basic_auth or " +
			"forward_auth, or a remote_ip matcher"},
		{s.letsFilesPass, "there, files that exist take precedence over RewriteRules; here the rules " +
			"do, unless shortlink has a matcher \"not file\""},
		{s.hasQSA, "with QSA, Apache keeps the parameters of destination and request; in rules, a " +
			"request's parameter replaces the destination's of the same name"},
		{0 < s.decidingLine && s.decidingLine < s.ruleLine, fmt.Sprintf("line %d rewrites or depends on "+
			"others; lines after it may never be reached: check them", s.decidingLine)},
		{s.ruleLine > 0 && len(h.aliases) > 0, "Apache applies RewriteRules first, and so do the " +
			"rules: they take precedence over Redirect and RedirectMatch, wherever they are"},
		{s.hasFront, "a line that leads all requests to one program makes no rule; use Caddy's " +
			"php_fastcgi or try_files behind shortlink"},
	} {
		if remark.holds {
			h.Remark("%s", remark.says)
		}
	}
}
