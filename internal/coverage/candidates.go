package coverage

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/find"
	"github.com/caddy-shortlink/shortlink/internal/near"
	"github.com/caddy-shortlink/shortlink/internal/webroot"
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

// candidates are the keys and pages that may have been meant. Their index is made when somebody
// asks.
type candidates struct {
	question Question
	pages    []*counted

	texts *keysAndPages
	index *near.Index
}

// Candidates returns up to three keys or pages that a missing URL may have meant, nearest first:
// see [near.Search]. Extensions of pages, such as .html and .php, do not count.
func (r *Report) Candidates(missing string) []Candidate {
	c := r.near
	if c.index == nil {
		c.texts = c.keysAndPages()
		c.index = near.NewIndex(c.texts, func() {})
	}
	found := c.index.Search(c.texts, missing, mostCandidates)
	if stem := withoutExtension(missing); stem != missing {
		found = append(found, c.index.Search(c.texts, stem, mostCandidates)...)
		slices.SortStableFunc(found, near.Found.Compare)
	}
	all := []Candidate{}
	for _, f := range found {
		candidate := c.texts.candidate(f.Number)
		if len(all) < mostCandidates && !slices.Contains(all, candidate) {
			all = append(all, candidate)
		}
	}
	return all
}

// withoutExtension returns a path without the extension of a page.
func withoutExtension(page string) string {
	switch extension := path.Ext(page); extension {
	case ".html", ".htm", ".xhtml", ".shtml", ".php", ".asp", ".aspx", ".jsp", ".cgi":
		return strings.TrimSuffix(page, extension)
	}
	return page
}

// keysAndPages are the keys of a ruleset and pages behind them, as [near.Texts]. Of a key and a
// page that are equally near the key comes first.
type keysAndPages struct {
	find.Listed
	pages []string
}

// Numbers is what the numbers of keys and pages are below.
func (t *keysAndPages) Numbers() int { return t.Listed.Numbers() + len(t.pages) }

// page returns the page that has a number, "" for one of a key.
func (t *keysAndPages) page(number int) string {
	if n := number - t.Listed.Numbers(); n >= 0 {
		return t.pages[n]
	}
	return ""
}

// KeyOf returns the key that has a number, or the path of the page without its extension.
func (t *keysAndPages) KeyOf(number int) string {
	if page := t.page(number); page != "" {
		return strings.TrimPrefix(withoutExtension(page), "/")
	}
	return t.Listed.KeyOf(number)
}

// Uses puts keys in front of pages.
func (t *keysAndPages) Uses(number int) (n uint64, ok bool) {
	if t.page(number) != "" {
		return 0, true
	}
	_, ok = t.Listed.Uses(number)
	return 1, ok
}

func (t *keysAndPages) candidate(number int) Candidate {
	if page := t.page(number); page != "" {
		return Candidate{Page: page}
	}
	rule, _ := t.Numbered(number)
	return Candidate{Key: rule.Key}
}

// keysAndPages returns the keys of the ruleset and the pages of the site, those with one stem once.
func (c *candidates) keysAndPages() *keysAndPages {
	all := &keysAndPages{Listed: find.Listed{Ruleset: c.question.Ruleset}}
	stems := map[string]bool{}
	add := func(page string) {
		if stem := withoutExtension(page); !stems[stem] {
			stems[stem] = true
			all.pages = append(all.pages, page)
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
	return all
}

// pageOf returns the path of a file's URL. That of an index is the path of its directory.
func pageOf(file string) string {
	paths := webroot.URLPaths(file)
	if len(paths) > 1 && strings.HasSuffix(paths[1], "/") {
		return paths[1]
	}
	return paths[0]
}
