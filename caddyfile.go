package shortlink

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-shortlink/shortlink/internal/near"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/source"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("shortlink", parseCaddyfile)
	httpcaddyfile.RegisterDirectiveOrder("shortlink", httpcaddyfile.After, "redir")
}

func parseCaddyfile(helper httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	h := new(Handler)
	if err := h.UnmarshalCaddyfile(helper.Dispenser); err != nil {
		return nil, err
	}
	return h, nil
}

// UnmarshalCaddyfile sets up the handler from the directive:
//
//	shortlink [<matcher>] {
//		<key> <destination|gone|pass> [<status>] [exact] [unlisted] [merge|preserve|ignore]
//			[since <time>] [until <time> [then <destination|gone|pass> ...]]
//		rule <key> ... as above
//
//		from <source> ...
//		expect <request_path> <destination|pass|gone|error>
//
//		origin <url>
//		status <code|permanent|temporary>
//		cache <temporary> [<permanent>]
//		query <merge|preserve|ignore>
//		protect <parameter...|*>
//		fold case
//		max_redirects <n>
//		max_size <size>
//		allow_hosts <host_pattern...>
//		advertise [<base_url>]
//		history <n|off>
//		name <name>
//	}
//
// A line whose first word is an option's name is that option; every other line is a rule. A key
// that is called like an option is written with "rule" in front. "from" and "expect" can be given
// again and again, every other option once. The field of [Handler] that an option sets explains it.
// The source reads what follows "from": see [source.File] and [source.Storage].
//
// A <destination> begins with "https://", "http://" or "/". A <status> is a redirect code,
// "permanent" (301) or "temporary" (302). Placeholders are not replaced, apart from
// {$NAME}, which Caddy replaces by the environment's value before anything is read.
//
// Rules are compiled here already, so that errors have their place in the Caddyfile. The error
// lists everything that is wrong, a line for each.
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the directive's name
	first := readLine(d)
	p := directive{handler: h, at: first.at, given: make(map[string]resolver.Position)}
	if len(first.words) > 1 {
		p.report(first.at, "nothing but a matcher can follow shortlink on its line: put rules and "+
			"options into its block, each on a line of its own")
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		if d.Val() == optionFrom {
			p.addSource(d)
			continue
		}
		l := readLine(d)
		if source.SkipBlock(d) {
			p.report(l.at, "rules and options have no block")
			continue
		}
		p.addLine(l)
	}
	p.compile()
	return p.err()
}

// line is a line of the directive's block.
type line struct {
	at    resolver.Position
	words []string
}

// readLine reads from the current word to the end of the line.
func readLine(d *caddyfile.Dispenser) line {
	at := resolver.Position{Source: d.File(), Line: d.Line()}
	return line{at, append([]string{d.Val()}, d.RemainingArgs()...)}
}

// directive is the state of reading a directive.
type directive struct {
	handler  *Handler
	at       resolver.Position
	given    map[string]resolver.Position // the position of each option
	problems problems
}

func (p *directive) report(at resolver.Position, format string, args ...any) {
	p.problems = append(p.problems, source.Problem{At: at, Message: fmt.Sprintf(format, args...)})
}

// reportRule reports an error of the rule of a key.
func (p *directive) reportRule(rule resolver.Rule, format string, args ...any) {
	p.problems = append(p.problems,
		source.Problem{At: rule.Position, Key: rule.Key, Message: fmt.Sprintf(format, args...)})
}

// addLine adds an option or a rule.
func (p *directive) addLine(l line) {
	name := l.words[0]
	if isTemplateRule(l.words) {
		restoreVariables(l.words)
	}
	for _, word := range l.words {
		if strings.ContainsRune(word, utf8.RuneError) {
			p.report(l.at, "%s", notUnicode)
			return
		}
		if placeholder := findPlaceholder(word); placeholder != "" {
			p.report(l.at, "%s", placeholderMessage(withShorthand(placeholder)))
			return
		}
	}
	if opt, ok := optionNamed(name); ok {
		p.setOption(opt, l)
		return
	}
	switch {
	case name == optionExpect:
		p.addExpectation(l)
		return
	case name == "rule":
		l.words = l.words[1:]
	case isMisspeltOrigin(l.words):
		p.report(l.at,
			"%s is not an option; for the option write: origin %s; for a key named %s write: rule %s %s",
			name,
			l.words[1], name, name, l.words[1])
		return
	}
	if why, instead := meantBy(l.words); instead != "" {
		p.report(l.at, "%s; write: %s", why, instead)
		return
	}
	if len(l.words) < 2 || !isDestinationWord(l.words[1]) {
		p.reportNoRule(name, l)
		return
	}
	p.addRule(l)
}

