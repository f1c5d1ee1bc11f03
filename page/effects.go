package page

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// errOnlyLooked is the answer to an edit that was made to see what it would do.
var errOnlyLooked = errors.New("this edit was not meant")

// preview returns what an edit would do, or why it would be refused.
func (r *request) preview(e *live.Edit) (seen *live.Effects, err error) {
	e.Confirm = func(effects *live.Effects) error {
		seen = effects
		return errOnlyLooked
	}
	if _, err = r.links.Apply(r.Context(), e); errors.Is(err, errOnlyLooked) {
		err = nil
	}
	return seen, err
}

// unconfirmed is the answer to an edit whose effects the user has not seen.
type unconfirmed struct{ *live.Effects }

// Error says what is missing.
func (u unconfirmed) Error() string { return "the effects of the edit are not confirmed" }

// confirm refuses an edit that leads other links elsewhere, unless its user has seen which.
func (r *request) confirm(effects *live.Effects) error {
	if effects.Count == 0 || r.PostForm.Get(fieldConfirm) == fingerprint(effects) {
		return nil
	}
	return unconfirmed{effects}
}

// fingerprint is a short text that tells effects from others.
func fingerprint(effects *live.Effects) string {
	sum := sha256.New()
	fmt.Fprintln(sum, effects.Count)
	for _, other := range effects.Others {
		fmt.Fprintln(sum, live.LinesOf(other))
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
	Others   []live.Change `json:"effects"`
	Confirm  string        `json:"confirm"`
	Was      string        `json:"was"`
	Digest   string        `json:"digest"`

	Lines    []live.ChangeLine  `json:"-"`
	Own      []live.ChangeLine  `json:"-"`
	Warnings []resolver.Warning `json:"-"`
}

// effects returns the view of what an edit does.
func (r *request) effects(
	written resolver.Rule, e *live.Edit, effects *live.Effects,
) effectsView {
	v := effectsView{layout: r.layout(), Rule: *ruleOf(written), IsRemove: e.Rule == nil,
		Count: effects.Count, Confirm: fingerprint(effects), Warnings: effects.Warnings,
		Digest: r.links.Serving().Digest}
	if e.From != nil {
		v.Was = live.RuleText(e.From)
	}
	for _, other := range effects.Others {
		v.Others = append(v.Others, live.ChangeOf(other))
		v.Lines = append(v.Lines, live.LinesOf(other)...)
	}
	if effects.Own != nil {
		v.Own = live.LinesOf(*effects.Own)
	}
	v.Title = v.Heading()
	return v
}

// Heading says how many other links an edit concerns.
func (v effectsView) Heading() string {
	switch {
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
	e := &live.Edit{Key: key, From: &found, IsFrom: true}
	effects, err := r.preview(e)
	if err != nil {
		return r.refused(found, e, err)
	}
	v := r.effects(found, e, effects)
	v.Title = "Delete " + found.Key + "?"
	return v
}
