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
	// line lets requests for files pass.
	hasFront, hasQSA, letsFilesPass bool
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
		{h.Base != "", "patterns of RewriteRule are read as relative to " + h.Base},
		{h.Base == "" && h.rewrite.base != "/", "the file is read as that of " + h.rewrite.base +
			", as RewriteBase says, and patterns of RewriteRule as relative to it"},
		{s.otherCount > 0, "what redirects nothing is left out: " +
			printable.Count(s.otherCount, "directive") + " (" + firstOf(s.others) + ")"},
		{s.protecting != nil, "shortlink protects nothing, so these directives are left out: " +
			strings.Join(s.protecting, ", ") + "; protect the site with Caddy's basic_auth or " +
			"forward_auth, or a remote_ip matcher"},
		{s.letsFilesPass, "there, files that exist take precedence over RewriteRules; here the rules " +
			"do, unless shortlink has a matcher \"not file\""},
		{s.hasQSA, "with QSA, Apache keeps the parameters of destination and request; in rules, a " +
			"request's parameter replaces the destination's of the same name"},
		{s.isBehind && len(s.deciding) == 1, linesAt(s.deciding) + " rewrites or depends on others; " +
			"lines after it may never be reached: check them"},
		{s.isBehind && len(s.deciding) > 1, linesAt(s.deciding) + " rewrite or depend on others; lines " +
			"after them may never be reached: check them"},
		{s.hasRewrite && hasAlias, "Apache applies RewriteRules first, and so do the rules: they take " +
			"precedence over Redirect and RedirectMatch, wherever they are"},
		{s.passing != nil && hasAlias, "requests that pass at " + linesAt(s.passing) + " can still " +
			"match a Redirect or RedirectMatch there, but not here; write these as RewriteRules before it"},
		{s.hasFront, "a line that leads all requests to one program makes no rule; use Caddy's " +
			"php_fastcgi or try_files behind shortlink"},
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
