package page

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/client"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/show"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// The fields of a form that renames a link, besides those of an edit.
const (
	fieldNewKey = "new_key"
	fieldOld    = "old" // what becomes of the old key: oldLeads if empty

	actionRename = "rename"

	oldLeads = "leads" // it leads to the new one
	oldGone  = "gone"
	oldFree  = "free" // it is removed
)

// renameView is the form to give a link another key.
type renameView struct {
	layout
	Saved  bool   `json:"saved"` // never
	Key    string `json:"key"`
	NewKey string `json:"new_key"`
	Old    string `json:"old"`
	Was    string `json:"was"` // the rule as JSON
	Digest string `json:"digest"`
	// Error says why it was refused, or is empty.
	Error string `json:"error,omitempty"`
	// Leads are keys of other links that lead to this one; MoreLeads is how many are not listed.
	Leads     []string `json:"leads,omitempty"`
	MoreLeads int      `json:"more_leads,omitempty"`
	// The following are set if the effects have to be confirmed.
	Count    int           `json:"others,omitempty"`
	Others   []show.Change `json:"effects,omitempty"`
	Warnings []string      `json:"warnings,omitempty"`
	Confirm  string        `json:"confirm,omitempty"`

	Effects *live.Effects `json:"-"` // nil if there is nothing to confirm
	IsFree  bool          `json:"-"` // the old key can be removed
}

// renameForm returns the form to rename a link.
func (r *request) renameForm(key string) view {
	found, ok := servingRule(r.links.Serving().Ruleset, key)
	if !ok {
		return r.noSuchKey(key)
	}
	if why := r.whyNotEditable(found.Key); why != "" {
		return failure(r.layout(), http.StatusForbidden, why)
	}
	v := r.renameView(found)
	v.NewKey, v.Old = found.Key, oldLeads
	// pages of other sites must not make users wait
	if r.page.csrf.Check(asPost(r.Request)) == nil {
		v.addLeads(r)
	}
	return v
}

// renameView returns the form to rename a link, with what was typed.
func (r *request) renameView(from resolver.Rule) renameView {
	v := renameView{
		layout: r.layout(), Key: from.Key, NewKey: r.PostForm.Get(fieldNewKey),
		Old: cmp.Or(r.PostForm.Get(fieldOld), oldLeads), Was: live.RuleText(&from),
		Digest: r.links.Serving().Digest, IsFree: r.links.WhyNotRemovable(from.Key) == nil,
	}
	v.Title = "Rename " + from.Key
	return v
}

// addLeads adds the links whose answers would change if the link was gone.
func (v *renameView) addLeads(r *request) {
	gone := &resolver.Rule{Key: v.Key, Value: resolver.GoneValue}
	effects, err := r.links.Preview(r.Context(), &live.Edit{
		Changes: []live.Change{{Key: v.Key, Rule: gone}},
	})
	if err != nil {
		return // so the form will be refused, too, with the reason
	}
	for _, other := range effects.Others {
		v.Leads = append(v.Leads, other.Rule.Key)
	}
	v.MoreLeads = effects.Count - len(v.Leads)
}

// addEffects adds what there is to confirm.
func (v *renameView) addEffects(effects *live.Effects) {
	v.Status, v.Title = http.StatusPreconditionRequired, "Rename "+v.Key+"?"
	v.Effects, v.Count, v.Confirm = effects, effects.Count, fingerprint(effects)
	for _, other := range effects.Others {
		v.Others = append(v.Others, show.ChangeOf(other))
	}
	for _, w := range effects.Warnings {
		v.Warnings = append(v.Warnings, w.Key+": "+w.Message)
	}
}

// OwnLines are the changes of the two keys.
func (v renameView) OwnLines() []show.ChangeLine { return linesOf(v.Effects.Own) }

// OtherLines are the changes of other links.
func (v renameView) OtherLines() []show.ChangeLine { return linesOf(v.Effects.Others) }

func linesOf(changes []resolver.Change) (lines []show.ChangeLine) {
	for _, change := range changes {
		lines = append(lines, show.LinesOf(change)...)
	}
	return lines
}

// Unnamed is how many other links that change are not listed.
func (v renameView) Unnamed() int { return v.Count - len(v.Others) }

