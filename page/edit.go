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
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// The fields of an edit's form, besides those of [rule].
const (
	fieldAction  = "action"  // actionRemove, or nothing to save
	fieldDigest  = "digest"  // of the rules that the form was made from
	fieldWas     = "was"     // the rule that the form was made from, as JSON; empty for none
	fieldConfirm = "confirm" // the fingerprint of effects that the user has seen

	actionRemove = "remove"
)

// editForm is the form to create or change a link.
type editForm struct {
	layout
	// Rule is the content of the fields.
	Rule rule `json:"rule"`
	// IsNew says that the link does not exist yet.
	IsNew  bool   `json:"new,omitempty"`
	Was    string `json:"was"`
	Digest string `json:"digest"`
	// Error says why the edit was refused, or is empty.
	Error string `json:"error,omitempty"`
	// Overrides is the position of a rule that this one overrides, or empty.
	Overrides string `json:"overrides,omitempty"`
	// WhyNot says why nothing can be saved here; Lines are then the lines to write.
	WhyNot string   `json:"why_not,omitempty"`
	Lines  []string `json:"lines,omitempty"`
}

// newForm returns the form of a new link, filled in as the query says.
func (r *request) newForm() view {
	query := r.URL.Query()
	v := editForm{layout: r.layout(), IsNew: true, Digest: r.links.Serving().Digest}
	v.Rule = rule{Key: query.Get("key"), To: query.Get("to"), Note: query.Get("note")}
	v.Title, v.WhyNot = "New link", r.whyNotWritable()
	return v
}

// editForm returns the form to change a link.
func (r *request) editForm(key string) view {
	serving := r.links.Serving()
	found, ok := servingRule(serving.Ruleset, key)
	if !ok {
		return r.noSuchKey(key)
	}
	v := editForm{layout: r.layout(), Rule: *ruleOf(found), Was: live.RuleText(&found),
		Digest: serving.Digest, WhyNot: r.whyNotWritable()}
	v.Title = "Change " + found.Key
	if err := r.links.WhyNotEditable(found.Key); err != nil && v.WhyNot == "" {
		v.WhyNot = err.Error()
	}
	if at := found.Position.Source; v.WhyNot == "" && at != r.links.EditedSource() {
		v.Overrides = at
	}
	return v
}

func (editForm) template() string { return "form" }

func (v editForm) text(w io.Writer) {
	if v.Error != "" {
		fmt.Fprintln(w, v.Error)
		for _, line := range v.Lines {
			fmt.Fprintln(w, line)
		}
		return
	}
	if v.WhyNot != "" {
		fmt.Fprintf(w, "Nothing can be saved here: %s\n", v.WhyNot)
	}
	fmt.Fprintln(w,
		"POST the fields to, status, exact, unlisted, query, note and digest to key/KEY; for a "+
			"new link, POST these and key to new")
}

// Statuses are the statuses of rules.
func (editForm) Statuses() []statusChoice {
	return []statusChoice{
		{0, "default of the handler"},
		{301, "301, permanent"},
		{302, "302, temporary"},
		{303, "303, see other"},
		{307, "307, temporary, keeps the method"},
		{308, "308, permanent, keeps the method"},
	}
}

// statusChoice is a status to choose.
type statusChoice struct {
	Code int
	Text string
}

// Queries are the query modes of rules.
func (editForm) Queries() []string { return resolver.QueryModeNames() }

