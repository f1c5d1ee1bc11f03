package apache

import (
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// remarks are what is to be said of a file as a whole.
type remarks struct {
	others     []string // names of directives that redirect nothing
	otherCount int
	protecting []string // names of directives that tell who gets in
	// hasFront tells that a line leads all requests to one program, hasQSA that one adds the
	// parameters of a request to those of its destination, letsFilesPass that one lets requests for
	// files pass, addsSlash that a destination gets a second slash.
	hasFront, hasQSA, letsFilesPass, addsSlash bool
	// deciding are lines that make no rule, and decide what RewriteRules behind them get; isBehind
	// tells that there are such. passing are lines that let requests pass.
	deciding, passing []resolver.Position
	isBehind          bool
	// hasRewrite and hasAlias tell that there are redirects of both modules.
	hasRewrite, hasAlias bool
}

// mostNamed is how many directives that redirect nothing are named, or lines.
const mostNamed = 5

// passOver counts a directive that redirects nothing.
func (s *remarks) passOver(d *directive) {
	if s.protects(d.written) {
		return
	}
	if s.otherCount++; len(s.others) <= mostNamed {
		s.others = withName(s.others, d.written)
	}
}

// protects takes down the name of a directive, or of a block, if it tells who gets in.
func (s *remarks) protects(name string) bool {
	switch strings.ToLower(name) {
	case "authtype", "authname", "authuserfile", "authgroupfile", "authbasicprovider", "require",
		"deny", "allow", "order", "satisfy", "limit", "limitexcept", "requireall", "requireany",
		"requirenone":
		s.protecting = withName(s.protecting, name)
		return true
	}
	return false
}

// withName adds a name to others if it is a new one.
func withName(names []string, name string) []string {
	isSame := func(other string) bool { return strings.EqualFold(other, name) }
	if slices.ContainsFunc(names, isSame) {
		return names
	}
	return append(names, name)
}

// remarkAll says what is true of the whole file.
func (h *reader) remarkAll() {
	s := &h.said
	for _, remark := range []struct {
		holds bool
		says  string
	}{
		{h.rewrite.base != "/", "the file is taken for that of " + h.rewrite.base + ", as RewriteBase " +
			"tells, and the patterns of RewriteRule for what is below it"},
		{s.addsSlash, "a destination with a slash in front of what is below a path gets a second one " +
			"there, and here none"},
		{s.otherCount > 0, "what redirects nothing is left out: " +
			printable.Count(s.otherCount, "directive") + " (" + firstNames(s.others) + ")"},
		{s.protecting != nil, "what protects the site is left out, and shortlink protects nothing: " +
			strings.Join(s.protecting, ", ") + "; guard it with Caddy's basic_auth or forward_auth, or a " +
			"remote_ip matcher"},
		{s.letsFilesPass, "files that exist win against RewriteRules there; here the rules do, unless " +
			"shortlink has a matcher \"not file\""},
		{s.hasQSA, "Apache adds the parameters of a request to those of a destination with QSA, and in " +
			"rules a parameter of the request takes the place of one with its name"},
		{s.isBehind, whatDecides(s.deciding)},
		{s.hasRewrite && s.hasAlias, "Apache asks the lines of mod_rewrite first, and so do the rules: " +
			"a RewriteRule wins against Redirect and RedirectMatch, wherever they stand"},
		{s.passing != nil && s.hasAlias, "requests that pass at " + linesAt(s.passing) + " are left to " +
			"Redirect and RedirectMatch there, and not here; write these as RewriteRules in front"},
		{s.hasFront, "what leads all requests to one program makes no rule; use Caddy's php_fastcgi or " +
			"try_files behind shortlink"},
	} {
		if remark.holds {
			h.Remark("%s", remark.says)
		}
	}
}

// firstNames lists the first of some names.
func firstNames(names []string) string {
	if len(names) > mostNamed {
		return strings.Join(names[:mostNamed], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}

// whatDecides says what lines mean for those behind them.
func whatDecides(at []resolver.Position) string {
	if len(at) == 1 {
		return linesAt(at) + " rewrites or depends on others; what stands behind it may not be " +
			"reached: read it"
	}
	return linesAt(at) + " rewrite or depend on others; what stands behind them may not be reached: " +
		"read them"
}

// linesAt names lines by their numbers: "lines 3 and 7".
func linesAt(at []resolver.Position) string {
	if len(at) == 1 {
		return "line " + strconv.Itoa(at[0].Line)
	}
	var numbers []string
	for _, p := range at[:min(len(at), mostNamed+1)] {
		numbers = append(numbers, strconv.Itoa(p.Line))
	}
	text := "lines " + firstNames(numbers)
	if last := strings.LastIndex(text, ", "); last >= 0 && len(at) <= mostNamed {
		return text[:last] + " and " + text[last+2:]
	}
	return text
}
