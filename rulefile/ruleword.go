package rulefile

import (
	"strconv"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// statusCodes are the statuses that a rule can have, for messages.
const statusCodes = "301, 302, 303, 307 or 308"

// statusCode returns the status that a word writes down.
func statusCode(word string) (code int, ok bool) {
	code, err := strconv.Atoi(word)
	return code, err == nil && resolver.ValidStatus(code) && strconv.Itoa(code) == word
}

// StatusWords are what [ParseStatus] takes, for messages.
const StatusWords = "301, 302, 303, 307, 308, permanent or temporary"

// StatusMisuse says what a status takes, and what to write for one that it does not take.
func StatusMisuse(word string) string {
	return "takes " + StatusWords + ", not " + quote(word) + InsteadOfStatus(word)
}

// ParseStatus returns the redirect status that a word stands for, as people write it in a Caddyfile
// and on the command line. ok is false for any other word.
func ParseStatus(word string) (code int, ok bool) {
	switch word {
	case "permanent":
		return 301, true
	case "temporary":
		return 302, true
	}
	return statusCode(word)
}

// InsteadOfStatus says what to write for a status of an error beside a destination, if a rule has
// that.
func InsteadOfStatus(field string) string {
	return behind(resolver.InsteadOfStatus(field, func(outcome string) string {
		return outcome + " as the destination"
	}))
}

// QueryModes are what [ParseQueryMode] takes, for messages.
const QueryModes = "merge, preserve or ignore"

// ParseQueryMode returns the query mode that a word of a rule stands for. ok is false for any other
// word.
func ParseQueryMode(word string) (mode resolver.QueryMode, ok bool) {
	mode, err := resolver.ParseQueryMode(word)
	return mode, err == nil && word != ""
}
