package rulefile

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// htaccessReader reads the directives of Apache's mod_alias and mod_rewrite from a .htaccess file,
// or from a server's configuration. Lines of mod_rewrite come first there, wherever they stand.
type htaccessReader struct {
	*foreignTable
	lines *lineReader
	// blocks are those that are open, such as <IfModule>.
	blocks []htaccessBlock
	// others are names of directives that redirect nothing, otherCount is how many there are.
	others     []string
	otherCount int
	// protecting are names of directives that tell who gets in.
	protecting []string
	rewrite    rewriteState
	hasAlias   bool
	hasRewrite bool
	// isSlashRemarked tells that there is a remark on a slash at the end of a destination.
	isSlashRemarked bool
}

// htaccessBlock is a block of directives.
type htaccessBlock struct {
	name string // "<VirtualHost"
	at   resolver.Position
}

// directive is a line, or several that one goes on over.
type directive struct {
	name, written string // in small letters, and as it stands there
	// rest is what stands behind the name, column where it begins in the line.
	rest   string
	column int
	at     resolver.Position
}

// readHtaccess is a [foreignReader].
func readHtaccess(t *foreignTable, r io.Reader) error {
	t.program, t.slashesCount = "Apache", true
	h := htaccessReader{foreignTable: t, lines: newLineReader(r, t.source)}
	h.rewrite.base = "/"
	end := h.readAll()
	if err := h.takeRules(); err != nil {
		end = err
	}
	h.judgeRedirects()
	t.file.laterRemedy = "write it as a RewriteRule in front of that, as RewriteRules come first"
	for _, block := range h.blocks {
		h.wrong(block.at, "the block %s> is not closed; write </%s>", block.name, blockKind(block.name))
	}
	h.remarkAll()
	return end
}

// readAll reads all directives. The error is io.EOF, or what ended the reading before.
func (h *htaccessReader) readAll() error {
	for {
		d, err := h.next()
		if err != nil {
			return err
		}
		if d.name == "" {
			continue
		}
		if err := checkLine(d.name + d.rest); err != nil {
			h.wrong(d.at, "%s", err)
		} else {
			h.take(&d)
		}
		if err := h.file.errs.tooMany(d.at); err != nil {
			return err
		}
	}
}

