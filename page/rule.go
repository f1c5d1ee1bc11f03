package page

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/client"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// rule is a rule as views show it.
type rule struct {
	Key      string `json:"key"`
	To       string `json:"to"`
	Status   int    `json:"status,omitempty"`
	Exact    bool   `json:"exact,omitempty"`
	Unlisted bool   `json:"unlisted,omitempty"`
	Query    string `json:"query,omitempty"`
	Note     string `json:"note,omitempty"`
	Position string `json:"position,omitempty"`
	// Flags are the words that it has behind its destination.
	Flags []string `json:"-"`
}

func ruleOf(r resolver.Rule) *rule {
	return &rule{
		Key: r.Key, To: r.Value, Status: r.Status, Exact: r.Exact, Unlisted: r.Unlisted,
		Query: r.Query.String(), Note: r.Note, Position: r.Position.String(),
		Flags: rulefile.Words(r),
	}
}

// line writes a rule as a line of text.
func (r rule) line(w io.Writer) {
	fmt.Fprintln(w, strings.Join(append([]string{r.Key, r.To}, r.Flags...), " "))
}

// servingRule returns the rule that serves for a key, in any spelling.
func servingRule(ruleset *resolver.Ruleset, key string) (resolver.Rule, bool) {
	number, ok := ruleset.NumberOf(key)
	if !ok {
		return resolver.Rule{}, false
	}
	return ruleset.Numbered(number)
}

// place is where people change a rule that they cannot change on the page.
type place struct {
	// In is the position of the rule, or the name of its source.
	In string `json:"in"`
	// Text is the rule as it is written there; "" if it cannot be.
	Text string `json:"text,omitempty"`
}

// placeOf returns where a rule is changed or, if its key is new, where it is added.
func (r *request) placeOf(rule resolver.Rule) *place {
	at := rule.Position
	if serving := r.links.Serving(); at.Source == "" {
		standing, _ := servingRule(serving.Ruleset, rule.Key)
		r.links.Locate(r.Context(), serving, &standing)
		at = standing.Position
	}
	name := cmp.Or(at.Source, r.links.EditedSource())
	for _, from := range r.links.Sources {
		if name != "" && name != from.String() {
			continue
		}
		p := &place{In: cmp.Or(at.String(), from.String())}
		if legible, is := from.(source.Legible); is {
			if text, err := legible.Written(rule); err == nil {
				p.Text = text
			}
		}
		return p
	}
	inline := cmp.Or(at.String(), live.InlineSource(r.links.Name))
	return &place{"Caddy's configuration, " + inline, caddyfileLine(rule)}
}

// caddyfileLine returns a rule as a line of a Caddyfile. Its note becomes a comment.
func caddyfileLine(r resolver.Rule) string {
	words := append([]string{"rule", r.Key, r.Value}, rulefile.Words(r)...)
	for i, word := range words {
		if strings.ContainsAny(word, " \t\"`") || strings.HasPrefix(word, "#") {
			words[i] = `"` + strings.ReplaceAll(word, `"`, `\"`) + `"`
		}
	}
	if r.Note != "" {
		words = append(words, "#", printable.Text(r.Note))
	}
	return strings.Join(words, " ")
}

// origin returns scheme and host of short URLs: those of the option origin, those that the client
// has requested if the handler answers them, or a host of the handler's site.
func (r *request) origin() string {
	if r.links.Options.Origin != "" {
		return r.links.SiteOrigin()
	}
	scheme, host := client.Origin(r.Request)
	if !answers(r.links.Site.Hosts, host) {
		host = r.links.Site.Hosts[0]
	}
	origin, err := resolver.ParseOrigin(scheme + "://" + host)
	if err != nil {
		return r.links.SiteOrigin()
	}
	return origin
}

// answering returns the handlers whose sites answer at a host; all if the host is empty.
func answering(all live.Running, host string) (some live.Running) {
	for _, one := range all {
		if host == "" || answers(one.Site.Hosts, host) {
			some = append(some, one)
		}
	}
	return some
}

// answers reports whether a site with some hosts, none for any, answers at a host.
func answers(hosts []string, host string) bool {
	name := hostOf(host)
	return len(hosts) == 0 || slices.ContainsFunc(hosts, func(pattern string) bool {
		return strings.EqualFold(pattern, name) || strings.ContainsAny(pattern, "*{")
	})
}

// hostOf returns a host without its port.
func hostOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return host
}

// shortURL returns the short URL of a key.
func (r *request) shortURL(key string) string {
	return r.origin() + "/" + resolver.CanonicalKey(key, false)
}
