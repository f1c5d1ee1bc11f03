package page

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/show"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/uritemplate"
)

// mostLeads is how many other ways to its destination a key's page lists.
const mostLeads = 100

// keyPage is the page of a key.
type keyPage struct {
	layout
	Rule     *rule  `json:"rule"`
	ShortURL string `json:"short_url,omitempty"` // none for a template
	// Outcome says where the short URL leads, and why; for a template with these values.
	Outcome *show.Outcome `json:"outcome"`
	Values  []variable    `json:"values,omitempty"`
	// Leads are the other ways to the destination; MoreLeads says that there are more.
	Leads     []show.Lead `json:"leads,omitempty"`
	MoreLeads bool        `json:"more_leads,omitempty"`
	Hits      *keyHits    `json:"hits,omitempty"` // nil if they cannot be read
	Days      []day       `json:"days,omitempty"`
	Digest    string      `json:"digest"`
	// WhyNot says why the rule cannot be edited here, WhyNotRemove why it cannot be removed; empty if
	// it can be. Place is where to do it otherwise.
	WhyNot       string `json:"why_not,omitempty"`
	WhyNotRemove string `json:"why_not_remove,omitempty"`
	Place        *place `json:"place,omitempty"`
	// Changes are the last changes of the key; MoreChanges says that there are more.
	Changes     []change `json:"changes,omitempty"`
	MoreChanges bool     `json:"more_changes,omitempty"`

	Chart  *chart  `json:"-"`
	QR     *qrCode `json:"-"`
	Notice string  `json:"-"` // what an edit has come to a moment ago
}

// variable is a variable of a template, with the value to try.
type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// keyHits are how often a link was used, and when last.
type keyHits struct {
	Count uint64    `json:"count"`
	Last  time.Time `json:"last,omitzero"`
}

func (h *keyHits) text(w io.Writer) {
	fmt.Fprint(w, redirects(h.Count))
	if h.Count > 0 {
		fmt.Fprint(w, ", last at ", h.Last.Format(time.RFC3339))
	}
	fmt.Fprintln(w)
}

// keyPage returns the page of a key.
func (r *request) keyPage(key string) view {
	serving := r.links.Serving()
	found, ok := serving.Written(key)
	if !ok {
		return r.noSuchKey(key)
	}
	v := keyPage{layout: r.layout(), Digest: serving.Digest}
	v.Title = found.Key
	if done := r.URL.Query().Get("done"); r.hasHappened(done, found.Key) {
		v.Notice = done
	}
	if resolver.IsTemplate(found.Key) {
		v.Values = r.valuesOf(found.Key)
		v.Outcome = r.explain(r.origin()+"/"+expand(found.Key, v.Values), &found)
	} else {
		v.ShortURL = r.shortURL(found.Key)
		v.QR, _ = newQRCode(v.ShortURL)   // a longer one has none
		leads := v.addLeads(r, found.Key) // it looks at all rules, as what follows does
		v.Outcome = r.explain(v.ShortURL, &found)
		leads.Wait()
	}
	v.Rule = ruleOf(found)
	v.addWhyNot(r, found)
	var err error
	v.Changes, v.MoreChanges, err = r.changes(found.Key, 0, changesOfKey)
	r.report("changes", err)
	ctx, cancel := context.WithTimeout(r.Context(), storageTime)
	defer cancel()
	days, count, err := r.links.Hits().DaysOf(ctx, resolver.CanonicalKey(found.Key,
		r.links.Options.FoldCase))
	r.report("hits", err)
	if v.Days = dayCounts(days); len(days) > 0 {
		v.Chart = newChart("key", "Redirects per day", days)
	}
	if err == nil {
		v.Hits = &keyHits{Count: count.N}
		if count.N > 0 {
			v.Hits.Last = count.Time()
		}
	}
	return v
}

// addWhyNot adds why the rule of a page cannot be edited or removed here, and where it can be.
func (v *keyPage) addWhyNot(r *request, found resolver.Rule) {
	v.WhyNotRemove = r.whyNot(r.links.WhyNot(live.Change{Key: found.Key}))
	if v.WhyNotRemove != "" {
		v.WhyNot = r.whyNot(r.links.WhyNot(live.Change{Key: found.Key, Rule: new(resolver.Rule)}))
		v.Place = r.placeOf(found)
	}
}

// valuesOf returns the variables of a template with the values to try: those in the request, or
// their names as an example.
func (r *request) valuesOf(key string) (all []variable) {
	template, err := uritemplate.Parse(key)
	if err != nil {
		return nil
	}
	query := r.URL.Query()
	for _, name := range template.Names() {
		value := name
		if field := "value." + name; query.Has(field) {
			value = strings.TrimSpace(query.Get(field))
		}
		all = append(all, variable{name, value})
	}
	return all
}

