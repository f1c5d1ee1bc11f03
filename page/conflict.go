package page

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/past"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// conflict is the error of an edit whose rule has changed since its form was made.
type conflict struct {
	key string
	now *resolver.Rule // nil for none
}

// Error names the rule of now.
func (c *conflict) Error() string {
	if c.now == nil {
		return fmt.Sprintf("the rule for the key %q is gone now; make the edit again as a new rule",
			c.key)
	}
	return fmt.Sprintf("the rule for the key %q is now %s; make the edit again, from that rule",
		c.key, past.Text(c.now))
}

// conflictView shows an edit beside the rule that somebody else has changed.
type conflictView struct {
	editForm
	Key    string `json:"key"`
	Mine   *rule  `json:"mine,omitempty"` // nil to remove it
	Theirs *rule  `json:"theirs,omitempty"`
	// Last says who was faster, if that is known.
	Last *lastChange `json:"last,omitempty"`
}

func (r *request) conflict(written resolver.Rule, e *formEdit, now *resolver.Rule) view {
	v := conflictView{editForm: r.form(written), Key: e.key}
	v.Was, v.Digest = past.Text(now), r.links.Serving().Digest // of theirs
	v.Status, v.Title = http.StatusConflict, "The link has changed meanwhile"
	v.Error = "The link " + e.key + " has changed since this form was opened. Nothing is saved."
	if last := r.links.Past().LastChange(e.key); last != nil {
		v.Last = r.lastChangeOf(last.Change, last.Kind)
	}
	if e.isFrom && e.from == nil ||
		cmp.Or(r.PostForm.Get(fieldWas), r.PostForm.Get(fieldDigest)) == "" {
		v.Title = "The key is taken"
		v.Error = "There is a link with the key " + e.key + " already. Nothing is saved."
	}
	if e.rule != nil {
		v.Mine = ruleOf(written)
	}
	if now != nil {
		v.Theirs = ruleOf(*now)
	}
	return v
}

// Rows are the fields of the rule, as the user and as somebody else wrote them.
func (v conflictView) Rows() []conflictRow {
	mine, theirs := v.Mine.fields(), v.Theirs.fields()
	for i := range mine {
		mine[i].Theirs = theirs[i].Mine
	}
	return mine
}

// conflictRow is a field of a rule in two versions.
type conflictRow struct{ Name, Mine, Theirs string }

// fields returns the fields of a rule, nil for a removed one.
func (r *rule) fields() []conflictRow {
	if r == nil {
		r = &rule{To: "removed"}
	}
	status := "default"
	if r.Status != 0 {
		status = fmt.Sprint(r.Status)
	}
	yesNo := map[bool]string{true: "yes", false: "no"}
	return []conflictRow{
		{Name: "Leads to", Mine: r.To}, {Name: "Status", Mine: status},
		{Name: "Exact", Mine: yesNo[r.Exact]}, {Name: "Unlisted", Mine: yesNo[r.Unlisted]},
		{Name: "Query", Mine: cmp.Or(r.Query, "default")}, {Name: "Note", Mine: r.Note},
		{Name: "When", Mine: cmp.Or(r.When, "always")},
	}
}

func (conflictView) template() string { return "conflict" }

func (v conflictView) text(w io.Writer) {
	fmt.Fprintln(w, v.Error)
	if v.Last != nil {
		fmt.Fprintf(w, "It was %s%s at %s.\n", v.Last.What, v.Last.By, v.Last.Time.Format(time.RFC3339))
	}
	if v.Theirs != nil {
		fmt.Fprint(w, "now:  ")
		v.Theirs.line(w)
	}
	if v.Mine != nil {
		fmt.Fprint(w, "mine: ")
		v.Mine.line(w)
	}
}
