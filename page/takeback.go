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
	"github.com/caddy-shortlink/shortlink/internal/effects"
	"github.com/caddy-shortlink/shortlink/internal/history"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/past"
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

// changePage returns the page of a change, or takes it back for a POST.
func (r *request) changePage(id string) view {
	c, edit, err := r.reverse(id)
	if c == nil {
		return failure(r.layout(), client.StatusOf(err), err.Error())
	}
	var effects *effects.Effects
	if err == nil {
		effects, err = r.try(edit)
	}
	v := changePage{layout: r.layout(), Change: *c}
	switch {
	case err == nil && effects == nil:
		return saved{layout: r.layout(), Saved: true, Done: "taken back",
			Digest: r.links.Serving().Digest}
	case err != nil:
		v.Title, v.Status = "A change", client.StatusOf(err)
		v.WhyNot = printable.Shorten(err).Error()
	default:
		effects.Warnings = new(formEdit).warnings(effects)
		v.Title, v.Status = "Take this change back?", http.StatusPreconditionRequired
		v.shownEffects = shown(effects)
	}
	if r.Method != http.MethodPost {
		v.Status = http.StatusOK
	}
	return v
}

// try previews an edit, or makes it for a POST. It returns the effects that are to be confirmed,
// nil if it is made.
func (r *request) try(edit *live.Edit) (*effects.Effects, error) {
	if r.Method == http.MethodPost {
		_, err := r.links.Apply(r.Context(), edit)
		if u, is := errors.AsType[unconfirmed](err); is {
			return u.Effects, nil
		}
		return nil, err
	}
	if why := r.whyNotWritable(); why != "" {
		return nil, errors.New(why)
	}
	return r.preview(edit)
}

// reverse returns the change with an ID, nil for none, and the edit that takes it back.
func (r *request) reverse(id string) (*change, *live.Edit, error) {
	all, err := r.links.Past().List(r.Context(), "")
	at := slices.IndexFunc(all, func(e history.Entry) bool { return change{Entry: &e}.ID() == id })
	if at < 0 {
		return nil, nil, cmp.Or(err, client.Errorf(http.StatusNotFound, "there is no change %q", id))
	}
	err = r.links.Past().AddKeys(r.Context(), all[at:at+1], math.MaxInt)
	c := r.changeOf(&all[at])
	if c.Missing != "" {
		err = client.Errorf(http.StatusConflict, "its content is missing: %s", c.Missing)
	}
	edit := r.newEdit(new(formEdit))
	edit.InPlace = true
	for _, k := range c.Keys {
		before, invalid := past.RuleOf(k.Key, k.Before)
		err = errors.Join(err, invalid)
		edit.Changes = append(edit.Changes, live.Change{Key: k.Key, Rule: before,
			If: func(now *resolver.Rule) error {
				if isAsLeft(k, now) {
					return nil
				}
				return client.Errorf(http.StatusConflict, "the link %s has changed since: its rule is %s now; "+
					"edit the link, or take its later changes back first",
					k.Key, cmp.Or(past.Text(now), "removed"))
			}})
	}
	return &c, edit, err
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
