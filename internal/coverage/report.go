package coverage

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/webroot"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// Question has what a report depends on besides the counts.
type Question struct {
	Ruleset *resolver.Ruleset
	// Origin is the origin of paths without a host.
	Origin string
	// Root has the files of the site; nil if they are not known.
	Root *webroot.Root
	// BesideFiles are endings: a path is a page in front of all rules if it is a file of Root with
	// one of them.
	BesideFiles []string
	// Min leaves out URLs with fewer requests.
	Min uint64
	// Step, if not nil, is called often with the number of URLs that are done.
	Step func(urls int)
}

// Total is the size of a class.
type Total struct {
	URLs     int    `json:"urls"`
	Requests uint64 `json:"requests"`
}

// Report says how URLs are answered.
type Report struct {
	Totals   [Classes]Total
	BelowMin Total

	missing, probes []*counted // the most requested first
	near            *candidates
}

// MissingURL is a URL without an answer.
type MissingURL struct {
	Path       string      `json:"path"`
	Requests   uint64      `json:"requests"`
	Candidates []Candidate `json:"candidates,omitzero"` // nil if not searched for
}

// Report finds the class of each URL.
func (c *Counts) Report(q Question) (*Report, error) {
	j, err := newJudge(q)
	if err != nil {
		return nil, err
	}
	r := &Report{near: &candidates{question: q}}
	for i, u := range c.urls {
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
			r.missing = append(r.missing, u)
		case Probe:
			r.probes = append(r.probes, u)
		case Page:
			r.near.pages = append(r.near.pages, u)
		}
	}
	sortByRequests(r.missing)
	sortByRequests(r.probes)
	return r, nil
}

// sortByRequests sorts URLs: the most requested first, and then by path.
func sortByRequests(urls []*counted) {
	slices.SortFunc(urls, func(a, b *counted) int {
		return cmp.Or(cmp.Compare(b.requests, a.requests), strings.Compare(a.path, b.path))
	})
}

func (t *Total) add(requests uint64) {
	t.URLs++
	t.Requests += requests
}

// Missing yields the missing URLs, the most requested first and then by path, without candidates.
func (r *Report) Missing() iter.Seq[MissingURL] { return each(r.missing) }

// Probes yields the URLs of class Probe, in the same order.
func (r *Report) Probes() iter.Seq[MissingURL] { return each(r.probes) }

// AllMissing yields those of Missing and then those of Probes.
func (r *Report) AllMissing() iter.Seq[MissingURL] {
	return each(slices.Concat(r.missing, r.probes))
}

func each(urls []*counted) iter.Seq[MissingURL] {
	return func(yield func(MissingURL) bool) {
		for _, u := range urls {
			if !yield(MissingURL{Path: u.path, Requests: u.requests}) {
				return
			}
		}
	}
}

// folded returns URLs, the most requested first. A path and the same path with a final slash are
// one, because a rule matches both.
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

// Keys yields missing URLs, the most requested first, each with the key of a rule for it. The key
// is "" if there can be none, as for "/", or an earlier URL has the key. With fold, keys ignore
// case.
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

// judge finds the class of URLs.
type judge struct {
	Question
	site        resolver.Request // has the origin of paths without a host
	destination []byte
}

func newJudge(q Question) (*judge, error) {
	site, err := resolver.ParseRequest(q.Origin + "/")
	if err != nil {
		return nil, err
	}
	return &judge{Question: q, site: site}, nil
}

// isFile reports whether a path never reaches the rules, because there is a file.
func (j *judge) isFile(path string) bool {
	return j.Root != nil && slices.ContainsFunc(j.BesideFiles, func(ending string) bool {
		if ending == "" {
			return j.Root.Has(path)
		}
		return j.Root.Has(strings.TrimSuffix(path, "/") + ending)
	})
}

// classOf returns the class of a URL.
func (j *judge) classOf(u *counted) Class {
	path := u.path
	if j.isFile(path) {
		return Page
	}
	req := resolver.Request{Scheme: j.site.Scheme, Host: j.site.Host, OverHTTP: true,
		Target: weburl.Target{Pathname: path}}
	if u.host != "" {
		req.Scheme, req.Host = "https", u.host
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
