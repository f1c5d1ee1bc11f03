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

// Way is a way of requests to a handler: the site, and whatever in front of the handler looks at
// paths or changes them. The zero value lets all requests through.
//
// Whatever is unknown lets requests through.
type Way struct {
	hosts []string // of the site, none for any
	gates []gate   // from outside to inside
	// isHidden says that the first gate does not see the client's path.
	isHidden bool
	// besideFiles are what is appended to a path to find files of the site; a request for one does
	// not come on this way. Nil: files keep no requests away.
	besideFiles []string
}

// gate is a path matcher, with patterns of which a path has to match one, or a prefix that is
// stripped from paths.
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

// Through returns the way continued through a path matcher.
func (w Way) Through(patterns []string) Way { return w.through(gate{patterns: patterns}) }

// BesideFiles returns the way continued through a matcher that keeps away requests for files of the
// site: paths with one of the endings behind them.
func (w Way) BesideFiles(endings []string) Way {
	w.besideFiles = endings
	return w
}

// WithoutPrefix returns the way continued after stripping a prefix.
func (w Way) WithoutPrefix(prefix string) Way {
	prefix = "/" + strings.TrimPrefix(prefix, "/")
	// a second one in a row would double the paths that may lead to a key
	isFirst := len(w.gates) == 0 || w.gates[len(w.gates)-1].patterns != nil
	if !isFirst || strings.ContainsFunc(prefix, isSpecial) {
		return w.Rewritten()
	}
	return w.through(gate{prefix: prefix})
}

// isSpecial reports whether Caddy may treat a character of a prefix specially.
func isSpecial(c rune) bool {
	return !strings.ContainsRune("/-._~", c) && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z')
}

func (w Way) through(g gate) Way {
	w.gates = append(slices.Clip(w.gates), g)
	return w
}

// Rewritten returns the way continued after unknown changes of paths.
func (w Way) Rewritten() Way { return Way{hosts: w.hosts, isHidden: true} }

// takesHost reports whether requests for a host, in the spelling of URLs, come on this way.
func (w Way) takesHost(host string) bool {
	return len(w.hosts) == 0 || slices.ContainsFunc(w.hosts, func(pattern string) bool {
		return strings.Contains(pattern, "{") || matchesHost(pattern, host)
	})
}

// matchesHost reports whether a host matches a pattern, in which "*" stands for one label.
func matchesHost(pattern, host string) bool {
	if !strings.Contains(pattern, "*") {
		return strings.EqualFold(pattern, host)
	}
	isLabel := func(own, label string) bool { return own == "*" || strings.EqualFold(own, label) }
	return slices.EqualFunc(strings.Split(pattern, "."), strings.Split(host, "."), isLabel)
}

// arrive returns the path with which a request reaches the handler, or the matcher that keeps it
// away. Both come from Caddy's own matchers and rewrites.
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
		} else if !g.matches(r) {
			return "", &w.gates[i]
		}
	}
	return r.RequestURI, nil
}

// Admits reports whether a request for a path may reach the handler.
func (w Way) Admits(path string) bool {
	_, keptBy := w.arrive(path)
	return keptBy == nil
}

// matches reports whether a path matcher matches a request. Values of placeholders are unknown.
func (g *gate) matches(r *http.Request) bool {
	matcher := caddyhttp.MatchPath(slices.Clone(g.patterns))
	_ = matcher.Provision(caddy.Context{}) // cannot fail
	return strings.Contains(strings.Join(matcher, ""), "{") || matcher.Match(r)
}

// matcherAgainst returns the matcher that keeps away all requests that would reach the handler with
// one of some paths, or nil.
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

// shownPatterns is how many patterns of a matcher a message names.
const shownPatterns = 5

// String says which paths a matcher matches.
func (g *gate) String() string {
	named := strings.Join(g.patterns[:min(len(g.patterns), shownPatterns)], ", ")
	if more := len(g.patterns) - shownPatterns; more > 0 {
		named += " and " + printable.Count(more, "other path")
	}
	return "a path matcher in front of it only matches " + named
}

// pathSet is a set of paths in the form that path matchers compare: decoded and in lower case. It
// may have more paths than are meant.
type pathSet struct {
	paths      []string
	beginnings []string // of paths
}

func (s pathSet) isEmpty() bool { return len(s.paths)+len(s.beginnings) == 0 }

// anyPath returns all paths.
func anyPath() pathSet { return pathSet{beginnings: []string{"/"}} }

// requestPaths returns the path of a request.
func requestPaths(path string) pathSet {
	decoded, err := url.PathUnescape(path)
	if err != nil {
		return anyPath()
	}
	return pathSet{paths: []string{caddyhttp.CleanPath(strings.ToLower(decoded), true)}}
}

// rulePaths returns the paths that a rule matches, if nothing has changed them.
func rulePaths(rule resolver.Rule) pathSet {
	key, isTemplate := rule.Key, resolver.IsTemplate(rule.Key)
	if isTemplate {
		key, _, _ = strings.Cut(key, "{")
	}
	decoded, err := url.PathUnescape(key)
	path := "/" + strings.ToLower(decoded)
	switch {
	case err != nil || strings.Contains(path, "//"): // matchers merge the slashes
		return anyPath()
	case isTemplate || strings.HasSuffix(path, "/"):
		return pathSet{beginnings: []string{path}}
	case rule.Exact:
		return pathSet{paths: []string{path, path + "/"}}
	}
	return pathSet{paths: []string{path}, beginnings: []string{path + "/"}}
}

// withPrefix returns the paths that become these when a prefix is stripped from them.
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

// matching returns the paths that match a pattern of a path matcher.
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

// mayMatch reports whether a pattern may match a path.
func mayMatch(pattern, path string) bool {
	text, isPrefix, isPlain := readPattern(pattern)
	return !isPlain || path == text || isPrefix && strings.HasPrefix(path, text)
}

// mayMatchBelow is mayMatch for any path with this beginning.
func mayMatchBelow(pattern, beginning string) bool {
	text, isPrefix, isPlain := readPattern(pattern)
	return !isPlain || strings.HasPrefix(text, beginning) ||
		isPrefix && strings.HasPrefix(beginning, text)
}

// readPattern parses a pattern of a path matcher. isPlain says that it is a text, or the beginning
// of paths. A pattern with two slashes is neither, because a path keeps its own for them.
func readPattern(pattern string) (text string, isPrefix, isPlain bool) {
	text, isPrefix = strings.CutSuffix(strings.ToLower(pattern), "*")
	isPlain = !strings.ContainsAny(text, `*?[\{%`) && !strings.Contains(text, "//")
	return text, isPrefix, isPlain
}
