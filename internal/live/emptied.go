package live

import (
	"errors"
	"fmt"

	"github.com/caddy-shortlink/shortlink/source"
)

// errEmptied is the error of a source that has lost all its rules: a program that writes an empty
// file by mistake would remove every link. An edit that removes the last rule is not refused:
// before it, the source is read with that rule.
var errEmptied = errors.New("it had rules before and is now empty")

// checkEmptied returns an error if the i-th source was read without rules and must not be empty.
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

// hadRules reports whether rules of the i-th source serve. Before the first load, it asks the
// predecessors that have the source.
func (l *loading) hadRules(i int) bool {
	shared := l.rs.shared
	if shared == nil {
		return l.before.haveRulesOf(l.sources[i].String())
	}
	return l.rs.Serving().HasRulesOf(i+1) && shared.emptied != i+1
}

// haveRulesOf reports whether a predecessor has a source of this name, and all that have it serve
// rules of it. Its options may differ there.
func (ps predecessors) haveRulesOf(name string) (have bool) {
	for _, p := range ps {
		for i, from := range p.Sources {
			if from.String() != name {
				continue
			}
			if !p.serving.HasRulesOf(i + 1) {
				return false
			}
			have = true
		}
	}
	return have
}
