package resolver

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/near"
)

// warnOfMisspelt warns of new rules that lead to a path which no key answers. It does where that
// path is one letter away from a key.
func (c *Compiler) warnOfMisspelt() {
	m := c.unmatchedPaths()
	if len(m.paths) == 0 {
		return
	}
	for _, s := range c.table.entries(&c.opts) {
		at := s.ref()
		key := c.table.key(at)
		m.slips.Find(key, func(n int) {
			p := m.paths[n]
			if (p.meant == "" || near.Compare(p.path, key, p.meant) < 0) && !c.leadsToPath(at, p.path) {
				p.meant, p.at = key, at
			}
		})
	}
	for _, p := range m.paths {
		if p.meant == "" {
			continue
		}
		for _, this := range p.rules {
			message := misspeltMessage(this, c.rankedAt(p.at).rule.Key)
			c.warnAbout(this.rule, c.rankOfSource(this.source),
				Warning{Kind: WarnMisspelt, Message: message})
		}
	}
}

// unmatchedPaths are paths that rules lead to and no key answers.
type unmatchedPaths struct {
	paths []*unmatchedPath
	slips *near.Slips
}

// unmatchedPath is one of them, in the form of keys.
type unmatchedPath struct {
	path  string
	rules []*internalRule
	// meant is the nearest of the keys that are one letter away, "" for none, and at its entry.
	meant string
	at    ref
}

// unmatchedPaths returns the first of the paths that new rules lead to and no key answers.
func (c *Compiler) unmatchedPaths() *unmatchedPaths {
	m := &unmatchedPaths{slips: near.NewSlips()}
	known := map[string]*unmatchedPath{}
	for i, this := range c.newInOrder() {
		c.opts.pauseAfter(i)
		if this.state != endUnmatched {
			continue
		}
		if end := c.endOf(this); end.passed || end.hops > 1 {
			continue
		}
		path := c.pathOf(this)
		if known[path] == nil {
			if m.slips.IsFull() {
				break
			}
			known[path] = &unmatchedPath{path: path}
			m.paths = append(m.paths, known[path])
			m.slips.Add(path)
		}
		known[path].rules = append(known[path].rules, this)
	}
	return m
}

// pathOf returns the path that a chain without a match ends at, in the form of keys.
func (c *Compiler) pathOf(this *internalRule) string {
	end := c.endOf(this)
	path := appendAtSeam([]byte(end.base), end.appended)
	return strings.TrimSuffix(string(c.opts.appendKey(nil, string(path[1:]))), "/")
}

// leadsToPath reports whether a rule leads to a path of the site, or leads nowhere. The path is a
// page then, and does not mean the rule's key.
func (c *Compiler) leadsToPath(at ref, path string) bool {
	if at&internalRef == 0 {
		return c.table.outcomeOf(at) != ""
	}
	this := c.internal(at)
	return this.state == endUnmatched && c.pathOf(this) == path
}

func misspeltMessage(this *internalRule, key string) string {
	behind := this.value.query + this.value.fragment
	path := strings.TrimSuffix(this.rule.Value, behind)
	return "no key answers " + path + ", and the key " + quote(key) + " is one letter away; " +
		"write /" + key + behind + ", unless " + path + " is a page of the site"
}
