package rulefile_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// service answers as one does that serves a site with a _redirects file.
type service interface{ answer(request) answer }

// request is what a client asks a site for.
type request struct{ host, path, query string }

// answer is what a service, or a ruleset made of the file, says to a request.
type answer struct {
	kind     answerKind
	status   int
	location string
}

type answerKind string

const (
	isPage     answerKind = "a page" // of the site, or of another, or one that says that there is none
	isGone     answerKind = "gone"
	isRedirect answerKind = "a redirect"
	isLoop     answerKind = "a loop"
)

// testLines asks lines of a dialect, one after the other, where a request leads: "" for nowhere.
func testLines(
	t *testing.T, dialect rulefile.Dialect, tests []struct{ lines, request, want string },
) {
	t.Helper()
	for _, test := range tests {
		path, query, _ := strings.Cut(test.request, "?")
		lines := newService(dialect, strings.Split(test.lines, "\n"))
		got := lines.answer(request{siteHost, path, query})
		if got.location != test.want {
			t.Errorf("%s\n%s leads to %q, not to %q", test.lines, test.request, got.location, test.want)
		}
	}
}

// rulesetService answers with a ruleset as the handler does.
type rulesetService struct{ *resolver.Ruleset }

func (s rulesetService) answer(r request) answer {
	switch result := s.Resolve("https://" + r.host + withQueryOf(r, r.path)); result.Outcome {
	case resolver.Redirect:
		return answer{isRedirect, result.Status, result.Destination}
	case resolver.Gone:
		return answer{kind: isGone}
	case resolver.Failed:
		return answer{kind: isLoop}
	}
	return answer{kind: isPage}
}

// withQueryOf returns a destination with the query of a request, if it has none of its own.
func withQueryOf(r request, to string) string {
	if strings.Contains(to, "?") || r.query == "" {
		return to
	}
	path, fragment, hasFragment := strings.Cut(to, "#")
	to = path + "?" + r.query
	if hasFragment {
		to += "#" + fragment
	}
	return to
}

// rootless is a service without rules for "/": no rule here has that path, as no key is empty.
type rootless struct{ service }

func (s rootless) answer(r request) answer {
	if r.path == "/" {
		return answer{kind: isPage}
	}
	return s.service.answer(r)
}

// end is where a client gets that follows all redirects of a site.
type end struct {
	kind   answerKind
	url    string
	status int      // that of all redirects, or 0
	been   []string // the paths of the site on the way
	hops   int
}

// siteHost is the host that all requests are for.
const siteHost = "site.example"

// follow follows redirects from a path on the site as a browser does. The last fragment that a
// redirect has stays. It is a loop that comes back, or makes the path longer again and again.
func follow(s service, path string) end {
	at, e := parse("https://"+siteHost+path), end{}
	been := make(map[request]bool)
	for at.Host == siteHost {
		r := request{at.Host, at.Path, at.Query}
		e.been = append(e.been, r.path)
		a := s.answer(r)
		if a.kind != isRedirect {
			e.kind, e.url = a.kind, at.Href()
			return e
		}
		if been[r] || len(been) > 50 {
			e.kind = isLoop
			return e
		}
		e.addStatus(a.status, len(been) == 0)
		been[r] = true
		e.hops++
		from := at
		if at = parse(absolute(withSingleSlashes(a.location))); !at.HasFragment {
			at.Fragment, at.HasFragment = from.Fragment, from.HasFragment
		}
	}
	e.kind, e.url = isPage, at.Href()
	return e
}

// absolute returns the URL of a destination on the site, or elsewhere.
func absolute(to string) string {
	if strings.HasPrefix(to, "/") {
		return "https://" + siteHost + to
	}
	return to
}

// parse returns the zero URL for what is none.
func parse(href string) weburl.URL {
	u, _ := weburl.Parse(href)
	return u
}

func (e *end) addStatus(status int, isFirst bool) {
	if e.status != status && !isFirst {
		status = 0
	}
	e.status = status
}

// withSingleSlashes makes one slash of several in a row in a destination's path, which a splat
// leaves that is empty or ends in a slash.
func withSingleSlashes(to string) string {
	scheme, rest := "", to
	if i := strings.Index(to, "://"); i >= 0 && to[0] != '/' {
		scheme, rest = to[:i+3], to[i+3:]
	}
	i := strings.IndexAny(rest+"#", "?#")
	path, tail := rest[:i], rest[i:]
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return scheme + path + tail
}

// isSameButForQuery is the difference that of several redirects in a row the first rule's query
// mode and fragment count here, where a line with placeholders or "*" leads to another: at the
// service a later line's own query takes the place of the request's, and so does its fragment.
func (e end) isSameButForQuery(here end) bool {
	e.url, _, _ = strings.Cut(e.url, "#")
	here.url, _, _ = strings.Cut(here.url, "#")
	e.url, _, _ = strings.Cut(e.url, "?")
	here.url, _, _ = strings.Cut(here.url, "?")
	return e.hops > 1 && e.isSame(here)
}

// isCircle is the difference that redirects which never end there may end here, on the site: lines
// that lead to what they take are cut short, and one rule can stand for several redirects.
func (e end) isCircle(here end) bool {
	isHere := here.kind == isLoop || strings.HasPrefix(here.url, "https://"+siteHost)
	return e.kind == isLoop && isHere
}

// isSame reports whether a client gets to the same place. Queries are compared decoded, as they may
// be spelled otherwise.
func (e end) isSame(other end) bool {
	if e.kind != other.kind || e.kind == isPage && decoded(e.url) != decoded(other.url) {
		return false
	}
	return e.kind != isPage || e.status == other.status || e.status == 0
}

// decoded returns a URL with its query decoded, and without an empty fragment. A slash at the end
// of either is not kept here, as a rule takes it for that of the path.
func decoded(href string) string {
	href, fragment, _ := strings.Cut(href, "#")
	before, query, _ := strings.Cut(href, "?")
	if text, err := url.QueryUnescape(query); err == nil {
		query = text
	}
	return before + "?" + strings.TrimRight(query, "/") + "#" + strings.TrimRight(fragment, "/")
}
