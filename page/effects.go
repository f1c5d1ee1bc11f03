package page

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/caddy-shortlink/shortlink/internal/client"
	"github.com/caddy-shortlink/shortlink/internal/effects"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/past"
	"github.com/caddy-shortlink/shortlink/internal/show"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// unconfirmed is the error of an edit whose effects the user has not seen.
type unconfirmed struct{ *effects.Effects }

// Error says what is missing.
func (u unconfirmed) Error() string { return "the effects of the edit are not confirmed" }

// confirm refuses an edit that changes other links, or that there is something to say about, unless
// its user has seen that.
func (r *request) confirm(e *formEdit, effects *effects.Effects) error {
	effects.Warnings = e.warnings(effects)
	isHarmless := effects.Count == 0 && !slices.ContainsFunc(effects.Warnings, r.isCertain)
	if isHarmless || r.PostForm.Get(fieldConfirm) == fingerprint(effects) {
		return nil
	}
	return unconfirmed{effects}
}

// isCertain reports whether a warning holds whatever else stands on the site. Without misses
// something else may answer at a dead end.
func (r *request) isCertain(w lint.Warning) bool {
	return w.Kind != lint.WarnDeadEnd || r.links.Pages != nil
}

// warnings returns what there is to say about an edit: of its rule, and of the rules with it.
func (e *formEdit) warnings(effects *effects.Effects) []lint.Warning {
	return append(slices.Clip(e.advice),
		slices.DeleteFunc(effects.Warnings, live.IsAboutTheSite)...)
}

// fingerprint returns a short text that identifies effects. It is the same for all random keys.
func fingerprint(effects *effects.Effects) string {
	sum := sha256.New()
	fmt.Fprintln(sum, show.OtherLinks(effects.Count, effects.HasMore))
	isNamed := !effects.HasMore // else another server may find others first
	if isNamed {
		fmt.Fprintln(sum, show.LinesOf(effects.Others...))
	}
	for _, w := range effects.Warnings {
		if isNamed || w.Kind != lint.WarnDeadEnd {
			fmt.Fprintln(sum, w.Kind, w.Message)
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:12])
}

// effectsView shows what an edit of a link changes, before it is made.
type effectsView struct {
	editForm
	shownEffects
	IsRemove bool              `json:"remove,omitempty"`
	Own      []show.ChangeLine `json:"-"`
}

// shownEffects are what an edit changes besides the edited links.
type shownEffects struct {
	Saved    bool          `json:"saved"`  // never
	Count    int           `json:"others"` // the number of other links that change
	HasMore  bool          `json:"more,omitempty"`
	Others   []show.Change `json:"effects"`
	Confirm  string        `json:"confirm"`
	Warnings []remark      `json:"warnings,omitempty"`
	// why the page would be hidden
	Hides []string `json:"hides_page,omitempty"`

	OtherLines []show.ChangeLine `json:"-"`
}

// shown returns effects as views show them.
func shown(f *effects.Effects) shownEffects {
	v := shownEffects{Count: f.Count, HasMore: f.HasMore, Confirm: fingerprint(f),
		Warnings: remarksOf(f.Warnings), OtherLines: show.LinesOf(f.Others...)}
	for _, other := range f.Others {
		v.Others = append(v.Others, show.ChangeOf(other))
	}
	for _, told := range v.Warnings {
		if told.IsBad {
			v.Hides = append(v.Hides, told.Message)
		}
	}
	return v
}

// effects returns the view of an edit's effects.
func (r *request) effects(written resolver.Rule, e *formEdit, f *effects.Effects) effectsView {
	v := effectsView{editForm: r.form(written), shownEffects: shown(f), IsRemove: e.rule == nil,
		Own: show.LinesOf(f.Own...)}
	v.Digest = r.links.Serving().Digest
	if e.from != nil {
		v.Was = past.Text(e.from)
	}
	v.Title, v.Status = v.Heading(), http.StatusPreconditionRequired
	return v
}

// Heading says what there is to confirm.
func (v shownEffects) Heading() string {
	switch {
	case v.Count > 0:
		return "This also changes " + v.OtherLinks()
	case v.Hides != nil:
		return "This would hide the links page"
	case v.Warnings != nil:
		return "Is this what you mean?"
	}
	return "This changes no other link"
}

// OtherLinks says how many other links change.
func (v shownEffects) OtherLinks() string { return show.OtherLinks(v.Count, v.HasMore) }

// Unnamed is how many of these links are not listed.
func (v shownEffects) Unnamed() int { return v.Count - len(v.Others) }

func (effectsView) template() string { return "effects" }

func (v effectsView) text(w io.Writer) {
	v.shownEffects.text(w)
	v.facts.text(w)
	fmt.Fprintf(w, "To save it send the same again with confirm=%s\n", v.Confirm)
}

func (v shownEffects) text(w io.Writer) {
	fmt.Fprintf(w, "%s; nothing is saved yet.\n", v.Heading())
	for _, line := range v.OtherLines {
		fmt.Fprintf(w, "  %s: was %s, now %s\n", line.Requests, line.Before, line.After)
	}
	writeRemarks(w, v.Warnings)
}

// deleteForm returns the page that asks whether to remove a link, and shows the effects.
func (r *request) deleteForm(key string) view {
	found, ok := r.links.Serving().Written(key)
	if !ok {
		return r.noSuchKey(key)
	}
	if why := r.whyNotWritable(); why != "" {
		return failure(r.layout(), http.StatusForbidden, why)
	}
	e := &formEdit{key: key, from: &found, isFrom: true}
	effects, err := r.preview(&live.Edit{Changes: []live.Change{{Key: key, If: e.check}}})
	if err != nil {
		return failure(r.layout(), client.StatusOf(err),
			"The link cannot be deleted here: "+err.Error()+".")
	}
	effects.Warnings = e.warnings(effects)
	v := r.effects(found, e, effects)
	v.Status, v.Title = http.StatusOK, "Delete "+found.Key+"?"
	return v
}

// preview returns what an edit would do. It is empty if a page of another site asks: those must
// not make users wait.
func (r *request) preview(edit *live.Edit) (*effects.Effects, error) {
	post := *r.Request
	post.Method = http.MethodPost
	if r.page.csrf.Check(&post) != nil {
		return new(effects.Effects), nil
	}
	return r.links.Preview(r.Context(), edit)
}
