package pathexpr

import (
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
)

// notationOf writes a path down: /a/{p1}/{splat}, and {splat+} for what is not nothing.
func notationOf(path []redirects.Segment) string {
	var b strings.Builder
	for _, s := range path {
		b.WriteString("/" + s.Before)
		switch {
		case s.Spans == redirects.Some:
			b.WriteString("{splat+}")
		case !s.IsText():
			b.WriteString("{" + s.Variable + "}")
		}
		b.WriteString(s.After)
	}
	return b.String()
}

func notationOfPieces(pieces []redirects.Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Text)
		if p.Variable != "" {
			b.WriteString("{" + p.Variable + "}")
		}
	}
	return b.String()
}

func TestARegularExpressionIsPathsWithCaptures(t *testing.T) {
	for _, tt := range []struct{ expression, base, want, groups string }{
		{`^/a$`, "", "/a", ""},
		{`^/a/?$`, "", "/a/", ""},
		{`^/a\.html$`, "", "/a.html", ""},
		{`^/a b\?$`, "", "/a b%3F", ""},
		{`^/blog/(.*)$`, "", "/blog/{splat}", "{splat}"},
		{`^/blog/(.+)$`, "", "/blog/{splat+}", "{splat}"},
		{`^/blog(/.*)?$`, "", "/blog/{splat} /blog", "/{splat}|"},
		{`^/blog/?(.*)$`, "", "/blog/{splat} /blog{splat}", "{splat}|{splat}"},
		{`^/([^/]+)/([^/]+)/?$`, "", "/{p1}/{p2}/", "{p1},{p2}"},
		{`^/([^/]*)-x$`, "", "/{p1}-x /-x", "{p1}|"},
		{`^/(?P<year>[^/]+)\.html$`, "", "/{p1}.html", "{p1}"},
		{`^/(a|b)/c$`, "", "/a/c /b/c", "a|b"},
		{`^/a$|^/b$`, "", "/a /b", "|"},
		{`^/[ab]c$`, "", "/ac /bc", "|"},
		{`^/a(\.html)?$`, "", "/a.html /a", ".html|"},
		{`^/a`, "", "/a{splat}", ""},
		{`^/a/`, "", "/a/{splat}", ""},
		{`^/a/.*`, "", "/a/{splat}", ""},
		{`^/a/([^/]+)`, "", "/a/{p1}/{splat}", "{p1}"},
		{`^/a/([^/]+)(.*)$`, "", "/a/{p1}/{splat} /a/{p1}", "{p1},/{splat}|{p1},"},
		{`^(/a/(.*))$`, "", "/a/{splat}", "/a/{splat},{splat}"},
		{`^(.*)$`, "", "/{splat}", "/{splat}"},
		{`(.*)`, "", "/{splat}", "/{splat}"},
		{`.+`, "", "/{splat}", ""},
		{`^`, "", "/{splat}", ""},
		{`^old/(.*)$`, "/", "/old/{splat}", "{splat}"},
		{`^/?old$`, "/", "/old", ""},
		{`^(.*)$`, "/dir/", "/dir/{splat}", "{splat}"},
		{`^/a/(.*?)/?$`, "", "/a/{splat}", "{splat}"},
		{`^/(?:x/)?a$`, "", "/x/a /a", "|"},
		{`^/(index\.html)?$`, "", "/index.html", "index.html"},
	} {
		e, err := Parse(tt.expression, Options{Base: tt.base})
		if err != nil {
			t.Errorf("%s: %v", tt.expression, err)
			continue
		}
		var paths, groups []string
		for _, p := range e.Paths {
			paths = append(paths, notationOf(p.Segments))
			var captured []string
			for n := 1; n < len(e.Names); n++ {
				captured = append(captured, notationOfPieces(p.Groups[n]))
			}
			groups = append(groups, strings.Join(captured, ","))
		}
		gotPaths, gotGroups := strings.Join(paths, " "), strings.Join(groups, "|")
		if gotPaths != tt.want || gotGroups != tt.groups {
			t.Errorf("%s: %s, %s", tt.expression, gotPaths, gotGroups)
		}
	}
}

