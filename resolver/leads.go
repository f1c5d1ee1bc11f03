package resolver

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// Lead is a way to a URL.
type Lead struct {
	// Path is that of a request, with the names of variables where it stands for many.
	Path string
	// Rule is the rule that the request matches first.
	Rule Rule
	// Destination is where the request leads.
	Destination string
}

// LeadsTo returns the ways to a URL, one for each rule that has any, unlisted ones among them, the shortest first. The URL is compared in canonical form, and its fragment where
// it has one. With below the rules count that lead to it or to something below it, whatever query and fragment they add. site is the
// origin that keys are asked for at. pause, if not nil, is called after every few hundred rules.
func (rs *Ruleset) LeadsTo(url Request, site string, below bool, pause func()) []Lead {
	l := leads{ruleset: rs, below: below, target: url.Target}
	l.origin, _ = weburl.AppendOrigin(nil, url.Scheme, url.Host)
	l.path = weburl.AppendCanonicalPath(nil, url.Target.Pathname)
	l.request.Scheme, l.request.Host, _ = strings.Cut(site, "://")
	rs.eachEntry(pause, l.add)
	for n, t := range rs.templates.all() {
		pauseAfter(n, pause)
		l.addTemplate(t)
	}
	slices.SortFunc(l.found, func(a, b Lead) int { return compareShort(a.Path, b.Path) })
	return l.found
}

// leads are the ways to a URL that have been found.
type leads struct {
	ruleset *Ruleset
	below   bool
	// origin, path, which is canonical, and target are the URL's.
	origin, path []byte
	target       weburl.Target
	request      Request // for a key
	found        []Lead
}

// add adds the way that the rule of an entry is: its key, or something below that.
func (l *leads) add(at ref) {
	var r record
	r.decode(&l.ruleset.table.arena, l.ruleset.table.arena.bytes(at))
	key := "/" + string(weburl.AppendCanonicalPath(nil, r.key)) // in which folded triplets are in upper case again
	rule := r.rule(l.ruleset.sources)
	if l.try(key, key, rule) || r.flags.has(failed) {
		return
	}
	_, base := cutOrigin(r.base)
	l.tryBelow(key, key, base, rule)
}

// tryBelow adds the way that something below a key is, whose destination has a path above the URL's.
func (l *leads) tryBelow(key, shown, destination string, rule Rule) {
	above := strings.TrimSuffix(string(weburl.AppendCanonicalPath(nil, destination)), "/")
	if rest, ok := strings.CutPrefix(string(l.path), above); ok && strings.HasPrefix(rest, "/") {
		l.try(key+rest, shown+rest, rule)
	}
}

// addTemplate adds the way that a template is: for the values that the URL has, for all, or for what is below any.
func (l *leads) addTemplate(t *templateRule) {
	sampled, ok := l.ruleset.sampleDestination(t)
	if !ok {
		return
	}
	sampled, _, _ = strings.Cut(sampled, "#")
	_, rest := cutOrigin(sampled)
	reversed := t.reversed(rest)
	var values captured
	left, matches := reversed.match(string(l.path), l.target.Search, &values)
	if matches {
		for slot := range t.names {
			values[slot] = cmp.Or(values[slot], sampleValue(slot)) // of which there is nothing in the URL
		}
		path := string(t.appendKey([]byte("/"), &values)) + left
		if l.try(path, t.asKey(path), t.rule) {
			return
		}
	}
	if l.try(t.samplePath(), "/"+t.rule.Key, t.rule) {
		return
	}
	if origin, _ := cutOrigin(sampled); l.below && origin == string(l.origin) && reversed.reaches(strings.Split(string(l.path), "/")) {
		l.found = append(l.found, Lead{"/" + t.rule.Key, t.rule, t.named(sampled)})
		return
	}
	if len(reversed.path) == 1 { // no variable is in the path
		l.tryBelow(t.samplePath(), "/"+t.rule.Key, reversed.path[0].literal, t.rule)
	}
}

// try adds a way if a request for the path is of the rule, and leads to the URL.
func (l *leads) try(path, shown string, rule Rule) bool {
	l.request.Target.Pathname = path
	destination, result := l.ruleset.AppendDestination(nil, &l.request)
	if result.Outcome != Redirect || result.Key != rule.Key || !l.isMeant(string(destination)) {
		return false
	}
	if t := l.ruleset.template(result.Rule); t != nil {
		destination = []byte(t.named(string(destination)))
	}
	l.found = append(l.found, Lead{shown, rule, string(destination)})
	return true
}

// isMeant reports whether a destination is the URL, or below it.
func (l *leads) isMeant(destination string) bool {
	u, err := weburl.Parse(destination)
	if err != nil || u.Origin() != string(l.origin) {
		return false
	}
	path := string(weburl.AppendCanonicalPath(nil, u.Path))
	if l.below {
		above := strings.TrimSuffix(string(l.path), "/")
		return path == string(l.path) || path == above || strings.HasPrefix(path, above+"/")
	}
	return path == string(l.path) && u.Search() == l.target.Search && (l.target.Hash == "" || u.Hash() == l.target.Hash)
}
