package page

import (
	"fmt"
	"io"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/effects"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/near"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/internal/show"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// facts are what is known of the link in a form before it is saved.
type facts struct {
	ShortURL string `json:"short_url,omitempty"` // none for a template
	// Taken is the rule that has the key of a new link.
	Taken *rule `json:"taken,omitempty"`
	// Leads are the first links that lead to the destination; MoreLeads says that there are more.
	Leads     []show.Lead `json:"leads,omitempty"`
	MoreLeads bool        `json:"more_leads,omitempty"`
	Warnings  []remark    `json:"warnings,omitempty"`
}

// remark is a warning as a form shows it.
type remark struct {
	Kind    lint.Kind `json:"kind"`
	Key     string    `json:"key,omitempty"`
	Message string    `json:"message"`
	// IsBad says that it keeps the edit from being saved, or the page from being reached.
	IsBad bool `json:"-"`
}

func remarksOf(warnings []lint.Warning) (all []remark) {
	for _, w := range warnings {
		message := strings.TrimPrefix(w.Message, "dead end: ") // as its kind says
		all = append(all, remark{w.Kind, w.Key, message, live.HidesPage(w)})
	}
	return all
}

// factsOf returns the facts of a link that is in a form.
func (r *request) factsOf(written rule, isNew bool) (f facts) {
	if written.Key != "" && !resolver.IsTemplate(written.Key) {
		f.ShortURL = r.shortURL(written.Key)
	}
	serving := r.links.Serving()
	if found, isTaken := serving.Written(written.Key); isTaken && isNew {
		f.Taken = ruleOf(found)
	}
	target := written.To
	if strings.HasPrefix(target, "/") { // then to where that leads
		target = show.OutcomeOf(serving.Ruleset, show.Ask(target, r.origin())).Destination
	}
	f.Leads, f.MoreLeads = r.firstLeads(target, written.Key, 5)
	return f
}

// text writes the facts for people at a terminal.
func (f facts) text(w io.Writer) {
	if f.Taken != nil {
		fmt.Fprint(w, "the key is taken: ")
		f.Taken.line(w)
	}
	writeRemarks(w, f.Warnings)
}

func writeRemarks(w io.Writer, all []remark) {
	for _, told := range all {
		fmt.Fprintf(w, "%s: %s\n", told.Kind, told.Message)
	}
}

// check returns the form with what would come of an edit; err says what is wrong with it.
func (r *request) check(written resolver.Rule, e *formEdit, edit *live.Edit, err error) view {
	if r.rest == "new" {
		written.Key = keyIn(r.PostForm) // which may be empty
	}
	v := r.form(written)
	v.IsChecked, v.Warnings = true, remarksOf(e.advice)
	if err == nil && v.WhyNot == "" && v.Taken == nil {
		var effects *effects.Effects
		if effects, err = r.links.Preview(r.Context(), edit); err == nil {
			v.Warnings = remarksOf(e.warnings(effects))
			if effects.Count > 0 {
				v.Warnings = append(v.Warnings, remark{Kind: "other links", Message: "this also changes " +
					show.OtherLinks(effects.Count, effects.HasMore) + ", which are shown before it is saved"})
			}
		}
	}
	if err != nil && v.Rule.To != "" { // else it is still to be written
		v.Warnings = append(v.Warnings, remark{Kind: "refused", Message: err.Error(), IsBad: true})
	}
	return v
}

// advice returns what there is to say about the rule of an edit by itself, besides the warnings of
// the ruleset with it.
func (r *request) advice(e *formEdit) (all []lint.Warning) {
	if e.rule == nil {
		return nil
	}
	serving, rule := r.links.Serving(), schedule.Split(*e.rule)[0].Rule
	alone, err := resolver.Compile([]resolver.Rule{rule}, serving.Ruleset.Options())
	if err != nil {
		return nil // it will be refused
	}
	lint.Check(alone, new(lint.List), r.hosts(), func(f lint.Finding) {
		if f.Severity != lint.SeverityNote {
			all = append(all, f.Warning)
		}
	})
	warn := func(kind lint.Kind, message string) {
		all = append(all, lint.Warning{Kind: kind, Key: e.key, Message: message})
	}
	if resolver.IsTemplate(e.key) {
		return all
	}
	if rule.Value != resolver.PassValue && leadsToItself(alone, r.shortURL(e.key)) {
		warn("leads to itself", "the destination is the link's own short URL, so whoever follows it "+
			"comes to no page; write where it is meant to lead")
	}
	if _, isThere := serving.Written(e.key); isThere {
		return all
	}
	if path, isOurs := r.pathOf(e.key); isOurs && path != "/" && !strings.Contains(e.key, "://") {
		warn(lint.WarnURLKey, "a key is the short URL without its host; write "+
			printable.Text(path[1:]))
	}
	if other := r.alike(e.key, e.from); other != "" {
		warn("nearly taken", "there is a link "+other+" already, and the two are easily "+
			"mistaken for each other; write another key, or change that link")
	}
	return all
}

// alike returns a key that is easily mistaken for another one, besides the key of a rule, which may
// be nil; "" for none.
func (r *request) alike(key string, besides *resolver.Rule) string {
	for _, other := range r.links.Serving().Suggest("/"+key, mostSuggested) {
		if (besides == nil || besides.Key != other.Key) && near.Alike(key, other.Key) {
			return other.Key
		}
	}
	return ""
}

// leadsToItself reports whether a redirect from a URL leads to that URL, with either scheme.
func leadsToItself(ruleset *resolver.Ruleset, url string) bool {
	result := ruleset.Resolve(url)
	_, from, _ := strings.Cut(url, "://")
	_, to, _ := strings.Cut(result.Destination, "://")
	return result.Outcome == resolver.Pass || from == to
}
