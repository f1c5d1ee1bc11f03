package page

import (
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
}

func ruleOf(r resolver.Rule) *rule {
	return &rule{
		Key: r.Key, To: r.Value, Status: r.Status, Exact: r.Exact, Unlisted: r.Unlisted,
		Query: r.Query.String(), Note: r.Note, Position: r.Position.String(),
	}
}

// Flags are the words that a rule has besides its destination.
func (r rule) Flags() (flags []string) {
	if r.Status != 0 {
		flags = append(flags, fmt.Sprint(r.Status))
	}
	if r.Exact {
		flags = append(flags, "exact")
	}
	if r.Unlisted {
		flags = append(flags, "unlisted")
	}
	if r.Query != "" {
		flags = append(flags, r.Query)
	}
	return flags
}

// line writes a rule as a line of text.
func (r rule) line(w io.Writer) {
	fmt.Fprintln(w, strings.Join(append([]string{r.Key, r.To}, r.Flags()...), " "))
}

// servingRule returns the rule that serves for a key, in any spelling.
func servingRule(ruleset *resolver.Ruleset, key string) (resolver.Rule, bool) {
	number, ok := ruleset.NumberOf(key)
	if !ok {
		return resolver.Rule{}, false
	}
	return ruleset.Numbered(number)
}

// writtenAs returns a rule as a line of a Caddyfile, of JSON and of CSV.
func writtenAs(r resolver.Rule) []string {
	words := append([]string{"rule", r.Key, r.Value}, ruleOf(r).Flags()...)
	lines := []string{strings.Join(words, " ")}
	if key, err := printable.JSON(r.Key); err == nil {
		lines = append(lines, string(key)+": "+live.RuleText(&r))
	}
	var b strings.Builder
	if rulefile.Write(&b, rulefile.CSV, slices.Values([]resolver.Rule{r})) == nil {
		_, line, _ := strings.Cut(b.String(), "\n") // after the header
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
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