// next returns the next directive, without a name for a comment or nothing.
func (h *htaccessReader) next() (d directive, err error) {
	line, err := h.lines.nextOfAll()
	if err != nil {
		return d, err
	}
	at := h.lines.position(1)
	if bytes.HasSuffix(line, []byte(`\`)) {
		if line, err = h.join(slices.Clone(line), at); err != nil {
			return d, err
		}
	}
	words := wordsOf(nil, string(line))
	if len(words) == 0 {
		return directive{at: at}, nil
	}
	name := words[0]
	behind := string(line[name.column-1+len(name.text):])
	rest := strings.TrimLeft(behind, lineSpace)
	at.Column = name.column
	return directive{
		name: strings.ToLower(name.text), written: name.text, at: at,
		rest:   strings.TrimRight(rest, lineSpace),
		column: len(line) - len(rest) + 1,
	}, nil
}

// join appends the lines to one that goes on over them.
func (h *htaccessReader) join(line []byte, at resolver.Position) ([]byte, error) {
	for {
		var goesOn bool
		if line, goesOn = bytes.CutSuffix(line, []byte(`\`)); !goesOn {
			return line, nil
		}
		more, err := h.lines.nextOfAll()
		if err == io.EOF {
			return line, nil
		}
		if line = append(line, more...); err != nil {
			return nil, err
		}
		if len(line) > maxText {
			return nil, &Error{at, "the line is longer than a mebibyte with those that it goes on over, " +
				"and holds no rule"}
		}
	}
}

// take takes in a directive.
func (h *htaccessReader) take(d *directive) {
	if d.name[0] == '<' {
		h.takeBlock(d)
		return
	}
	isAlias := slices.Contains([]string{"redirect", "redirectmatch", "redirectpermanent",
		"redirecttemp"}, d.name)
	isRule := d.name == "rewriterule"
	isOfRewriting := strings.HasPrefix(d.name, "rewrite")
	if (isAlias || isOfRewriting) && len(h.blocks) > 0 {
		if why := h.errBlock(); why != nil {
			if isAlias || isRule {
				h.refuse(d.at, "", why.Error())
			}
			return
		}
	}
	h.isLater = isAlias
	switch {
	case isAlias:
		h.hasAlias = true
		h.takeRedirect(d)
	case isRule:
		h.rewrite.rules = append(h.rewrite.rules, pendingRule{*d, h.rewrite.conditions})
		h.rewrite.conditions = nil
	case isOfRewriting:
		h.takeRewriting(d)
	default:
		h.passOver(d)
	}
}

// passOver counts a directive that redirects nothing.
func (h *htaccessReader) passOver(d *directive) {
	const mostNames = 5
	if h.protects(d.name, d.written) {
		return
	}
	h.otherCount++
	isSame := func(other string) bool { return strings.EqualFold(other, d.name) }
	if len(h.others) <= mostNames && !slices.ContainsFunc(h.others, isSame) {
		h.others = append(h.others, d.written)
	}
}

// protects takes down the name of a directive, or of a block, that tells who gets in.
func (h *htaccessReader) protects(name, written string) bool {
	switch name {
	case "authtype", "authname", "authuserfile", "authgroupfile", "authbasicprovider", "require",
		"deny", "allow", "order", "satisfy", "limit", "limitexcept", "requireall", "requireany",
		"requirenone":
	default:
		return false
	}
	isSame := func(other string) bool { return strings.EqualFold(other, written) }
	if !slices.ContainsFunc(h.protecting, isSame) {
		h.protecting = append(h.protecting, written)
	}
	return true
}

// takeBlock takes in the beginning or the end of a block.
func (h *htaccessReader) takeBlock(d *directive) {
	name, isEnd := strings.CutPrefix(strings.TrimSuffix(d.name, ">"), "</")
	last := len(h.blocks) - 1
	switch {
	case !isEnd:
		text := strings.TrimSuffix(strings.TrimSuffix(d.written, ">")+" "+d.rest, ">")
		h.blocks = append(h.blocks, htaccessBlock{strings.TrimSpace(text), d.at})
		kind := blockKind(strings.TrimSuffix(d.written, ">"))
		h.protects(strings.ToLower(kind), kind)
	case last < 0 || !strings.EqualFold(blockKind(h.blocks[last].name), name):
		h.wrong(d.at, "%s closes no block; remove it", d.written)
	default:
		h.blocks = h.blocks[:last]
	}
}

// blockKind returns the kind of a block: "IfModule".
func blockKind(name string) string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(name, "<"), " ")
	return kind
}

// errBlock says why nothing of a block is taken: it holds in some cases alone. What depends on a
// module being there is taken.
func (h *htaccessReader) errBlock() error {
	for _, block := range h.blocks {
		switch kind := strings.ToLower(blockKind(block.name)); {
		case kind == "ifmodule" && !strings.Contains(block.name, "!"):
		case kind == "virtualhost":
			return errors.New("a rule has no host, and this stands in the block " + block.name + ">; " +
				"write what is in it into a file of its own, and use the rules in that site's block")
		default:
			return errors.New("this stands in the block " + block.name + ">, which tells in what case " +
				"it holds; write what is in it into a file of its own, or use Caddy's redir with a matcher")
		}
	}
	return nil
}

// remarkAll says what is true of the whole file.
func (h *htaccessReader) remarkAll() {
	if h.otherCount > 0 {
		names := strings.Join(h.others[:min(5, len(h.others))], ", ")
		if len(h.others) > 5 {
			names += " and others"
		}
		h.remark("what redirects nothing is left out: %s (%s)",
			printable.Count(h.otherCount, "directive"), names)
	}
	if len(h.protecting) > 0 {
		h.remark("what protects the site is left out, and shortlink protects nothing: %s; guard it with "+
			"Caddy's basic_auth or forward_auth, or a remote_ip matcher",
			strings.Join(h.protecting, ", "))
	}
	if h.rewrite.filesWin {
		h.remark("files that exist win against RewriteRules there; here the rules do, unless shortlink " +
			"has a matcher \"not file\"")
	}
	if h.rewrite.addsParameters {
		h.remark("Apache adds the parameters of a request to those of a destination with QSA, and in " +
			"rules a parameter of the request takes the place of one with its name")
	}
	if h.hasAlias && h.hasRewrite {
		h.remark("Apache asks the lines of mod_rewrite first, and so do the rules: a RewriteRule wins " +
			"against Redirect and RedirectMatch, wherever they stand")
	}
	if h.rewrite.frontControllers > 0 {
		h.remark("what leads all requests to one program makes no rule; use Caddy's php_fastcgi or " +
			"try_files behind shortlink")
	}
}

// configWords splits words as Apache does: at white space, unless they are quoted.
func configWords(d *directive) (words []word, err error) {
	text := d.rest
	for {
		rest := strings.TrimLeft(text, lineSpace)
		if rest == "" {
			return words, nil
		}
		at := d.column + len(d.rest) - len(rest)
		var w string
		if w, text, err = cutConfigWord(rest); err != nil {
			return nil, err
		}
		words = append(words, word{w, at})
	}
}

// cutConfigWord cuts off a word, which may be quoted.
func cutConfigWord(text string) (w, rest string, err error) {
	var b strings.Builder
	quotes, end := text[0], -1
	isQuoted := quotes == '"' || quotes == '\''
	i := 0
	if isQuoted {
		i = 1
	}
	for ; i < len(text) && end < 0; i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && (text[i+1] == '\\' || isQuoted && text[i+1] == quotes):
			i++
			b.WriteByte(text[i])
		case isQuoted && c == quotes, !isQuoted && strings.IndexByte(lineSpace, c) >= 0:
			end = i + 1
		default:
			b.WriteByte(c)
		}
	}
	if end < 0 {
		end = len(text)
		if isQuoted {
			return "", "", errors.New("a quotation mark is not closed; write it at the word's end, too")
		}
	}
	return b.String(), text[end:], nil
}

// statusOr returns a status, or what a redirect has without one.
func (h *htaccessReader) statusOr(status int) int {
	return cmp.Or(status, h.reading.Status, resolver.DefaultStatus)
}
