package resolver

import (
	"bytes"
	"cmp"
	"iter"
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

// LeadsTo finds the ways to a URL, one for each rule that has any, the shortest first. Unlisted
// rules are among them. The URL is compared in canonical form, and its fragment where it has one.
// With below the rules count that lead to it or to something below it, whatever query and fragment
// they add. site is the origin that keys are asked for at.
func (rs *Ruleset) LeadsTo(url Request, site string, below bool) iter.Seq[Lead] {
	l := rs.newLeads(url, site, below)
	rs.eachEntry(l.add)
	for n, t := range rs.templates.all() {
		rs.opts.pauseAfter(n)
		l.addTemplate(t)
	}
	slices.SortFunc(l.found, func(a, b way) int { return compareShort(a.shown, b.shown) })
	return func(yield func(Lead) bool) {
		for n, w := range l.found {
			rs.opts.pauseAfter(n)
			if !yield(l.lead(w)) {
				return
			}
		}
	}
}

// leads are the ways to a URL that have been found.
type leads struct {
	ruleset *Ruleset
	below   bool
	page
	fragment string  // the URL's
	atSite   bool    // whether the URL has the site's origin
	request  Request // for a key
	scratch  []byte
	found    []way // of which there may be millions
}

// newLeads returns none yet.
func (rs *Ruleset) newLeads(url Request, site string, below bool) *leads {
	l := leads{ruleset: rs, below: below, fragment: url.Target.Hash}
	l.search = url.Target.Search
	l.origin, _ = weburl.AppendOrigin(nil, url.Scheme, url.Host)
	l.path = weburl.AppendCanonicalPath(nil, url.Target.Pathname)
	l.request.Scheme, l.request.Host, _ = strings.Cut(site, "://")
	own, ok := weburl.AppendOrigin(nil, l.request.Scheme, l.request.Host)
	l.atSite = ok && bytes.Equal(own, l.origin)
	return &l
}

// way is a [Lead] in short.
type way struct {
	path, shown string        // path is empty where a request for it would need values
	at          ref           // the rule's entry, or
	template    *templateRule // the template
}

func (l *leads) rule(w way) Rule {
	if w.template != nil {
		return w.template.rule
	}
	return l.ruleset.rule(w.at)
}

func (l *leads) lead(w way) Lead {
	var destination string
	if w.path == "" {
		sampled, _ := l.ruleset.sampleDestination(w.template)
		destination, _, _ = strings.Cut(sampled, "#")
	} else {
		destination, _ = l.follow(w.path)
	}
	if w.template != nil {
		destination = (&sample{template: w.template}).named(destination)
	}
	return Lead{w.shown, l.rule(w), destination}
}

// follow returns where a request for a path leads.
func (l *leads) follow(path string) (destination string, result Result) {
	l.request.Target.Pathname = path
	appended, result := l.ruleset.AppendDestination(nil, &l.request)
	return string(appended), result
}

// add adds the way that the rule of an entry is: its key, or something below that.
func (l *leads) add(at ref) {
	var r record
	r.decodeAnswer(&l.ruleset.table.arena, l.ruleset.table.arena.bytes(at))
	if l.mayAdd(&r) {
		l.addRecord(at, &r)
	}
}

// addRecord is add for a rule that may be a way.
func (l *leads) addRecord(at ref, r *record) {
	// Folded triplets are in upper case again then.
	key := "/" + string(weburl.AppendCanonicalPath(nil, r.key))
	if w := (way{path: key, shown: key, at: at}); !l.addIfRight(w) && !r.flags.has(noDestination) {
		_, base := cutOrigin(r.base)
		l.addBelow(w, base)
	}
}

// mayAdd reports whether addRecord may find a way. It is asked of every rule, so that it only looks
// at what the destination begins with: following each takes twenty times as long.
func (l *leads) mayAdd(r *record) bool {
	if r.flags.has(noDestination) || !l.below && searchOf(r.query) != l.search {
		return false
	}
	if r.flags.has(requestOrigin) {
		return l.atSite && l.mayMeet(r.base)
	}
	path, ok := strings.CutPrefix(r.base, text(l.origin))
	return ok && l.mayMeet(path)
}

// mayMeet reports whether the canonical form of a destination's path is the beginning of the URL's
// path or, with below, the other way round. Up to the first "%" a path is its own canonical form.
func (l *leads) mayMeet(path string) bool {
	plain, encoded := cutBefore(path, '%')
	if !l.meets(plain) {
		return false
	} else if encoded == "" {
		return true
	}
	l.scratch = weburl.AppendCanonicalPath(l.scratch[:0], path)
	return l.meets(text(l.scratch))
}

// meets is mayMeet for what a canonical path begins with.
func (l *leads) meets(path string) bool {
	return strings.HasPrefix(text(l.path), path) || l.below && strings.HasPrefix(path, text(l.path))
}

// addBelow adds the way that something below a key is, whose destination has a path above the
// URL's.
func (l *leads) addBelow(w way, destination string) {
	above := strings.TrimSuffix(string(weburl.AppendCanonicalPath(nil, destination)), "/")
	if rest, ok := strings.CutPrefix(string(l.path), above); ok && strings.HasPrefix(rest, "/") {
		w.path, w.shown = w.path+rest, w.shown+rest
		l.addIfRight(w)
	}
}

// addTemplate adds the way that a template is. It is one for the values that the URL has, for all,
// or for what is below any.
func (l *leads) addTemplate(t *templateRule) {
	sampled, ok := l.ruleset.sampleDestination(t)
	if !ok {
		return
	}
	sampled, _, _ = strings.Cut(sampled, "#")
	_, rest := cutOrigin(sampled)
	reversed := t.reversed(rest)
	var values captured
	left, matches := reversed.match(string(l.path), l.search, &values)
	if matches {
		for slot := range t.names {
			// Of some there is nothing in the URL.
			values[slot] = cmp.Or(values[slot], sampleValue(slot))
		}
		path := string(t.appendCandidate(nil, &values, left))
		if l.addIfRight(way{path: path, shown: t.asKey(path), template: t}) {
			return
		}
	}
	whole := way{path: t.sample().path, shown: "/" + t.rule.Key, template: t}
	if l.addIfRight(whole) {
		return
	}
	if origin, _ := cutOrigin(sampled); l.below && origin == string(l.origin) &&
		reversed.reaches(strings.Split(string(l.path), "/")) {
		whole.path = ""
		l.found = append(l.found, whole)
		return
	}
	if len(reversed.path) == 1 { // no variable is in the path
		l.addBelow(whole, reversed.path[0].literal)
	}
}

// addIfRight adds a way if a request for its path is of its rule, and leads to the URL.
func (l *leads) addIfRight(w way) bool {
	destination, result := l.follow(w.path)
	if result.Outcome != Redirect || result.Key != l.rule(w).Key || !l.isMeant(destination) {
		return false
	}
	l.found = append(l.found, w)
	return true
}

// isMeant reports whether a destination is the URL, or below it.
func (l *leads) isMeant(destination string) bool {
	path, search, fragment := l.cutDestination(nil, destination)
	if l.below {
		above := bytes.TrimSuffix(l.path, []byte("/"))
		rest, isBelow := bytes.CutPrefix(path, above)
		return isBelow && len(path) > 0 && (len(rest) == 0 || rest[0] == '/')
	}
	return bytes.Equal(path, l.path) && search == l.search &&
		(l.fragment == "" || fragment == l.fragment)
}

// asKey puts the expressions of the key in the place of sample values in a path of a request.
func (t *templateRule) asKey(path string) string {
	for slot, name := range t.names {
		expression := "{" + name + "}"
		if t.span >= 0 && t.segments[t.span].Slot == slot {
			expression = "{+" + name + "}"
		}
		path = strings.ReplaceAll(path, sampleValue(slot), expression)
	}
	return path
}
