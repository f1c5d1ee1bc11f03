package page

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/client"
	"github.com/caddy-shortlink/shortlink/internal/effects"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
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

// renameView is the form to give a link another key. The embedded view shows what that changes, if
// it has to be confirmed, or else what would change if the old key was gone.
type renameView struct {
	effectsView
	NewKey string `json:"new_key"`
	Old    string `json:"old"`
	// Error says why it was refused, or is empty.
	Error string `json:"error,omitempty"`
	// IsFree says that the old key can be removed.
	IsFree bool `json:"-"`
}

// renameForm returns the form to rename a link.
func (r *request) renameForm(key string) view {
	found, ok := r.links.Serving().Written(key)
	if !ok {
		return r.noSuchKey(key)
	}
	change := live.Change{Key: found.Key, Rule: new(resolver.Rule)}
	if why := r.whyNot(r.links.WhyNot(change)); why != "" {
		return failure(r.layout(), http.StatusForbidden, why)
	}
	return r.renameView(found, nil)
}

// renameView returns the form to rename a link, with what was typed, and the effects to confirm;
// nil for none.
func (r *request) renameView(from resolver.Rule, told *effects.Effects) renameView {
	isRefused := told != nil
	if !isRefused {
		gone := &resolver.Rule{Key: from.Key, Value: resolver.GoneValue}
		// after an error the form will be refused, too, with the reason
		told, _ = r.preview(&live.Edit{Changes: []live.Change{{Key: from.Key, Rule: gone}}})
	}
	v := renameView{
		effectsView: r.effects(from, &formEdit{rule: &from, from: &from},
			cmp.Or(told, new(effects.Effects))),
		NewKey: cmp.Or(r.PostForm.Get(fieldNewKey), from.Key),
		Old:    cmp.Or(r.PostForm.Get(fieldOld), oldLeads),
		IsFree: r.links.WhyNot(live.Change{Key: from.Key}) == nil,
	}
	if v.Title = "Rename " + from.Key; !isRefused {
		v.Status, v.Confirm = http.StatusOK, ""
	}
	return v
}

// rename gives a link another key, and makes of the old one what the form says, as one change.
func (r *request) rename(key string) view {
	now, _ := r.links.Serving().Written(key)
	e := &formEdit{key: cmp.Or(now.Key, key), from: &now}
	err := r.setFrom(e)
	e.isFrom = true // also with If-Match: the renamed rule is made of it
	if e.from.Key == "" {
		return r.noSuchKey(key)
	}
	renamed, old, inForm := r.renamed(*e.from)
	if err = cmp.Or(err, inForm); err != nil {
		return r.renameRefused(*e.from, err)
	}
	e.advice = r.advice(&formEdit{key: renamed.Key, rule: &renamed, from: e.from})
	isNew := func(now *resolver.Rule) error {
		if now == nil {
			return nil
		}
		return client.Errorf(http.StatusConflict, "there is a link with the key %s already; it leads "+
			"to %s; choose another key", renamed.Key, ruleOf(*now).To)
	}
	isSame := func(now *resolver.Rule) error {
		return cmp.Or(r.conditions.OfRule(e.key)(now), e.check(now))
	}
	edit := r.newEdit(e, live.Change{Key: renamed.Key, Rule: &renamed, If: isNew},
		live.Change{Key: e.key, Rule: old, If: isSame})
	if _, err := r.links.Apply(r.Context(), edit); err != nil {
		return r.renameRefused(*e.from, err)
	}
	return saved{layout: r.layout(), Saved: true, Key: renamed.Key, Done: "renamed",
		Digest: r.links.Serving().Digest}
}

// renamed returns a rule with the key in a form, and the rule that its old key gets, nil for none.
func (r *request) renamed(rule resolver.Rule) (
	renamed resolver.Rule, old *resolver.Rule, err error,
) {
	renamed, renamed.Position = rule, resolver.Position{}
	renamed.Key = strings.TrimPrefix(strings.TrimSpace(r.PostForm.Get(fieldNewKey)), "/")
	if renamed.Key == "" || renamed.Key == rule.Key {
		return renamed, nil, client.Errorf(http.StatusUnprocessableEntity,
			"write another key than %s into the field %s", rule.Key, fieldNewKey)
	}
	switch become := r.PostForm.Get(fieldOld); become {
	case "", oldLeads:
		// it has the same status, query mode and reach, so that clients can tell no difference
		old := schedule.Each(rule, func(r *resolver.Rule) { r.Value, r.Note = "/"+renamed.Key, "" })
		return renamed, &old, nil
	case oldGone:
		return renamed, &resolver.Rule{Key: rule.Key, Value: resolver.GoneValue, Exact: rule.Exact}, nil
	case oldFree:
		return renamed, nil, nil
	default:
		return renamed, nil, client.Errorf(http.StatusUnprocessableEntity,
			"the field old takes leads, gone or free, not %q", become)
	}
}

// renameRefused returns the form again, with why the link was not renamed.
func (r *request) renameRefused(from resolver.Rule, err error) view {
	if u, is := errors.AsType[unconfirmed](err); is {
		return r.renameView(from, u.Effects)
	}
	other, isConflict := errors.AsType[*conflict](err)
	if isConflict && other.now != nil {
		from = *other.now
	}
	v := r.renameView(from, nil)
	v.Error, v.Status = err.Error(), client.StatusOf(err)
	if isConflict {
		v.Status = http.StatusConflict
	}
	return v
}

func (renameView) template() string { return "rename" }

func (v renameView) text(w io.Writer) {
	if v.Confirm != "" {
		v.effectsView.text(w)
		return
	}
	fmt.Fprintln(w, cmp.Or(v.Error,
		"POST action=rename, new_key, old (leads, gone or free) and digest"))
}
