package rulefile

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unmark writes what is captured for people.
var unmark = strings.NewReplacer(string(captureStart), "{", string(captureEnd), "}")

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
		e, err := expressionOptions{base: tt.base}.parse(tt.expression)
		if err != nil {
			t.Errorf("%s: %v", tt.expression, err)
			continue
		}
		var paths, groups []string
		for _, v := range e.variants {
			paths = append(paths, v.path)
			var captured []string
			for n := 1; n < len(e.names); n++ {
				captured = append(captured, v.groups[n])
			}
			groups = append(groups, strings.Join(captured, ","))
		}
		gotPaths, gotGroups := strings.Join(paths, " "), strings.Join(groups, "|")
		if unmark.Replace(gotPaths) != tt.want || unmark.Replace(gotGroups) != tt.groups {
			t.Errorf("%s: %s, %s", tt.expression, unmark.Replace(gotPaths), unmark.Replace(gotGroups))
		}
	}
}

func TestARegularExpressionWithoutAnEquivalentIsRefused(t *testing.T) {
	for expression, want := range map[string]string{
		`a$`:                           "matches anywhere within a path; begin it with",
		`.*/a$`:                        "may only stand at the end",
		`^/(.*)/feed$`:                 "may only stand at the end",
		`^/(\d+)$`:                     `regular expression, "\d+" takes some characters alone`,
		`^/([a-z-]+)$`:                 "write [^/]+ if that is meant",
		`^/\w+$`:                       "takes some characters alone",
		`^/[a-z]$`:                     "has no equivalent",
		`^/a*$`:                        "takes some characters alone",
		`^/([^/.]+)$`:                  `"[^/.]+" takes some characters alone`,
		`^/(\d{4})$`:                   `"\d{4}" has no equivalent`,
		`^/([a-z0-9_]+)$`:              `the regular expression "^/([a-z0-9_]+)$" takes some characters`,
		`^/(?!a)b$`:                    `"(?!" has no equivalent, as what a path must not`,
		`^/(a)\1$`:                     `"\1" is an escape without an equivalent`,
		`^/(a$`:                        "is not well-formed: missing closing )",
		`^/\ba$`:                       "has no equivalent",
		`^/a{2}$`:                      "has no equivalent",
		`^/a(?i:b)$`:                   "(?i) stands in front of a whole regular expression",
		`^/([^/]+)([^/]+)$`:            "has no equivalent",
		`^/([^/]+)-([^/]+)$`:           "a segment has one variable",
		`^/(a|b|c|d)(a|b|c|d)[abcdef]`: "stands for more than 64 paths",
		`^a$`:                          "no path matches",
		`^//a$`:                        "no path matches",
		`^/?$`:                         "no rule is for \"/\"",
		`^/a/([^/]+?)(.*)$`:            "may only stand at the end",

		"^/a" + strings.Repeat("()", 65) + "$": "has more than 8192 bytes or 64 groups",
		"^/" + strings.Repeat("a", 8192):       "has more than 8192 bytes or 64 groups",
	} {
		if e, err := (expressionOptions{}).parse(expression); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", expression, e, err)
		}
	}
}

func TestARegularExpressionTellsWhatItMeansElsewhere(t *testing.T) {
	for expression, want := range map[string]string{
		`/a$`:                 "the regular expression matches anywhere",
		`^/a.html$`:           `"." stands for any character there`,
		`(?i)^/a$`:            "letters of either case match there",
		`^/(index\.html)?$`:   `no rule is for "/"`,
		`^/a\.html$`:          "",
		`(?i)^/([^/]+)/123/?`: "",
	} {
		e, err := expressionOptions{}.parse(expression)
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		if how := strings.Join(e.approximations(), "; "); !strings.HasPrefix(how, want) ||
			want == "" && how != "" {
			t.Errorf("%s: %s", expression, how)
		}
	}
}

// expressionPaths are asked of each regular expression.
var expressionPaths = []string{"/a", "/b", "/ab", "/a/b", "/a/b/c", "/b/a", "/a.html", "/a-b",
	"/a/b-",
	"/c", "/a/a/a/a", "/-", "/aa", "/a/ab", "/b/c/ab", "/x"}

