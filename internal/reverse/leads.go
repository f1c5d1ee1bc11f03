package reverse

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// Lead is a way to a URL.
type Lead struct {
	// Path is the path of a request. If it stands for many, it has the names of variables.
	Path string
	// Rule is the rule that the request matches first.
	Rule resolver.Rule
	// Destination is where the request leads to.
	Destination string
}

// LeadsTo finds the ways to a URL: one for each rule that has one, even if it is unlisted, the
// shortest first. The URL is compared in canonical form, with its fragment if it has one. With
// below, a rule may also lead to a URL below it, and add any query and fragment. site is the origin
// of requests for keys.
func LeadsTo(
	ruleset *resolver.Ruleset, url resolver.Request, site string, below bool,
) iter.Seq[Lead] {
	l := newLeads(ruleset, url, site, below)
	for n, d := range ruleset.Destinations() {
		switch {
		case d.Base == "":
			l.addTemplate(n, &d)
		case l.mayLead(&d):
			l.add(n, &d)
		}
	}
	slices.SortFunc(l.found, func(a, b way) int { return compareShort(a.shown, b.shown) })
	return func(yield func(Lead) bool) {
		for n, w := range l.found {
			ruleset.PauseAfter(n)
			if !yield(l.lead(w)) {
				return
			}
		}
	}
}

// leads are the ways to a URL that have been found.
type leads struct {
	ruleset *resolver.Ruleset
	below   bool
	page
	fragment string           // the URL's
	atSite   bool             // whether the URL has the site's origin
	request  resolver.Request // for a key
	scratch  []byte
	found    []way // of which there may be millions
}

// newLeads returns an empty list.
func newLeads(ruleset *resolver.Ruleset, url resolver.Request, site string, below bool) *leads {
	l := leads{ruleset: ruleset, below: below, fragment: url.Target.Hash}
	l.search = url.Target.Search
	l.origin, _ = weburl.AppendOrigin(nil, url.Scheme, url.Host)
	l.path = weburl.AppendCanonicalPath(nil, url.Target.Pathname)
	l.request.Scheme, l.request.Host, _ = strings.Cut(site, "://")
	own, ok := weburl.AppendOrigin(nil, l.request.Scheme, l.request.Host)
	l.atSite = ok && bytes.Equal(own, l.origin)
	return &l
}

// way is a short form of a [Lead].
type way struct {
	path, shown string // path is empty where a request for it would need values
	number      int    // of the rule
}

func (l *leads) lead(w way) Lead {
	rule, _ := l.ruleset.Numbered(w.number)
	var destination string
	if w.path == "" {
		t, _ := newTemplate(l.ruleset, w.number, l.request)
		destination = t.sampled
	} else {
		destination, _ = l.follow(w.path)
	}
	sample := l.ruleset.SampleOf(w.number)
	return Lead{w.shown, rule, sample.Named(destination)}
}

// follow returns where a request for a path leads to.
func (l *leads) follow(path string) (destination string, result resolver.Result) {
	l.request.Target.Pathname = path
	appended, result := l.ruleset.AppendDestination(nil, &l.request)
	return string(appended), result
}

// add adds the way of a rule without variables: its key, or something below it.
func (l *leads) add(number int, d *resolver.Destination) {
	// Folded triplets are then in upper case again.
	key := "/" + string(weburl.AppendCanonicalPath(nil, d.Key))
	if l.addIfRight(way{key, key, number}) {
		return
	}
	_, path := cutOrigin(d.Base)
	above := strings.TrimSuffix(string(weburl.AppendCanonicalPath(nil, path)), "/")
	if rest, ok := strings.CutPrefix(string(l.path), above); ok && strings.HasPrefix(rest, "/") {
		l.addIfRight(way{key + rest, key + rest, number})
	}
}

// mayLead reports whether add can find a way. It is called for every rule, so it only compares the
// beginning of the destination: following each rule takes twenty times as long.
func (l *leads) mayLead(d *resolver.Destination) bool {
	if !l.below && searchOf(d.Query) != l.search {
		return false
	}
	if strings.HasPrefix(d.Base, "/") {
		return l.atSite && l.mayMeet(d.Base)
	}
	path, ok := strings.CutPrefix(d.Base, text(l.origin))
	return ok && l.mayMeet(path)
}

// mayMeet reports whether the canonical form of a destination's path is the beginning of the URL's
// path. With below, it can also be the other way round. Up to the first "%", a path is its own
// canonical form.
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

// meets is mayMeet for the beginning of a canonical path.
func (l *leads) meets(path string) bool {
	return strings.HasPrefix(text(l.path), path) || l.below && strings.HasPrefix(path, text(l.path))
}

// addTemplate adds the way of a template, either for the values in the URL or for all values.
func (l *leads) addTemplate(number int, d *resolver.Destination) {
	t, ok := newTemplate(l.ruleset, number, l.request)
	if !ok || t.origin != string(l.origin) {
		return
	}
	rule, _ := l.ruleset.Numbered(number)
	var values values
	if left, ok := t.match(string(l.path), l.search, &values); ok {
		shown := values
		for slot, name := range namesOf(rule.Key) {
			if values[slot] == "" { // there is nothing of it in the URL
				values[slot], shown[slot] = samples[slot], "{"+name+"}"
			}
		}
		w := way{t.request(&values) + left, t.request(&shown) + left, number}
		if l.addIfRight(w) {
			return
		}
	}
	if l.below && t.reaches(string(l.path), d.Exact) {
		l.found = append(l.found, way{"", "/" + rule.Key, number})
	}
}

// addIfRight adds a way if a request for its path matches its rule and leads to the URL.
func (l *leads) addIfRight(w way) bool {
	destination, result := l.follow(w.path)
	if result.Outcome != resolver.Redirect || result.Rule != w.number || !l.isMeant(destination) {
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

// namesOf returns the names of a key's variables, with a "+" in front if they span segments.
func namesOf(key string) (names []string) {
	for _, rest := range strings.Split(key, "{")[1:] {
		expression, _, _ := strings.Cut(rest, "}")
		names = append(names, strings.Split(strings.TrimPrefix(expression, "/"), ",")...)
	}
	return names
}
