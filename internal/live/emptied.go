package live

import (
	"errors"
	"fmt"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// errEmptied is why a source is refused that has lost all its rules: a program that has written
// nothing by mistake would take down every link. An edit that removes the last rule is no such
// loss: before it, the source is read with that rule.
var errEmptied = errors.New("it had rules and has none any more")

// checkEmptied returns why the i-th source, which has been read with no rules, is refused, or nil.
func (l *loading) checkEmptied(i int) error {
	from := l.sources[i]
	emptiable, canSay := from.(source.Emptiable)
	switch {
	case canSay && emptiable.AllowsEmpty(), !l.hadRules(i):
		return nil
	case canSay:
		return fmt.Errorf("%w; put rules back or, if that is meant, write allow_empty into its block",
			errEmptied)
	}
	return fmt.Errorf("%w; put rules back or, if that is meant, restart Caddy", errEmptied)
}

// hadRules reports whether rules of the i-th source serve: here or, before the first rules are
// loaded, in all places that this handler takes and that have the source.
func (l *loading) hadRules(i int) bool {
	shared := l.rs.shared
	if shared == nil {
		return l.before.haveRulesOf(l.sources[i].String())
	}
	return hasRulesOf(l.rs.Serving().Ruleset, i) && shared.emptied != i+1
}

// haveRulesOf reports whether a source of this name is one of the predecessors', and all that have
// it serve rules of it. Its options may be others there.
func (ps predecessors) haveRulesOf(name string) (have bool) {
	for _, p := range ps {
		for i, from := range p.Sources {
			if from.String() != name {
				continue
			}
			if !hasRulesOf(p.serving.Ruleset, i) {
				return false
			}
			have = true
		}
	}
	return have
}

// hasRulesOf reports whether there are rules of the i-th source.
func hasRulesOf(ruleset *resolver.Ruleset, i int) bool {
	for range ruleset.RulesOf(i + 1) { // 0 are the inline ones
		return true
	}
	return false
}
