package command

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/rewrite"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// Way is a way on which requests come to a handler: the site, and what stands in front of the
// handler and looks at paths or changes them. The zero value lets all requests through.
//
// What is not known of a way counts as letting a request through.
type Way struct {
	hosts []string // of the site, none for any
	gates []gate   // from the outside in
	// isHidden is set where the first gate does not see the path that a client asks for.
	isHidden bool
}

// gate is a path matcher, with patterns of which a path has to match one, or a prefix that is cut
// off the paths that have it.
type gate struct {
	patterns []string
	prefix   string
}

// At returns the way at a site with the hosts of host matchers, none for any.
func (w Way) At(hosts []string) Way {
	w.hosts = slices.Clone(hosts)
	for i, host := range hosts {
		if u, err := weburl.Parse("http://" + host); err == nil {
			w.hosts[i] = u.Host // as URLs spell it
		}
	}
	return w
}

// Through returns the way that goes on through a path matcher.
func (w Way) Through(patterns []string) Way { return w.through(gate{patterns: patterns}) }

// WithoutPrefix returns the way that goes on where a prefix is cut off paths.
func (w Way) WithoutPrefix(prefix string) Way {
	prefix = "/" + strings.TrimPrefix(prefix, "/")
	// one that follows another would double the paths that may lead to a key
	isFirst := len(w.gates) == 0 || w.gates[len(w.gates)-1].patterns != nil
	if !isFirst || strings.ContainsFunc(prefix, isSpecial) {
		return w.Rewritten()
	}
	return w.through(gate{prefix: prefix})
}

// isSpecial reports whether Caddy may not compare a character of a prefix by itself.
func isSpecial(c rune) bool {
	return !strings.ContainsRune("/-._~", c) && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z')
}

func (w Way) through(g gate) Way {
	w.gates = append(slices.Clip(w.gates), g)
	return w
}

// Rewritten returns the way that goes on where paths are changed, nobody knows how.
func (w Way) Rewritten() Way { return Way{hosts: w.hosts, isHidden: true} }

// takesHost reports whether requests for a host, as URLs spell it, come on this way.
func (w Way) takesHost(host string) bool {
	return len(w.hosts) == 0 || slices.ContainsFunc(w.hosts, func(pattern string) bool {
		return strings.Contains(pattern, "{") || matchesHost(pattern, host)
	})
}

// matchesHost reports whether a host is that of a pattern, where "*" stands for one label.
func matchesHost(pattern, host string) bool {
	if !strings.Contains(pattern, "*") {
		return strings.EqualFold(pattern, host)
	}
	isLabel := func(own, label string) bool { return own == "*" || strings.EqualFold(own, label) }
	return slices.EqualFunc(strings.Split(pattern, "."), strings.Split(host, "."), isLabel)
}

// arrive returns the path with which a request for a path comes to the handler, or the matcher that
// keeps it away. Both are what Caddy's own matchers and rewrites say.
func (w Way) arrive(path string) (arriving string, keptBy *gate) {
	u, err := url.ParseRequestURI(path)
	if err != nil || w.isHidden {
		return path, nil
	}
	replacer := caddy.NewEmptyReplacer()
	r := &http.Request{URL: u, RequestURI: path}
	r = r.WithContext(context.WithValue(context.Background(), caddy.ReplacerCtxKey, replacer))
	for i, g := range w.gates {
		if g.patterns == nil {
			rewrite.Rewrite{StripPathPrefix: g.prefix}.Rewrite(r, replacer)
		} else if !g.takes(r) {
			return "", &w.gates[i]
		}
	}
	return r.RequestURI, nil
}

// takes reports whether a path matcher takes a request. What is in placeholders is not known.
func (g *gate) takes(r *http.Request) bool {
	matcher := caddyhttp.MatchPath(slices.Clone(g.patterns))
	_ = matcher.Provision(caddy.Context{}) // never fails
	return strings.Contains(strings.Join(matcher, ""), "{") || matcher.Match(r)
}

// matcherAgainst returns the matcher that keeps away all requests which would come to the handler
// with one of some paths, or nil.
func (w Way) matcherAgainst(paths pathSet) *gate {
	for i, g := range slices.Backward(w.gates) {
		if g.patterns == nil {
			paths = paths.withPrefix(strings.TrimSuffix(g.prefix, "/"))
		} else if paths = paths.matching(g.patterns); paths.isEmpty() {
			return &w.gates[i]
		}
	}
	return nil
}

