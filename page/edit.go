package page

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/client"
	"github.com/caddy-shortlink/shortlink/internal/effects"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/past"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// Fields of an edit's form.
const (
	fieldStatus   = "status"
	fieldExact    = "exact"
	fieldUnlisted = "unlisted"

	fieldAction  = "action"  // one of the following, or nothing to save
	fieldDigest  = "digest"  // of the rules that the form was made from
	fieldWas     = "was"     // the rule that the form was made from, as JSON; empty for none
	fieldConfirm = "confirm" // the fingerprint of effects that the user has seen

	actionRemove = "remove"
	actionCheck  = "check" // saves nothing, and shows the form with what would come of it
)

// editForm is the form to create or change a link.
type editForm struct {
	layout
	// Rule is the content of the fields.
	Rule rule `json:"rule"`
	// IsNew says that the link does not exist yet.
	IsNew bool `json:"new,omitempty"`
	// Removed says when there was such a link last, if the fields are of that.
	Removed *lastChange `json:"removed,omitempty"`
	// IsChecked says that the user has just looked at what comes of it.
	IsChecked bool `json:"-"`

	Was    string `json:"was"`
	Digest string `json:"digest"`
	// Error says why the edit was refused, or is empty.
	Error string `json:"error,omitempty"`
	// Overrides is the position of a rule that this one overrides, or empty.
	Overrides string `json:"overrides,omitempty"`
	// WhyNot says why nothing can be saved here; Place is then where to write the rule.
	WhyNot string `json:"why_not,omitempty"`
	Place  *place `json:"place,omitempty"`
	facts
}

// newForm returns the form of a new link, filled in as the query says, or with what a link was that
// had its key.
func (r *request) newForm() view {
	query := r.URL.Query()
	key := keyIn(query)
	written, _ := ruleOfForm(query, key) // what is missing is still to be written
	removed, was := (*lastChange)(nil), (*resolver.Rule)(nil)
	if _, isTaken := r.links.Serving().Written(key); len(query) == 1 && !isTaken {
		removed, was = r.removal(key)
		if removed != nil && removed.TakeBack != "" {
			removed, was = nil, nil // the form has fields for one window
		}
	}
	v := r.form(*cmp.Or(was, &written))
	v.Removed = removed
	return v
}

// form returns the form with a rule in its fields, as the request has it.
func (r *request) form(written resolver.Rule) editForm {
	v := editForm{layout: r.layout(), Rule: *ruleOf(written), IsNew: r.rest == "new",
		Was: r.PostForm.Get(fieldWas), WhyNot: r.whyNotWritable(),
		Digest: cmp.Or(r.PostForm.Get(fieldDigest), r.links.Serving().Digest)}
	v.facts = r.factsOf(v.Rule, v.IsNew)
	if v.Title = "New link"; v.IsNew {
		return v
	}
	v.Title = "Change " + v.Rule.Key
	v.WhyNot = r.whyNot(r.links.WhyNot(live.Change{Key: v.Rule.Key, Rule: new(resolver.Rule)}))
	found, _ := r.links.Serving().Written(v.Rule.Key)
	if at := found.Position.Source; v.WhyNot == "" && at != r.links.EditedSource() {
		v.Overrides = at
	}
	return v
}

// editForm returns the form to change a link.
func (r *request) editForm(key string) view {
	found, ok := r.links.Serving().Written(key)
	if !ok {
		return r.noSuchKey(key)
	}
	v := r.form(found)
	if v.Was = past.Text(&found); v.Rule.Windows != "" {
		v.Error, v.Place = severalWindows, r.placeOf(found)
	}
	return v
}

func (editForm) template() string { return "form" }

func (v editForm) text(w io.Writer) {
	if v.Error != "" {
		fmt.Fprintln(w, v.Error)
		if v.Place != nil {
			fmt.Fprintf(w, "In %s:\n%s\n", v.Place.In, v.Place.Text)
		}
		return
	}
	if v.WhyNot != "" {
		fmt.Fprintf(w, "Nothing can be saved here: %s\n", v.WhyNot)
	}
	fmt.Fprintln(w,
		"POST the fields to, status, exact, unlisted, query, note, since, until and digest to key/KEY; "+
			"for a new link, POST these and key to new")
	v.facts.text(w)
}

