package lists

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Names of the members of an entry. A page of Jekyll has "redirect_from" and "permalink".
var (
	fromNames   = strings.Fields("from source sources loc source_path glob redirect_from")
	toNames     = strings.Fields("to destination target redirect_url url permalink")
	statusNames = strings.Fields("status statusCode status_code code type")
)

// isEntry reports whether an object looks like a redirect.
func isEntry(v migrate.Node) bool {
	for key, m := range v.Inside() {
		isList := m.Kind == '[' && slices.Contains(fromNames, key.Text)
		isTo := slices.Contains(toNames, key.Text) && key.Text != "url" && key.Text != "permalink"
		if isList || isText(m) && (isTo || slices.Contains(fromNames, key.Text)) {
			return true
		}
	}
	return false
}

// isText reports whether a node is a text, or can be an unquoted text.
func isText(n migrate.Node) bool { return n.Kind == '"' || n.Kind == 'w' && n.Text != "null" }

// readEntry reads an object that is a redirect. Its path is the key, if there is one.
func (p *pairs) readEntry(key, v migrate.Node) {
	o := &object{p.Table, v, redirects.Line{At: cmp.Or(key.At, v.At), Status: p.ofAll}}
	if o.Member("internal").Text == "true" {
		p.Count(o.line.At) // Next.js has made this entry itself
		return
	}
	var paths []migrate.Node
	if key.Text != "" {
		key.Kind = '"' // unset in JSON
		paths = append(paths, key)
	}
	var to migrate.Node
	var names []string
	for name, m := range v.Inside() {
		isPath, isTo := slices.Contains(fromNames, name.Text), slices.Contains(toNames, name.Text)
		switch {
		case (isPath || isTo) && slices.Contains(names, name.Text):
			o.refuse("%q is given twice; remove one of the two", name.Text)
		case isPath && m.Kind == '[':
			for _, path := range m.Inside() {
				paths = append(paths, path)
			}
		case isPath:
			paths = append(paths, m)
		case isTo && to.Kind == 0:
			to = m
		case isTo:
		case slices.Contains(statusNames, name.Text):
			setStatus(&o.line, m)
		default:
			p.readOption(o, name.Text, m)
		}
		if isPath || isTo {
			names = append(names, name.Text)
		}
	}
	p.setPermanent(o)
	p.addPairs(o, paths, to)
}

// addPairs adds the lines of an entry for each of its paths.
func (p *pairs) addPairs(o *object, paths []migrate.Node, to migrate.Node) {
	switch isNoText := func(m migrate.Node) bool { return !isText(m) }; {
	case len(paths) == 0 && o.Member("regex").Kind != 0:
		p.Wrong(o.line.At, "a rule's path is not a regular expression; %s", pathexpr.Remedy)
	case len(paths) == 0 || slices.ContainsFunc(paths, isNoText):
		p.Wrong(o.line.At, "the redirect has no path, which is a text; write it as \"source\" or "+
			"\"from\"")
	case !isText(to) && o.line.Answer == redirects.Leads:
		p.Wrong(o.line.At, "the redirect of %s has no destination, which is a text; write it as "+
			"\"destination\" or \"to\", or in a page as \"permalink\"", printable.Quote(paths[0].Text))
	default:
		for _, path := range paths {
			p.addPair(o.line, path.Text, to.Text)
		}
	}
}

// setPermanent sets the status of an entry that says whether it is permanent.
func (p *pairs) setPermanent(o *object) {
	if o.line.Status == 0 && o.Member("permanent").Kind != 0 {
		setStatus(&o.line, o.Member("permanent"))
		if p.keepsMethod {
			o.line.Status = map[int]int{301: 308, 302: 307}[o.line.Status]
		}
	}
	p.hasStatus = p.hasStatus || o.line.Status != 0 || o.line.Answer == redirects.Gone
}

// readOption reads a member that is neither path nor destination nor status.
func (p *pairs) readOption(o *object, name string, m migrate.Node) {
	switch name {
	case "has", "missing":
		o.checkConditions(name, m)
	case "env":
		o.refuse("a rule has no \"env\"; write the destination without settings of the server")
	case "query", "preserveQueryParams":
		o.line.Query = resolver.QueryIgnore
		if m.Text == "true" {
			o.line.Query = resolver.QueryPreserve
		}
		if m.Kind != 'w' || m.Text != "true" && m.Text != "false" {
			o.refuse("%q takes true or false, not %s", name, m)
		}
	case "permanent", "internal", "regex", "basePath", "locale", "caseSensitive", "sensitive":
	default:
		p.unknown.Add(name)
	}
}

// checkConditions checks conditions. A rule can express only one: that the host is the site's.
func (o *object) checkConditions(name string, m migrate.Node) {
	if m.Kind != '[' {
		o.refuse("%q takes a list, not %s", name, m)
	}
	for _, condition := range m.Inside() {
		kind, host := condition.Member("type").Text, condition.Member("value").Text
		switch {
		case name != "has" || kind != "host":
			o.refuse("a rule has no condition %q (%s); use Caddy's redir with a matcher", name,
				printable.Text(cmp.Or(kind, "?")))
		case o.HasHost(strings.ReplaceAll(host, `\.`, ".")):
			o.line.Notes = append(o.line.Notes, "the redirect is for the host "+printable.Quote(host)+
				" alone, and the rule for every host of the site")
		default:
			o.refuse("%w", migrate.OtherHostError(host))
		}
	}
}
