package coverage

import (
	"bytes"
	"cmp"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/webroot"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// Question is what decides about the URLs.
type Question struct {
	Ruleset *resolver.Ruleset
	// Origin is that of paths without a host.
	Origin string
	// Root has the files of the site; nil if they are not known.
	Root *webroot.Root
	// Min leaves out what has fewer requests.
	Min uint64
	// Step, if not nil, is called again and again with how many URLs are done.
	Step func(urls int)
}

// Total is how much a class has.
type Total struct {
	URLs     int    `json:"urls"`
	Requests uint64 `json:"requests"`
}

// Report is what becomes of URLs.
type Report struct {
	Totals   [Classes]Total
	BelowMin Total

	counts          *Counts
	missing, probes []uint32 // numbers of URLs, the most requested first
	near            *candidates
}

// MissingURL is a URL without an answer.
type MissingURL struct {
	Path       string      `json:"path"`
	Requests   uint64      `json:"requests"`
	Candidates []Candidate `json:"candidates,omitzero"` // nil for not looked for
}

// Report tells what becomes of each URL.
func (c *Counts) Report(q Question) (*Report, error) {
	j, err := newJudge(c, q)
	if err != nil {
		return nil, err
	}
	r := &Report{counts: c}
	near := &candidates{question: q, counts: c}
	r.near = near
	for i := range c.urls {
		u := &c.urls[i]
		if q.Step != nil && i%stepEvery == 0 {
			q.Step(i)
		}
		if u.requests < q.Min {
			r.BelowMin.add(u.requests)
			continue
		}
		class := j.classOf(u)
		r.Totals[class].add(u.requests)
		switch class {
		case Missing:
			r.missing = append(r.missing, uint32(i))
		case Probe:
			r.probes = append(r.probes, uint32(i))
		case Page:
			near.pages = append(near.pages, uint32(i))
		}
	}
	c.sortByRequests(r.missing)
	c.sortByRequests(r.probes)
	return r, nil
}

// sortByRequests sorts numbers of URLs: the most requested first, and then by path.
func (c *Counts) sortByRequests(numbers []uint32) {
	slices.SortFunc(numbers, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(c.urls[b].requests, c.urls[a].requests),
			bytes.Compare(c.textOf(&c.urls[a]), c.textOf(&c.urls[b])))
	})
}

func (t *Total) add(requests uint64) {
	t.URLs++
	t.Requests += requests
}

// Missing gives what is missing, the most requested first and then by path, without candidates.
func (r *Report) Missing() iter.Seq[MissingURL] { return r.each(r.missing) }

// Probes gives what is missing and scanners ask any site for, in the same order.
func (r *Report) Probes() iter.Seq[MissingURL] { return r.each(r.probes) }

// AllMissing gives what Missing and Probes do, in this order.
func (r *Report) AllMissing() iter.Seq[MissingURL] {
	return r.each(slices.Concat(r.missing, r.probes))
}

func (r *Report) each(numbers []uint32) iter.Seq[MissingURL] {
	return func(yield func(MissingURL) bool) {
		for _, i := range numbers {
			u := &r.counts.urls[i]
			if !yield(MissingURL{Path: string(r.counts.textOf(u)), Requests: u.requests}) {
				return
			}
		}
	}
}

// folded returns the most requested URLs first, with a path and the one with a slash behind it as
// one: a rule takes both.
func folded(urls iter.Seq[MissingURL]) []MissingURL {
	var all []MissingURL
	at := map[string]int{}
	for missing := range urls {
		if path, had := strings.CutSuffix(missing.Path, "/"); had && !strings.HasSuffix(path, "/") {
			missing.Path = cmp.Or(path, "/")
		}
		i, known := at[missing.Path]
		if known {
			all[i].Requests += missing.Requests
			continue
		}
		at[missing.Path] = len(all)
		all = append(all, missing)
	}
	slices.SortFunc(all, func(a, b MissingURL) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Path, b.Path))
	})
	return all
}

// Keys gives missing URLs, the most requested first, each with the key that a rule for it has: ""
// where there can be none, as for "/" itself, or if an earlier one has it. With fold keys match
// without regard to case.
func Keys(urls iter.Seq[MissingURL], fold bool) iter.Seq2[string, MissingURL] {
	return func(yield func(string, MissingURL) bool) {
		checker := resolver.NewRuleChecker()
		for _, missing := range folded(urls) {
			key := strings.TrimPrefix(missing.Path, "/")
			canonical := resolver.CanonicalKey(key, fold)
			if checker.Check(resolver.Rule{Key: canonical, Value: resolver.GoneValue}) != nil {
				key = ""
			}
			if !yield(key, missing) {
				return
			}
		}
	}
}

// judge says what becomes of a URL.
type judge struct {
	Question
	counts      *Counts
	site        resolver.Request // whose origin paths without a host have
	destination []byte
}

func newJudge(c *Counts, q Question) (*judge, error) {
	site, err := resolver.ParseRequest(q.Origin + "/")
	if err != nil {
		return nil, err
	}
	return &judge{Question: q, counts: c, site: site}, nil
}

// classOf returns what becomes of a URL.
func (j *judge) classOf(u *counted) Class {
	path := string(j.counts.textOf(u))
	req := resolver.Request{Scheme: j.site.Scheme, Host: j.site.Host, OverHTTP: true,
		Target: weburl.Target{Pathname: path}}
	if u.host > 0 {
		req.Scheme, req.Host = "https", j.counts.hosts[u.host]
	}
	var result resolver.Result
	j.destination, result = j.Ruleset.AppendDestination(j.destination[:0], &req)
	switch {
	case result.Outcome == resolver.Redirect, errors.Is(result.Err, resolver.ErrNoOrigin):
		return Redirect
	case result.Outcome == resolver.Gone:
		return Gone
	case result.Outcome == resolver.Failed:
		return Error
	}
	if j.Root != nil {
		if _, ok := j.Root.Page(path); ok {
			return Page
		}
	}
	class := classOfStatus(u.status)
	if class == Missing && isProbe(path) {
		return Probe
	}
	return class
}