// matchVariant returns what the first variant captures that takes a path.
func (e *pathExpression) matchVariant(path string) (groups map[int]string, ok bool) {
	for i := range e.variants {
		v := &e.variants[i]
		values := variantRegexp(v.path).FindStringSubmatch(path)
		if values == nil {
			continue
		}
		groups = maps.Clone(v.groups)
		for n, name := range variantRegexp(v.path).SubexpNames() {
			for g := range groups {
				groups[g] = strings.ReplaceAll(groups[g], captured(name), values[n])
			}
		}
		return groups, true
	}
	return nil, false
}

// variantRegexp is the regular expression of a path with captures.
func variantRegexp(path string) *regexp.Regexp {
	path, hasSome := strings.CutSuffix(path, capturedSome)
	path, hasRest := strings.CutSuffix(path, capturedRest)
	path, isBelow := strings.CutSuffix(path, "/")
	mark := regexp.MustCompile(string(captureStart) + `(\w+)` + string(captureEnd))
	text := mark.ReplaceAllString(regexp.QuoteMeta(path), "(?P<$1>[^/]+)")
	switch {
	case hasSome && isBelow:
		text += "/(?P<splat>.+)"
	case hasSome:
		text += "(?P<splat>.+)"
	case hasRest && isBelow:
		text += "(?:/(?P<splat>.*))?"
	case hasRest:
		text += "(?P<splat>.*)"
	}
	return regexp.MustCompile("^" + text + "/?$")
}

func FuzzRegularExpression(f *testing.F) {
	for _, seed := range []string{`^/a$`, `^/a/?(.*)$`, `^/([^/]+)(/.*)?$`, `^/(a|b)/([^/]*)-$`,
		`(.*)`,
		`^/[ab]+?`, `^/a/(.+)`, `^(/a)?/b`, `^/(?:a|(b))?/?(.*)$`, `^/([^/]+)/([^/]+)/?`,
		`^/(a|ab)(.*)`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		e, err := expressionOptions{}.parse(expression)
		if err != nil || e.hasDots || e.folds || e.isAnywhere ||
			strings.ContainsAny(expression, "%\x01\x02") {
			return
		}
		plain, err := regexp.Compile(expression)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range expressionPaths {
			want := plain.FindStringSubmatch(path)
			slashed := plain.FindStringSubmatch(path + "/")
			got, ok := e.matchVariant(path)
			if !ok && want == nil && strings.Contains(expression, "+") {
				continue // a slash at the end is nothing
			}
			if ok != (want != nil || slashed != nil) {
				t.Fatalf("%q at %s: %t, of %+v", expression, path, ok, e.variants)
			}
			if ok && !hasGroups(got, want) && !hasGroups(got, slashed) {
				t.Fatalf("%q at %s: %v, not %q or %q", expression, path, got, want, slashed)
			}
		}
	})
}

// hasGroups reports whether what a variant captures is that of a regular expression, but for
// slashes at the end.
func hasGroups(got map[int]string, want []string) bool {
	for n := 1; n < len(want); n++ {
		if strings.TrimRight(got[n], "/") != strings.TrimRight(want[n], "/") {
			return false
		}
	}
	return want != nil
}

func TestAGroupIsWrittenInSeveralWays(t *testing.T) {
	e, err := expressionOptions{}.parse(`^/(?P<year>[^/]+)/(a)/(.*)$`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, text := range []string{"1x", "2x", "3", "0", "9", "year/x", "{year}x", "{3}", "{9}",
		"other", "", "{"} {
		value, rest, ok := e.group(&e.variants[0], text)
		if !ok {
			value = "-"
		}
		got = append(got, unmark.Replace(value)+"|"+rest)
	}
	want := []string{"{p1}|x", "a|x", "{splat}|", "/{p1}/a/{splat}|", "|", "{p1}|/x", "{p1}|x",
		"{splat}|",
		"-|{9}", "-|other", "-|", "-|{"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
