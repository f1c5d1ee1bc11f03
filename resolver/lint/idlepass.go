package lint

import (
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// addIdlePasses warns of keys without variables that pass, if no shorter key matches what they let
// pass: without them, nothing would change. Rules that a reader has already warned about are
// skipped; a rule without a line is skipped if its reader warned about anything.
func (s *survey) addIdlePasses(list *List) {
	if len(list.passing) == 0 {
		return
	}
	passing := slices.Clone(list.passing)
	slices.SortFunc(passing, s.compare)
	told, shadowing := list.toldPlaces(), s.shadowing()
	for _, this := range passing {
		isTold := told[this.rule.Position] ||
			this.rule.Position.Line == 0 && list.isRead(this.source)
		number, _ := s.NumberOf(this.rule.Key)
		serves := s.SourceOf(number) == this.source
		if serves && !isTold && !shadowing[number] && !s.isCovered(s.KeyOf(number)) {
			list.add(ofChains, this.source, about(this.rule, WarnNoEffect, "the rule has no effect, "+
				"as no shorter key takes the requests that it lets pass; remove it"))
		}
	}
}

// shadowing returns the numbers of the rules that shadow others.
func (s *survey) shadowing() map[int]bool {
	numbers := map[int]bool{}
	for this := range s.Shadowed() {
		numbers[this.By] = true
	}
	return numbers
}

// isCovered reports whether a shorter key, or one with variables, matches a canonical key, or what
// is below it, and does not let it pass, too.
func (s *survey) isCovered(key string) bool {
	if rule, ok := s.shorter(key); ok && rule.Value != resolver.PassValue {
		return true
	}
	for _, path := range []string{"/" + key, "/" + key + "/" + resolver.AnySegment} {
		if rule, ok := s.MatchTemplate(path); ok && rule.Value != resolver.PassValue {
			return true
		}
	}
	return false
}

// shorter returns the rule without variables that gets the requests for a canonical key that the
// key's own rule does not match.
func (s *survey) shorter(key string) (rule resolver.Rule, ok bool) {
	for end := strings.LastIndexByte(key, '/'); end > 0; end = strings.LastIndexByte(key[:end], '/') {
		number, known := s.NumberOf(key[:end])
		if !known {
			continue
		}
		if rule, ok = s.Numbered(number); ok && (!rule.Exact || key[end:] == "/") {
			return rule, true
		}
	}
	return resolver.Rule{}, false
}
