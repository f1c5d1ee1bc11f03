package resolver

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// MaxRedirects is how many internal redirects pass: the 256th is an error (R9).
const MaxRedirects = 255

// DefaultStatus is the status of rules when neither they nor the options name one.
const DefaultStatus = 302

// DefaultMaxSize is the most memory of compiled rules, in bytes, if the options set no limit.
const DefaultMaxSize = 2 << 30

// Options say how a ruleset is checked and how it answers. The zero value is the draft's behaviour.
type Options struct {
	// Status is the status of rules that name none: 301, 302, 303, 307 or 308. 0 stands for 302.
	Status int
	// Query says how the queries of destination, embedded redirect and request become one.
	Query QueryMode
	// Protect names query parameters that a request cannot override (4.6). Where the destination or
	// an embedded query has one of them, the request's are dropped. "*" stands for all that they
	// have.
	Protect []string
	// FoldCase makes keys match without regard to the case of ASCII letters.
	FoldCase bool
	// MaxRedirects lowers the number of internal redirects that pass; nil stands for 255, which
	// cannot be raised (R9).
	MaxRedirects *int
	// AllowHosts, if not empty, are the only hosts that absolute destinations may name. Each is a host
	// name, an IP address, or a pattern like *.example.com. In a pattern, each "*" stands for exactly
	// one label.
	AllowHosts []string
	// Origin is the scheme and host of internal destinations, such as "https://go.example"; empty
	// for the request's own.
	Origin string
	// MaxSize is the most memory of the compiled rules, in bytes; 0 stands for [DefaultMaxSize].
	MaxSize int64

	// Digest makes the digest of the rules while they are compiled.
	Digest bool
	// NoLines drops lines and columns from the positions of rules, which then only name the source.
	// What is sorted by line otherwise is sorted by key. The ruleset then no longer depends on where
	// rules stand in their sources, so others can be derived from it. Errors of compiling still have
	// lines, and [Compiler.Inspect] sees them.
	NoLines bool
	// Pause, if not nil, is called after every few hundred rules, to let others run. Compile calls it,
	// and so do later scans of all rules. It has to be safe for concurrent use.
	Pause func()
	// Progress, if not nil, is called now and then while all rules are visited. It gets the number of
	// steps done, and of all steps. It is called like Pause, in the visiting goroutine.
	Progress func(done, of int)
}

// statusCodes are the statuses of redirects, and 0 for none. A record keeps the index of its status
// in three bits.
var statusCodes = [1 << 3]uint16{0, 301, 302, 303, 307, 308}

// statusIndex returns the index of a status, or 0 if it is not the status of a redirect.
func statusIndex(code int) byte {
	for i, c := range statusCodes {
		if int(c) == code {
			return byte(i)
		}
	}
	return 0
}

// ValidStatus reports whether a rule may redirect with code.
func ValidStatus(code int) bool { return statusIndex(code) != 0 }

func statusMessage(code int) string {
	return fmt.Sprintf("%d is not the status of a redirect; write 301, 302, 303, 307 or 308", code)
}

// outcomeStatusMessage says what is wrong with the status of a rule with the value gone or pass.
func outcomeStatusMessage(outcome string, status int) string {
	if outcome == GoneValue {
		return fmt.Sprintf("gone is always answered with 410, and takes no status; remove %d, or "+
			"write a destination", status)
	}
	return fmt.Sprintf("pass leaves the answer to the next handler, and takes no status; remove "+
		"%d, or write a destination", status)
}

// outcomeQueryMessage says what is wrong with the query mode of a rule with the value gone or pass.
func outcomeQueryMessage(outcome string, mode QueryMode) string {
	return fmt.Sprintf("%s has no destination, and takes no query mode; remove %s, or write a "+
		"destination", outcome, mode)
}

// options are Options that have been checked, in the form in which they are used.
type options struct {
	status       int
	query        QueryMode
	protected    *weburl.Names
	foldCase     bool
	maxRedirects int
	hosts        []hostPattern
	origin       string
	maxSize      int64
	content      string // what of it rulesets are told apart by, for digests
	digest       bool
	noLines      bool
	given        Options
	pause        func()
	progress     func(done, of int)
	modes        bool // some rule says a query mode
}

// checkOptions returns the options, or all that is wrong with them.
func checkOptions(opts Options) (options, error) {
	c := optionChecker{checked: options{
		query: cmp.Or(opts.Query, QueryMerge), foldCase: opts.FoldCase,
		digest: opts.Digest, noLines: opts.NoLines, pause: opts.Pause,
		progress: opts.Progress,
	}}
	c.status(opts.Status)
	c.query(opts.Query)
	c.protect(opts.Protect)
	c.maxRedirects(opts.MaxRedirects)
	c.allowHosts(opts.AllowHosts)
	c.origin(opts.Origin)
	c.maxSize(opts.MaxSize)
	if len(c.errs) > 0 {
		return options{}, c.errs
	}
	o := c.checked
	o.given = opts
	o.content = fmt.Sprintf("%d %s %q %t %d %q %s",
		o.status, o.query, opts.Protect, o.foldCase, o.maxRedirects, opts.AllowHosts, o.origin)
	return o, nil
}

