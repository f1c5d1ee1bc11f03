package rulefile

import (
	"strconv"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// statusCodes are the statuses of rules, for messages.
const statusCodes = "301, 302, 303, 307 or 308"

// statusCode parses a status of digits.
func statusCode(word string) (code int, ok bool) {
	code, err := strconv.Atoi(word)
	return code, err == nil && resolver.ValidStatus(code) && strconv.Itoa(code) == word
}

// StatusWords are the words for [ParseStatus], for messages.
const StatusWords = "301, 302, 303, 307, 308, permanent or temporary"

// StatusMisuse says which statuses are valid, and what to write instead of an invalid one.
func StatusMisuse(word string) string {
	return "takes " + StatusWords + ", not " + quote(word) + InsteadOfStatus(word)
}

// ParseStatus parses a redirect status as people write it in a Caddyfile or on the command line.
func ParseStatus(word string) (code int, ok bool) {
	switch word {
	case "permanent":
		return 301, true
	case "temporary":
		return 302, true
	}
	return statusCode(word)
}

// InsteadOfStatus returns what to write instead of an error's status after a destination, or "".
func InsteadOfStatus(field string) string {
	return behind(resolver.InsteadOfStatus(field, func(outcome string) string {
		return outcome + " as the destination"
	}))
}

// QueryModes are the words for [ParseQueryMode], for messages.
const QueryModes = "merge, preserve or ignore"

// ParseQueryMode parses the query mode of a rule. ok is false for any other word.
func ParseQueryMode(word string) (mode resolver.QueryMode, ok bool) {
	if word == "" {
		return resolver.QueryDefault, false
	}
	mode, err := resolver.ParseQueryMode(word)
	return mode, err == nil
}
