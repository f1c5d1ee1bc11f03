package page

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/near"
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
	// Also says what changes besides the link.
	Also string `json:"-"`
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
		all = append(all, remark{w.Kind, w.Key, w.Message, live.HidesPage(w)})
	}
	return all
}

// fewLeads is how many links a form names that lead to its destination.
const fewLeads = 5

// factsOf returns the facts of a link that is in a form.
func (r *request) factsOf(written rule, isNew bool) (f facts) {
	if written.Key != "" && !resolver.IsTemplate(written.Key) {
		f.ShortURL = r.shortURL(written.Key)
	}
	serving := r.links.Serving()
	if found, isTaken := servingRule(serving.Ruleset, written.Key); isTaken && isNew {
		f.Taken = ruleOf(found)
	}
	target := written.To
	if strings.HasPrefix(target, "/") { // what else leads to where it leads in the end
		outcome := show.OutcomeOf(serving.Ruleset, show.Ask(target, r.origin()))
		target = outcome.Destination
	}
	f.Leads, f.MoreLeads = r.firstLeads(target, written.Key, fewLeads)
	return f
}

// text writes the facts for people at a terminal.
func (f facts) text(w io.Writer) {
	if f.Taken != nil {
		fmt.Fprint(w, "the key is taken: ")
		f.Taken.line(w)
	}
	for _, lead := range f.Leads {
		fmt.Fprintf(w, "%s leads there already\n", lead.Path)
	}
	for _, told := range f.Warnings {
		fmt.Fprintf(w, "%s: %s\n", told.Kind, told.Message)
	}
	if f.Also != "" {
		fmt.Fprintln(w, f.Also)
	}
}

// check returns the form with what would come of an edit; err says what is wrong with it.
func (r *request) check(written resolver.Rule, e *formEdit, edit *live.Edit, err error) view {
	shown := written
	shown.Key = keyIn(r.PostForm)
	if r.rest != "new" {
		shown.Key = written.Key
	}
	v := r.form(shown)
	e.advice = r.advice(e)
	v.Warnings = remarksOf(e.advice)
	if err == nil && v.WhyNot == "" && v.Taken == nil {
		var effects *live.Effects
		if effects, err = r.links.Preview(r.Context(), edit); err == nil {
			v.Warnings, v.Also = remarksOf(e.warnings(effects)), alsoChanged(effects.Count)
		}
	}
	if err != nil && written.Value != "" { // else it is still to be written
		v.Warnings = append(v.Warnings, remark{Kind: "refused", Message: err.Error(), IsBad: true})
	}
	return v
}

// What the page warns of, beyond what concerns the rules together.
const (
	warnNear   lint.Kind = "nearly taken"
	warnItself lint.Kind = "leads to itself"
)

// advice returns what there is to say about the rule of an edit by itself. Its errors refuse it.
func (r *request) advice(e *formEdit) (all []lint.Warning) {
	if e.rule == nil {
		return nil
	}
	warn := func(kind lint.Kind, message string) {
		all = append(all, lint.Warning{Kind: kind, Key: e.key, Message: message})
	}
	serving := r.links.Serving()
	options := serving.Ruleset.Options()
	alone, err := resolver.Compile([]resolver.Rule{*e.rule}, options)
	if err != nil {
		return nil
	}
	lint.Check(alone, new(lint.List), r.hosts(), func(f lint.Finding) {
		if f.Severity != lint.SeverityNote {
			all = append(all, f.Warning)
		}
	})
	isPass := e.rule.Value == resolver.PassValue || resolver.IsTemplate(e.key)
	if !isPass && leadsToItself(alone, r.shortURL(e.key)) {
		warn(warnItself, "the destination is the link's own short URL, so whoever follows it comes "+
			"to no page; write where it is meant to lead")
	}
	if other := r.nearlyTaken(e); other != "" {
		warn(warnNear, "there is a link "+other+" already, and the two are easily mistaken for each "+
			"other; write another key, or change that link")
	}
	return all
}

// leadsToItself reports whether a redirect from a URL leads to that URL, with either scheme.
func leadsToItself(ruleset *resolver.Ruleset, url string) bool {
	result := ruleset.Resolve(url)
	_, from, _ := strings.Cut(url, "://")
	_, to, _ := strings.Cut(result.Destination, "://")
	return result.Outcome == resolver.Pass || from == to
}

// mostSearched is how many keys are looked at one by one.
const mostSearched = 10_000

// nearlyTaken returns the key of another link that is nearly the one of a new link, or "". An index
// of many keys is made when it is first needed, and finds nothing until then.
func (r *request) nearlyTaken(e *formEdit) string {
	if e.from != nil || resolver.IsTemplate(e.key) {
		return ""
	}
	suggest := r.links.Suggest
	if listed := r.links.Serving().Listed(); listed.Len() <= mostSearched {
		suggest = listed.Suggest
	}
	others := suggest("/"+e.key, mostSuggested)
	i := slices.IndexFunc(others, func(other resolver.Rule) bool {
		return nearlySame(plainKey(e.key), plainKey(other.Key))
	})
	if i < 0 {
		return ""
	}
	return others[i].Key
}

// nearlySame reports whether two texts are equal, or differ in a letter of a word.
func nearlySame(a, b string) bool {
	slips, isNear := near.NewSlips(), a == b
	slips.Add(a)
	slips.Find(b, func(int) { isNear = true })
	return isNear
}

// plainKey returns a key as people remember it: without case, hyphens and underscores.
func plainKey(key string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(string(near.AppendForm(nil, key)))
}
