package rulefile

import (
	"slices"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// goingOn is what a line without captures does with what is below its path. Of such lines, that
// with the longest path counts, as of rules, and not the first.
type goingOn uint8

const (
	staysExact goingOn = iota
	appends            // it appends it to the destination
	swallows           // it leads to the same destination
)

// goOn takes down that the line of the table at a place, which is the only one there, goes on.
func (t *foreignTable) goOn(line int, how goingOn) {
	if line >= len(t.goesOn) {
		t.goesOn = slices.Grow(t.goesOn, line+1-len(t.goesOn))[:line+1]
	}
	t.goesOn[line] = how
}

// addGoingOn passes a rule to add, with what is below it if its line goes on there.
func (t *foreignTable) addGoingOn(rule resolver.Rule, add func(resolver.Rule)) {
	how, line := staysExact, rule.Position.Line
	if line < len(t.goesOn) && rule.Value != resolver.PassValue {
		how = t.goesOn[line]
	}
	rule.Exact = rule.Exact && how != appends
	add(rule)
	if how == swallows {
		rule.Key += "/{+_rest}"
		rule.Value = bracesEncoded.Replace(rule.Value)
		add(rule)
	}
}