func TestARegularExpressionWithoutAnEquivalentIsRefused(t *testing.T) {
	for expression, want := range map[string]string{
		`a$`:                           "matches anywhere within a path; begin it with",
		`.*/a$`:                        "may only be at the end",
		`^/(.*)/feed$`:                 "may only be at the end",
		`^/(.*)/$`:                     `path_regexp ^/(\w.*)/$, and redir`,
		`^(.+)/$`:                      `path_regexp ^/(\w.*)/$, and redir`,
		`^/(\d+)$`:                     `regular expression, "\d+" matches only some characters`,
		`^/([a-z-]+)$`:                 "write [^/]+ or --loosely if that is meant",
		`^/\w+$`:                       "matches only some characters",
		`^/[a-z]$`:                     "has no equivalent",
		`^/a*$`:                        "matches only some characters",
		`^/([^/.]+)$`:                  `"[^/.]+" matches only some characters`,
		`^/(\d{4})$`:                   `"\d{4}" has no equivalent`,
		`^/([a-z0-9_]+)$`:              `the regular expression "^/([a-z0-9_]+)$" matches only some characters`,
		`^/(?!a)b$`:                    `"(?!" has no equivalent: rules have no conditions`,
		`^/(a)\1$`:                     `"\1" is an escape without an equivalent`,
		`^/(a$`:                        "is not well-formed: missing closing )",
		`^/\ba$`:                       "has no equivalent",
		`^/a{2}$`:                      "has no equivalent",
		`^/a(?i:b)$`:                   "(?i) must be at the beginning",
		`^/([^/]+)([^/]+)$`:            "has no equivalent",
		`^/([^/]+)-([^/]+)$`:           "a segment can have one variable",
		`^/(a|b|c|d)(a|b|c|d)[abcdef]`: "matches more than 64 paths",
		`^a$`:                          "no path matches",
		`^//a$`:                        "no path matches",
		`^/?$`:                         "no rule matches \"/\"",
		`^/a/([^/]+?)(.*)$`:            "a lazy group with something after it",

		"^/a" + strings.Repeat("()", 65) + "$": "has more than 8192 bytes or 64 groups",
		"^/" + strings.Repeat("a", 8192):       "has more than 8192 bytes or 64 groups",
	} {
		if e, err := Parse(expression, Options{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", expression, e, err)
		}
	}
}

func TestARegularExpressionTellsWhatItMeansElsewhere(t *testing.T) {
	for expression, want := range map[string]string{
		`/a$`:                 "the regular expression matches anywhere",
		`^/a.html$`:           `"." matches any character there`,
		`(?i)^/a$`:            "letters of either case match there",
		`^/(index\.html)?$`:   `no rule can match "/"`,
		`^/a\.html$`:          "",
		`(?i)^/([^/]+)/123/?`: "",
	} {
		e, err := Parse(expression, Options{})
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		if how := strings.Join(e.Approximations(), "; "); !strings.HasPrefix(how, want) ||
			want == "" && how != "" {
			t.Errorf("%s: %s", expression, how)
		}
	}
}

// expressionPaths are asked of each regular expression.
var expressionPaths = []string{"/a", "/b", "/ab", "/a/b", "/a/b/c", "/b/a", "/a.html", "/a-b",
	"/a/b-",
	"/c", "/a/a/a/a", "/-", "/aa", "/a/ab", "/b/c/ab", "/x"}

// match returns what the first path captures that takes a path of a request.
func (e *Expression) match(path string) (groups []string, ok bool) {
	for i := range e.Paths {
		p := &e.Paths[i]
		expression := regexpOf(p.Segments)
		values := expression.FindStringSubmatch(path)
		if values == nil {
			continue
		}
		for _, pieces := range p.Groups {
			group := notationOfPieces(pieces)
			for n, name := range expression.SubexpNames() {
				group = strings.ReplaceAll(group, "{"+name+"}", values[n])
			}
			groups = append(groups, group)
		}
		return groups, true
	}
	return nil, false
}

// regexpOf is the regular expression of a path.
func regexpOf(path []redirects.Segment) *regexp.Regexp {
	text := "^"
	for _, s := range path {
		text += "/" + regexp.QuoteMeta(s.Before)
		switch {
		case s.Spans == redirects.Some:
			text += "(?P<splat>.+)"
		case s.Spans == redirects.Rest && s.Before == "":
			text = strings.TrimSuffix(text, "/") + "(?:/(?P<splat>.*))?"
		case s.Spans == redirects.Rest:
			text += "(?P<splat>.*)"
		case !s.IsText():
			text += "(?P<" + s.Variable + ">[^/]+)"
		}
		text += regexp.QuoteMeta(s.After)
	}
	return regexp.MustCompile(strings.TrimSuffix(text, "/") + "/?$")
}

func FuzzRegularExpression(f *testing.F) {
	for _, seed := range []string{`^/a$`, `^/a/?(.*)$`, `^/([^/]+)(/.*)?$`, `^/(a|b)/([^/]*)-$`,
		`(.*)`,
		`^/[ab]+?`, `^/a/(.+)`, `^(/a)?/b`, `^/(?:a|(b))?/?(.*)$`, `^/([^/]+)/([^/]+)/?`,
		`^/(a|ab)(.*)`, `$(.*)`, `(.*?)`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		e, err := Parse(expression, Options{})
		if err != nil || e.HasDots || e.Folds || e.IsAnywhere ||
			strings.ContainsAny(expression, "%{}") {
			return
		}
		plain, err := regexp.Compile(expression)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range expressionPaths {
			want := plain.FindStringSubmatch(path)
			slashed := plain.FindStringSubmatch(path + "/")
			got, ok := e.match(path)
			if !ok && want == nil && strings.Contains(expression, "+") {
				continue // a slash at the end is nothing
			}
			if ok != (want != nil || slashed != nil) {
				t.Fatalf("%q at %s: %t, of %+v", expression, path, ok, e.Paths)
			}
			if ok && !hasGroups(got, want) && !hasGroups(got, slashed) {
				t.Fatalf("%q at %s: %v, not %q or %q", expression, path, got, want, slashed)
			}
		}
	})
}