// shownPatterns is how many patterns of a matcher are named.
const shownPatterns = 5

// String says what a path matcher takes.
func (g *gate) String() string {
	named := strings.Join(g.patterns[:min(len(g.patterns), shownPatterns)], ", ")
	if more := len(g.patterns) - shownPatterns; more > 0 {
		named += " and " + printable.Count(more, "other path")
	}
	return "a path matcher in front of it takes " + named + " alone"
}

// pathSet is a set of paths as path matchers compare them: decoded and in lower case. It has at
// least those that are meant.
type pathSet struct {
	paths      []string
	beginnings []string // with anything behind them
}

func (s pathSet) isEmpty() bool { return len(s.paths)+len(s.beginnings) == 0 }

// anyPath are all paths.
func anyPath() pathSet { return pathSet{beginnings: []string{"/"}} }

// requestPaths returns the path of a request.
func requestPaths(path string) pathSet {
	decoded, err := url.PathUnescape(path)
	if err != nil {
		return anyPath()
	}
	return pathSet{paths: []string{caddyhttp.CleanPath(strings.ToLower(decoded), true)}}
}

// rulePaths returns the paths that a rule matches, if nobody has changed them.
func rulePaths(rule resolver.Rule) pathSet {
	key, isTemplate := rule.Key, resolver.IsTemplate(rule.Key)
	if isTemplate {
		key, _, _ = strings.Cut(key, "{")
	}
	decoded, err := url.PathUnescape(key)
	path := "/" + strings.ToLower(decoded)
	switch {
	case err != nil || strings.Contains(path, "//"): // matchers take these for one slash
		return anyPath()
	case isTemplate || strings.HasSuffix(path, "/"):
		return pathSet{beginnings: []string{path}}
	case rule.Exact:
		return pathSet{paths: []string{path, path + "/"}}
	}
	return pathSet{paths: []string{path}, beginnings: []string{path + "/"}}
}

// withPrefix returns the paths of which these are what remains when a prefix has been cut off, if
// they had it.
func (s pathSet) withPrefix(prefix string) pathSet {
	before := pathSet{slices.Clone(s.paths), slices.Clone(s.beginnings)}
	for _, path := range s.paths {
		before.paths = append(before.paths, strings.ToLower(prefix)+path)
	}
	for _, beginning := range s.beginnings {
		before.beginnings = append(before.beginnings, strings.ToLower(prefix)+beginning)
	}
	return before
}

// matching returns what matches one of the patterns of a path matcher.
func (s pathSet) matching(patterns []string) (some pathSet) {
	for _, path := range s.paths {
		matches := func(pattern string) bool { return mayMatch(pattern, path) }
		if slices.ContainsFunc(patterns, matches) {
			some.paths = append(some.paths, path)
		}
	}
	for _, beginning := range s.beginnings {
		matches := func(pattern string) bool { return mayMatchBelow(pattern, beginning) }
		if slices.ContainsFunc(patterns, matches) {
			some.beginnings = append(some.beginnings, beginning)
		}
	}
	return some
}

// mayMatch reports whether a pattern matches a path, as far as that is easily known.
func mayMatch(pattern, path string) bool {
	text, isPrefix, isPlain := readPattern(pattern)
	return !isPlain || path == text || isPrefix && strings.HasPrefix(path, text)
}

// mayMatchBelow is mayMatch for any of the paths that begin so.
func mayMatchBelow(pattern, beginning string) bool {
	text, isPrefix, isPlain := readPattern(pattern)
	return !isPlain || strings.HasPrefix(text, beginning) ||
		isPrefix && strings.HasPrefix(beginning, text)
}

// readPattern reads a pattern of a path matcher. isPlain tells that it is a text, or the beginning
// of paths. Two slashes are neither: a path keeps its own for them.
func readPattern(pattern string) (text string, isPrefix, isPlain bool) {
	text, isPrefix = strings.CutSuffix(strings.ToLower(pattern), "*")
	isPlain = !strings.ContainsAny(text, `*?[\{%`) && !strings.Contains(text, "//")
	return text, isPrefix, isPlain
}
