package migrate

import (
	"fmt"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// ReadJSON reads rules in our own JSON format. Keys of other programs begin with "/", and match
// their paths alone.
func ReadJSON(in Input, add func(resolver.Rule)) (found ReadResult, err error) {
	cut := 0
	found.Warnings, err = in.Reading.Read(in, rulefile.JSON, in.Source, func(rule resolver.Rule) {
		if key, isPath := strings.CutPrefix(rule.Key, "/"); isPath && key != "" && key[0] != '/' {
			cut++
			rule.Key, rule.Exact = key, rule.Exact || in.Reading.Exact == nil
		}
		add(rule)
	})
	if cut > 0 {
		found.Warnings = append(found.Warnings, lint.Warning{Kind: rulefile.WarnWholeTable,
			Message: fmt.Sprintf("%s with a \"/\" in front, which is removed: exact, as nothing says that "+
				"paths below match, too; --exact=false lets them", printable.Count(cut, "key"))})
	}
	return found, err
}
