package page

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/caddy-shortlink/shortlink/internal/client"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/show"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// unconfirmed is the answer to an edit whose effects the user has not seen.
type unconfirmed struct{ *live.Effects }

// Error says what is missing.
func (u unconfirmed) Error() string { return "the effects of the edit are not confirmed" }

// confirm refuses an edit that leads other links elsewhere, or hides the page, unless its user has
// seen that.
func (r *request) confirm(effects *live.Effects) error {
	isHarmless := effects.Count == 0 && !slices.ContainsFunc(effects.Warnings, live.HidesPage)
	if isHarmless || r.PostForm.Get(fieldConfirm) == fingerprint(effects) {
		return nil
	}
	return unconfirmed{effects}
}

// fingerprint is a short text that tells effects from others.
func fingerprint(effects *live.Effects) string {
	sum := sha256.New()
	fmt.Fprintln(sum, effects.Count)
	for _, other := range effects.Others {
		fmt.Fprintln(sum, show.LinesOf(other))
	}
	for _, w := range effects.Warnings {
		fmt.Fprintln(sum, live.HidesPage(w))
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:12])
}

// effectsView says what an edit does to other links, before it is made.
type effectsView struct {
	layout
	Saved    bool          `json:"saved"` // never
	Rule     rule          `json:"rule"`
	IsRemove bool          `json:"remove,omitempty"`
	Count    int           `json:"others"` // how many other links lead elsewhere then
	Others   []show.Change `json:"effects"`
	Confirm  string        `json:"confirm"`
	Was      string        `json:"was"`
	Digest   string        `json:"digest"`

	Lines    []show.ChangeLine `json:"-"`
	Own      []show.ChangeLine `json:"-"`
	Warnings []lint.Warning    `json:"-"`
	// why the page could not be read any more
	Hides []string `json:"hides_page,omitempty"`
}

// effects returns the view of what an edit does.
func (r *request) effects(
	written resolver.Rule, e *formEdit, effects *live.Effects,
) effectsView {
	v := effectsView{layout: r.layout(), Rule: *ruleOf(written), IsRemove: e.rule == nil,
		Count: effects.Count, Confirm: fingerprint(effects), Warnings: effects.Warnings,
		Digest: r.links.Serving().Digest}
	if e.from != nil {
		v.Was = live.RuleText(e.from)
	}
	for _, other := range effects.Others {
		v.Others = append(v.Others, show.ChangeOf(other))
		v.Lines = append(v.Lines, show.LinesOf(other)...)
	}
	if effects.Own != nil {
		v.Own = show.LinesOf(*effects.Own)
	}
	for _, w := range effects.Warnings {
		if live.HidesPage(w) {
			v.Hides = append(v.Hides, w.Message)
		}
	}
	v.Title = v.Heading()
	return v
}

// Heading says how many other links an edit concerns.
func (v effectsView) Heading() string {
	switch {
	case v.Count == 0 && v.Hides != nil:
		return "This page could not be read any more then"
	case v.Count == 0:
		return "No other link is concerned"
	case v.Count == 1:
		return "1 other link leads elsewhere then"
	}
	return fmt.Sprintf("%s other links lead elsewhere then", number(uint64(v.Count)))
}

// Unnamed is how many concerned links are not named.
func (v effectsView) Unnamed() int { return v.Count - len(v.Others) }

func (effectsView) template() string { return "effects" }

func (v effectsView) text(w io.Writer) {
	fmt.Fprintf(w, "%s; nothing is saved yet.\n", v.Heading())
	for _, line := range v.Lines {
		fmt.Fprintf(w, "  %s: was %s, now %s\n", line.Requests, line.Before, line.After)
	}
	for _, why := range v.Hides {
		fmt.Fprintln(w, " ", why)
	}
	fmt.Fprintf(w, "To save it send the same again with confirm=%s\n", v.Confirm)
}

// deleteForm returns the page that asks whether a link is to be removed, and says what that does.
func (r *request) deleteForm(key string) view {
	found, ok := servingRule(r.links.Serving().Ruleset, key)
	if !ok {
		return r.noSuchKey(key)
	}
	if why := r.whyNotWritable(); why != "" {
		return failure(r.layout(), http.StatusForbidden, why)
	}
	e := &formEdit{key: key, from: &found, isFrom: true}
	effects := new(live.Effects)
	// a picture on a page of another site makes nobody wait
	if r.page.csrf.Check(asPost(r.Request)) == nil {
		seen, err := r.links.Preview(r.Context(), &live.Edit{Key: key, If: e.check})
		if err != nil {
			return failure(r.layout(), client.StatusOf(err), "It cannot be deleted here: "+err.Error()+".")
		}
		effects = seen
	}
	v := r.effects(found, e, effects)
	v.Title = "Delete " + found.Key + "?"
	return v
}

// asPost returns a request for what may be asked of a site by its own pages alone.
func asPost(r *http.Request) *http.Request {
	post := *r
	post.Method = http.MethodPost
	return &post
}
