package lint

import (
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/uritemplate"
)

// lintVariables warns about what happens to the captures of a key's variables.
func (l *ruleLint) lintVariables() {
	if isOutcome(l.Value) {
		return
	}
	names, _ := variablesIn(l.Key)
	used, reserved := variablesIn(l.Value)
	for i, name := range names {
		// Like a "*" of _redirects, a splat at the end often stands for what is dropped on purpose.
		isRest := name == "splat" && i == len(names)-1 && strings.HasSuffix(l.Key, "}")
		if !slices.Contains(used, name) && !isRest && !strings.HasPrefix(name, "_") {
			l.warn(WarnUnusedVariable, "the destination does not use the variable "+name+"; "+
				"what it captures is dropped; write _"+name+" if that is meant")
		}
	}
	if reserved != "" {
		l.warn(WarnReservedQuery, "{+"+reserved+"} in the query lets values add parameters, "+
			"as it leaves & and = as they are; write {"+reserved+"}")
	}
}

// variablesIn returns the variables of a valid key or value, and the first one in its query that
// keeps reserved characters, or "".
func variablesIn(text string) (names []string, reservedInQuery string) {
	before := ""
	for {
		literal, rest, found := strings.Cut(text, "{")
		if !found {
			return names, reservedInQuery
		}
		inner, behind, _ := strings.Cut(rest, "}")
		text = behind
		before += literal
		template, err := uritemplate.Parse("{" + inner + "}")
		if err != nil {
			continue // no rule with this is good
		}
		e := template.Parts()[0].Expression
		isInQuery := strings.Contains(before, "?") && !strings.Contains(before, "#")
		for _, v := range e.Variables {
			names = append(names, v.Name)
			if isInQuery && e.Operator == uritemplate.Reserved && reservedInQuery == "" {
				reservedInQuery = v.Name
			}
		}
		if first := e.Operator.First(); first != 0 {
			before += string(first)
		}
	}
}
