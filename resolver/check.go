package resolver

import (
	"fmt"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// OptionError is one thing that is wrong with the options of a ruleset.
type OptionError struct {
	// Option is the option's name in configuration.
	Option string
	// Message says what is wrong and what to write instead.
	Message string
}

// Error returns the option's name and the message.
func (e *OptionError) Error() string { return e.Option + ": " + e.Message }

// OptionErrors are all the things that are wrong with the options of a ruleset.
type OptionErrors []*OptionError

// Error returns one line for each error.
func (e OptionErrors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// options are Options that have been checked, in the form that compiling and answering use.
type options struct {
	status       int
	query        QueryMode
	protected    *weburl.Names
	foldCase     bool
	maxRedirects int
	hosts        []hostPattern
	origin       string
	content      string // all of it, for digests
}

// checkOptions returns the options, or all that is wrong with them.
func checkOptions(opts Options) (options, error) {
	var errs OptionErrors
	fail := func(option, message string) {
		errs = append(errs, &OptionError{Option: option, Message: message})
	}
	checked := options{status: DefaultStatus, query: opts.Query, foldCase: opts.FoldCase, maxRedirects: MaxRedirects}
	if opts.Status != 0 {
		checked.status = opts.Status
		if !ValidStatus(opts.Status) {
			fail("status", statusProblem(opts.Status))
		}
	}
	if int(opts.Query) >= len(queryModeNames) {
		fail("query", "it is merge, preserve or ignore")
	}
	if len(opts.Protect) > 0 {
		checked.protected = weburl.NewNames(opts.Protect...)
	}
	if opts.MaxRedirects != nil {
		checked.maxRedirects = *opts.MaxRedirects
		if *opts.MaxRedirects < 0 || *opts.MaxRedirects > MaxRedirects {
			fail("max_redirects", "the limit can be lowered, not raised; write a number from 0 to 255")
		}
	}
	for _, pattern := range opts.AllowHosts {
		host, problem := parseHostPattern(pattern)
		if problem != "" {
			fail("allow_hosts", problem)
		}
		checked.hosts = append(checked.hosts, host)
	}
	if opts.Origin != "" {
		origin, problem := parseOrigin(opts.Origin)
		if problem != "" {
			fail("origin", problem)
		}
		checked.origin = origin
	}
	if len(errs) > 0 {
		return options{}, errs
	}
	checked.content = fmt.Sprintf("%d %s %q %t %d %q %s",
		checked.status, checked.query, opts.Protect, checked.foldCase, checked.maxRedirects, opts.AllowHosts, checked.origin)
	return checked, nil
}

// parseOrigin returns the origin that a URL without anything else names.
func parseOrigin(s string) (origin, problem string) {
	const advice = "; write scheme and host alone, like https://go.example"
	if !isAbsolute(s) {
		return "", quote(s) + " does not begin with http:// or https://" + advice
	}
	u, err := weburl.Parse(s)
	if err != nil {
		return "", quote(s) + " is not a URL: " + reasonOf(err) + advice
	}
	if u.Username != "" || u.Password != "" || u.Path != "/" || u.HasQuery || u.HasFragment {
		return "", quote(s) + " holds more than an origin" + advice
	}
	return u.Origin(), ""
}

// statusOf returns the status of a rule taken for itself.
func (o *options) statusOf(rule Rule) int {
	if rule.Status != 0 {
		return rule.Status
	}
	return o.status
}

// hostPattern is an allowed host; its labels, where some of them are "*".
type hostPattern struct {
	host   string
	labels []string
}

// parseHostPattern parses one of Options.AllowHosts.
func parseHostPattern(pattern string) (parsed hostPattern, problem string) {
	advice := "; write a host like example.com, or *.example.com for one label before it"
	if strings.ContainsAny(pattern, "/?#@") {
		return parsed, quote(pattern) + " is more than a host" + advice
	}
	// A letter stands for each "*" while the URL Standard looks at the host.
	const any = "shortlink-any-label"
	labels := strings.Split(pattern, ".")
	for i, label := range labels {
		switch {
		case label == "*":
			labels[i] = any
		case strings.Contains(label, "*"):
			return parsed, quote(pattern) + " has a \"*\" that is not a whole label" + advice
		}
	}
	host, err := weburl.ParseHost(strings.Join(labels, "."))
	if err != nil {
		return parsed, quote(pattern) + " is not a host: " + reasonOf(err) + advice
	}
	if !strings.Contains(host, any) {
		return hostPattern{host: host}, ""
	}
	parsed.labels = strings.Split(strings.ReplaceAll(host, any, "*"), ".")
	return parsed, ""
}

func (p *hostPattern) matches(host string) bool {
	if p.labels == nil {
		return host == p.host
	}
	labels := strings.Split(host, ".")
	if len(labels) != len(p.labels) {
		return false
	}
	for i, label := range p.labels {
		if label != "*" && label != labels[i] {
			return false
		}
	}
	return true
}

// hostAllowed reports whether absolute destinations may name host.
func (o *options) hostAllowed(host string) bool {
	for i := range o.hosts {
		if o.hosts[i].matches(host) {
			return true
		}
	}
	return len(o.hosts) == 0
}

func hostProblem(host string) string {
	return "the host " + quote(host) + " is not one of allow_hosts; add it there, or lead the rule elsewhere"
}

// appendConstantQuery appends what destination and embedded query combine to, which no
// request changes; neither begins with "?".
func (o *options) appendConstantQuery(dst []byte, m *weburl.Merger, destination, embedded string) []byte {
	if o.query == QueryPreserve {
		encoded := weburl.AppendEncoded(nil, embedded, weburl.QuerySet)
		return m.AppendPreserving(dst, destination, string(encoded), nil)
	}
	return m.AppendSet(dst, destination, embedded, nil)
}

// appendQuery appends the query of a destination: what is constant, and the request's, which begins
// with "?" unless it is empty. It begins with "?" unless it is empty, too (3.4.2).
func (o *options) appendQuery(dst []byte, m *weburl.Merger, constant, request string) []byte {
	if len(request) == 0 && len(constant) == 0 {
		return dst
	}
	request = strings.TrimPrefix(request, "?")
	start := len(dst)
	dst = append(dst, '?')
	switch {
	case o.query == QueryIgnore || request == "":
		dst = append(dst, constant...)
	case o.query == QueryPreserve:
		dst = m.AppendPreserving(dst, constant, request, o.protected)
	default:
		dst = m.AppendSet(dst, constant, request, o.protected)
	}
	if len(dst) == start+1 {
		return dst[:start]
	}
	return dst
}
