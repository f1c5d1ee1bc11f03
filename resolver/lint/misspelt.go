package lint

import (
	"github.com/caddy-shortlink/shortlink/internal/near"
)

// unansweredPaths are the first paths to which rules lead and which no key answers, in the form of
// keys.
type unansweredPaths struct {
	paths   []unansweredPath // by the number that slips have for them
	numbers map[string]int
	slips   *near.Slips
}

type unansweredPath struct {
	path  string
	rules []int // the numbers of those that lead to it
	// meant is the nearest of the keys that are one letter away, "" for none, and number is that of
	// its rule.
	meant  string
	number int
}

func newUnansweredPaths() unansweredPaths {
	return unansweredPaths{numbers: map[string]int{}, slips: near.NewSlips()}
}

// add adds a path to which the rule with a number leads.
func (u *unansweredPaths) add(path string, rule int) {
	n, known := u.numbers[path]
	if !known {
		if u.slips.IsFull() {
			return
		}
		u.slips.Add(path)
		n = len(u.paths)
		u.numbers[path] = n
		u.paths = append(u.paths, unansweredPath{path: path})
	}
	u.paths[n].rules = append(u.paths[n].rules, rule)
}

// compare compares the key of the rule with a number with all paths.
func (u *unansweredPaths) compare(s *survey, number int, key string) {
	u.slips.Find(key, func(n int) {
		p := &u.paths[n]
		isNearest := p.meant == "" || near.Compare(p.path, key, p.meant) < 0
		if isNearest && !s.leadsToPath(number, p.path) {
			p.meant, p.number = key, number
		}
	})
}

// leadsToPath reports whether a rule leads to a path of the site, or leads nowhere. Then the path
// is a page, and not a misspelling of the rule's key.
func (s *survey) leadsToPath(number int, path string) bool {
	if rule, _ := s.Numbered(number); !isInternal(rule.Value) {
		return isOutcome(rule.Value)
	}
	this := s.internalRule(number)
	return this.end.kind.isAtSite() && s.endKey(this) == path
}

// addMisspelt warns of rules that lead to a path which no key answers, if that path is one letter
// away from a key.
func (c *chainWarnings) addMisspelt() {
	for _, p := range c.unanswered.paths {
		if p.meant == "" {
			continue
		}
		meant, _ := c.Numbered(p.number)
		for _, number := range p.rules {
			if end := c.dead[number]; end != nil {
				end.meant = meant.Key
				continue
			}
			this := c.sourced(number)
			message := misspeltMessage(this.rule.Value, meant.Key)
			c.list.add(ofChains, this.source, about(this.rule, WarnMisspelt, message))
		}
	}
}

func misspeltMessage(value, key string) string {
	path, query, fragment := cutParts(value)
	behind := query + fragment
	return "no key answers " + path + ", and the key " + quote(key) + " is one letter away; " +
		"write /" + key + behind + ", unless " + path +
		" is a page of the site"
}