// ruleOfForm returns the rule in a form.
func ruleOfForm(form url.Values, key string) (resolver.Rule, error) {
	out := resolver.Rule{Key: key, Value: strings.TrimSpace(form.Get("to")), Note: form.Get("note")}
	out.Exact, _ = parseYes(form.Get(fieldExact)) // else readFields has refused it
	out.Unlisted, _ = parseYes(form.Get(fieldUnlisted))
	var errs []error
	if status := form.Get(fieldStatus); status != "" && status != "0" {
		code, ok := rulefile.ParseStatus(status)
		if !ok {
			errs = append(errs, errors.New("status "+rulefile.StatusMisuse(status)))
		}
		out.Status = code
	}
	if query := form.Get("query"); query != "" {
		mode, ok := rulefile.ParseQueryMode(query)
		if !ok {
			errs = append(errs, fmt.Errorf("query takes %s, not %q", rulefile.QueryModes, query))
		}
		out.Query = mode
	}
	w := schedule.Always(out)
	for name, limit := range map[string]*schedule.Time{"since": &w.Since, "until": &w.Until} {
		if text := strings.TrimSpace(form.Get(name)); text != "" {
			at, err := schedule.ParseTime(text)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s takes a time; %w", name, err))
			} else {
				*limit = at
			}
		}
	}
	for _, fault := range schedule.Check([]schedule.Window{w}) {
		errs = append(errs, errors.New(fault.Message))
	}
	if out.Value == "" {
		errs = append(errs, errors.New("the destination is missing: write a URL that begins with "+
			"https://, or a path of this site"))
	}
	if err := errors.Join(errs...); err != nil {
		return out, client.Errorf(http.StatusUnprocessableEntity, "%w", err)
	}
	return schedule.Join(key, out.Position, []schedule.Window{w}), nil
}

// keyIn returns the key in a form.
func keyIn(form url.Values) string {
	return strings.TrimPrefix(strings.TrimSpace(form.Get("key")), "/")
}

// edit makes or checks the edit of a form.
func (r *request) edit(key string) view {
	e := &formEdit{key: key}
	written, err := ruleOfForm(r.PostForm, key)
	action := r.PostForm.Get(fieldAction)
	switch action {
	case "", actionCheck:
		e.rule = &written
	case actionRemove:
		err = nil
	default:
		return failure(r.layout(), http.StatusBadRequest, "The field action takes remove or check, "+
			"or is left out to save, not "+action+".")
	}
	if err == nil {
		err = r.setFrom(e)
	}
	e.advice = r.advice(e)
	edit := r.newEdit(e, live.Change{Key: key, Rule: e.rule, If: func(now *resolver.Rule) error {
		err := cmp.Or(r.conditions.OfRule(key)(now), e.check(now))
		if err == nil && e.rule != nil {
			err = r.keepsWindows(now)
		}
		return err
	}})
	switch {
	case action == actionCheck:
		return r.check(written, e, edit, err)
	case err != nil:
		return r.refused(written, e, err)
	case e.rule != nil && sameContent(e.rule, e.from):
		return r.saved(e, e.from) // there is nothing to write
	}
	was, err := r.links.Apply(r.Context(), edit)
	if err != nil {
		return r.refused(written, e, err)
	}
	return r.saved(e, was[0])
}

// newEdit returns an edit by the user, under the conditions of the request, that makes changes if
// their effects are confirmed.
func (r *request) newEdit(e *formEdit, changes ...live.Change) *live.Edit {
	return &live.Edit{Changes: changes, Remote: r.RemoteAddr, User: r.user,
		IfRules: r.conditions.OfRules(), Confirm: func(f *effects.Effects) error {
			return r.confirm(e, f)
		}}
}

// formEdit is the edit of a form.
type formEdit struct {
	key  string
	rule *resolver.Rule // nil to remove it
	// isFrom says that the key's rule, in any source, must still be from; nil stands for no rule.
	isFrom bool
	from   *resolver.Rule
	advice []lint.Warning // on the rule by itself
}

