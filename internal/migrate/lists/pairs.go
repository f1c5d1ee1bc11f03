package lists

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
)

// pairs reads paths and destinations in YAML or JSON that are not in the form of one program.
type pairs struct {
	*migrate.Table
	unknown migrate.Names // ignored members of entries
	// add adds the lines of a path and its destination. The line has everything else.
	add func(line redirects.Line, path, to string)
	// isSaid reports whether entries have a status. isOfRedocly reports whether one without a status
	// is of Redocly.
	isSaid, isOfRedocly bool
}

// newPairs returns a reader of pairs of no program.
func newPairs(t *migrate.Table) *pairs {
	return &pairs{Table: t, add: t.AddKey}
}

// readTable reads a value that holds redirects, in one of these forms:
//
//	/a: /b                      a map of paths and destinations
//	/a: {to: /b, type: 301}     a map of paths and objects, as Redocly has it
//	[{from: /a, to: /b}]        a list of objects
//	301: {/a: /b}               maps of Ghost, for each status
//	redirects: ...              one of these, among other members
func (p *pairs) readTable(table migrate.Node) {
	var others migrate.Names
	under, isGhost, members, isOfPairs := migrate.Node{}, false, 0, 0
	for key, value := range table.Inside() {
		if members++; members > 100 { // enough to know it
			break
		}
		if isPair(key, value) || strings.HasPrefix(key.Text, "/") {
			isOfPairs++
			continue
		}
		switch holds := value.Kind == '{' || value.Kind == '['; {
		case holds && key.Text == "redirects":
			under = value
		case value.Kind == '{' && (key.Text == "301" || key.Text == "302"):
			isGhost = true
		case key.Text != "":
			others.Add(key.Text)
		}
	}
	switch {
	case under.Kind != 0:
		p.RemarkSkipped("members beside \"redirects\" are", others)
		p.readTable(under)
	case isGhost:
		p.readGhost(table)
	case table.Kind == '{' && isEntry(table):
		p.readEntry(migrate.Node{}, table)
	case 2*isOfPairs < members || members == 0: // the URLs of a configuration are no redirects
		p.isSaid = true
		found := "it has " + migrate.QuoteAll(others)
		if len(others) == 0 {
			found = "it is " + describeYAML(table)
		}
		p.Wrong(table.At, "this is no table of redirects: %s, and no path with a destination; write a "+
			"line such as /old: /new for each", found)
	default:
		if isOfCanonical(table) {
			p.setCanonical()
		}
		p.readEntries(table)
	}
	p.RemarkSkipped("members without a meaning here are", p.unknown)
	p.unknown = nil
}

// finish adds the remark on what a file does not say.
func (p *pairs) finish(what string) {
	switch {
	case p.isOfRedocly:
		p.Remark("entries without a type have 301, as at Redocly; --status sets another")
	case p.Status == 0 && p.Entries() > 0 && !p.isSaid:
		p.Remark("a %s says neither the status of redirects nor what happens to queries, so the site's "+
			"settings apply; set others with --status and --query", what)
	}
}

// isPairs reports whether an object looks like a map of paths.
func isPairs(v migrate.Node) bool {
	for key, value := range v.Inside() {
		return strings.HasPrefix(key.Text, "/") && isPair(key, value)
	}
	return false
}

// isPair reports whether a member or an element looks like a redirect. Its key is 0 in a list.
func isPair(key, value migrate.Node) bool {
	isPath := key.Kind == 0 && key.Text == "" || strings.HasPrefix(key.Text, "/") ||
		strings.HasPrefix(key.Text, "^")
	return isPath && value.Kind == '{' && isEntry(value) || isText(value) && key.Text != "" &&
		(isPath || strings.HasPrefix(value.Text, "/") || migrate.IsURL(value.Text))
}

// readEntries reads the members of a map, or the elements of a list.
func (p *pairs) readEntries(table migrate.Node) {
	for key, value := range table.Inside() {
		at := cmp.Or(key.At, value.At)
		switch {
		case p.IsGivenUp(at):
			return
		case key.Kind == 'w' && key.Text == "<<":
			p.Wrong(at, "maps that are merged with \"<<\" are not converted; write out their entries")
		case table.Kind == '{' && key.At.Line > 0 && !isText(key):
			p.Wrong(at, "a path is a text, not %s", describeYAML(key))
		case value.Kind == '{':
			p.readEntry(key, value)
		case table.Kind == '[':
			p.Wrong(at, "a redirect is an object with a path and a destination, not %s",
				describeYAML(value))
		case !isText(value):
			p.Wrong(at, "the destination of %s is a text, not %s", printable.Quote(key.Text),
				describeYAML(value))
		default:
			p.add(redirects.Line{At: at}, key.Text, value.Text)
		}
	}
}

// Names of the members of an entry. A page of Jekyll has "redirect_from" and "permalink".
var (
	fromNames   = strings.Fields("from source sources loc source_path glob redirect_from")
	toNames     = strings.Fields("to destination target redirect_url url permalink")
	statusNames = strings.Fields("status statusCode status_code code type permanent")
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

// readEntry reads an object with a destination. Its path is the key, if there is one.
func (p *pairs) readEntry(key, v migrate.Node) {
	line := redirects.Line{At: cmp.Or(key.At, v.At)}
	var paths []migrate.Node
	if key.Text != "" {
		key.Kind = '"' // unset in JSON
		paths = append(paths, key)
	}
	var to migrate.Node
	for name, m := range v.Inside() {
		switch {
		case m.Kind == '[' && slices.Contains(fromNames, name.Text):
			for _, path := range m.Inside() {
				paths = append(paths, path)
			}
		case slices.Contains(fromNames, name.Text):
			paths = append(paths, m)
		case slices.Contains(toNames, name.Text):
			if to.Kind == 0 {
				to = m
			}
		case slices.Contains(statusNames, name.Text):
			p.isSaid = true
			setStatus(&line, m)
		default:
			p.unknown.Add(name.Text)
		}
	}
	if key.Text != "" && line.Status == 0 && p.Status == 0 {
		line.Status, p.isOfRedocly = 301, true
	}
	switch isNoText := func(m migrate.Node) bool { return !isText(m) }; {
	case len(paths) == 0 || slices.ContainsFunc(paths, isNoText):
		p.Wrong(line.At, "the redirect has no path, which is a text; write it as \"from\"")
	case !isText(to) && line.Answer == redirects.Leads:
		p.Wrong(line.At, "the redirect of %s has no destination, which is a text; write it as \"to\", "+
			"or "+
			"in a page as \"permalink\"",
			printable.Quote(paths[0].Text))
	default:
		for _, path := range paths {
			p.add(line, path.Text, to.Text)
		}
	}
}
