package rulefile

import (
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Written returns a rule as a file in a format has it, for people who change it there: a member of
// an object, a row under the names of its columns, or the lines of _redirects. The error says why
// the format cannot have the rule.
func Written(rule resolver.Rule, format Format) (string, error) {
	if format == Redirects {
		rule = withStatus(rule, resolver.DefaultStatus)
	}
	var b strings.Builder
	err := Write(&b, format, slices.Values([]resolver.Rule{rule}))
	text := strings.TrimSuffix(b.String(), "\n")
	if err != nil || format == Redirects {
		return text, err
	}
	first, text, _ := strings.Cut(text, "\n")
	if format == CSV {
		row := strings.TrimRight(text, ",")
		names := strings.Split(first, ",")
		names = names[:len(names)-(len(text)-len(row))]
		return strings.Join(names, ",") + "\n" + row, nil
	}
	return strings.Trim(strings.TrimSuffix(text, "\n}"), "\t,\n"), nil
}

// Words returns what a rule says behind its key, but for notes, as words of a Caddyfile.
func Words(rule resolver.Rule) (words []string) {
	shown := []*property{statusProperty, exactProperty, unlistedProperty, queryProperty}
	until := schedule.Begin
	for i, w := range schedule.Split(rule) {
		if i > 0 {
			words = append(words, "then")
		}
		words = append(words, w.Rule.Value)
		for _, p := range shown {
			if word := p.get(&w); word != "" {
				words = append(words, word)
			}
		}
		if w.Since != until { // else it begins when the one before ends
			words = append(words, "since", w.Since.String())
		}
		if until = w.Until; until != schedule.End {
			words = append(words, "until", until.String())
		}
	}
	return words
}