// hasGroups reports whether what a variant captures is that of a regular expression, but for
// slashes at the end.
func hasGroups(got, want []string) bool {
	for n := 1; n < len(want); n++ {
		if strings.TrimRight(got[n], "/") != strings.TrimRight(want[n], "/") {
			return false
		}
	}
	return want != nil
}

func TestAGroupIsWrittenInSeveralWays(t *testing.T) {
	e, err := Parse(`^/(?P<year>[^/]+)/(a)/(.*)$`, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, text := range []string{"$1x", "$2x", "$3", "$0", "$9", "$year/x", "${year}x", "${3}",
		"${9}", "$other", "$", "${"} {
		to, err := e.Paths[0].Substitute(text, e.Dollar)
		if err != nil {
			to = []redirects.Piece{{Text: "-"}}
		}
		got = append(got, notationOfPieces(to))
	}
	want := []string{"{p1}x", "ax", "{splat}", "/{p1}/a/{splat}", "", "{p1}/x", "{p1}x", "{splat}",
		"-", "-", "-", "-"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// It took as long as the square of the length.
func TestALongDestinationOfManyPiecesIsWrittenInLittleMemory(t *testing.T) {
	e, err := Parse(`^/(a)/b$`, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const pieces = 1 << 15
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	to, err := e.Paths[0].Substitute(strings.Repeat("$1-", pieces), e.Dollar)
	if err != nil || len(to) != 1 || len(to[0].Text) != 2*pieces {
		t.Errorf("%d pieces, %v", len(to), err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("it took %d bytes; one that is copied for each piece takes a gigabyte", took)
	}
}

func TestSegmentsInTheMiddleOfAPathAreOnePath(t *testing.T) {
	for expression, want := range map[string]struct {
		path  string
		spans redirects.Span
	}{
		`^/a/(.+)/b$`:      {"/a/{splat}/b", redirects.Several},
		`^/a/(?:(.+)/)?b$`: {"/a/{splat}/b", redirects.Any},
		`^/a/b-/?(.*)$`:    {"/a/b-{splat}", redirects.Loose},
		`^/a/(.*)$`:        {"/a/{splat}", redirects.Rest},
	} {
		e, err := Parse(expression, Options{Spans: true})
		if err != nil || len(e.Paths) != 1 {
			t.Errorf("%s: %v, %v", expression, e, err)
			continue
		}
		path := e.Paths[0].Segments
		spans := slices.ContainsFunc(path, func(s redirects.Segment) bool {
			return s.Spans == want.spans
		})
		if notationOf(path) != want.path || !spans {
			t.Errorf("%s: %+v", expression, path)
		}
	}
}

func TestSomeCharactersAreAnyLoosely(t *testing.T) {
	for _, tt := range []struct{ expression, want, loosened string }{
		{`^/a/(\d+)$`, "/a/{p1}", `"\d+"`},
		{`^/([0-9]{4})/(\w+)/?$`, "/{p1}/{p2}/", `"[0-9]{4}", "\w+"`},
		{`^/p-\w+\.html$`, "/p-{p1}.html", `"\w+"`},
		{`^/a\d*$`, "/a{p1} /a", `"\d*"`},
		{`^/([^/]+)/[^/.]+$`, "/{p1}/{p2}", `"[^/.]+"`},
		{`^/[^/]{2,3}$`, "/{p1}", `"[^/]{2,3}"`},
		{`^/[a-z/]+$`, "", ""},
		{`^/(?:ab)+$`, "", ""},
		{`^/[a-z]+[0-9]+$`, "", ""},
	} {
		e, err := Parse(tt.expression, Options{Loosely: true})
		var paths []string
		loosened := ""
		if err == nil {
			for _, p := range e.Paths {
				paths = append(paths, notationOf(p.Segments))
			}
			loosened = strings.ReplaceAll(strings.Join(e.Loosened, ", "), "in the regular expression, ", "")
		}
		if got := strings.Join(paths, " "); got != tt.want || loosened != tt.loosened {
			t.Errorf("%s: %s, loosened %s, %v", tt.expression, got, loosened, err)
		}
		if _, err := Parse(tt.expression, Options{}); err == nil {
			t.Errorf("%s has an equivalent", tt.expression)
		}
	}
}
