package shortlink

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-shortlink/shortlink/resolver"
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
//		<key> <destination> [<status>] [exact] [unlisted]
//		rule <key> <destination> [<status>] [exact] [unlisted]
//
//		origin <url>
//		status <code|permanent|temporary>
//		cache <duration>
//		query <merge|preserve|ignore>
//		protect <parameter...|*>
//		fold case
//		max_redirects <n>
//		allow_hosts <host_pattern...>
//		name <name>
//	}
//
// A line whose first word is an option's name is that option; every other line is a
// rule. A key that is called like an option is written with "rule" in front. Each
// option can be given once; what it means stands at the field of [Handler] that it sets.
//
// A <destination> begins with "https://", "http://" or "/". A <status> is a redirect code,
// "permanent" (301) or "temporary" (302). Placeholders are not replaced, apart from
// {$NAME}, which Caddy replaces by the environment's value before anything is read.
//
// Rules are compiled here already, so that what is wrong with them is reported with its
// place in the Caddyfile. The error lists everything that is wrong, a line for each.
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	p := directive{handler: h, given: make(map[string]resolver.Position)}
	d.Next() // the directive's name
	if first := readLine(d); len(first.words) > 1 {
		p.report(first.at, "nothing but a matcher can follow shortlink on its line: put rules and options into its block, each on a line of its own")
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		p.add(readLine(d))
		if skipBlock(d) {
			p.report(resolver.Position{Source: d.File(), Line: d.Line()}, "rules and options have no block")
		}
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

// skipBlock passes over a block, if one opens here.
func skipBlock(d *caddyfile.Dispenser) (skipped bool) {
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		skipped = true
	}
	return skipped
}

// directive is what is known of a directive while it is read.
type directive struct {
	handler  *Handler
	given    map[string]resolver.Position // where each option stands
	problems []problem
}

// problem is something to be put right in the Caddyfile.
type problem struct {
	at      resolver.Position
	message string
}

func (p *directive) report(at resolver.Position, format string, args ...any) {
	p.problems = append(p.problems, problem{at, fmt.Sprintf(format, args...)})
}

// add takes in a line: an option or a rule.
func (p *directive) add(l line) {
	name := l.words[0]
	for _, word := range l.words {
		if placeholder := findPlaceholder(word); placeholder != "" {
			p.report(l.at, "the placeholder %s is not replaced here, as rules are worked out when they are loaded: "+
				"the path behind the key and the query of a request are appended anyway, and the value of an environment variable is written {$NAME}", placeholder)
			return
		}
	}
	if opt, ok := optionNamed(name); ok {
		p.setOption(opt, l)
		return
	}
	if name == "rule" {
		l.words = l.words[1:]
	}
	if len(l.words) < 2 || !isDestination(l.words[1]) {
		p.reportNoRule(name, l)
		return
	}
	p.addRule(l)
}

// reportNoRule reports a line that has no destination in the second place.
func (p *directive) reportNoRule(name string, l line) {
	written := strings.Join(l.words, " ")
	if name == "rule" {
		p.report(l.at, "rule takes a key and a destination, which begins with https://, http:// or /, not %q", written)
		return
	}
	p.report(l.at, "%q is no rule and no option: a rule is a key and a destination, which begins with https://, http:// or /; "+
		"the options are %s", written, strings.Join(optionNames(), ", "))
}

// addRule takes in a line that begins with a key and a destination.
func (p *directive) addRule(l line) {
	rule := resolver.Rule{Key: l.words[0], Value: l.words[1], Position: l.at}
	for i, word := range l.words[2:] {
		if slices.Contains(l.words[2:2+i], word) {
			p.report(l.at, "key %q: %s stands twice", rule.Key, word)
			return
		}
		code, isStatus := parseStatus(word)
		switch {
		case word == "exact":
			rule.Exact = true
		case word == "unlisted":
			rule.Unlisted = true
		case isStatus && rule.Status == 0:
			rule.Status = code
		default:
			p.report(l.at, "key %q: %q cannot stand here: what can follow a destination is one redirect code (%s), exact, and unlisted",
				rule.Key, word, redirectCodes)
			return
		}
	}
	p.handler.Rules = append(p.handler.Rules, rule)
}

// isDestination reports whether a word is meant as a destination.
func isDestination(word string) bool {
	return strings.HasPrefix(word, "https://") || strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "/")
}

const redirectCodes = "301, 302, 303, 307, 308, permanent or temporary"

// parseStatus returns the status that a word stands for.
func parseStatus(word string) (code int, ok bool) {
	switch word {
	case "permanent":
		return 301, true
	case "temporary":
		return 302, true
	}
	code, err := strconv.Atoi(word)
	return code, err == nil && resolver.ValidStatus(code)
}

// findPlaceholder returns the first of Caddy's placeholders in a word, or "". Shorthands
// like {path} have been spelled out when a directive gets to see them.
func findPlaceholder(word string) string {
	for _, part := range strings.SplitAfter(word, "}") {
		open := strings.LastIndexByte(part, '{')
		if open < 0 || !strings.HasSuffix(part, "}") {
			continue
		}
		namespace, _, dotted := strings.Cut(part[open+1:], ".")
		if dotted && slices.Contains([]string{"http", "env", "system", "time", "file", "tls", "vars"}, namespace) {
			return part[open:]
		}
	}
	return ""
}