// expand returns the path of a template with values.
func expand(key string, with []variable) string {
	values := map[string]uritemplate.Value{}
	for _, v := range with {
		values[v.Name] = uritemplate.String(v.Value)
	}
	template, err := uritemplate.Parse(key)
	if err != nil {
		return key
	}
	path, _ := template.Expand(values) // texts are no prefixes of lists
	return path
}

// addLeads begins to add the other ways to where a short URL leads. Wait returns when it is done.
func (v *keyPage) addLeads(r *request, key string) *sync.WaitGroup {
	asked := show.OutcomeOf(r.links.Serving().Ruleset, show.Ask(v.ShortURL, r.origin()))
	var leads sync.WaitGroup
	leads.Go(func() { v.Leads, v.MoreLeads = r.firstLeads(asked.Destination, key, mostLeads) })
	return &leads
}

// firstLeads returns the first ways to a URL, other than by a key, and whether there are more.
func (r *request) firstLeads(target, key string, most int) (first []show.Lead, hasMore bool) {
	if target == "" {
		return nil, false
	}
	select {
	case r.page.leads <- struct{}{}:
		defer func() { <-r.page.leads }()
	default:
		return nil, true // a search lists them
	}
	leads, err := r.leadsTo(target)
	if err != nil {
		return nil, false // there are none
	}
	for lead := range leads.All {
		if lead.Key == key {
			continue
		}
		if len(first) == most {
			return first, true
		}
		first = append(first, lead)
	}
	return first, false
}

// noSuchKey is the page of a key without a rule.
func (r *request) noSuchKey(key string) view {
	v := missing{layout: r.layout(), Key: key, Text: "There is no link with the key " + key + "."}
	v.Status, v.Title = http.StatusNotFound, "No such link"
	v.Removed, _ = r.removal(key)
	v.addSuggestions(r.links, "/"+key, "")
	return v
}

// hasHappened reports whether an edit was made a moment ago that a URL tells of: anybody can make a
// link to a page that says so.
func (r *request) hasHappened(done, key string) bool {
	kind := map[string]resolver.ChangeKind{
		"saved": resolver.ChangeEdited, "made": resolver.ChangeAdded,
		"renamed": resolver.ChangeAdded, "removed": resolver.ChangeRemoved,
	}[done]
	return r.links.Past().IsChangedSince(key, kind, time.Now().Add(-time.Minute))
}

// whyNotWritable says why the user cannot edit; "" if the user can.
func (r *request) whyNotWritable() string { return r.whyNot(r.links.WhyNotWritable()) }

// whyNot says why the user cannot make an edit, which may be refused by the links; "" if not.
func (r *request) whyNot(refused error) string {
	why := r.page.whyNoEdits(r.user)
	if why == "" && refused != nil {
		return refused.Error()
	}
	return why
}

// With returns the path of the page with a query, relative to the root.
func (v keyPage) With(query string) string { return keyPathWith(v.Rule.Key, query) }

func (keyPage) template() string { return "key" }

func (v keyPage) text(w io.Writer) {
	v.Rule.line(w)
	fmt.Fprintln(w, v.Outcome)
	_ = show.WriteExplanation(w, *v.Outcome) // a buffer cannot fail
	if v.Rule.Note != "" {
		fmt.Fprintln(w, "note:", v.Rule.Note)
	}
	if v.Hits != nil {
		v.Hits.text(w)
	}
	for _, lead := range v.Leads {
		fmt.Fprintf(w, "%s leads there, too\n", lead.Path)
	}
	for _, c := range v.Changes {
		show.WriteEntry(w, c.Entry)
	}
	if v.WhyNotRemove != "" {
		fmt.Fprintf(w, "not edited here: %s\nin %s: %s\n", v.WhyNotRemove, v.Place.In, v.Place.Text)
	}
}

// picture answers with the QR code of a key's short URL as a file.
func (r *request) picture(w http.ResponseWriter, key, format string) error {
	found, ok := r.links.Serving().Written(key)
	if !ok || resolver.IsTemplate(found.Key) {
		return r.page.write(w, r.Request, r.noSuchKey(key))
	}
	code, err := newQRCode(r.shortURL(found.Key))
	if err != nil {
		return r.page.write(w, r.Request, failure(r.layout(), http.StatusBadRequest, err.Error()))
	}
	var b bytes.Buffer
	if format == "svg" {
		err = templates.ExecuteTemplate(&b, "qr", code)
	} else {
		err = code.PNG(&b)
	}
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", pictureTypes[format])
	h.Set("Content-Disposition", mime.FormatMediaType("attachment",
		map[string]string{"filename": fileNameOf(found.Key) + "." + format}))
	return send(w, r.Request, http.StatusOK, b.Bytes())
}
