package page

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"

	"github.com/caddy-shortlink/shortlink/internal/client"
	"github.com/caddy-shortlink/shortlink/internal/history"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/show"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// fieldChange is the ID of the change to show, or to take back.
const fieldChange = "change"

// changePage shows a change, and what it would do to take it back.
type changePage struct {
	layout
	shownEffects
	Change change `json:"change"`
	// WhyNot says why it cannot be taken back, or is empty.
	WhyNot string `json:"why_not,omitempty"`
	Rule   rule   `json:"-"` // none, so that warnings name their keys
}

// changePage returns the page of a change.
func (r *request) changePage(id string) view {
	c, edit, err := r.reverse(id)
	if c == nil {
		return failure(r.layout(), client.StatusOf(err), err.Error())
	}
	if why := r.whyNotWritable(); why != "" {
		err = errors.New(why)
	}
	var effects *live.Effects
	if err == nil {
		effects, err = r.preview(edit)
	}
	v := r.changeView(c, effects, err)
	v.Status = http.StatusOK
	return v
}

// reverse returns the change with an ID, nil for none, and the edit that takes it back.
func (r *request) reverse(id string) (*change, *live.Edit, error) {
	all, err := r.links.History(r.Context(), "")
	at := slices.IndexFunc(all, func(e history.Entry) bool { return change{Entry: &e}.ID() == id })
	if at < 0 {
		return nil, nil, cmp.Or(err, client.Errorf(http.StatusNotFound, "there is no change %q", id))
	}
	err = r.links.AddKeys(r.Context(), all[at:at+1], math.MaxInt)
	c := r.changeOf(&all[at])
	if c.Missing != "" {
		err = client.Errorf(http.StatusConflict, "its content is missing: %s", c.Missing)
	}
	edit := &live.Edit{Remote: r.RemoteAddr, User: r.user, InPlace: true}
	for _, k := range c.Keys {
		before, inBefore := live.RuleOf(k.Key, k.Before)
		after, inAfter := live.RuleOf(k.Key, k.After)
		err = errors.Join(err, inBefore, inAfter)
		edit.Changes = append(edit.Changes, live.Change{Key: k.Key, Rule: before,
			If: func(now *resolver.Rule) error {
				if sameContent(after, now) {
					return nil
				}
				return client.Errorf(http.StatusConflict, "the link %s has changed since: its rule is %s now; "+
					"edit the link, or take its later changes back first",
					k.Key, cmp.Or(live.RuleText(now), "removed"))
			}})
	}
	return &c, edit, err
}

// changeView returns the page of a change with the effects of taking it back, or with why that is
// not possible.
func (r *request) changeView(c *change, f *live.Effects, err error) changePage {
	v := changePage{layout: r.layout(), Change: *c}
	if v.Title = "A change"; err != nil {
		v.Status, v.WhyNot = client.StatusOf(err), printable.Shorten(err).Error()
		return v
	}
	f.Warnings = new(formEdit).warnings(f)
	v.shownEffects = shown(f)
	v.Title, v.Status = "Take this change back?", http.StatusPreconditionRequired
	return v
}

// takeBack takes the change of a form back.
func (r *request) takeBack() view {
	conditions, err := client.PreconditionsOf(r.Request)
	if err != nil {
		return failure(r.layout(), http.StatusBadRequest, err.Error()+".")
	}
	c, edit, err := r.reverse(r.PostForm.Get(fieldChange))
	if c == nil {
		return failure(r.layout(), client.StatusOf(err), err.Error())
	}
	edit.IfRules = conditions.OfRules()
	edit.Confirm = func(f *live.Effects) error { return r.confirm(new(formEdit), f) }
	if err == nil {
		_, err = r.links.Apply(r.Context(), edit)
	}
	if u, is := errors.AsType[unconfirmed](err); is {
		return r.changeView(c, u.Effects, nil)
	}
	if err != nil {
		return r.changeView(c, nil, err)
	}
	return saved{layout: r.layout(), Saved: true, Done: "taken back",
		Digest: r.links.Serving().Digest}
}

func (changePage) template() string { return "change" }

func (v changePage) text(w io.Writer) {
	show.WriteEntry(w, v.Change.Entry)
	if v.WhyNot != "" {
		fmt.Fprintln(w, "It cannot be taken back here:", v.WhyNot)
		return
	}
	v.shownEffects.text(w)
	fmt.Fprintf(w, "To take it back, POST change=%s and confirm=%s\n", v.Change.ID(), v.Confirm)
}