// notUnicode is the error of a line with U+FFFD, which Caddy's lexer substitutes for bytes that are
// not UTF-8.
const notUnicode = "this line is not Unicode text: save the file as UTF-8; " +
	"for the character U+FFFD itself write %EF%BF%BD"

// isTemplateRule reports whether a line is a rule whose key is a template.
func isTemplateRule(words []string) bool {
	if words[0] == "rule" && len(words) > 1 {
		words = words[1:]
	}
	return resolver.IsTemplate(words[0])
}

// restoreVariables restores variables that Caddy took for shorthands of its placeholders, such as
// {path}, before it called the directive. Variables so have the same names in keys, destinations,
// files and JSON.
func restoreVariables(words []string) {
	for i, word := range words {
		words[i] = expression.ReplaceAllStringFunc(word, func(e string) string {
			return cmp.Or(httpcaddyfile.WasReplacedPlaceholderShorthand(e), e)
		})
	}
}

var expression = regexp.MustCompile(`\{[^{}]*\}`)

// withShorthand returns a placeholder, and its shorthand if there is one: which of the two a line
// had is unknown.
func withShorthand(placeholder string) string {
	short := httpcaddyfile.WasReplacedPlaceholderShorthand(placeholder)
	shorthands := httpcaddyfile.NewShorthandReplacer()
	for rest := placeholder; short == ""; {
		_, behind, found := strings.Cut(rest, ".")
		if !found {
			return placeholder
		}
		rest = behind
		segment := caddyfile.Segment{{Text: "{" + rest}}
		if shorthands.ApplyToSegment(&segment); segment[0].Text == placeholder {
			short = "{" + rest
		}
	}
	return short + " (in full " + placeholder + ")"
}

// addSource adds a source, which reads what follows its name and its block.
func (p *directive) addSource(d *caddyfile.Dispenser) {
	at := resolver.Position{Source: d.File(), Line: d.Line()}
	hasName := d.NextArg()
	name := d.Val()
	if _, err := caddy.GetModule(sourceNamespace + "." + name); err != nil || !hasName {
		l := readLine(d)
		source.SkipBlock(d)
		p.reportNoSource(at, l.words)
		return
	}
	module, err := caddyfile.UnmarshalModule(d, sourceNamespace+"."+name)
	if err != nil {
		for message := range strings.SplitSeq(err.Error(), "\n") {
			p.problems = append(p.problems, problemOfSource(at, message))
		}
		return
	}
	p.handler.SourcesRaw = append(p.handler.SourcesRaw,
		caddyconfig.JSONModuleObject(module, "source", name, nil))
}

// reportNoSource reports a line that begins with "from" and does not name a source.
func (p *directive) reportNoSource(at resolver.Position, words []string) {
	hint := ""
	if resolver.IsValue(words[0]) {
		hint = "; for a key named from write: rule from " + strings.Join(words, " ")
	}
	var names []string
	for _, module := range caddy.GetModules(sourceNamespace) {
		names = append(names, module.ID.Name())
	}
	p.report(at, "from takes the name of a source and what it reads%s; the sources in this build are "+
		"%s%s", insteadOfFrom(words), strings.Join(names, ", "), hint)
}

// addExpectation adds an expectation.
func (p *directive) addExpectation(l line) {
	if len(l.words) != 3 {
		hint := ""
		if len(l.words) == 2 && resolver.IsValue(l.words[1]) {
			hint = "; for a key named expect write: rule expect " + l.words[1]
		}
		p.report(l.at,
			"expect takes the path of a request and what is expected of it, a destination, pass, gone "+
				"or error%s", hint)
		return
	}
	path, want := l.words[1], l.words[2]
	if _, twice := p.handler.Expect[path]; twice {
		p.report(l.at, "expect %s is given twice", path)
		return
	}
	if err := (source.Expectations{path: want}).Problems(); err != nil {
		p.report(l.at, "%v", err)
		return
	}
	if p.handler.Expect == nil {
		p.handler.Expect = source.Expectations{}
	}
	p.handler.Expect[path] = want
}

// Options that are not in the table of options because they can be given again and again.
const (
	optionFrom   = "from"
	optionExpect = "expect"
)

