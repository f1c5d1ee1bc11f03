package migrate

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// ReadJSON reads rules in our own JSON format. Keys of other programs begin with "/", and match
// their paths alone.
func ReadJSON(in Input, add func(resolver.Rule)) (found ReadResult, err error) {
	hasSlash := false
	found.Warnings, err = in.Reading.Read(in, rulefile.JSON, in.Source, func(rule resolver.Rule) {
		if key, isPath := strings.CutPrefix(rule.Key, "/"); isPath && key != "" && key[0] != '/' {
			hasSlash = true
			rule.Key, rule.Exact = key, rule.Exact || in.Reading.Exact == nil
		}
		add(rule)
	})
	if hasSlash {
		found.Warnings = append(found.Warnings, lint.Warning{Kind: rulefile.WarnWholeTable,
			Message: "keys begin with \"/\", which is removed: a key is a path without it"})
	}
	return found, err
}
