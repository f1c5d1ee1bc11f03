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
