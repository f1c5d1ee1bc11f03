package apache

import (
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// remarks collects what to report about a file as a whole.
type remarks struct {
	others     migrate.Names // of directives that redirect nothing
	otherCount int
	protecting migrate.Names // of directives that restrict access
	// hasFront reports whether a line leads all requests to one program. hasQSA reports whether a
	// line adds the parameters of the request to its destination. letsFilesPass reports whether a
	// line lets requests for files pass. addsSlash reports whether a destination gets a second
	// slash.
	hasFront, hasQSA, letsFilesPass, addsSlash bool
	// deciding are lines that make no rule but affect later RewriteRules; isBehind reports whether
	// there are such rules. passing are lines that let requests pass.
	deciding, passing []resolver.Position
	isBehind          bool
	hasRewrite        bool // the file has redirects of mod_rewrite
}

// mostNamed is the maximum number of lines, or of skipped directives, in a message.
const mostNamed = 5

// countSkipped counts a directive that redirects nothing.
func (s *remarks) countSkipped(d *directive) {
	if !s.protects(d.written) {
		s.otherCount++
		s.others.Add(d.written)
	}
}

// protects reports whether a directive or a block restricts access, and records its name.
func (s *remarks) protects(name string) bool {
	switch strings.ToLower(name) {
	case "authtype", "authname", "authuserfile", "authgroupfile", "authbasicprovider", "require",
		"deny", "allow", "order", "satisfy", "limit", "limitexcept", "requireall", "requireany",
		"requirenone":
		s.protecting.Add(name)
		return true
	}
	return false
}

// remarkAll adds the remarks on the whole file.
func (h *reader) remarkAll() {
	s, hasAlias := &h.said, len(h.aliases) > 0
	for _, remark := range []struct {
		holds bool
		says  string
	}{
		{h.rewrite.base != "/", "the file is taken for that of " + h.rewrite.base + ", as RewriteBase " +
			"tells, and the patterns of RewriteRule for what is below it"},
		{s.addsSlash, "a destination with a slash in front of what is below a path gets a second one " +
			"there, and here none"},
		{s.otherCount > 0, "what redirects nothing is left out: " +
			printable.Count(s.otherCount, "directive") + " (" + firstOf(s.others) + ")"},
		{s.protecting != nil, "what protects the site is left out, and shortlink protects nothing: " +
			strings.Join(s.protecting, ", ") + "; guard it with Caddy's basic_auth or forward_auth, or a " +
			"remote_ip matcher"},
		{s.letsFilesPass, "files that exist win against RewriteRules there; here the rules do, unless " +
			"shortlink has a matcher \"not file\""},
		{s.hasQSA, "Apache adds the parameters of a request to those of a destination with QSA, and in " +
			"rules a parameter of the request takes the place of one with its name"},
		{s.isBehind && len(s.deciding) == 1, linesAt(s.deciding) + " rewrites or depends on others; " +
			"what stands behind it may not be reached: read it"},
		{s.isBehind && len(s.deciding) > 1, linesAt(s.deciding) + " rewrite or depend on others; " +
			"what stands behind them may not be reached: read them"},
		{s.hasRewrite && hasAlias, "Apache asks the lines of mod_rewrite first, and so do the rules: " +
			"a RewriteRule wins against Redirect and RedirectMatch, wherever they stand"},
		{s.passing != nil && hasAlias, "requests that pass at " + linesAt(s.passing) + " are left to " +
			"Redirect and RedirectMatch there, and not here; write these as RewriteRules in front"},
		{s.hasFront, "what leads all requests to one program makes no rule; use Caddy's php_fastcgi or " +
			"try_files behind shortlink"},
	} {
		if remark.holds {
			h.Remark("%s", remark.says)
		}
	}
}

// linesAt lists lines by number: "lines 3 and 7".
func linesAt(at []resolver.Position) string {
	var numbers []string
	for _, p := range at {
		numbers = append(numbers, strconv.Itoa(p.Line))
	}
	switch {
	case len(at) == 1:
		return "line " + numbers[0]
	case len(at) > mostNamed:
		return "lines " + firstOf(numbers)
	}
	return "lines " + migrate.ListOf(numbers)
}

// firstOf lists the first few names.
func firstOf(names []string) string {
	if len(names) > mostNamed {
		return strings.Join(names[:mostNamed], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}
