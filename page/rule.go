package page

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/client"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/report"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
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
	// Since and Until are the limits of its window. Of several windows, Windows has the value in JSON,
	// and the fields above are of one: that which is open now, or opens next.
	Since   string `json:"since,omitempty"`
	Until   string `json:"until,omitempty"`
	Windows string `json:"windows,omitempty"`
	// When says in words when it leads where; "" for always.
	When     string `json:"when,omitempty"`
	Position string `json:"position,omitempty"`
	// Flags are the words that it has behind its destination.
	Flags []string `json:"-"`
}

func ruleOf(written resolver.Rule) *rule {
	windows, now := schedule.Split(written), schedule.At(time.Now())
	open := slices.IndexFunc(windows, func(w schedule.Window) bool { return now < w.Until })
	w := windows[max(open, 0)]
	r := w.Rule
	out := &rule{
		Key: written.Key, To: r.Value, Status: r.Status, Exact: r.Exact, Unlisted: r.Unlisted,
		Query: r.Query.String(), Note: r.Note, Position: written.Position.String(),
		When: whenOf(windows, now), Flags: rulefile.Words(r)[1:],
	}
	if len(windows) > 1 {
		out.Windows = written.Windows
	} else {
		out.Since, out.Until = w.Since.String(), w.Until.String()
	}
	return out
}

// line writes a rule as a line of text.
func (r rule) line(w io.Writer) { fmt.Fprintln(w, r.Key, r.value()) }

// value returns what a rule says, without its key and note.
func (r *rule) value() string {
	if r == nil {
		return "no rule"
	}
	words := append([]string{r.To}, r.Flags...)
	if r.When != "" {
		words = append(words, "("+r.When+")")
	}
	return strings.Join(words, " ")
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
		standing, _ := serving.Written(rule.Key)
		r.links.Locate(r.Context(), serving, &standing)
		at = standing.Position
	}
	name := cmp.Or(at.Source, r.links.EditedSource())
	for _, from := range r.links.Sources {
		if name != "" && name != from.String() {
			continue
		}
		p := &place{In: cmp.Or(at.String(), from.String())}
		if writable, is := from.(source.Writable); is {
			if text, err := writable.Written(rule); err == nil {
				p.Text = text
			}
		}
		return p
	}
	inline := cmp.Or(at.String(), report.InlineSource(r.links.Name))
	return &place{"Caddy's configuration, " + inline, caddyfileLine(rule)}
}

// caddyfileLine returns a rule as a line of a Caddyfile. Its notes become a comment.
func caddyfileLine(r resolver.Rule) string {
	words := append([]string{"rule", r.Key}, rulefile.Words(r)...)
	for i, word := range words {
		if strings.ContainsAny(word, " \t\"`") || strings.HasPrefix(word, "#") {
			words[i] = `"` + strings.ReplaceAll(word, `"`, `\"`) + `"`
		}
	}
	for _, w := range schedule.Split(r) {
		if w.Rule.Note != "" {
			words = append(words, "#", printable.Text(w.Rule.Note))
		}
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
