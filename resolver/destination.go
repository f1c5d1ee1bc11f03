package resolver

import (
	"bytes"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// AppendDestination resolves a request and appends its destination to dst, if the outcome is a
// redirect. Otherwise it returns dst as it was. A rule without variables allocates nothing if dst
// has room for about twice the destination.
//
// A request takes one longest-prefix match (3.3.1), one search if there are templates, and one
// construction (3.4). Only a template that leads to a path has a chain to follow.
func (rs *Ruleset) AppendDestination(dst []byte, req *Request) ([]byte, Result) {
	found, encoded := rs.table.match(req.Target.Pathname)
	if rs.templates != nil {
		if end, result, ok := rs.appendByTemplate(dst, found, req); ok {
			return end, result
		}
	}
	if found.ref == 0 {
		return dst, Result{}
	}
	var rule record
	rule.decodeAnswer(&rs.table.arena, encoded)
	result := Result{
		Outcome: Redirect, Key: rule.spelledKey(), Rule: int(found.at), Hops: int(rule.hops),
		Status: rule.status,
	}
	switch {
	case rule.flags.has(noDestination):
		return dst, rs.resultWithout(&rule, found.remaining, result)
	case unsafePath(found.remaining, dst):
		return dst, result.failed(ErrUnsafePath)
	}
	end, fragment, err := rs.appendDestination(dst, &rule, found.remaining, req)
	if err != nil {
		return dst, result.failed(err)
	}
	if isRequest(end[len(dst):fragment], end[fragment:], req) {
		return dst, Result{Key: result.Key, Rule: result.Rule, Hops: result.Hops}
	}
	return end, result
}

// Resolve resolves a Request URL. An invalid URL is an error of type [*weburl.ParseError] in the
// result.
func (rs *Ruleset) Resolve(requestURL string) Result {
	req, err := ParseRequest(requestURL)
	if err != nil {
		return Result{Outcome: Failed, Err: err}
	}
	destination, result := rs.AppendDestination(nil, &req)
	result.Destination = string(destination)
	return result
}

// resultWithout turns the result of a redirect into that of a rule without a destination. A request
// that passes at once is not checked (R14).
func (c *compiled) resultWithout(rule *record, remaining string, redirect Result) Result {
	var memory [128]byte
	switch {
	case rule.base == PassValue:
		return Result{Key: redirect.Key, Rule: redirect.Rule}
	case unsafePath(remaining, memory[:0]):
		return redirect.failed(ErrUnsafePath)
	case rule.base == GoneValue:
		redirect.Outcome, redirect.Status = Gone, 0
		return redirect
	}
	return redirect.failed(c.chains.failures[rule.failure()])
}

// appendDestination is the construction phase (3.4). It returns where the fragment begins. The
// error is ErrTooLong (R10), or ErrNoOrigin if the destination needs the request's origin and there
// is none (R2).
func (c *compiled) appendDestination(dst []byte, rule *record, remaining string, req *Request) (
	end []byte, fragment int, err error) {
	start, ok := len(dst), true
	if rule.flags.has(requestOrigin) {
		if dst, ok = weburl.AppendOrigin(dst, req.Scheme, req.Host); !ok {
			return dst, 0, ErrNoOrigin
		}
	}
	dst = append(dst, rule.base...)
	if rule.flags.has(joined) {
		dst = append(dst, remaining...)
	} else if remaining != "" {
		dst = appendAtSeam(dst, remaining)
	}
	dst = c.opts.appendQuery(dst, c.merger, rule.mode, rule.query, req.Target.Search)
	fragment = len(dst)
	if req.Target.Hash != "" {
		dst = append(dst, req.Target.Hash...)
	} else {
		dst = append(dst, rule.fragment...)
	}
	if len(dst)-start > maxDestination {
		return dst, 0, ErrTooLong
	}
	return dst, fragment, nil
}

// appendAtSeam appends a path to a base. If both have a "/" at the seam, one is removed (R6).
func appendAtSeam(base []byte, path string) []byte {
	if len(base) > 0 && base[len(base)-1] == '/' && strings.HasPrefix(path, "/") {
		path = path[1:]
	}
	return append(base, path...)
}

// isRequest reports whether a destination is the request itself (R15): its origin, pathname, search
// and hash, as 3.2 defines them, are equal. A bare "#" is no hash.
func isRequest(destination, fragment []byte, req *Request) bool {
	asked := req.asked()
	if !req.OverHTTP && string(fragment) != asked.Hash &&
		!(asked.Hash == "" && len(fragment) == 1) {
		return false
	}
	rest, ok := cutTarget(destination, asked.Pathname, asked.Search)
	if !ok {
		return false
	}
	// Hosts are compared last, because few destinations get here.
	var memory [128]byte
	origin, ok := weburl.AppendOrigin(memory[:0], req.Scheme, req.Host)
	return ok && bytes.Equal(rest, origin)
}

// asked returns the target that the client asked for.
func (req *Request) asked() *weburl.Target {
	if req.Asked.Pathname != "" {
		return &req.Asked
	}
	return &req.Target
}

// cutTarget cuts pathname and search off the end of b, if b ends in them.
func cutTarget(b []byte, pathname, search string) (origin []byte, ok bool) {
	n := len(b) - len(search)
	m := n - len(pathname)
	if m < 0 || string(b[m:n]) != pathname || string(b[n:]) != search {
		return nil, false
	}
	return b[:m], true
}
