package page

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/client"
	"github.com/caddy-shortlink/shortlink/internal/history"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// fieldChange is the field of a form that takes a change back: the change's ID.
const fieldChange = "change"

// changePage shows a change, and what it would do to take it back.
type changePage struct {
	layout
	shownEffects
	Change change `json:"change"`
	// WhyNot says why it cannot be taken back, or is empty.
	WhyNot string `json:"why_not,omitempty"`
	Rule   rule   `json:"-"` // none that its warnings need not name
}

// changePage returns the page of a change.
func (r *request) changePage(id string) view {
	entry, edit, err := r.reverse(id)
	if entry == nil {
		return failure(r.layout(), client.StatusOf(err), "There is no such change: "+err.Error()+".")
	}
	if why := r.whyNotWritable(); why != "" {
		err = errors.New(why)
	}
	var effects *live.Effects
	if err == nil {
		effects, err = r.preview(edit)
	}
	v := r.changeView(entry, effects, err)
	v.Status = http.StatusOK
	return v
}

// reverse returns the change with an ID, nil for none, and the edit that takes it back.
func (r *request) reverse(id string) (entry *history.Entry, edit *live.Edit, err error) {
	old, now, _ := strings.Cut(id, "-")
	if entry, err = r.links.ChangeBetween(r.Context(), old, now); err != nil {
		return nil, nil, err
	}
	if entry.Missing != "" {
		return entry, nil, client.Errorf(http.StatusConflict, "what it changed is not kept: %s",
			entry.Missing)
	}
	edit = &live.Edit{Remote: r.RemoteAddr, User: r.user, InPlace: true}
	for _, k := range entry.Keys {
		before, inBefore := live.RuleOf(k.Key, k.Before)
		after, inAfter := live.RuleOf(k.Key, k.After)
		err = errors.Join(err, inBefore, inAfter)
		edit.Changes = append(edit.Changes, live.Change{Key: k.Key, Rule: before,
			If: func(now *resolver.Rule) error { return checkUnchanged(k.Key, after, now) }})
	}
	return entry, edit, err
}

// checkUnchanged returns an error if a key's rule of now is not the one that a change has left.
func checkUnchanged(key string, left, now *resolver.Rule) error {
	switch {
	case sameContent(left, now):
		return nil
	case now == nil:
		return client.Errorf(http.StatusConflict, "the link %s has been removed since; make it again as "+
			"a new link", key)
	}
	return client.Errorf(http.StatusConflict, "the link %s has been changed since, and is %s now; edit "+
		"that link, or take that change back first", key, live.RuleText(now))
}

// changeView returns the page of a change with the effects of taking it back, or with why that is
// not possible.
func (r *request) changeView(entry *history.Entry, f *live.Effects, err error) changePage {
	v := changePage{layout: r.layout(), Change: r.changeOf(entry)}
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
	if why := r.page.whyNoEdits(r.user); why != "" {
		return failure(r.layout(), http.StatusForbidden, "Nothing has changed: "+why+".")
	}
	if r.links.Shares {
		return r.notUnique()
	}
	conditions, err := client.PreconditionsOf(r.Request)
	if err != nil {
		return failure(r.layout(), http.StatusBadRequest, err.Error()+".")
	}
	entry, edit, err := r.reverse(r.PostForm.Get(fieldChange))
	if entry == nil {
		return failure(r.layout(), client.StatusOf(err), "Nothing has changed: "+err.Error()+".")
	}
	if err == nil {
		edit.IfRules = conditions.OfRules()
		edit.Confirm = func(f *live.Effects) error { return r.confirm(new(formEdit), f) }
		_, err = r.links.Apply(r.Context(), edit)
	}
	if u, is := errors.AsType[unconfirmed](err); is {
		return r.changeView(entry, u.Effects, nil)
	}
	if err != nil {
		return r.changeView(entry, nil, err)
	}
	return takenBack{saved{layout: r.layout(), Saved: true, Done: "taken back",
		Digest: r.links.Serving().Digest}}
}

func (changePage) template() string { return "change" }

func (v changePage) text(w io.Writer) {
	v.Change.text(w)
	if v.WhyNot != "" {
		fmt.Fprintln(w, "It cannot be taken back here:", v.WhyNot)
		return
	}
	v.shownEffects.text(w)
	fmt.Fprintf(w, "To take it back, POST change=%s and confirm=%s to changes\n", v.Change.ID(), v.Confirm)
}

// takenBack is the view after a change was taken back.
type takenBack struct{ saved }

func (v takenBack) location() string { return v.Root + "changes?done=" + v.Digest }

func (v takenBack) text(w io.Writer) { fmt.Fprintf(w, "%s, digest %s\n", v.Done, v.Digest) }
