package rulefile

import (
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Written returns a rule as a file in a format has it, for people who change it there: a member of
// an object, a row in the order of columns that tables without a header have, or the lines of
// _redirects. The error says why the format cannot have the rule.
func Written(rule resolver.Rule, format Format) (string, error) {
	switch format {
	case JSON:
		key := string(newJSONEncoder().key(rule))
		return key + ": " + JSONValue(rule), checkWritable(rule)
	case Redirects:
		lines, err := redirectsOf(withStatus(rule, resolver.DefaultStatus))
		return strings.TrimSuffix(lines.text, "\n"), err
	}
	var b strings.Builder
	err := Write(&b, format, slices.Values([]resolver.Rule{rule}))
	_, row, _ := strings.Cut(b.String(), "\n") // after the header
	return strings.TrimRight(row, ",\n"), err
}
