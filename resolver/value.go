package resolver

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// isInternal reports whether a value is an internal redirect, if it is a good one at all (section
// 2, R10).
func isInternal(value string) bool { return strings.HasPrefix(value, "/") }

// Values that stand for an outcome instead of a destination, an extension of the draft.
const (
	// GoneValue makes requests for the key an error with status 410.
	GoneValue = "gone"
	// PassValue lets requests for the key go on, as if no rule matched.
	PassValue = "pass"
)

func isOutcome(value string) bool { return value == GoneValue || value == PassValue }

// IsValue reports whether a word is meant as a value: a destination, gone or pass.
func IsValue(word string) bool { return IsDestination(word) || isOutcome(word) }

// IsDestination reports whether a word is meant as a destination, absolute or internal. It checks
// only whether the word begins with https://, http:// or /.
func IsDestination(word string) bool { return isInternal(word) || isAbsolute(word) }

// isAbsolute reports whether a value is an absolute destination, if it is a good one at all
// (section 2, R10).
func isAbsolute(value string) bool {
	return strings.HasPrefix(value, "http://") || strings.HasPrefix(value, "https://")
}

// maxDestination is the length of the longest destination, in bytes.
const maxDestination = 1<<16 - 1

// parsedValue is a good value: an absolute destination, an internal redirect, or an outcome.
type parsedValue struct {
	internal bool
	outcome  string // GoneValue or PassValue, "" for a destination
	url      weburl.URL
	path     internalValue
}

// parseValue parses a value, or says what is wrong with it and what to write instead.
func parseValue(value string) (parsed parsedValue, err error) {
	if isOutcome(value) {
		return parsedValue{outcome: value}, nil
	}
	if err = checkValue(value); err != nil {
		return parsed, err
	}
	parsed.internal = isInternal(value)
	if parsed.internal {
		parsed.path, err = parseInternal(value)
	} else {
		parsed.url, err = parseAbsolute(value)
	}
	return parsed, err
}

// checkValue says what is wrong with a value of either kind. It returns nil where the kind's own
// parser has to decide.
func checkValue(value string) error {
	switch {
	case value == "":
		return errors.New("the destination is empty; write a URL like https://example.com/docs " +
			"or a path like /docs")
	case len(value) > maxDestination:
		return errors.New("the destination is longer than 65535 bytes, which no server takes; " +
			"shorten it")
	case !utf8.ValidString(value):
		return errors.New("the destination is not valid UTF-8; write its bytes percent-encoded")
	case hasControl(value):
		return errors.New("the destination contains a control character; remove it, or write it " +
			"percent-encoded")
	case value[0] == ' ' || value[len(value)-1] == ' ':
		return errors.New("the destination begins or ends with a space; remove it, or write %20")
	case isInternal(value) || isAbsolute(value):
		return nil
	}
	return errors.New("the destination " + quote(value) + " is neither a URL that begins with " +
		"http:// or https:// nor a path that begins with /; " + insteadOf(value))
}

// parseAbsolute parses an absolute destination, or says what is wrong with it.
func parseAbsolute(value string) (u weburl.URL, err error) {
	if u, err = weburl.Parse(value); err != nil {
		err = errors.New("the destination " + quote(value) + " is not a URL: " + reasonOf(err))
	}
	return u, err
}

// reasonOf returns what is wrong with a URL or a host, without repeating it.
func reasonOf(err error) string {
	if parse, ok := errors.AsType[*weburl.ParseError](err); ok {
		return parse.Reason
	}
	return err.Error()
}

// internalValue is an internal redirect, taken apart as 3.3.2 does.
type internalValue struct {
	path string // percent-encoded
	// query and fragment are as written, with their "?" and "#"; "" where there is none.
	query, fragment string
}

// parseInternal takes an internal redirect apart, or says what is wrong with it (R10, R11).
func parseInternal(value string) (v internalValue, err error) {
	path, query, fragment := cutInternal(value)
	switch {
	case strings.HasPrefix(value, "//"):
		return v, errors.New("the destination begins with \"//\"; " +
			insteadOfTwoSlashes(value))
	case strings.Contains(path, `\`):
		return v, errors.New(
			`the path of the destination contains "\"; write "/", or %5C for a backslash`,
		)
	case hasDotSegment(path):
		return v, errors.New("the path of the destination has a segment \".\" or " +
			"\"..\", perhaps percent-encoded; write the path that it leads to")
	case strings.HasSuffix(path, " "):
		return v, errors.New("the path of the destination ends in a space; " +
			"remove it, or write %20")
	case strings.Count(fragment, "#") > 1:
		return v, errors.New("the destination has more than one \"#\", of which the last one " +
			"is taken; for the others write %23")
	case strings.Count(query, "?") > 1:
		return v, errors.New("the destination has more than one \"?\" before any \"#\", of " +
			"which the last one is taken; for the others write %3F")
	}
	return newInternalValue(value), nil
}

// newInternalValue takes a good internal redirect apart.
func newInternalValue(value string) internalValue {
	path, query, fragment := cutInternal(value)
	encoded := weburl.AppendEncoded(make([]byte, 0, len(path)), path, weburl.PathSet)
	return internalValue{path: text(encoded), query: query, fragment: fragment}
}

func cutInternal(value string) (path, query, fragment string) {
	path, fragment = cutBefore(value, '#')
	path, query = cutBefore(path, '?')
	return path, query, fragment
}

// cutBefore cuts s before the first c.
func cutBefore(s string, c byte) (before, from string) {
	if i := strings.IndexByte(s, c); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}
