package resolver

import (
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// sample is a path that a key matches. Its variables have values that no other key matches. The
// answer to it stands for the answers to all requests for the key.
type sample struct {
	path     string
	template *templateRule // nil for a key without variables
}

// AnySegment stands for a segment that no key has. It is U+FFFF, which is no character.
const AnySegment = "%EF%BF%BF"

// anyQuery stands for the query of a request. Its parameter has no "=", so each query mode writes
// it differently.
const anyQuery = "?" + AnySegment

// Below stands for any path below a key.
const Below = "/…"

// sampleOf returns the sample of a key without variables.
func sampleOf(key string) sample {
	return sample{path: "/" + string(weburl.AppendCanonicalPath(nil, key))}
}

// sample returns the sample of a template.
func (t *templateRule) sample() sample {
	var b strings.Builder
	for _, p := range t.segments {
		b.WriteString("/" + p.Prefix)
		if !p.IsLiteral() {
			b.WriteString(SampleValue(p.Slot) + p.Suffix)
		}
	}
	return sample{b.String(), t}
}

// SampleValue stands for a value of the variable in a slot. It contains a reserved character, so
// {x} and {+x} write it differently.
func SampleValue(slot int) string { return AnySegment + strconv.Itoa(slot) + ":" + AnySegment }

// SampleSpellings returns how {x} and {+x} write a sample value.
func SampleSpellings(slot int) (simple, reserved string) {
	reserved = SampleValue(slot)
	return strings.Replace(reserved, ":", "%3A", 1), reserved
}

// named replaces sample values in a URL with the names of their variables. A segment below the key
// becomes "…", as in [Below].
func (s *sample) named(url string) string {
	if s.template != nil {
		for slot, name := range s.template.names {
			simple, reserved := SampleSpellings(slot)
			url = strings.ReplaceAll(url, simple, "{"+name+"}")
			url = strings.ReplaceAll(url, reserved, "{+"+name+"}")
		}
	}
	return strings.ReplaceAll(url, AnySegment, "…")
}

// paths returns the paths of the three requests that stand for all requests for a key.
func (s *sample) paths() [3]string {
	return [...]string{s.path, s.path + "/", s.path + "/" + AnySegment}
}

// KeyResults are the results of requests for a key and for paths below it, unless a longer key
// matches them. A longer key that is added or removed is a change of its own.
type KeyResults struct {
	// Key is the result for the key itself, Slash for the key with a slash at its end, and Below for
	// everything else below it. The destination of Below ends in [Below], before query and fragment.
	Key, Slash, Below Result
}

// sameForClients reports whether all results are the same for clients.
func (k KeyResults) sameForClients(other KeyResults) bool {
	return k.Key.SameForClients(other.Key) && k.Slash.SameForClients(other.Slash) &&
		k.Below.SameForClients(other.Below)
}

// resultsFor returns a ruleset's results for the three requests that stand for all requests for a
// key, with a query.
func (c *compiled) resultsFor(s sample, search string) KeyResults {
	paths := s.paths()
	k := KeyResults{
		Key:   c.resultFor(paths[0], "", search),
		Slash: c.resultFor(paths[1], "", search),
		Below: c.resultFor(paths[2], "", search),
	}
	if s.template == nil && c.entryOf(string(c.opts.appendKey(nil, s.path[1:]+"/"))) != 0 {
		k.Slash = c.resultFor(s.path, "/", search) // as the longer key has that
	}
	for _, result := range [...]*Result{&k.Key, &k.Slash, &k.Below} {
		result.Destination = s.named(result.Destination)
	}
	return k
}

// modeFor returns the query mode of the rule that a pathname matches.
func (c *compiled) modeFor(pathname string) QueryMode {
	switch m := lookUp(&c.table, c.templates, pathname); {
	case m.isTemplate():
		return m.template.mode
	case m.literal.ref != 0:
		return headerOf(c.table.arena.bytes(m.literal.ref)).mode()
	}
	return QueryDefault
}

// resultFor returns the result for a pathname and a query. behind is what follows the pathname in
// the request, and nothing for an exact key. If the destination has the request's origin, it is a
// path.
func (c *compiled) resultFor(pathname, behind, search string) Result {
	if c.templates.isTooLong(pathname) {
		return Result{}.failed(ErrPathTooLong)
	}
	m := lookUp(&c.table, c.templates, pathname)
	var r record
	switch {
	case m.isSpent():
		return Result{}.failed(ErrTooManyRedirects)
	case m.isNone():
		return Result{}
	case m.isTemplate():
		var err error
		if r, err = c.recordOf(&m.template, m.effort, pathname); err != nil {
			return Result{}.failed(err)
		}
		return c.resultOf(r, m.template.remaining+behind, search)
	}
	if r.decodeAnswer(&c.table.arena, m.encoded); r.flags.has(exactKey) {
		behind = ""
	}
	return c.resultOf(r, m.literal.remaining+behind, search)
}

// resultOf returns the result of a rule for a request with a remaining path.
func (c *compiled) resultOf(r record, remaining, search string) Result {
	switch {
	case r.flags.has(noDestination):
		return c.resultWithout(&r, remaining, Result{Hops: int(r.hops)})
	case unsafePath(remaining, nil):
		return Result{}.failed(ErrUnsafePath)
	}
	r.flags &^= requestOrigin
	req := &Request{Target: weburl.Target{Search: search}}
	destination, _, err := c.appendDestination(nil, &r, remaining, req)
	if err != nil {
		return Result{}.failed(err)
	}
	return Result{
		Outcome: Redirect, Destination: string(destination), Status: r.status, Hops: int(r.hops),
	}
}
