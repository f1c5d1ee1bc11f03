package find

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/near"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Found has the rules that a search has found, in their order.
type Found struct {
	Rules []resolver.Rule
	More  bool // there are more after the last one
	Late  bool // the time was up before all rules were examined
}

// Search finds the rules that contain a text, ignoring the case of ASCII letters. First come those
// whose key begins with it, then those that have it in the key, the destination or the note, each
// in the order of keys. It returns at most most rules after a key, or from the first with "", and
// stops after 250 ms. A text with a brace is never at the beginning of a key, because names of
// variables do not count in the order.
func (x *Index) Search(
	ctx context.Context, ruleset *resolver.Ruleset, text, after string, most int,
) Found {
	s := newSearch(text, most)
	s.ctx, s.pause, s.end = ctx, x.pause, time.Now().Add(x.searchTime)
	k, ok := x.keys.get(ruleset)
	if ok {
		ruleset = k.ruleset
	}
	s.ruleset = ruleset
	if s.after = after; after != "" {
		s.after = canonicalOf(ruleset, after)
		s.skipFirst = !s.isFirst(s.after)
	}
	if ok {
		s.inOrder(k)
	} else {
		s.all()
	}
	return s.found
}

// canonicalOf returns the canonical form of a key, even if its rule has been removed.
func canonicalOf(ruleset *resolver.Ruleset, key string) string {
	if n, ok := ruleset.NumberOf(key); ok {
		return ruleset.KeyOf(n)
	}
	return resolver.CanonicalKey(key, false)
}

// search is a search that is under way.
type search struct {
	ctx     context.Context
	pause   func()
	end     time.Time
	steps   int
	ruleset *resolver.Ruleset

	text      []byte // in lower case
	form      string // of the text as a part of a key
	hasBrace  bool
	after     string // canonical key
	skipFirst bool   // all keys that begin with the text come before after
	most      int
	found     Found
	scratch   []byte
}

func newSearch(text string, most int) *search {
	inKey := strings.TrimPrefix(text, "/")
	return &search{
		text: appendFolded(nil, text), form: string(near.AppendForm(nil, inKey)),
		hasBrace: strings.ContainsAny(inKey, "{}"), most: max(most, 0),
	}
}

// isFirst reports whether a canonical key begins with the text.
func (s *search) isFirst(key string) bool { return !s.hasBrace && hasPrefix(key, s.form) }

// isElsewhere reports whether a rule has the text anywhere.
func (s *search) isElsewhere(rule *resolver.Rule) bool {
	s.scratch = near.AppendForm(s.scratch[:0], rule.Key)
	return bytes.Contains(s.scratch, []byte(s.form)) ||
		s.has(rule.Value) || rule.Note != "" && s.has(rule.Note)
}

func (s *search) has(text string) bool {
	s.scratch = appendFolded(s.scratch[:0], text)
	return bytes.Contains(s.scratch, s.text)
}

// isLate reports whether the time is up. It is called for each rule.
func (s *search) isLate() bool {
	if s.steps++; s.steps%pauseEvery == 0 {
		s.pause()
		s.found.Late = !time.Now().Before(s.end) || s.ctx.Err() != nil
	}
	return s.found.Late
}

// add adds a rule to the found ones, unless there are enough. Then it returns false.
func (s *search) add(rule resolver.Rule) bool {
	if s.found.More = len(s.found.Rules) == s.most; s.found.More {
		return false
	}
	s.found.Rules = append(s.found.Rules, rule)
	return true
}

// inOrder searches sorted keys.
func (s *search) inOrder(k *keys) {
	if !s.hasBrace && !s.skipFirst {
		for n := range k.from(s.isBeforeFirst) {
			if !s.isFirst(k.key(uint32(n))) {
				break
			}
			if rule, ok := s.ruleset.Numbered(n); s.isLate() || ok && !s.add(rule) {
				return
			}
		}
	}
	if s.form == "" && !s.hasBrace {
		return // all keys begin with the text
	}
	for n := range k.from(func(key string) bool { return s.skipFirst && s.isPassed(key) }) {
		rule, ok := s.ruleset.Numbered(n)
		if s.isLate() {
			return
		}
		if ok && s.isElsewhere(&rule) && !s.isFirst(k.key(uint32(n))) && !s.add(rule) {
			return
		}
	}
}

// isBeforeFirst reports whether a key precedes those that begin with the text, or has been found
// already.
func (s *search) isBeforeFirst(key string) bool {
	return compareForm(key, s.form) < 0 || s.after != "" && s.isPassed(key)
}

// isPassed reports whether a key is the one to continue after, or precedes it.
func (s *search) isPassed(key string) bool { return compareKeys(key, s.after) <= 0 }

// all searches all rules while the sorted keys are being made.
func (s *search) all() {
	var best []ranked
	for n := range s.ruleset.Numbers() {
		if s.isLate() {
			break
		}
		if r, ok := s.rank(n); ok {
			at, _ := slices.BinarySearchFunc(best, r, ranked.compare)
			if at <= s.most {
				best = slices.Insert(best, at, r)
				best = best[:min(len(best), s.most+1)]
			}
		}
	}
	for _, r := range best {
		s.add(r.rule)
	}
}

// ranked is a rule that has the text, with its sort key.
type ranked struct {
	isFirst bool
	key     string
	rule    resolver.Rule
}

func (r ranked) compare(other ranked) int {
	switch {
	case r.isFirst == other.isFirst:
		return compareKeys(r.key, other.key)
	case r.isFirst:
		return -1
	}
	return 1
}

// rank returns the rule with a number if it has the text and has not been found before.
func (s *search) rank(number int) (r ranked, ok bool) {
	if r.rule, ok = s.ruleset.Numbered(number); !ok {
		return r, false
	}
	r.key = s.ruleset.KeyOf(number)
	r.isFirst = s.isFirst(r.key)
	switch {
	case !r.isFirst && !s.isElsewhere(&r.rule):
		return r, false
	case s.after == "":
		return r, true
	}
	return r, r.compare(ranked{isFirst: !s.skipFirst, key: s.after}) > 0
}