// ruleOfForm returns the rule in a form.
func ruleOfForm(form url.Values, key string) (resolver.Rule, error) {
	out := resolver.Rule{
		Key: key, Value: strings.TrimSpace(form.Get("to")), Note: form.Get("note"),
		Exact: isSet(form, "exact"), Unlisted: isSet(form, "unlisted"),
	}
	var errs []error
	if status := form.Get("status"); status != "" && status != "0" {
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
	if out.Value == "" {
		errs = append(errs, errors.New("the destination is missing: write a URL that begins with "+
			"https://, or a path of this site"))
	}
	return out, errors.Join(errs...)
}

// isSet reports whether a field of a form says yes.
func isSet(form url.Values, name string) bool {
	value := form.Get(name)
	return value != "" && value != "false" && value != "0" && value != "off" && value != "no"
}

// edit makes the edit of a form.
func (r *request) edit(key string) view {
	if key == "" {
		return r.refused(resolver.Rule{}, nil, client.Errorf(http.StatusUnprocessableEntity,
			"the key is missing: write the path of the short URL, such as docs or team/handbook"))
	}
	if r.links.Shares {
		return failure(r.layout(), http.StatusConflict, "Several handlers are called "+
			r.links.PublicName()+"; give each a name.")
	}
	conditions, err := client.PreconditionsOf(r.Request)
	if err != nil {
		return failure(r.layout(), http.StatusBadRequest, err.Error()+".")
	}
	e := &formEdit{key: key}
	written, err := ruleOfForm(r.PostForm, key)
	switch action := r.PostForm.Get(fieldAction); {
	case action != "" && action != actionRemove:
		return failure(r.layout(), http.StatusBadRequest,
			"The field action takes remove, or is left out to save, not "+action+".")
	case action == "":
		if e.rule = &written; err != nil {
			return r.refused(written, e, client.Errorf(http.StatusUnprocessableEntity, "%w", err))
		}
	}
	if err := r.setFrom(e); err != nil {
		return r.refused(written, e, err)
	}
	if e.rule != nil && sameContent(e.rule, e.from) {
		return r.saved(e, e.from) // there is nothing to write
	}
	change := live.Change{Key: key, Rule: e.rule, If: func(now *resolver.Rule) error {
		return cmp.Or(conditions.OfRule(key)(now), e.check(now))
	}}
	edit := &live.Edit{
		Changes: []live.Change{change}, Remote: r.RemoteAddr, User: r.user, Confirm: r.confirm,
		IfRules: conditions.OfRules(),
	}
	was, err := r.links.Apply(r.Context(), edit)
	if err != nil {
		return r.refused(written, e, err)
	}
	return r.saved(e, was[0])
}

// formEdit is the edit of a form.
type formEdit struct {
	key  string
	rule *resolver.Rule // nil to remove it
	// isFrom says that the key's rule, in any source, must still be from; nil stands for no rule.
	isFrom bool
	from   *resolver.Rule
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
	now, isThere := servingRule(serving.Ruleset, e.key)
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
	status := client.StatusOf(err)
	v := editForm{layout: r.layout(), Rule: *ruleOf(written), Error: err.Error(),
		Digest: r.PostForm.Get(fieldDigest), Was: r.PostForm.Get(fieldWas)}
	v.IsNew = v.Was == ""
	v.layout.Status, v.Title = status, "Nothing is saved yet"
	if status == http.StatusConflict && e != nil && e.rule != nil {
		v.Lines = writtenAs(written)
	}
	return v
}

// lineToCommit returns the view for readers without write access: the line to commit.
func (r *request) lineToCommit(key, why string) view {
	written, err := ruleOfForm(r.PostForm, key)
	if err != nil || r.PostForm.Get(fieldAction) != "" {
		return failure(r.layout(), http.StatusForbidden, "Nothing is saved: "+why+".")
	}
	v := editForm{layout: r.layout(), Rule: *ruleOf(written), Error: why,
		Digest: r.PostForm.Get(fieldDigest), Was: r.PostForm.Get(fieldWas), Lines: writtenAs(written)}
	v.IsNew = r.rest == "new"
	v.layout.Status, v.Title = http.StatusForbidden, "Nothing is saved"
	return v
}

// saved is the view after an edit.
type saved struct {
	layout
	Saved   bool   `json:"saved"`
	Key     string `json:"key"`
	Digest  string `json:"digest"`
	Done    string `json:"done"` // made, saved or removed
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
	if v.Done == "removed" {
		return v.Root + "?removed=" + url.QueryEscape(v.Key)
	}
	return v.Root + keyPathWith(v.Key, "done="+v.Done)
}

func (v saved) text(w io.Writer) { fmt.Fprintf(w, "%s %s, digest %s\n", v.Done, v.Key, v.Digest) }
