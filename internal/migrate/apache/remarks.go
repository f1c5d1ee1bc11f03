package apache

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
)

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
		{s.ruleLine > 0 && len(h.aliases) > 0, "Apache applies RewriteRules first, and so do the rules: " +
			"they take precedence over Redirect and RedirectMatch, wherever they are"},
		{s.hasFront, "a line that leads all requests to one program makes no rule; use Caddy's " +
			"php_fastcgi or try_files behind shortlink"},
	} {
		if remark.holds {
			h.Remark("%s", remark.says)
		}
	}
}