// optionChecker checks one option after the other.
type optionChecker struct {
	checked options
	errs    OptionErrors
}

// fail reports an invalid option.
func (c *optionChecker) fail(option, message string) {
	c.errs = append(c.errs, &OptionError{Option: option, Message: message})
}

func (c *optionChecker) status(code int) {
	c.checked.status = code
	if code == 0 {
		c.checked.status = DefaultStatus
	} else if !ValidStatus(code) {
		c.fail("status", statusMessage(code))
	}
}

func (c *optionChecker) query(mode QueryMode) {
	if !mode.isValid() {
		c.fail("query", queryMessage)
	}
}

func (c *optionChecker) protect(names []string) {
	if len(names) > 0 {
		c.checked.protected = weburl.NewNames(names...)
	}
}

func (c *optionChecker) maxRedirects(limit *int) {
	c.checked.maxRedirects = MaxRedirects
	if limit == nil {
		return
	}
	c.checked.maxRedirects = *limit
	if *limit < 0 || *limit > MaxRedirects {
		c.fail("max_redirects", "the limit can be lowered, not raised; write a number from 0 to "+
			"255")
	}
}

func (c *optionChecker) allowHosts(patterns []string) {
	for _, pattern := range patterns {
		host, err := parseHostPattern(pattern)
		if err != nil {
			c.fail("allow_hosts", err.Error())
		}
		c.checked.hosts = append(c.checked.hosts, host)
	}
}

func (c *optionChecker) origin(written string) {
	if written == "" {
		return
	}
	origin, err := parseOrigin(written)
	if err != nil {
		c.fail("origin", err.Error())
	}
	c.checked.origin = origin
}

func (c *optionChecker) maxSize(bytes int64) {
	c.checked.maxSize = cmp.Or(bytes, DefaultMaxSize)
	if bytes < 0 {
		c.fail("max_size", "it is a number of bytes, and not less than 0")
	}
}

// ParseOrigin parses a URL that is only an origin, and returns it as the URL Standard serialises
// it. The error says what to write instead.
func ParseOrigin(s string) (origin string, err error) {
	if origin, err = parseOrigin(s); err != nil {
		return "", err
	}
	if !isPlainOrigin(origin) {
		return "", errors.New(quote(s) + " has a host with characters that hosts do not have")
	}
	return origin, nil
}

// isPlainOrigin reports whether an origin can stand in a header as it is.
func isPlainOrigin(origin string) bool {
	return strings.Trim(origin, "abcdefghijklmnopqrstuvwxyz0123456789-._:/[]") == ""
}

// parseOrigin returns the origin of a URL that has nothing else.
func parseOrigin(s string) (origin string, err error) {
	const advice = "; write scheme and host alone, like https://go.example"
	if !isAbsolute(s) {
		return "", errors.New(quote(s) + " does not begin with http:// or https://" + advice)
	}
	u, err := weburl.Parse(s)
	if err != nil {
		return "", errors.New(quote(s) + " is not a URL: " + reasonOf(err) + advice)
	}
	if u.Username != "" || u.Password != "" || u.Path != "/" || u.HasQuery || u.HasFragment {
		return "", errors.New(quote(s) + " holds more than an origin" + advice)
	}
	return u.Origin(), nil
}

// statusOf returns the status of a rule alone, without its chain.
func (o *options) statusOf(rule Rule) int {
	if rule.Status != 0 {
		return rule.Status
	}
	return o.status
}

// queryOf returns the query mode of requests for a rule with this mode of its own, QueryDefault for
// none.
func (o *options) queryOf(own QueryMode) QueryMode {
	switch own {
	case QueryDefault:
		return o.query
	case QueryIgnore:
		return queryOwn
	}
	return own
}

// placed returns a rule with the position that the ruleset tells: with NoLines, only its source.
func (o *options) placed(rule Rule) Rule {
	if o.noLines {
		rule.Position = Position{Source: rule.Position.Source}
	}
	return rule
}

// pauseEvery is the number of rules between two pauses: some tens of microseconds of work.
const pauseEvery = 256

// pauseAfter pauses after the n-th rule, if it is time to.
func (o *options) pauseAfter(n int) {
	if o.pause != nil && n%pauseEvery == pauseEvery-1 {
		o.pause()
	}
}