// check checks that the key's rule is the one that the edit was made from.
func (e *formEdit) check(now *resolver.Rule) error {
	if !e.isFrom || sameContent(e.from, now) {
		return nil
	}
	return &conflict{e.key, now}
}

// sameContent reports whether two rules for a key, nil for none, are equal except for their
// positions.
func sameContent(a, b *resolver.Rule) bool {
	if a == nil || b == nil {
		return a == b
	}
	other := *b
	other.Key, other.Position = a.Key, a.Position
	return *a == other
}

// setFrom sets the rule that an edit was made from: the one in its form or, if a client has sent
// only the digest, the one in these rules. Without both the rule must be new, unless If-Match has
// another condition.
func (r *request) setFrom(e *formEdit) error {
	serving := r.links.Serving()
	now, isThere := serving.Written(e.key)
	digest := r.PostForm.Get(fieldDigest)
	switch was, isGiven := r.PostForm[fieldWas]; {
	case isGiven && was[0] != "":
		from, err := rulefile.ReadJSONValue(strings.NewReader(was[0]), "", e.key)
		if err != nil {
			return client.Errorf(http.StatusBadRequest, "the field %s: %w", fieldWas, err)
		}
		e.from = &from
	case isGiven: // a new rule
	case digest == "" && len(r.Header["If-Match"]) > 0:
		return nil
	case digest != "" && digest != serving.Digest:
		other := &conflict{key: e.key}
		if isThere {
			other.now = &now
		}
		return other
	case isThere && (digest != "" || e.rule == nil):
		e.from = &now
	}
	e.isFrom = true
	return nil
}

// refused returns the view of a refused edit.
func (r *request) refused(written resolver.Rule, e *formEdit, err error) view {
	if other, is := errors.AsType[*conflict](err); is {
		return r.conflict(written, e, other.now)
	}
	if u, is := errors.AsType[unconfirmed](err); is {
		return r.effects(written, e, u.Effects)
	}
	v := r.form(written)
	v.Error, v.Title, v.Status = err.Error(), "Nothing is saved yet", client.StatusOf(err)
	if v.Status == http.StatusConflict && e.rule != nil {
		v.Place = r.placeOf(written)
	}
	return v
}

// lineToCommit returns the view for readers without write access: the line to commit.
func (r *request) lineToCommit(key, why string) view {
	written, err := ruleOfForm(r.PostForm, key)
	if err != nil || r.PostForm.Get(fieldAction) == actionRemove {
		return failure(r.layout(), http.StatusForbidden, "Nothing is saved: "+why+".")
	}
	v := r.form(written)
	v.Error, v.Place = why, r.placeOf(written)
	v.Status, v.Title = http.StatusForbidden, "Nothing is saved"
	return v
}

// saved is the view after an edit.
type saved struct {
	layout
	Saved   bool   `json:"saved"`
	Key     string `json:"key,omitempty"`
	Digest  string `json:"digest"`
	Done    string `json:"done"` // made, saved, renamed, removed or taken back
	Removed *rule  `json:"removed,omitempty"`
}

// saved returns the view after an edit of a rule, which was nil for a new one.
func (r *request) saved(e *formEdit, was *resolver.Rule) view {
	v := saved{layout: r.layout(), Saved: true, Key: e.key, Digest: r.links.Serving().Digest,
		Done: "saved"}
	switch {
	case e.rule == nil:
		v.Done = "removed"
		v.Removed = ruleOf(*was)
	case was == nil:
		v.Done, v.Key = "made", e.rule.Key
		v.Status = http.StatusCreated
	}
	return v
}

func (saved) template() string { return "message" }

// location returns where a browser goes next: to the page of the key, or to the start page.
func (v saved) location() string {
	switch v.Done {
	case "taken back":
		return v.Root + "changes?done=" + v.Digest
	case "removed":
		return v.Root + "?removed=" + url.QueryEscape(v.Removed.Key)
	}
	return v.Root + keyPathWith(v.Key, "done="+v.Done)
}

func (v saved) text(w io.Writer) {
	fmt.Fprintf(w, "%s, digest %s\n", strings.TrimSpace(v.Done+" "+v.Key), v.Digest)
}
