package page

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/show"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// mostLeads is how many other ways to its destination a key's page lists.
const mostLeads = 100

// keyPage is the page of a key.
type keyPage struct {
	layout
	Rule     *rule  `json:"rule"`
	ShortURL string `json:"short_url,omitempty"` // none for a template
	// Outcome says where the short URL leads, and why.
	Outcome *show.Outcome `json:"outcome,omitempty"`
	// Chain are, for a template, the rules that a request matches, in order.
	Chain []*rule `json:"chain,omitempty"`
	// Leads are the other ways to the destination; MoreLeads says that there are more.
	Leads     []show.Lead `json:"leads,omitempty"`
	MoreLeads bool        `json:"more_leads,omitempty"`
	Hits      *keyHits    `json:"hits,omitempty"` // nil if they cannot be read
	Days      []day       `json:"days,omitempty"`
	Digest    string      `json:"digest"`

	Chart *chart  `json:"-"`
	QR    *qrCode `json:"-"`
	// WhyNot says why the rule cannot be edited here, or is empty.
	WhyNot string `json:"-"`
	Notice string `json:"-"` // made or saved, a moment ago
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
	found, ok := servingRule(serving.Ruleset, key)
	if !ok {
		return r.noSuchKey(key)
	}
	v := keyPage{layout: r.layout(), Digest: serving.Digest}
	v.Title = found.Key
	v.WhyNot = r.whyNotWritable()
	if done := r.URL.Query().Get("done"); r.hasHappened(done, found.Key) {
		v.Notice = done
	}
	if resolver.IsTemplate(found.Key) {
		v.Rule, v.Chain = r.locatedChain(serving, found)
	} else {
		v.ShortURL = r.shortURL(found.Key)
		v.QR, _ = newQRCode(v.ShortURL) // a longer one has none
		outcome := show.Explain(serving.Listed(), show.Ask(v.ShortURL, r.origin()))
		r.links.Locate(r.Context(), serving, append(outcome.Rules(), &found)...)
		v.Outcome, v.Rule = &outcome, ruleOf(found)
		v.Leads, v.MoreLeads = r.firstLeads(outcome.Destination, found.Key, mostLeads)
	}
	ctx, cancel := context.WithTimeout(r.Context(), hitsTime)
	defer cancel()
	days, count, err := r.links.DaysOf(ctx, found.Key)
	r.report(err)
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

// locatedChain returns a rule with variables, and the rules that a request matches from it on, with
// their positions.
func (r *request) locatedChain(serving *live.Loaded, first resolver.Rule) (*rule, []*rule) {
	chain := serving.Ruleset.Chain(first.Key)
	all := []*resolver.Rule{&first}
	for i := range chain {
		all = append(all, &chain[i])
	}
	r.links.Locate(r.Context(), serving, all...)
	var met []*rule
	for _, one := range chain {
		met = append(met, ruleOf(one))
	}
	return ruleOf(first), met
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
	v.addSuggestions(r.links, "/"+key, "")
	return v
}

// hasHappened reports whether an edit was made a moment ago that a URL tells of: anybody can make a
// link to a page that says so.
func (r *request) hasHappened(done, key string) bool {
	kind := map[string]resolver.ChangeKind{"saved": resolver.ChangeEdited,
		"made": resolver.ChangeAdded, "removed": resolver.ChangeRemoved}[done]
	return r.links.ChangedSince(key, kind, time.Now().Add(-time.Minute))
}

// whyNotWritable says why the user cannot edit; "" if the user can.
func (r *request) whyNotWritable() string {
	if why := r.page.whyNoEdits(r.user); why != "" {
		return why
	}
	if err := r.links.WhyNotWritable(); err != nil {
		return err.Error()
	}
	return ""
}

// With returns the path of the page with a query, relative to the root.
func (v keyPage) With(query string) string { return keyPathWith(v.Rule.Key, query) }

func (keyPage) template() string { return "key" }

func (v keyPage) text(w io.Writer) {
	v.Rule.line(w)
	if v.Outcome != nil {
		fmt.Fprintln(w, v.Outcome)
		_ = show.WriteExplanation(w, *v.Outcome) // a buffer cannot fail
	}
	for _, met := range v.Chain {
		fmt.Fprintf(w, "  matches %s, which leads to %s\n", met.Key, met.To)
	}
	if v.Rule.Note != "" {
		fmt.Fprintln(w, "note:", v.Rule.Note)
	}
	if v.Hits != nil {
		v.Hits.text(w)
	}
	for _, lead := range v.Leads {
		fmt.Fprintf(w, "%s leads there, too\n", lead.Path)
	}
}

// picture answers with the QR code of a key's short URL.
func (r *request) picture(w http.ResponseWriter, key string) error {
	found, ok := servingRule(r.links.Serving().Ruleset, key)
	if !ok || resolver.IsTemplate(found.Key) {
		return r.page.write(w, r.Request, r.noSuchKey(key))
	}
	code, err := newQRCode(r.shortURL(found.Key))
	if err != nil {
		return r.page.write(w, r.Request, failure(r.layout(), http.StatusBadRequest, err.Error()))
	}
	return r.sendPicture(w, code)
}

// sendPicture sends a QR code.
func (r *request) sendPicture(w http.ResponseWriter, code *qrCode) error {
	var b bytes.Buffer
	if err := code.PNG(&b); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "image/png")
	h.Set("Content-Disposition", "attachment; filename=qr.png")
	return send(w, r.Request, http.StatusOK, b.Bytes())
}
