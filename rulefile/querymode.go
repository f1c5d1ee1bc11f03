package rulefile

import "github.com/caddy-shortlink/shortlink/resolver"

// QueryModes are what [ParseQueryMode] takes, for messages.
const QueryModes = "merge, preserve or ignore"

// ParseQueryMode returns the query mode that a word of a rule stands for. ok is false for any other
// word.
func ParseQueryMode(word string) (mode resolver.QueryMode, ok bool) {
	mode, err := resolver.ParseQueryMode(word)
	return mode, err == nil && word != ""
}
