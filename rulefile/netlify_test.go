package rulefile_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/rulefile"
)

// netlifyLine is a line of a _redirects file as Netlify reads it.
type netlifyLine struct {
	host    string // empty for every host
	path    string
	matches *regexp.Regexp // nil where it matches nothing
	names   []string       // those of the groups of matches, one of which can be "splat"
	to      string
	status  int
}

// netlifyLines are a file's lines, which are tried in their order.
type netlifyLines []netlifyLine

// newNetlifyLines reads lines that are well-formed, and have neither query parameters nor
// conditions. Those without a destination serve what they take.
func newNetlifyLines(lines []string) service {
	var all netlifyLines
	for _, text := range lines {
		all = append(all, newNetlifyLine(strings.Fields(text)))
	}
	return all
}

func newNetlifyLine(words []string) netlifyLine {
	line := netlifyLine{status: 301, path: words[0]}
	if _, after, ok := strings.Cut(line.path, "://"); ok {
		line.host, line.path, _ = strings.Cut(after, "/")
		line.path = "/" + line.path
	}
	line.matches, line.names = netlifyPath(line.path)
	if words = words[1:]; strings.Contains(words[0], "/") {
		line.to, words = words[0], words[1:]
	}
	if len(words) > 0 {
		line.status, _ = strconv.Atoi(strings.TrimSuffix(words[0], "!"))
	}
	return line
}

// takesNothing finds what no path has or a "*" in front of other octets of a segment, unless that
// is a placeholder.
var takesNothing = regexp.MustCompile(`^[^/]|//|/[^:/][^/]*\*[^/]|/\*[^/]`)

// netlifyPath translates a line's path. A placeholder is a whole segment, and its name all behind
// the colon. A "*" takes what is left of a path, and in front of other segments as little as it
// can. A slash at the end of a path does not count, unless a "*" takes it.
func netlifyPath(path string) (matches *regexp.Regexp, names []string) {
	if takesNothing.MatchString(path) {
		return nil, nil
	}
	expression, end := "^", ""
	for segment := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		end = "/?$"
		word, isWild := strings.CutSuffix(segment, "*")
		switch {
		case strings.HasPrefix(segment, ":") && segment != ":":
			names = append(names, segment[1:])
			expression += "/([^/]+)"
		case segment == "*":
			names = append(names, "splat")
			expression, end = expression+"(?:/(.*?))?", "$"
		case isWild:
			names = append(names, "splat")
			expression, end = expression+"/"+regexp.QuoteMeta(word)+"/?(.*?)", "$"
		case segment != "":
			expression += "/" + regexp.QuoteMeta(segment)
		}
	}
	return regexp.MustCompile(expression + end), names
}

// answer is the service's: the first line that matches decides.
func (all netlifyLines) answer(r request) answer {
	for _, line := range all {
		if line.matches == nil || line.host != "" && line.host != r.host {
			continue
		}
		if values := line.matches.FindStringSubmatch(r.path); values != nil {
			return line.answer(r, values)
		}
	}
	return answer{kind: isPage}
}

func (l netlifyLine) answer(r request, values []string) answer {
	to := l.to
	for i, name := range l.names {
		to = strings.ReplaceAll(to, ":"+name, values[i+1])
	}
	switch {
	case l.status == 200 || l.status == 404 || l.wouldCircle(r, to):
		return answer{kind: isPage}
	case l.status == 410:
		return answer{kind: isGone}
	}
	return answer{isRedirect, l.status, withQueryOf(r, to)}
}

// wouldCircle tells of a redirect that Netlify does not follow, serving the path instead: one to
// the same path but for a slash at its end, and one by a line with a "*" that would take its own
// destination, too, from a path that begins with what stands in front of the destination's splat.
func (l netlifyLine) wouldCircle(r request, to string) bool {
	if strings.TrimSuffix(r.path, "/") == strings.TrimSuffix(to, "/") {
		return true
	}
	return slices.Contains(l.names, "splat") && l.wouldTake(to) && l.leadsAbove(r)
}

// wouldTake reports whether the line takes a destination. A "*" that stands first takes the
// beginning of a URL, too.
func (l netlifyLine) wouldTake(to string) bool {
	if strings.HasPrefix(l.path, "/*") && !strings.HasPrefix(to, "/") {
		to = "/" + to
	}
	return l.matches.MatchString(withSingleSlashes(to))
}

// leadsAbove reports whether a path begins with what stands in front of the destination's segment
// ":splat". In a destination without one, or where nothing but a slash follows it, that is all of a
// path, and no URL.
func (l netlifyLine) leadsAbove(r request) bool {
	path, isHere := onSite(l.to, r)
	before, after, hasSplat := strings.Cut(path, "/:splat")
	if isSegment := after == "" || after[0] == '/' && after != "/"; hasSplat && isSegment {
		return isHere && before != "" && strings.HasPrefix(r.path, before)
	}
	return path == l.to && strings.HasPrefix(r.path, path)
}

// onSite returns the path of a destination on the site that a request is for.
func onSite(to string, r request) (path string, ok bool) {
	if strings.HasPrefix(to, "/") {
		return to, true
	}
	path, ok = strings.CutPrefix(to, "https://"+r.host)
	return path, ok && (path == "" || path[0] == '/')
}

func TestNetlifyLinesMeanWhatTheyDoThere(t *testing.T) {
	tests := []struct{ lines, request, want string }{
		{"/a /b", "/a/", "/b"},
		{"/a/ /b", "/a", "/b"},
		{"/a /b", "/A", ""},
		{"/a /b\n/a /c", "/a", "/b"},
		{"/a/* /b/:splat", "/a", "/b/"},
		{"/a/* /b/:splat", "/a/x/", "/b/x/"},
		{"/a/* /b/:splat", "/ax", ""},
		{"/a* /b/:splat", "/a/x", "/b/x"},
		{"/a/*/c /b/:splat", "/a/x/y/c/", "/b/x/y"},
		{"/a/*/c /b/:splat", "/a/c", "/b/"},
		{"/a/*.html /b", "/a/x.html", ""},
		{"/:x/:y /:y/:z/:x", "/1/2/", "/2/:z/1"},
		{"/a/v:x /b", "/a/v1", ""},
		{"/a/v:x /b", "/a/v:x", "/b"},
		{"/a/:x.html /b/:x", "/a/1.html", "/b/:x"},
		{"/%7Ea /b", "/~a", ""},
		{"a /b", "/a", ""},
		{"/a /b", "/a?q=1", "/b?q=1"},
		{"/a /b#f", "/a?q=1", "/b?q=1#f"},
		{"/a /b?r=1", "/a?q=1", "/b?r=1"},
		{"/a/* /b 200\n/a/x /c", "/a/x", ""},
		{"/a/* /b 404\n/a/x /c", "/a/x", ""},
		{"/a /a/\n/a /b", "/a", ""},
		{"/a/* /a/v1/:splat", "/a/x", "/a/v1/x"},
		{"/a/* /a/v1/:splat\n/a/v1/* /b", "/a/v1/x", ""},
		{"/a/* /a/v1/:splat", "/a/v1x", ""},
		{"/a/* /a/v1/:splat?q=1", "/a/v1/x", "/a/v1/v1/x?q=1"},
		{"/:x/* /:x/v1/:splat", "/a/v1/x", "/a/v1/v1/x"},
		{"https://other.example/a /b", "/a", ""},
		{"https://site.example/a /b", "/a", "/b"},
	}
	testLines(t, rulefile.Netlify, tests)
}
