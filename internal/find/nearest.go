package find

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Nearest suggests keys of a ruleset that does not change, to one who has time: the index is whole
// from the beginning, and the same question has the same answer.
type Nearest struct{ words *words }

// Near is a rule whose key was perhaps meant, and in how many bytes that differs.
type Near struct {
	Rule     resolver.Rule
	Distance int
}

// mostTries is how many keys are compared with a path, those of the rarest pieces first.
const mostTries = 1000

// NewNearest makes the index.
func NewNearest(ruleset *resolver.Ruleset) *Nearest {
	return &Nearest{makeWords(ruleset, func() {})}
}

// Suggest returns the rules whose keys [Index.Suggest] returns.
func (n *Nearest) Suggest(path string, most int) (all []Near) {
	word, ok := appendWord(nil, strings.TrimPrefix(path, "/"))
	if !ok || most <= 0 {
		return nil
	}
	s := suggesting{words: n.words, path: word, most: most, mostTries: mostTries}
	s.suggest()
	for _, found := range s.best {
		rule, _ := n.words.ruleset.Numbered(int(found.number))
		all = append(all, Near{rule, found.distance})
	}
	return all
}
