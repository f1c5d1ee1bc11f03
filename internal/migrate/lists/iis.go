package lists

import (
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// ReadIIS reads the rewrite maps of a web.config, or of a file with them alone. The rule that names
// a map says how it redirects.
func ReadIIS(t *migrate.Table, r io.Reader) error {
	t.Program, t.Slashes = "IIS", redirects.SlashesMerged
	documents, err := t.Decode(r, t.DecodeXML)
	for _, rewrite := range documents.Inside() {
		for _, name := range []string{"configuration", "system.webServer", "rewrite"} {
			if inside := rewrite.Member(name); inside.Kind != 0 {
				rewrite = inside
			}
		}
		for key, m := range rewrite.Member("rewriteMaps").Inside() {
			if key.Text == "configSource" {
				t.Remark("the maps are in the file %s; convert that one", m)
			}
			if other := m.Member("defaultValue"); other.Text != "" {
				t.Remark("the default of a map is left out: %s; use Caddy's redir for it", other)
			}
			line, front := lineOfMap("{"+m.Member("name").Text+":{", rewrite.Member("rules"))
			for _, entry := range m.Inside() {
				if entry.Kind == '{' {
					line.At, line.To = entry.At, redirects.Literal(front+entry.Member("value").Text)
					t.AddPath(line, entry.Member("key").Text, false)
				}
			}
		}
	}
	if err == nil {
		t.Remark("of a web.config, only rewriteMaps are read, with the status of the rule that names " +
			"them; entries of others have the site's, which --status sets; IIS matches keys in " +
			"either letter case, and the option fold case does so for a site")
	}
	return err
}

// mapTarget matches where a rule redirects to: the value of a map, perhaps with something in front.
var mapTarget = regexp.MustCompile(
	`^(?:https?://\{HTTP_HOST\})?([^{}]*)\{(?:C:\d|[^{}:]+:\{[^{}]+\})\}$`)

// lineOfMap returns what the first rule that names a map says of it: a line without a path, and
// what is in front of the destinations.
func lineOfMap(name string, rules migrate.Node) (line redirects.Line, front string) {
	types := map[string]int{"": 301, "Permanent": 301, "Found": 302, "SeeOther": 303, "Temporary": 307}
	for _, rule := range rules.Inside() {
		if !mentions(rule, name) {
			continue
		}
		action := rule.Member("action")
		to := mapTarget.FindStringSubmatch(action.Member("url").Text)
		if action.Member("type").Text != "Redirect" || to == nil {
			line.Refused = errors.New("a rule does not redirect to the values of this map alone; use " +
				"Caddy's map")
			return line, ""
		}
		line.Status = types[action.Member("redirectType").Text]
		if action.Member("appendQueryString").Text == "false" {
			line.Query = resolver.QueryIgnore
		}
		return line, to[1]
	}
	return line, ""
}

// mentions reports whether a value, or one inside it, has a text.
func mentions(v migrate.Node, text string) bool {
	for _, inside := range v.Inside() {
		if mentions(inside, text) {
			return true
		}
	}
	return strings.Contains(v.Text, text)
}
