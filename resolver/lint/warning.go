package lint

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Kind says what a warning is about.
type Kind string

const (
	// WarnLoop: the chain never ends; requests for its keys get an error.
	WarnLoop Kind = "loop"
	// WarnTooManyRedirects: the chain is longer than the limit (R9).
	WarnTooManyRedirects Kind = "too many redirects"
	// WarnUnsafePath: a template along the chain captures a path that R14 refuses.
	WarnUnsafePath Kind = "unsafe path"
	// WarnTooLong: the chain comes to a path or a destination that is too long (R9, R10).
	WarnTooLong Kind = "too long"
	// WarnMeetsKey: an internal destination that ends unmatched is matched by another key when the
	// client follows it (R18).
	WarnMeetsKey Kind = "meets another key"
	// WarnShadowed: an earlier source has the key.
	WarnShadowed Kind = "shadowed"
	// WarnNoEffect: the rule, or a part of it, has no effect.
	WarnNoEffect Kind = "no effect"
	// WarnUnreachable: no HTTP request can match the key.
	WarnUnreachable Kind = "unreachable"
	// WarnTrailingSlashKey: the key ends in "/" and matches only that path and "//" below it (R5).
	WarnTrailingSlashKey Kind = "key with a trailing slash"
	// WarnTrailingSlashValue: an appended path would hold "//".
	WarnTrailingSlashValue Kind = "value with a trailing slash"
	// WarnLiteralStar: a "*" at the end of a key is no wildcard.
	WarnLiteralStar Kind = "literal *"
	// WarnLiteralBraces: the destination of a key without variables has what looks like a variable.
	WarnLiteralBraces Kind = "literal braces"
	// WarnLiteralVariable: a variable in another system's syntax, such as :id or $1, is literal here.
	WarnLiteralVariable Kind = "literal variable"
	// WarnRegexp: a key looks like a regular expression.
	WarnRegexp Kind = "regular expression"
	// WarnURLKey: a key is a URL, not a path.
	WarnURLKey Kind = "URL as key"
	// WarnPunctuation: a key ends in ":", "," or ";", or a destination in "," or ";".
	WarnPunctuation Kind = "punctuation at the end"
	// WarnHostName: no client finds the host of a destination or origin, or what follows "https:///"
	// is taken for one.
	WarnHostName Kind = "bad host name"
	// WarnMisspelt: a path of the site that no key answers is one letter away from a key.
	WarnMisspelt Kind = "misspelt destination"
	// WarnDeadEnd: nothing answers a path of the site that a rule leads to.
	WarnDeadEnd Kind = "dead-end"
	// WarnUnusedVariable: a template's destination does not use a variable of the key. One whose name
	// begins with "_" does not count, nor one called splat at the key's end: as a "*" of _redirects,
	// it often stands for what is dropped on purpose.
	WarnUnusedVariable Kind = "unused variable"
	// WarnReservedQuery: what a variable captures can add parameters to the query.
	WarnReservedQuery Kind = "reserved characters in a query"
	// WarnAmbiguous: two templates match the same path equally well.
	WarnAmbiguous Kind = "ambiguous templates"
	// WarnUserinfo: user name and password of a destination are dropped (R10).
	WarnUserinfo Kind = "user name or password"
	// WarnBareDelimiter: a bare "?" or "#" shuts later ones out (R11).
	WarnBareDelimiter Kind = "bare ? or #"
	// WarnBarePercent: a "%" of a destination is not followed by two hex digits.
	WarnBarePercent Kind = "bare %"
	// WarnSpace: a destination has a space, which becomes %20, or + in a query.
	WarnSpace Kind = "space in a destination"
	// WarnInvisible: a key or a destination has an invisible character.
	WarnInvisible Kind = "invisible character"
	// WarnThroughExact: what is below a key that is not exact is appended to the destination of an
	// exact one.
	WarnThroughExact Kind = "through an exact key"
)

// Warning is something that a rule's author should know, but that does not keep the ruleset from
// serving.
type Warning struct {
	Kind     Kind
	Position resolver.Position
	// Key is the rule's; empty if the warning is about a line that makes no rule.
	Key string
	// Message says what will happen and what to write instead.
	Message string
	// Cycle are, for a loop, its keys in the order of the hops.
	Cycle []string
}

// about returns a warning of a rule. It clones the key, because the warning may outlive the ruleset
// and must not keep it in memory.
func about(rule resolver.Rule, kind Kind, message string) Warning {
	return Warning{
		Kind: kind, Position: rule.Position, Key: strings.Clone(rule.Key), Message: message,
	}
}

// String returns position, key and message, as far as there are any.
func (w Warning) String() string {
	switch place := w.Position.String(); {
	case w.Key == "" && place != "":
		return place + ": " + w.Message
	case w.Key == "":
		return w.Message
	}
	inRule := resolver.RuleError{Position: w.Position, Key: w.Key, Message: w.Message}
	return inRule.Error()
}

// IsBroken reports whether the warning is about a rule whose requests get an error.
func (w Warning) IsBroken() bool {
	switch w.Kind {
	case WarnLoop, WarnTooManyRedirects, WarnUnsafePath, WarnTooLong:
		return true
	}
	return false
}
