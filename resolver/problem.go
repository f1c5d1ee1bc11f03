package resolver

import (
	"errors"
	"strings"
)

// What can be wrong with a rule. A [*RuleError] is one of these under errors.Is.
var (
	ErrInvalidKey     = errors.New("invalid key")
	ErrInvalidValue   = errors.New("invalid value")
	ErrInvalidStatus  = errors.New("invalid status")
	ErrInvalidQuery   = errors.New("invalid query mode")
	ErrInvalidNote    = errors.New("invalid note")
	ErrDuplicateKey   = errors.New("duplicate key")
	ErrHostNotAllowed = errors.New("host not allowed")
)

// RuleError is one thing that keeps a rule from being loaded.
type RuleError struct {
	// Kind is one of the Err… values above.
	Kind error
	// Position and Key say which rule it is.
	Position Position
	Key      string
	// Message says what is wrong and what to write instead.
	Message string
	// First is, for a duplicate key, where the other rule stands.
	First Position
}

// Error returns position, key and message.
func (e *RuleError) Error() string {
	return located(e.Position, e.Key, e.Message)
}

// Unwrap returns the kind, for errors.Is.
func (e *RuleError) Unwrap() error { return e.Kind }

// RuleErrors are all the things that keep a ruleset from being loaded, in the order of the rules.
// Both errors.Is and errors.As look into each.
type RuleErrors []*RuleError

// Error returns one line for each error.
func (e RuleErrors) Error() string { return linesOf(e) }

// Unwrap returns the errors, for errors.Is and errors.As.
func (e RuleErrors) Unwrap() []error { return listOf(e) }

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
func (e OptionErrors) Error() string { return linesOf(e) }

// Unwrap returns the errors, for errors.As.
func (e OptionErrors) Unwrap() []error { return listOf(e) }

func linesOf[E error](errs []E) string {
	lines := make([]string, len(errs))
	for i, err := range errs {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

func listOf[E error](errs []E) []error {
	list := make([]error, len(errs))
	for i, err := range errs {
		list[i] = err
	}
	return list
}

// WarningKind says what a warning is about.
type WarningKind string

const (
	// WarnLoop: the chain never ends; its keys answer with an error.
	WarnLoop WarningKind = "loop"
	// WarnTooManyRedirects: the chain is longer than the limit (R9).
	WarnTooManyRedirects WarningKind = "too many redirects"
	// WarnMeetsKey: an internal destination that ends unmatched is matched by another key when the
	// client follows it (R18).
	WarnMeetsKey WarningKind = "meets another key"
	// WarnShadowed: an earlier source has the key.
	WarnShadowed WarningKind = "shadowed"
	// WarnNoEffect: the rule, or a part of it, could as well not be there.
	WarnNoEffect WarningKind = "no effect"
	// WarnUnreachable: no HTTP request can match the key.
	WarnUnreachable WarningKind = "unreachable"
	// WarnTrailingSlashKey: the key ends in "/" and matches that path only (R5).
	WarnTrailingSlashKey WarningKind = "key with a trailing slash"
	// WarnTrailingSlashValue: an appended path would hold "//".
	WarnTrailingSlashValue WarningKind = "value with a trailing slash"
	// WarnLiteralStar: a "*" at the end of a key is no wildcard.
	WarnLiteralStar WarningKind = "literal *"
	// WarnLiteralBraces: the destination of a key without variables has what looks like one.
	WarnLiteralBraces WarningKind = "literal braces"
	// WarnLiteralVariable: what stands for a part of the path elsewhere, such as :id or $1, stands
	// for itself.
	WarnLiteralVariable WarningKind = "literal variable"
	// WarnRegexp: a key looks like a regular expression.
	WarnRegexp WarningKind = "regular expression"
	// WarnURLKey: a key is a URL, not a path.
	WarnURLKey WarningKind = "URL as key"
	// WarnPunctuation: a key ends in ":", "," or ";", or a destination in "," or ";".
	WarnPunctuation WarningKind = "punctuation at the end"
	// WarnHostName: no client finds the host of a destination or origin, or what follows "https:///"
	// is taken for one.
	WarnHostName WarningKind = "bad host name"
	// WarnMisspelt: a path of the site that no key answers is one letter away from a key.
	WarnMisspelt WarningKind = "misspelt destination"
	// WarnUnusedVariable: a template's destination does not use a variable of the key. One whose name
	// begins with "_" does not count, nor one called splat at the key's end: as a "*" of _redirects,
	// it often stands for what is dropped on purpose.
	WarnUnusedVariable WarningKind = "unused variable"
	// WarnReservedQuery: what a variable captures can add parameters to the query.
	WarnReservedQuery WarningKind = "reserved characters in a query"
	// WarnAmbiguous: two templates match the same path equally well.
	WarnAmbiguous WarningKind = "ambiguous templates"
	// WarnUserinfo: user name and password of a destination are dropped (R10).
	WarnUserinfo WarningKind = "user name or password"
	// WarnBareDelimiter: a bare "?" or "#" shuts later ones out (R11).
	WarnBareDelimiter WarningKind = "bare ? or #"
	// WarnBarePercent: a "%" of a destination is not followed by two hex digits.
	WarnBarePercent WarningKind = "bare %"
	// WarnSpace: a destination has a space, which is written percent-encoded.
	WarnSpace WarningKind = "space in a destination"
	// WarnThroughExact: what is below a key that is not exact is appended to the destination of an
	// exact one.
	WarnThroughExact WarningKind = "through an exact key"
)

// Warning is something that a rule's author should know, and that does not keep the ruleset from
// serving.
type Warning struct {
	Kind     WarningKind
	Position Position
	// Key is the rule's; empty where it is about a line that makes no rule.
	Key string
	// Message says what will happen and what to write instead.
	Message string
	// Cycle are, for a loop, its keys in the order of the hops.
	Cycle []string
}

// String returns position, key and message.
func (w Warning) String() string {
	if place := w.Position.String(); w.Key == "" && place != "" {
		return place + ": " + w.Message
	}
	return located(w.Position, w.Key, w.Message)
}

func located(pos Position, key, message string) string {
	var b strings.Builder
	if p := pos.String(); p != "" {
		b.WriteString(p)
		b.WriteString(": ")
	}
	b.WriteString("key ")
	b.WriteString(quote(key))
	b.WriteString(": ")
	b.WriteString(message)
	return b.String()
}