// rename gives a link another key, and what becomes of the old one, as one change.
func (r *request) rename(key string) view {
	conditions, err := client.PreconditionsOf(r.Request)
	if err != nil {
		return failure(r.layout(), http.StatusBadRequest, err.Error()+".")
	}
	now, isThere := servingRule(r.links.Serving().Ruleset, key)
	e := &formEdit{key: cmp.Or(now.Key, key)}
	if err := r.setFrom(e); err != nil {
		return r.renameRefused(now, err)
	}
	switch {
	case e.from == nil && !isThere:
		return r.noSuchKey(key)
	case e.from == nil:
		e.from, e.isFrom = &now, true
	case !isThere:
		now = *e.from // to show what was typed
	}
	renamed, old, err := r.renamed(*e.from)
	if err != nil {
		return r.renameRefused(now, client.Errorf(http.StatusUnprocessableEntity, "%w", err))
	}
	edit := &live.Edit{
		Changes: []live.Change{
			{Key: renamed.Key, Rule: &renamed, If: func(now *resolver.Rule) error {
				if now == nil {
					return nil
				}
				return client.Errorf(http.StatusConflict, "there is a link with the key %s already; it "+
					"leads to %s; choose another key", renamed.Key, now.Value)
			}},
			{Key: e.key, Rule: old, If: func(now *resolver.Rule) error {
				return cmp.Or(conditions.OfRule(e.key)(now), e.check(now))
			}},
		},
		Remote: r.RemoteAddr, User: r.user, Confirm: r.confirm, IfRules: conditions.OfRules(),
	}
	if _, err := r.links.Apply(r.Context(), edit); err != nil {
		return r.renameRefused(now, err)
	}
	return saved{layout: r.layout(), Saved: true, Key: renamed.Key, Done: "renamed",
		Digest: r.links.Serving().Digest}
}

// renamed returns a rule with the key in a form, and the rule that its old key gets, nil for none.
func (r *request) renamed(rule resolver.Rule) (renamed resolver.Rule, old *resolver.Rule, err error) {
	renamed, renamed.Position = rule, resolver.Position{}
	renamed.Key = strings.TrimPrefix(strings.TrimSpace(r.PostForm.Get(fieldNewKey)), "/")
	canonical := func(key string) string {
		return resolver.CanonicalKey(key, r.links.Options.FoldCase)
	}
	switch {
	case renamed.Key == "":
		return renamed, nil, fmt.Errorf("the new key is missing: write it into the field %s",
			fieldNewKey)
	case canonical(renamed.Key) == canonical(rule.Key):
		return renamed, nil, fmt.Errorf("the link has the key %s already; write another one",
			rule.Key)
	}
	switch become := r.PostForm.Get(fieldOld); become {
	case "", oldLeads:
		// the same status, query mode and reach, so that clients can tell no difference
		alias := rule
		alias.Value, alias.Note = "/"+renamed.Key, ""
		if !resolver.IsTemplate(renamed.Key) {
			alias.Value = "/" + resolver.CanonicalKey(renamed.Key, false)
		}
		return renamed, &alias, nil
	case oldGone:
		return renamed, &resolver.Rule{
			Key: rule.Key, Value: resolver.GoneValue, Exact: rule.Exact,
		}, nil
	case oldFree:
		return renamed, nil, nil
	default:
		return renamed, nil, fmt.Errorf("the field %s takes %s, %s or %s, not %q", fieldOld, oldLeads,
			oldGone, oldFree, become)
	}
}

// renameRefused returns the form again, with why the link was not renamed.
func (r *request) renameRefused(now resolver.Rule, err error) view {
	other, isConflict := errors.AsType[*conflict](err)
	if isConflict && other.now != nil {
		now = *other.now
	}
	v := r.renameView(now)
	if u, is := errors.AsType[unconfirmed](err); is {
		v.addEffects(u.Effects)
		return v
	}
	v.Error, v.Status = err.Error(), client.StatusOf(err)
	if isConflict {
		v.Status = http.StatusConflict
	}
	v.addLeads(r)
	return v
}

func (renameView) template() string { return "rename" }

func (v renameView) text(w io.Writer) {
	switch {
	case v.Error != "":
		fmt.Fprintln(w, v.Error)
	case v.Effects != nil:
		fmt.Fprintf(w, "This also changes %s; nothing is saved yet.\n",
			printable.Count(v.Count, "other link"))
		for _, line := range v.OtherLines() {
			fmt.Fprintf(w, "  %s: was %s, now %s\n", line.Requests, line.Before, line.After)
		}
		for _, warning := range v.Warnings {
			fmt.Fprintln(w, " ", warning)
		}
		fmt.Fprintf(w, "To save it send the same again with confirm=%s\n", v.Confirm)
	default:
		fmt.Fprintf(w, "POST action=%s, %s, %s (%s, %s or %s) and digest\n", actionRename, fieldNewKey,
			fieldOld, oldLeads, oldGone, oldFree)
	}
	for _, key := range v.Leads {
		fmt.Fprintf(w, "%s leads to %s\n", key, v.Key)
	}
}
