package lint

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// Rule returns the warnings about a valid rule by itself, with the options for compiling it.
func Rule(rule resolver.Rule, options resolver.Options) []Warning {
	return lintRule(rule, options.Query)
}

// lintRule is Rule, with the query mode of rules that have none. Most rules need no parsing.
func lintRule(rule resolver.Rule, mode resolver.QueryMode) []Warning {
	l := ruleLint{Rule: rule, mode: mode}
	l.lintInvisible("key", l.Key)
	l.lintInvisible("destination", l.Value)
	l.lintHabits()
	l.lintKey()
	if !isOutcome(rule.Value) {
		l.lintValue()
	}
	if resolver.IsTemplate(rule.Key) {
		l.lintVariables()
	}
	return l.warnings
}

// ruleLint examines a rule.
type ruleLint struct {
	resolver.Rule
	mode     resolver.QueryMode // of rules that say none
	warnings []Warning
}

func (l *ruleLint) warn(kind Kind, message string) {
	l.warnings = append(l.warnings, about(l.Rule, kind, message))
}

// lintHabits warns of another system's syntax in a rule.
func (l *ruleLint) lintHabits() {
	if kind, message := keyHabit(&l.Rule); message != "" {
		l.warn(kind, message)
	}
	if isOutcome(l.Value) {
		return
	}
	if kind, message := valueHabit(&l.Rule); message != "" {
		l.warn(kind, message)
	}
}

func (l *ruleLint) lintKey() {
	if l.Unlisted && isOutcome(l.Value) {
		l.warn(WarnNoEffect, "unlisted has no effect, as a rule that says "+l.Value+
			" is never advertised; remove it")
	}
	if strings.HasSuffix(l.Key, "/") && !l.Exact {
		l.warn(WarnTrailingSlashKey, "the key ends in \"/\" and matches that path, and "+
			"\"//\" below it, only; "+
			"write "+strings.TrimRight(l.Key, "/")+" to match the path and all below it")
	}
	if weburl.MalformedTriplet(l.Key) >= 0 {
		l.warn(WarnUnreachable, "no HTTP request matches the key, as it has a \"%\" "+
			"without two hex digits; write %25 for a percent sign")
	}
}

// lintValue examines a destination.
func (l *ruleLint) lintValue() {
	if braces := bracesIn(l.Value); braces != "" && !resolver.IsTemplate(l.Key) {
		l.warn(WarnLiteralBraces, literalBracesMessage(l.Value, braces))
	}
	if hasUserinfo(l.Value) {
		l.warn(WarnUserinfo, "the user name and password of the destination are dropped, "+
			"as a destination has none; remove them")
	}
	l.lintPercent()
	if strings.IndexByte(l.Value, ' ') >= 0 {
		l.warn(WarnSpace, "the destination has a space, which becomes %20, or + in a query; "+
			"write that if it is meant, or leave out the space and what is behind it")
	}
	if isInternal(l.Value) {
		l.lintDelimiters()
	}
}

// lintDelimiters warns of an internal redirect's "?" or "#" with nothing behind it.
func (l *ruleLint) lintDelimiters() {
	_, query, fragment := cutParts(l.Value)
	if query == "?" {
		l.warn(WarnBareDelimiter, "the bare \"?\" of the destination counts as its query "+
			"and shuts later ones out; remove it")
	}
	if fragment == "#" {
		l.warn(WarnBareDelimiter, "the bare \"#\" of the destination counts as its "+
			"fragment and shuts later ones out; remove it")
	}
}

// lintPercent warns of a "%" that begins no escape. In a query, modes that decode it write %25 for
// it.
func (l *ruleLint) lintPercent() {
	if strings.IndexByte(l.Value, '%') < 0 {
		return // as most have none
	}
	path, query, fragment := cutParts(l.Value)
	isKept := l.Query == resolver.QueryIgnore || l.Query == resolver.QueryPreserve ||
		l.Query == resolver.QueryDefault && l.mode == resolver.QueryPreserve
	if !isKept {
		query = ""
	}
	if weburl.MalformedTriplet(path+query+fragment) >= 0 {
		l.warn(WarnBarePercent, "the destination has a \"%\" without two hex digits, which "+
			"clients send unchanged, and many servers reject with status 400; write %25 for a "+
			"percent sign")
	}
}

// hasUserinfo reports whether a destination is a URL with a user name or a password.
func hasUserinfo(value string) bool {
	if isInternal(value) || strings.IndexByte(value, '@') < 0 {
		return false // as most have none
	}
	u, err := weburl.Parse(value)
	return err == nil && u.Username+u.Password != ""
}

// bracesIn returns the first text in braces, or "".
func bracesIn(value string) string {
	_, behind, _ := strings.Cut(value, "{")
	if name, _, ok := strings.Cut(behind, "}"); ok {
		return "{" + name + "}"
	}
	return ""
}

// literalBracesMessage says what the first braces of a value mean. In a host, neither a variable
// nor a percent-encoded brace would help.
func literalBracesMessage(value, braces string) string {
	message := "the destination's " + braces + " stands for itself, "
	if start, _, _ := strings.Cut(value, braces); behindHost(start) == "" {
		return message + "and no variable may stand in front of its path; name the host in full"
	}
	return message + "as the key has no variables; " +
		"write it into the key, too, or %7B for { and %7D for }"
}

// The values of valid rules are one of three things.

func isInternal(value string) bool { return strings.HasPrefix(value, "/") }

func isOutcome(value string) bool {
	return value == resolver.GoneValue || value == resolver.PassValue
}

func isAbsolute(text string) bool { return !isInternal(text) && resolver.IsDestination(text) }

// cutParts splits a value before its query and its fragment.
func cutParts(value string) (path, query, fragment string) {
	path = value
	if i := strings.IndexByte(path, '#'); i >= 0 {
		path, fragment = path[:i], path[i:]
	}
	if i := strings.IndexByte(path, '?'); i >= 0 {
		path, query = path[:i], path[i:]
	}
	return path, query, fragment
}

// behindHost returns what follows the host of a value: path, query and fragment.
func behindHost(value string) string {
	if isInternal(value) {
		return value
	}
	_, rest, _ := strings.Cut(value, "://")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		return rest[i:]
	}
	return ""
}

func quote(text string) string { return printable.Quote(text) }
