package page

import (
	"cmp"
	"fmt"
	"io"
	"net/http"

	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// conflict is why an edit is refused that was made of another rule than the key has now.
type conflict struct {
	key string
	now *resolver.Rule // nil for none
}

// Error says which rule there is now.
func (c *conflict) Error() string {
	if c.now == nil {
		return fmt.Sprintf("the rule for the key %q is gone by now; make the edit again as a new rule",
			c.key)
	}
	return fmt.Sprintf("the rule for the key %q is %s by now; make the edit again of that",
		c.key, live.RuleText(c.now))
}

// conflictView shows an edit beside what somebody else has made of the rule meanwhile.
type conflictView struct {
	layout
	Key    string `json:"key"`
	Error  string `json:"error"`
	Mine   *rule  `json:"mine,omitempty"` // nil to remove it
	Theirs *rule  `json:"theirs,omitempty"`
	Was    string `json:"was"` // theirs as JSON
	Digest string `json:"digest"`
}

func (r *request) conflict(written resolver.Rule, e *formEdit, now *resolver.Rule) view {
	v := conflictView{layout: r.layout(), Key: e.key, Was: live.RuleText(now),
		Digest: r.links.Serving().Digest}
	v.Status, v.Title = http.StatusConflict, "Somebody else was faster"
	v.Error = "The link " + e.key + " has changed since the form was made, and nothing is saved."
	if e.isFrom && e.from == nil ||
		cmp.Or(r.PostForm.Get(fieldWas), r.PostForm.Get(fieldDigest)) == "" {
		v.Title = "The key is taken"
		v.Error = "There is a link with the key " + e.key + " already, and nothing is saved."
	}
	if e.rule != nil {
		v.Mine = ruleOf(written)
	}
	if now != nil {
		v.Theirs = ruleOf(*now)
	}
	return v
}

// Rows are the fields of the rule, as the user and as somebody else has them.
func (v conflictView) Rows() []conflictRow {
	mine, theirs := v.Mine.fields(), v.Theirs.fields()
	for i := range mine {
		mine[i].Theirs = theirs[i].Mine
	}
	return mine
}

// conflictRow is a field of a rule in two versions.
type conflictRow struct{ Name, Mine, Theirs string }

// fields returns the fields of a rule, nil for one that is removed.
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
	}
}

func (conflictView) template() string { return "conflict" }

func (v conflictView) text(w io.Writer) {
	fmt.Fprintln(w, v.Error)
	if v.Theirs != nil {
		fmt.Fprint(w, "now:  ")
		v.Theirs.line(w)
	}
	if v.Mine != nil {
		fmt.Fprint(w, "mine: ")
		v.Mine.line(w)
	}
}
