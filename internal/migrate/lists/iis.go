package lists

import (
	"errors"
	"io"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// ReadIIS reads the rewrite maps of a web.config, or of a file with them alone. How a map redirects
// is said by the rule that names it.
func ReadIIS(t *migrate.Table, r io.Reader) error {
	text, err := t.ReadText(r)
	if err != nil {
		return err
	}
	documents, err := t.DecodeXML(text)
	var rewrite migrate.Node
	for _, rewrite = range documents.Inside() {
		for _, name := range []string{"configuration", "system.webServer", "rewrite"} {
			if inside := rewrite.Member(name); inside.Kind != 0 {
				rewrite = inside
			}
		}
	}
	t.Program, t.Slashes = "IIS", redirects.SlashesMerged
	maps, rules := rewrite.Member("rewriteMaps"), rewrite.Member("rules")
	for key, m := range maps.Inside() {
		switch key.Text {
		case "rewriteMap":
			readRewriteMap(t, m, rules)
		case "configSource":
			t.Remark("the maps are in the file %s; convert that one", m)
		}
	}
	if rules.Kind != 0 {
		t.Remark("of the rules of the file, only what they do with its maps is read; use Caddy's redir " +
			"with a path_regexp matcher for the others")
	}
	if t.Entries() > 0 {
		t.Remark("IIS matches keys in either letter case; the option fold case does so for a site")
	} else if err == nil {
		t.Remark("there are no rewriteMaps with entries in the file")
	}
	return err
}

// redirectTypes are the statuses of a rule that redirects.
var redirectTypes = map[string]int{
	"Permanent": 301, "Found": 302, "SeeOther": 303, "Temporary": 307, "": 301,
}

// readRewriteMap reads a map. It is no table of redirects if a rule rewrites with it.
func readRewriteMap(t *migrate.Table, m, rules migrate.Node) {
	var line redirects.Line
	var refused error
	name, isNamed := m.Member("name").Text, false
	for _, rule := range rules.Inside() {
		if !mentions(rule, "{"+name+":") {
			continue
		}
		isNamed = true
		action := rule.Member("action")
		if action.Member("type").Text != "Redirect" {
			refused = errors.New("a rule of the file does not redirect with this map; use Caddy's map " +
				"and rewrite")
		}
		line.Status = redirectTypes[action.Member("redirectType").Text]
		if action.Member("appendQueryString").Text == "false" {
			line.Query = resolver.QueryIgnore
		}
	}
	if !isNamed && t.Status == 0 {
		t.Remark("no rule of the file says the status of the map %s, so the site's applies; set another "+
			"with --status", printable.Quote(name))
	}
	for key, entry := range m.Inside() {
		if key.Text != "add" {
			continue
		}
		line.At, line.Refused = entry.At, refused
		line.To = redirects.Literal(entry.Member("value").Text)
		t.AddPath(line, entry.Member("key").Text, false)
	}
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
