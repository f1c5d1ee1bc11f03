package coverage

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/find"
	"github.com/caddy-shortlink/shortlink/internal/webroot"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Candidate is a key or a page that was perhaps meant.
type Candidate struct {
	Key  string `json:"key,omitempty"`
	Page string `json:"page,omitempty"`
}

// String returns the key or the page's path.
func (c Candidate) String() string { return cmp.Or(c.Key, c.Page) }

// mostCandidates is the largest number of candidates of a URL.
const mostCandidates = 3

// candidates finds keys and pages that may have been meant. The indexes of both are made at the
// first call.
type candidates struct {
	question Question
	pages    []*counted

	keysIndex, pagesIndex *find.Nearest
}

// Candidates returns up to three keys or pages that a missing URL may have meant, nearest first.
// They, or their last segments, differ in at most two bytes. Extensions of pages, such as .html and
// .php, do not count.
func (r *Report) Candidates(missing string) ([]Candidate, error) {
	if err := r.near.prepare(); err != nil {
		return nil, err
	}
	near := r.near.nearest(missing)
	if stem := withoutExtension(missing); stem != missing {
		near = append(near, r.near.nearest(stem)...)
	}
	slices.SortStableFunc(near, func(a, b nearCandidate) int {
		return cmp.Compare(a.distance, b.distance)
	})
	all := []Candidate{}
	for _, found := range near {
		if len(all) < mostCandidates && !slices.Contains(all, found.Candidate) {
			all = append(all, found.Candidate)
		}
	}
	return all, nil
}

// withoutExtension returns a path without the extension of a page.
func withoutExtension(page string) string {
	switch extension := path.Ext(page); extension {
	case ".html", ".htm", ".xhtml", ".shtml", ".php", ".asp", ".aspx", ".jsp", ".cgi":
		return strings.TrimSuffix(page, extension)
	}
	return page
}

// nearCandidate is a candidate and the number of bytes in which it differs.
type nearCandidate struct {
	Candidate
	distance int
}

// nearest returns the keys and pages nearest to a path, keys first.
func (c *candidates) nearest(missing string) (near []nearCandidate) {
	for _, found := range c.keysIndex.Suggest(missing, mostCandidates) {
		near = append(near, nearCandidate{Candidate{Key: found.Rule.Key}, found.Distance})
	}
	for _, found := range c.pagesIndex.Suggest(missing, mostCandidates) {
		page := strings.TrimPrefix(found.Rule.Value, pageOrigin)
		near = append(near, nearCandidate{Candidate{Page: page}, found.Distance})
	}
	return near
}

// prepare makes the indexes.
func (c *candidates) prepare() error {
	if c.keysIndex != nil {
		return nil
	}
	pages, err := c.pagesAsRules()
	if err != nil {
		return err
	}
	c.keysIndex, c.pagesIndex = find.NewNearest(c.question.Ruleset), find.NewNearest(pages)
	return nil
}

// pageOrigin precedes the path of a page in the rules of pagesAsRules.
const pageOrigin = "http://x"

// pagesAsRules returns a ruleset that leads to the pages, because an index needs rules. Its keys
// are the paths of the pages without extensions.
func (c *candidates) pagesAsRules() (*resolver.Ruleset, error) {
	compiler, err := resolver.NewCompiler(resolver.Options{})
	if err != nil {
		return nil, err
	}
	good := resolver.NewRuleChecker()
	add := func(page string) {
		key := strings.TrimPrefix(withoutExtension(page), "/")
		rule := resolver.Rule{Key: key, Value: pageOrigin + page}
		if good.Check(rule) == nil {
			compiler.Add(rule)
		}
	}
	for _, u := range c.pages {
		add(u.path)
	}
	if c.question.Root != nil {
		n := 0
		for file := range c.question.Root.All() {
			if n++; n > MostURLs {
				break
			}
			add(pageOf(file))
		}
	}
	return compiler.Compile()
}

// pageOf returns the path of a file's URL. That of an index is the path of its directory.
func pageOf(file string) string {
	paths := webroot.URLPaths(file)
	if len(paths) > 1 && strings.HasSuffix(paths[1], "/") {
		return paths[1]
	}
	return paths[0]
}