// option is one of the directive's options.
type option struct {
	name string
	// takes says what follows the name, and choices, if not empty, what that can be.
	takes, choices string
	// list is set when more than one word can follow.
	list bool
	// set puts the words that follow into h; ok is false when they cannot be
	// understood. Whether they make sense is checked afterwards.
	set func(h *Handler, args []string) (ok bool)
}

func options() []option {
	return []option{
		{name: "origin", takes: "scheme and host of a URL", choices: "such as https://go.example.com", set: func(h *Handler, args []string) bool {
			h.Origin = args[0]
			return true
		}},
		{name: "status", takes: "a redirect code", choices: redirectCodes, set: func(h *Handler, args []string) (ok bool) {
			h.StatusCode, ok = parseStatus(args[0])
			return ok
		}},
		{name: "cache", takes: "a duration of at least one second", choices: "such as 1h or 30d", set: func(h *Handler, args []string) bool {
			duration, err := caddy.ParseDuration(args[0])
			h.Cache = caddy.Duration(duration)
			return err == nil && duration != 0
		}},
		{name: "query", takes: "a way to join queries", choices: "merge, preserve or ignore", set: func(h *Handler, args []string) bool {
			h.Query = args[0]
			return true
		}},
		{name: "protect", takes: "names of query parameters", choices: "* for all", list: true, set: func(h *Handler, args []string) bool {
			h.Protect = args
			return true
		}},
		{name: "fold", takes: "the word case", set: func(h *Handler, args []string) bool {
			h.Fold = args[0]
			return args[0] == foldCase
		}},
		{name: "max_redirects", takes: "a number from 0 to 255", set: func(h *Handler, args []string) bool {
			n, err := strconv.Atoi(args[0])
			h.MaxRedirects = &n
			return err == nil
		}},
		{name: "allow_hosts", takes: "hosts", choices: "such as example.com or *.example.com", list: true, set: func(h *Handler, args []string) bool {
			h.AllowHosts = args
			return true
		}},
		{name: "name", takes: "a name", choices: `letters, digits, "-", "_" and "."`, set: func(h *Handler, args []string) bool {
			h.Name = args[0]
			return validName(args[0])
		}},
	}
}

func optionNamed(name string) (option, bool) {
	opts := options()
	i := slices.IndexFunc(opts, func(o option) bool { return o.name == name })
	if i < 0 {
		return option{}, false
	}
	return opts[i], true
}

func optionNames() []string {
	var names []string
	for _, o := range options() {
		names = append(names, o.name)
	}
	return names
}

// setOption takes in a line that is an option.
func (p *directive) setOption(opt option, l line) {
	if first, twice := p.given[opt.name]; twice {
		p.report(l.at, "%s is given twice, first at %s", opt.name, first)
		return
	}
	p.given[opt.name] = l.at
	args := l.words[1:]
	if message := opt.misuse(args); message != "" {
		p.report(l.at, "%s", message)
		return
	}
	opt.set(p.handler, args)
}

// misuse says what is wrong with the words that follow an option's name, or "". It
// sets the option on a handler without any other, so that all there can be to say is about it.
func (o option) misuse(args []string) string {
	if len(args) == 0 {
		return o.usage()
	}
	trial := new(Handler)
	understood := (len(args) == 1 || o.list) && !slices.Contains(args, "") && o.set(trial, args)
	var err error
	if understood {
		err = trial.checkOptions()
	}
	switch {
	case understood && err == nil:
		return ""
	case isDestination(args[0]):
		return fmt.Sprintf("%s takes %s; for a key named %s write: rule %s %s", o.name, o.takes, o.name, o.name, strings.Join(args, " "))
	case err != nil:
		return err.Error()
	}
	return fmt.Sprintf("%s, not %q", o.usage(), strings.Join(args, " "))
}

// usage says what the option takes.
func (o option) usage() string {
	usage := o.name + " takes " + o.takes
	if o.choices != "" {
		usage += " (" + o.choices + ")"
	}
	return usage
}

// compile checks the rules. A key that stands twice is an error also where the
// lines come from different files, which the resolver takes for different sources.
func (p *directive) compile() {
	opts, err := p.handler.options()
	if err != nil {
		return // reported with the option
	}
	ruleset, err := resolver.Compile(p.handler.Rules, opts)
	if wrong, ok := errors.AsType[resolver.RuleErrors](err); ok {
		for _, e := range wrong {
			p.report(e.Position, "key %q: %s", e.Key, e.Message)
		}
		return
	}
	for _, w := range ruleset.Warnings() {
		if w.Kind == resolver.WarnShadowed {
			p.report(w.Position, "key %q: %s", w.Key, w.Message)
		}
	}
}

// err returns the problems as one error, or nil.
func (p *directive) err() error {
	if len(p.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(p.problems, func(a, b problem) int {
		return cmp.Or(cmp.Compare(a.at.Source, b.at.Source), cmp.Compare(a.at.Line, b.at.Line))
	})
	lines := make([]string, len(p.problems))
	for i, problem := range p.problems {
		lines[i] = fmt.Sprintf("%s: %s", problem.at, problem.message)
	}
	if len(lines) == 1 {
		return errors.New(lines[0])
	}
	return fmt.Errorf("%d errors\n%s", len(lines), strings.Join(lines, "\n"))
}

// Interface guards
var _ caddyfile.Unmarshaler = (*Handler)(nil)