// sourceNamespace is the namespace of the modules that follow "from".
const sourceNamespace = "http.shortlink.sources"

// reportNoRule reports a line whose second word is not a destination.
func (p *directive) reportNoRule(name string, l line) {
	const aRule = "a key and a destination, which begins with https://, http:// or /, " +
		"or the word gone or pass"
	written := strings.Join(l.words, " ")
	if len(l.words) > 1 {
		if instead := insteadOfStatus(l.words[0], l.words[1]); instead != "" {
			p.report(l.at, "%q has a status instead of a destination; %s", written, instead)
			return
		}
	}
	if name == "rule" {
		p.report(l.at, "rule takes %s, not %q", aRule, written)
		return
	}
	names, nearest := optionNames(), ""
	if option := near.Word(name, names); option != "" {
		nearest = "; the nearest option is " + option
	}
	p.report(l.at, "%q is neither a rule nor an option%s: a rule is %s; the options are %s", written,
		nearest, aRule, strings.Join(names, ", "))
}

// isMisspeltOrigin reports whether a line looks like a misspelt origin. That is the one option
// whose value looks like a destination; read as a rule, the line would leave the origin to the
// client.
func isMisspeltOrigin(words []string) bool {
	if len(words) != 2 || !strings.Contains(words[1], "://") ||
		strings.Count(strings.TrimSuffix(words[1], "/"), "/") > 2 {
		return false
	}
	// A key such as "original" has other letters, and is meant.
	isOther := func(letter rune) bool { return !strings.ContainsRune("origin", letter) }
	return !strings.ContainsFunc(strings.ToLower(words[0]), isOther) &&
		near.Word(words[0], []string{"origin"}) != ""
}

// needsRule reports whether a rule's line needs "rule" in front, or a Caddyfile reads it as
// something else. "import" is Caddy's own word.
func needsRule(rule resolver.Rule) bool {
	taken := append(optionNames(), "rule", "import")
	return slices.Contains(taken, rule.Key) || isMisspeltOrigin([]string{rule.Key, rule.Value})
}

// setOption sets an option.
func (p *directive) setOption(opt option, l line) {
	if first, twice := p.given[opt.name]; twice {
		p.report(l.at, "%s is given twice, first at %s", opt.name, first)
		return
	}
	args := l.words[1:]
	if err := opt.misuse(args); err != nil {
		p.report(l.at, "%v", err)
		return
	}
	opt.set(p.handler, args)
	p.given[opt.name] = l.at
}

// compile checks the rules.
func (p *directive) compile() {
	options, err := p.handler.resolverOptions()
	if err == nil {
		err = schedule.Validate(p.handler.Rules, options)
	}
	if wrong, ok := errors.AsType[resolver.RuleErrors](err); ok {
		for _, e := range wrong {
			p.problems = append(p.problems, source.Problem{
				At: e.Position, Kind: lint.Kind(e.Kind.Error()), Key: e.Key, Message: e.Message,
			})
		}
	} else if err != nil {
		p.report(p.at, "%v", err)
	}
}

// err returns the problems as one error, or nil.
func (p *directive) err() error {
	if len(p.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(p.problems, func(a, b source.Problem) int {
		return cmp.Or(cmp.Compare(a.At.Source, b.At.Source), cmp.Compare(a.At.Line, b.At.Line))
	})
	return p.problems
}

// problemOfSource returns a source's error as a problem, at a place or in the lines below it. A
// message can begin with its own place.
func problemOfSource(at resolver.Position, message string) source.Problem {
	place, rest, _ := strings.Cut(strings.TrimPrefix(message, at.Source+":"), ": ")
	line, err := strconv.Atoi(place)
	if err != nil {
		return source.Problem{At: at, Message: message, Placed: true}
	}
	at.Line = line
	return source.Problem{At: at, Message: rest}
}

// problems are all the problems of a directive.
type problems []source.Problem

// Error lists the problems, a line for each.
func (p problems) Error() string {
	lines := make([]string, 0, len(p)+1)
	if len(p) > 1 {
		lines = append(lines, fmt.Sprintf("%d errors", len(p)))
	}
	for _, problem := range p {
		lines = append(lines, problem.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the problems.
func (p problems) Unwrap() []error {
	errs := make([]error, len(p))
	for i, problem := range p {
		errs[i] = problem
	}
	return errs
}

// Interface guards
var _ caddyfile.Unmarshaler = (*Handler)(nil)
