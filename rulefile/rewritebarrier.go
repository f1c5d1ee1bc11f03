package rulefile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// What a line of mod_rewrite says of lines behind it, and makes no rule itself.

// rewriteBarrier is a line that keeps requests from the RewriteRules behind it.
type rewriteBarrier struct {
	at    resolver.Position
	paths []string // nil for all
	takes barrierExtent
}

// barrierExtent is how many requests for its paths a barrier keeps.
type barrierExtent int

const (
	takesSome barrierExtent = iota
	takesMost
	takesEvery
)

// mostCompared is how many barriers, or paths that pass, each line is compared with. Where there
// are more, the next one stands for all paths.
const mostCompared = 256

// addBarrier adds a barrier. Behind one that keeps all requests no other one counts.
func (h *htaccessReader) addBarrier(b rewriteBarrier) {
	all := h.rewrite.barriers
	if n := len(all); n > 0 && all[n-1].paths == nil && all[n-1].takes >= b.takes {
		return
	}
	if len(all) >= mostCompared {
		b.paths = nil
	}
	h.rewrite.barriers = append(all, b)
}

// addFrontController takes in a line that leads all requests to one program. What is tied to lines
// in front of it, or asks for a host, does so with some.
func (h *htaccessReader) addFrontController(
	rule *rewriteRule, conditions []rewriteCondition, tied error,
) {
	h.rewrite.frontControllers++
	if rule.passes() {
		h.addBarrier(rewriteBarrier{rule.at, []string{h.rewrite.base + "index.php"}, takesSome})
		return
	}
	ways, err := h.judge(conditions)
	takes := takesEvery
	switch {
	case tied != nil, (err != nil || len(ways) > 0) && hasHostCondition(conditions):
		takes = takesSome
	case err != nil, len(ways) > 0, !rule.isLast:
		takes = takesMost
	}
	h.addBarrier(rewriteBarrier{at: rule.at, takes: takes})
}

// meetBarriers says what lines in front of a rule mean for it. It is met if it makes no rule.
func (h *htaccessReader) meetBarriers(rule *rewriteRule, e *pathExpression) (
	ways []string, isMet bool,
) {
	paths := e.paths()
	some := (*rewriteBarrier)(nil)
	for i := range h.rewrite.barriers {
		b := &h.rewrite.barriers[i]
		switch {
		case b.paths != nil && !overlap(b.paths, paths):
		case b.takes == takesEvery:
			h.drop(rule.at, fmt.Sprintf("no request gets to this line, as that at %s leads all to one "+
				"program; put this line in front of it, or remove it", b.at))
			return nil, true
		case b.takes == takesMost:
			h.refuse(rule.at, paths[0], fmt.Sprintf("the line at %s takes most of these requests first, "+
				"and this one gets the others alone, such as those for files; put it in front of that if "+
				"it is for all", b.at))
			return nil, true
		case some == nil:
			some = b
		}
	}
	if some != nil {
		ways = append(ways, fmt.Sprintf("the line at %s keeps some of these requests from it there",
			some.at))
	}
	return ways, false
}

// ruleTie is what a RewriteRule says of the next ones.
type ruleTie struct {
	chainedAt, skippedAt resolver.Position
	isChained            bool
	skipped              int
}

// next says how a rule is tied to those in front of it, and goes on to the next.
func (t *ruleTie) next(rule *rewriteRule) error {
	why := ""
	switch {
	case t.isChained:
		why = fmt.Sprintf("the line at %s is chained with this one ([C]), which holds only where that "+
			"does", t.chainedAt)
	case t.skipped > 0:
		why = fmt.Sprintf("the line at %s skips this one ([S]) where that holds", t.skippedAt)
	}
	t.skipped = max(0, t.skipped-1)
	if t.isChained = rule.isChained; t.isChained {
		t.chainedAt = rule.at
	}
	if rule.skips > t.skipped {
		t.skipped, t.skippedAt = rule.skips, rule.at
	}
	if why == "" {
		return nil
	}
	return errors.New(why + "; use Caddy's redir with a path_regexp matcher")
}

// passingPath is a path for which mod_rewrite ends, and mod_alias goes on.
type passingPath struct {
	at   resolver.Position
	path string
}

// addPassing takes down the paths of a rule that lets requests pass.
func (h *htaccessReader) addPassing(at resolver.Position, paths []string) {
	for _, path := range paths {
		switch n := len(h.rewrite.passing); {
		case n > mostCompared:
			return
		case n == mostCompared:
			path = below("/")
		}
		h.rewrite.passing = append(h.rewrite.passing, passingPath{at, path})
	}
}

// judgeRedirects looks at the lines of mod_alias whose paths lines of mod_rewrite let pass: there
// they answer, and here the rule that lets pass does.
func (h *htaccessReader) judgeRedirects() {
	if len(h.rewrite.passing) == 0 {
		return
	}
	last := resolver.Position{}
	for i := range h.later {
		line, refused := decodeForeign(h.later[i].text)
		if refused != nil {
			continue
		}
		at := resolver.Position{Source: h.source, Line: int(h.later[i].number),
			Column: line.from.column}
		pass, isWithin := h.passingOf(line.path)
		switch {
		case pass == nil:
		case isWithin:
			why := fmt.Sprintf("the RewriteRule at %s lets these requests pass, which ends RewriteRules "+
				"alone there, and here all; write this line as a RewriteRule in front of that", pass.at)
			h.later[i].text = h.text.keep([]byte(foreignLine{at: at, path: line.path}.encode(why)))
		case last != at:
			last = at
			h.approximate(at, fmt.Sprintf("requests that the RewriteRule at %s lets pass are redirected "+
				"there, and not here; write this line as a RewriteRule in front of that", pass.at))
		}
	}
}

// passingOf returns the first path that passes and has requests of a path, or better one that has
// all of them.
func (h *htaccessReader) passingOf(path string) (pass *passingPath, isWithin bool) {
	for i := range h.rewrite.passing {
		p := &h.rewrite.passing[i]
		if !overlap([]string{p.path}, []string{path}) {
			continue
		}
		passPrefix, passIsOpen := pathPrefix(p.path)
		prefix, isOpen := pathPrefix(path)
		isBelow := strings.HasSuffix(p.path, "/"+capturedRest) && strings.HasPrefix(prefix, passPrefix)
		if isBelow && passIsOpen || !isOpen && !passIsOpen {
			return p, true
		}
		if pass == nil {
			pass = p
		}
	}
	return pass, false
}

// overlap reports whether some paths can have a request in common with others.
func overlap(paths, others []string) bool {
	for _, a := range paths {
		prefix, isOpen := pathPrefix(a)
		for _, b := range others {
			other, otherIsOpen := pathPrefix(b)
			if prefix == other || isOpen && strings.HasPrefix(other, prefix) ||
				otherIsOpen && strings.HasPrefix(prefix, other) {
				return true
			}
		}
	}
	return false
}

// pathPrefix returns what a path begins with, up to what it captures, with a slash at the end of
// one that captures nothing. It is open if it goes on.
func pathPrefix(path string) (prefix string, isOpen bool) {
	prefix, _, isOpen = strings.Cut(path, string(captureStart))
	if !isOpen {
		prefix = strings.TrimSuffix(prefix, "/") + "/"
	}
	return prefix, isOpen
}

// paths returns the paths of an expression, nil for none, which stands for all.
func (e *pathExpression) paths() (paths []string) {
	if e == nil {
		return nil
	}
	for i := range e.variants {
		paths = append(paths, e.variants[i].path)
	}
	return paths
}
