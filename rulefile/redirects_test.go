package rulefile_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/vectors"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestReadRedirectsTranslatesWhatHasAnEquivalent(t *testing.T) {
	tests := map[string]struct {
		text string
		want []resolver.Rule
	}{
		"a path is an exact rule": {
			"/a /b 302",
			[]resolver.Rule{{Key: "a", Value: "/b", Status: 302, Exact: true}},
		},
		"a line without a status is permanent": {
			"/a https://example.com",
			[]resolver.Rule{{Key: "a", Value: "https://example.com", Status: 301, Exact: true}},
		},
		"a slash at the end of a path means the same": {
			"/a/b/ /c/",
			[]resolver.Rule{{Key: "a/b", Value: "/c/", Status: 301, Exact: true}},
		},
		"force is what rules do anyway": {
			"/a /b 307!",
			[]resolver.Rule{{Key: "a", Value: "/b", Status: 307, Exact: true}},
		},
		"a splat is a rule for all below": {
			"/a/* /b/:splat 308",
			[]resolver.Rule{{Key: "a", Value: "/b/", Status: 308}},
		},
		"a splat at a host's root": {
			"/a/* https://example.com/:splat",
			[]resolver.Rule{{Key: "a", Value: "https://example.com/", Status: 301}},
		},
		"a splat at the site's root": {
			"/a/* /:splat",
			[]resolver.Rule{{Key: "a", Value: "/", Status: 301, Exact: true},
				{Key: "a/{+splat}", Value: "/{+splat}", Status: 301}},
		},
		"a splat in front of query and fragment": {
			"/a/* /b/:splat?c=d#e",
			[]resolver.Rule{{Key: "a", Value: "/b/?c=d#e", Status: 301, Query: resolver.QueryIgnore}},
		},
		"percent-encoding stays as it is": {
			"/caf%c3%a9 /b%2Fc",
			[]resolver.Rule{{Key: "caf%c3%a9", Value: "/b%2Fc", Status: 301, Exact: true}},
		},
		"a colon within a segment is a colon": {
			"/wiki/Special:Search /b\n/c https://example.com:8080/Talk:Main",
			[]resolver.Rule{
				{Key: "wiki/Special:Search", Value: "/b", Status: 301, Exact: true},
				{Key: "c", Value: "https://example.com:8080/Talk:Main", Status: 301, Exact: true},
			},
		},
		"spaces, comments and line ends are what they are elsewhere": {
			"\uFEFF# ours\r\n\r\n\t/a \t /b#c  301\t# was /d\r\n",
			[]resolver.Rule{{Key: "a", Value: "/b#c", Status: 301, Exact: true}},
		},
		"a path and all below it become one rule": {
			"/a /b\n/a/* /b/:splat\n/x /y",
			[]resolver.Rule{{Key: "a", Value: "/b", Status: 301},
				{Key: "x", Value: "/y", Status: 301, Exact: true}},
		},
		"a path and all below it become one rule that leads to a directory": {
			"/a https://example.com/b/?c\n/a/* https://example.com/b/:splat?c",
			[]resolver.Rule{{Key: "a", Value: "https://example.com/b/?c", Status: 301,
				Query: resolver.QueryIgnore}},
		},
		"a placeholder is a variable": {
			"/:year/posts/:post /blog/:post?y=:year#:post 302",
			[]resolver.Rule{{Key: "{year}/posts/{post}", Value: "/blog/{+post}?y={year}#{+post}",
				Status: 302, Exact: true, Query: resolver.QueryIgnore}},
		},
		"a placeholder in front of a splat": {
			"/:a/* https://example.com/:a/:splat",
			[]resolver.Rule{{Key: "{a}", Value: "https://example.com/{+a}/", Status: 301}},
		},
		"what has a colon within a segment is no placeholder": {
			"/b:a-:b /c?d=:b",
			[]resolver.Rule{{Key: "b:a-:b", Value: "/c?d=:b", Status: 301, Exact: true,
				Query: resolver.QueryIgnore}},
		},
		"a placeholder is all of its segment": {
			"/a/:b.html /c/:b.html\n/d/:e-f /g/:e",
			[]resolver.Rule{{Key: "a/{b_html}", Value: "/c/{+b_html}", Status: 301, Exact: true},
				{Key: "d/{_e_f}", Value: "/g/:e", Status: 301, Exact: true}},
		},
		"a placeholder twice has its first value": {
			"/:a/:a/b /c/:a",
			[]resolver.Rule{{Key: "{a}/{_a1}/b", Value: "/c/{+a}", Status: 301, Exact: true}},
		},
		"a splat at a segment's end": {
			"/docs/preset-* /preset/:splat?a",
			[]resolver.Rule{{Key: "docs/preset-", Value: "/preset/?a", Status: 301,
				Query: resolver.QueryIgnore},
				{Key: "docs/preset-{splat}", Value: "/preset/{+splat}?a", Status: 301,
					Query: resolver.QueryIgnore}},
		},
		"many paths to one place": {
			"/a/* /b?c=d",
			[]resolver.Rule{{Key: "a", Value: "/b?c=d", Status: 301, Exact: true,
				Query: resolver.QueryIgnore},
				{Key: "a/{+splat}", Value: "/b?c=d", Status: 301, Exact: true, Query: resolver.QueryIgnore}},
		},
		"many paths to the path above them": {
			"/a/* /a",
			[]resolver.Rule{{Key: "a", Value: "pass"}},
		},
		"many paths to one place, and one of them elsewhere": {
			"/a /c\n/a/* /b",
			[]resolver.Rule{{Key: "a", Value: "/c", Status: 301, Exact: true},
				{Key: "a/{+splat}", Value: "/b", Status: 301, Exact: true}},
		},
		"a splat in a destination's middle and query": {
			"/a/* /b/:splat/c?d=:splat",
			[]resolver.Rule{{Key: "a", Value: "/b/c?d=", Status: 301, Exact: true,
				Query: resolver.QueryIgnore},
				{Key: "a/{+splat}", Value: "/b/{+splat}/c?d={splat}", Status: 301, Exact: true,
					Query: resolver.QueryIgnore}},
		},
		"a path in front of a placeholder that matches it": {
			"/a/b /c\n/a/:d /e/:d",
			[]resolver.Rule{{Key: "a/b", Value: "/c", Status: 301, Exact: true},
				{Key: "a/{d}", Value: "/e/{+d}", Status: 301, Exact: true}},
		},
		"a path behind a placeholder that does not match it": {
			"/a/:b /c\n/a/d/e /f\n/g/b /h\n/:x/i/j /k",
			[]resolver.Rule{{Key: "a/{_b}", Value: "/c", Status: 301, Exact: true},
				{Key: "a/d/e", Value: "/f", Status: 301, Exact: true},
				{Key: "g/b", Value: "/h", Status: 301, Exact: true},
				{Key: "{_x}/i/j", Value: "/k", Status: 301, Exact: true}},
		},
		"a star in the middle": {
			"/a/*/b /c/:splat",
			[]resolver.Rule{{Key: "a/{+splat}/b", Value: "/c/{+splat}", Status: 301, Exact: true},
				{Key: "a/b", Value: "/c/", Status: 301, Exact: true}},
		},
		"a segment's end, led elsewhere": {
			"/a-* /b#:splat",
			[]resolver.Rule{{Key: "a-", Value: "/b", Status: 301, Exact: true},
				{Key: "a-/{+splat}", Value: "/b#{+splat}", Status: 301, Exact: true},
				{Key: "a-{splat}", Value: "/b#{+splat}", Status: 301, Exact: true},
				{Key: "a-{splat}/{+rest}", Value: "/b#{+splat}/{+rest}", Status: 301, Exact: true}},
		},
		"every path": {
			"/* https://example.com/:splat",
			[]resolver.Rule{{Key: "{+splat}", Value: "https://example.com/{+splat}", Status: 301}},
		},
		"braces are percent-encoded": {
			"/a/{b} /c\n/d/:e /f/{e}/:e",
			[]resolver.Rule{{Key: "a/%7Bb%7D", Value: "/c", Status: 301, Exact: true},
				{Key: "d/{e}", Value: "/f/%7Be%7D/{+e}", Status: 301, Exact: true}},
		},
		"what leads to another line is a template": {
			"/a/* /b/c/:splat\n/b/c/d /e",
			[]resolver.Rule{{Key: "a", Value: "/b/c/", Status: 301, Exact: true},
				{Key: "a/{+splat}", Value: "/b/c/{+splat}", Status: 301, Exact: true},
				{Key: "a/{+splat}/", Value: "/b/c/{+splat}/", Status: 301, Exact: true},
				{Key: "b/c/d", Value: "/e", Status: 301, Exact: true}},
		},
		"what leads below itself ends there": {
			"/a/* /a/b/:splat",
			[]resolver.Rule{{Key: "a/b", Value: "pass"},
				{Key: "a", Value: "/a/b/", Status: 301, Exact: true},
				{Key: "a/{+splat}", Value: "/a/b/{+splat}", Status: 301}},
		},
		"what two lines have in common is the first one's": {
			"/about/* https://en.example/:splat\n/:locale/learn /learn",
			[]resolver.Rule{{Key: "about", Value: "https://en.example/", Status: 301},
				{Key: "{_locale}/learn", Value: "/learn", Status: 301, Exact: true},
				{Key: "about/learn", Value: "https://en.example/learn", Status: 301}},
		},
		"a path and all below it, of which a line behind takes some": {
			"/a/:y https://b.example/:y\n/a/:y/* https://b.example/:y/:splat\n/:x/0/* /c/:splat",
			[]resolver.Rule{{Key: "a/{y}", Value: "https://b.example/{+y}", Status: 301},
				{Key: "{_x}/0", Value: "/c/", Status: 301, Exact: true},
				{Key: "{_x}/0/{+splat}", Value: "/c/{+splat}", Status: 301},
				{Key: "a/0/{splat}", Value: "https://b.example/0/{+splat}", Status: 301}},
		},
		"the last fragment of a chain counts": {
			"/a /b#one\n/b https://example.com/#two",
			[]resolver.Rule{{Key: "a", Value: "/b", Status: 301, Exact: true},
				{Key: "b", Value: "https://example.com/#two", Status: 301, Exact: true}},
		},
		"the last query of a chain counts": {
			"/a /b\n/b /c?d=e",
			[]resolver.Rule{{Key: "a", Value: "/b", Status: 301, Exact: true, Query: resolver.QueryIgnore},
				{Key: "b", Value: "/c?d=e", Status: 301, Exact: true, Query: resolver.QueryIgnore}},
		},
		"rewrites and error pages let their requests pass": {
			"/a /b 200\n/c/* /:splat 200!\n/d/* /404.html 404\n/e/* 200\n/d/f /g",
			[]resolver.Rule{{Key: "a", Value: "pass", Exact: true}, {Key: "c", Value: "pass"},
				{Key: "d", Value: "pass"}, {Key: "e", Value: "pass"}},
		},
		"a rewrite of every path is no rule": {"/a /b\n/* /index.html 200\n/c /d",
			[]resolver.Rule{{Key: "a", Value: "/b", Status: 301, Exact: true}}},
		"an empty file has no rules": {"", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := read(rulefile.Redirects, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(withoutPositions(got), tt.want) {
				t.Errorf("got  %v\nwant %v", got, tt.want)
			}
		})
	}
}

func TestReadRedirectsGivesThePlaceOfEachPath(t *testing.T) {
	got, err := read(rulefile.Redirects, "\uFEFF# links\r\n\n\t /é /b\r\n/c /d/\n/c/* /d/:splat\n")
	want := []resolver.Rule{
		{Key: "é", Value: "/b", Status: 301, Exact: true,
			Position: resolver.Position{Source: "redirects", Line: 3, Column: 3}},
		{Key: "c", Value: "/d/", Status: 301,
			Position: resolver.Position{Source: "redirects", Line: 5, Column: 1}},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestReadRedirectsGoesOnBehindEveryBadLine(t *testing.T) {
	rules, err := read(rulefile.Redirects, "/a /b never\n/c /d\n\n/e\n/f /g 302 201\n/h /i")
	const want = `redirects:1:7: the status must be 301, 302, 303, 307 or 308, not "never"
redirects:4:1: the line has no destination; it begins with "/", "http://" or "https://"
redirects:5:11: only conditions can follow the status; remove "201"`
	if errorText(err) != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if len(rules) != 2 || rules[0].Key != "c" || rules[1].Key != "h" {
		t.Errorf("got the rules %v, not the good ones alone", rules)
	}
}

func TestReadRedirectsRefusesMalformedLinesAndSaysWhy(t *testing.T) {
	tests := map[string]struct{ line, want string }{
		"no destination": {"/a",
			`1:1: the line has no destination; it begins with "/", "http://" or "https://"`},
		"a comment for a destination": {"/a # /b",
			`1:1: the line has no destination; it begins with "/", "http://" or "https://"`},
		"another scheme": {"/a mailto:me@example.com",
			`1:4: "mailto:me@example.com" is not a destination; it begins with "/", "http://" or "https://"`},
		"a URL in front": {"https://a.example a 302",
			"1:19: path and destination are exchanged; write /a https://a.example 302"},
		"a URL in front of what is no path": {"https://a.example a?b",
			`1:19: "a?b" is not a destination; it begins with "/", "http://" or "https://"`},
		"a status for a destination": {"/a 410", "1:4: a status follows a destination, even if it " +
			"is an error; write /a /410.html 410"},
		"a forced status for a destination": {"/a 404!", "1:4: a status follows a destination, " +
			"even if it is an error; write /a /404.html 404!"},
		"a status in words": {"/a /b permanent",
			`1:7: the status must be 301, 302, 303, 307 or 308, not "permanent"`},
		"something behind the status": {"/a /b 302 301",
			`1:11: only conditions can follow the status; remove "301"`},
		"Latin-1": {"/a /caf\xe9",
			"1:1: this line is not Unicode text: save the file as UTF-8"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, skips := range []bool{false, true} {
				_, _, err := readLines(rulefile.Reading{SkipUnsupported: skips}, tt.line)
				if want := "redirects:" + tt.want; errorText(err) != want {
					t.Errorf("got  %v\nwant %s", err, want)
				}
			}
		})
	}
}

func TestLinesWithoutAnEquivalentAreErrorsOrLeftOut(t *testing.T) {
	const (
		orSkip = "; or leave such lines out: unsupported skip in the source's block, or --unsupported " +
			"skip"
		leftOut = "; the line is left out"
	)
	tests := map[string]struct{ line, want string }{
		"a host": {"https://a.example/* /b/:splat",
			`1:1: a rule has no host; if "a.example" is this site's, name it: with host in the source's block, or with --line-host; else write the line into the file of that host's site`},
		"a space in a path": {"/with space /b", "1:7: a path has no space; write %20 for it"},
		"an arrow":          {"/a -> /b 302", `1:4: leave out "->"; write /a /b 302`},
		"a double arrow":    {"/a\t=> /b", `1:4: leave out "=>"; write /a /b`},
		"an equals sign":    {"/a = /b", `1:4: leave out "="; write /a /b`},
		"a colon":           {"/a : /b # ours", `1:4: leave out ":"; write /a /b`},
		"a query": {"/a id=:id /b/:id", "1:4: a rule has no query, because only " +
			"the path selects it; use Caddy's redir with a query matcher"},
		"another status": {"/a /b 418",
			"1:7: a rule has no status 418; use Caddy's respond, or error and handle_errors"},
		"a condition": {"/a /b 302 Country=de,at",
			"1:11: a rule has no condition Country; use Caddy's redir with a matcher"},
		"a condition without a status": {"/a /b Role=admin", "1:7: a rule has no condition Role, and " +
			"without it the line's content is open to everybody; guard it with Caddy's basic_auth or " +
			"forward_auth"},
		"the root": {"/ /home",
			`1:1: a key cannot be empty, so no rule matches "/"; use Caddy's redir`},
		"a star in two places": {"/a/*/b/* /c/:splat",
			`1:1: a path can have one "*": what each of two matches is ambiguous; write a line for each path, or use Caddy's redir with a path_regexp matcher`},
		"a placeholder in a host": {"/u/:name https://:name.example/",
			"1:10: a placeholder is in the host of the destination, which no request may choose; " +
				"write a line for each host"},
		"a splat in a host": {"/u/* https://:splat.example/", "1:6: a placeholder is in " +
			"the host of the destination, which no request may choose; write a line for each host"},
		"a splat for a host": {"/a/* https://:splat", "1:6: a placeholder is in the host " +
			"of the destination, which no request may choose; write a line for each host"},
		"404 in front of files": {"/a /b 404!", "1:7: 404! hides files that exist, which no " +
			"rule does; use Caddy's error with a matcher in front"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := readLines(rulefile.Reading{}, tt.line)
			if want := "redirects:" + tt.want + orSkip; errorText(err) != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			rules, warnings, err := readLines(rulefile.Reading{SkipUnsupported: true}, tt.line)
			want := "line left out redirects:" + tt.want + leftOut + "\n"
			if err != nil || len(rules) > 0 || warnings != want {
				t.Errorf("skipped: %v, %q, %v\nwant %s", rules, warnings, err, want)
			}
		})
	}
}

func TestReadRedirectsWarnsOfLinesThatMeanSomethingElse(t *testing.T) {
	const takesAll = " comes first and matches all of its paths; put this line before it, " +
		"or remove one of the two"
	tests := map[string]struct{ line, want string }{
		"a query in the path": {"/a?b=c /d",
			`line never reached 1:1: no request reaches this line: a path has neither "?" nor "#"; write %23 for the character, or use Caddy's redir with a query matcher`},
		"a fragment in the path": {"/a#b /d",
			`line never reached 1:1: no request reaches this line: a path has neither "?" nor "#"; write %23 for the character, or use Caddy's redir with a query matcher`},
		"a rewrite": {"/a /b 200", "approximated line 1:1: 200 is a rewrite, " +
			"not a redirect: the next handler answers what this line matches; use Caddy's rewrite " +
			"or try_files, or reverse_proxy for another host"},
		"a forced rewrite": {"/a /b 200!", "approximated line 1:1: 200 is a rewrite, " +
			"not a redirect: the next handler answers what this line matches; use Caddy's rewrite " +
			"or try_files, or reverse_proxy for another host"},
		"an error page": {"/a /404.html 404", "approximated line 1:1: 404 is an " +
			"error page, not a redirect: the next handler answers what this line matches; use " +
			"Caddy's handle_errors for the page"},
		"every path": {"/* https://example.com/:splat",
			`approximated line 1:1: no rule can match "/", so this line matches every other path; use Caddy's redir for it`},
		"a placeholder twice": {"/:a/:a /c/:a", "approximated line 1:1: the line leads " +
			"to paths that it matches itself, which ends at the service, too: the next handler answers at " +
			"/c/{splat}"},
		"two placeholders in a segment": {"/:a-:b /c/:a/:b", "approximated line 1:1: :b is " +
			"not in the path, so it stays as it is in the destination"},
		"a placeholder and a star together": {"/v:a* /c/:a/:splat", "approximated line 1:1: \":a\" stays " +
			"as it is in the destination; write :splat for what the \"*\" of the path matches"},
		"a star in the destination": {"/a/* /c/*", "approximated line 1:1: \"*\" stays as it is in the " +
			"destination; write :splat for what the \"*\" of the path matches"},
		"a star at a segment's beginning": {"/*-a /c",
			`line never reached 1:1: no request reaches this line: a "*" must end its segment; write a line for each path, or use Caddy's redir with a path_regexp matcher`},
		"a placeholder in another spelling": {"/%61/:b /c\n/a/d /e",
			"line never reached 2:1: no request reaches this line: the line at redirects:1:1" + takesAll},
		"a path in another spelling": {"/é /b\n/%c3%a9 /c",
			"line never reached 2:1: no request reaches this line: the line at redirects:1:1" + takesAll},
		"a placeholder that is not there": {"/:a /b/:c", "approximated line 1:1: :c is " +
			"not in the path, so it stays as it is in the destination"},
		"a placeholder before a word": {"/a/:b /c\n/a/d /e",
			"line never reached 2:1: no request reaches this line: the line at redirects:1:1" + takesAll},
		"a placeholder before another": {"/a/:b /c\n/:d/b /e\n/a/:f /g",
			"line never reached 3:1: no request reaches this line: the line at redirects:1:1" + takesAll},
		"a placeholder before a longer path": {"/:a/* /b/:splat\n/:b/c/:d /e",
			"line never reached 2:1: no request reaches this line: the line at redirects:1:1" + takesAll},
		"a segment's end before a segment": {"/a-* /c-:splat\n/a-b /d",
			"line never reached 2:1: no request reaches this line: the line at redirects:1:1" + takesAll},
		"a splat that stands for nothing": {"/a /b/:splat", "approximated line 1:1: :splat is " +
			"not in the path, so it stays as it is in the destination"},
		"a slash put at the end": {"/a /a/", "approximated line 1:1: the line leads " +
			"to itself, or to itself with a slash: the next handler answers its requests; remove the line"},
		"a slash taken away": {"/a/b/ /a/b?c", "approximated line 1:1: the line " +
			"leads to itself, or to itself with a slash: the next handler answers its requests; remove the line"},
		"a splat to itself": {"/a/* /a/:splat", "approximated line 1:1: the " +
			"line leads to itself, or to itself with a slash: the next handler answers its requests; remove the line"},
		"a line below a path that is taken": {"/a/* /b/:splat\n/a/c/d /e",
			"line never reached 2:1: no request reaches this line: the line at redirects:1:1" + takesAll},
		"a line below a pair of lines": {"/a /b\n/a/* /b/:splat\n/a/c/* /d/:splat",
			"line never reached 3:1: no request reaches this line: the line at redirects:2:1" + takesAll},
		"a path twice": {"/a /b\n/a/ /c",
			"line never reached 2:1: no request reaches this line: the line at redirects:1:1" + takesAll},
		"a splat twice": {"/a/* /b/:splat\n/a/* /c/:splat",
			"line never reached 2:1: no request reaches this line: the line at redirects:1:1" + takesAll},
		"a path behind its splat": {"/a/* /b/:splat\n/a /b",
			"line never reached 2:1: no request reaches this line: the line at redirects:1:1" + takesAll},
		"a backslash": {`/a\b /c`,
			`line never reached 1:1: no request has this path: browsers replace "\" with "/", and remove "." and ".."; write the path as they do`},
		"two slashes": {"/a//b /c",
			`line never reached 1:1: no request reaches a line with "//" in its path; write "/"`},
		"behind a line for all": {"/* /x 200\n/a /b",
			"line never reached 2:1: no request reaches this line: the line at redirects:1:1" + takesAll},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, warnings, err := readLines(rulefile.Reading{}, tt.line)
			lines := strings.Split(strings.TrimSuffix(warnings, "\n"), "\n")
			if got := strings.Replace(lines[len(lines)-1], " redirects:", " ", 1); err != nil ||
				got != tt.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, tt.want)
			}
		})
	}
}

func TestALineThatIsLeftOutTellsWhoGetsItsRequests(t *testing.T) {
	rules, warnings, err := readLines(rulefile.Reading{SkipUnsupported: true},
		"/a/* /b 302 Language=de\n/c /d\n/:x/y /z\n")
	const want = "line left out redirects:1:13: a rule has no condition Language; use Caddy's redir " +
		"with a " +
		"matcher; the line is left out, and the line at redirects:3:1 gets some of its " +
		"requests\n"
	if err != nil || warnings != want || len(rules) != 2 {
		t.Errorf("%v\n%s\n%v", rules, warnings, err)
	}
}

func TestLinesOfTheSitesOwnHostsAreRules(t *testing.T) {
	rules, warnings, err := readLines(rulefile.Reading{Hosts: []string{"old.example"}},
		"https://OLD.example/a /b\nhttp://old.example/c/* https://new.example/:splat")
	want := []resolver.Rule{{Key: "a", Value: "/b", Status: 301, Exact: true},
		{Key: "c", Value: "https://new.example/", Status: 301}}
	if err != nil || warnings != "" || !slices.Equal(withoutPositions(rules), want) {
		t.Errorf("%v\n%s\n%v", rules, warnings, err)
	}
}

// readLines reads lines, and returns the warnings, with their kinds.
func readLines(o rulefile.Reading, text string) (rules []resolver.Rule, warnings string,
	err error) {
	warned, err := o.Read(strings.NewReader(text), rulefile.Redirects, "redirects",
		func(rule resolver.Rule) { rules = append(rules, rule) })
	for _, w := range warned {
		warnings += fmt.Sprintf("%s %s: %s\n", w.Kind, w.Position, w.Message)
	}
	return rules, warnings, err
}

// babelRedirects returns the _redirects of babeljs.io, line by line.
func babelRedirects(t *testing.T) string {
	t.Helper()
	rows, err := vectors.Read("../testdata/rulesets/babel.json")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, row := range rows {
		var path, destination, status string
		if err := row.Scan(&path, &destination, &status); err != nil {
			t.Fatal(err)
		}
		text.WriteString(strings.TrimSpace(path+" "+destination+" "+status) + "\n")
	}
	return text.String()
}

func TestReadRedirectsReadsTheRedirectsOfBabel(t *testing.T) {
	var rules []resolver.Rule
	prefixes := 0
	lines := strings.NewReader(babelRedirects(t))
	err := rulefile.Read(lines, rulefile.Redirects, "babel", func(rule resolver.Rule) {
		rules = append(rules, rule)
		if !rule.Exact {
			prefixes++
		}
	})
	const orSkip = "; or leave such lines out: unsupported skip in the source's block, or " +
		"--unsupported skip"
	host := func(line, host string) string {
		return "babel:" + line + ":1: a rule has no host; if \"" + host + "\" is this site's, name it: " +
			"with host in the source's block, or with --line-host; else write the line into the file of " +
			"that host's site"
	}
	want := host("3", "new.babeljs.io") + orSkip + "\n" + host("4", "babel.netlify.com")
	if errorText(err) != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if len(rules) != 201 || prefixes != 9 {
		t.Errorf("%d rules, %d of them for all below a path", len(rules), prefixes)
	}
	if _, err := resolver.Compile(rules, resolver.Options{}); err != nil {
		t.Errorf("the rules make no ruleset: %v", err)
	}
}

func TestRulesOfRedirectsSendRequestsWhereTheLinesSay(t *testing.T) {
	rules, err := read(rulefile.Redirects, `
/paper   https://example.com/paper.pdf
/docs/*  https://docs.example.com/v2/:splat 302
/old     /new/
/old/*   /new/:splat
/root/*  /:splat
`)
	if err != nil {
		t.Fatal(err)
	}
	ruleset, err := resolver.Compile(rules, resolver.Options{Origin: "https://here.example"})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{
		"/paper":       "https://example.com/paper.pdf",
		"/paper/":      "https://example.com/paper.pdf",
		"/paper/2":     "",
		"/docs":        "https://docs.example.com/v2/",
		"/docs/a/b?c":  "https://docs.example.com/v2/a/b?c=",
		"/docsandmore": "",
		"/old":         "https://here.example/new/",
		"/old/":        "https://here.example/new/",
		"/old/a":       "https://here.example/new/a",
		"/root/a/b":    "https://here.example/a/b",
	}
	for path, want := range tests {
		got := ruleset.Resolve("https://here.example" + path).Destination
		if got != want {
			t.Errorf("%s leads to %q, not to %q", path, got, want)
		}
	}
}

func TestWriteRedirectsWritesLinesThatMeanTheSame(t *testing.T) {
	got, err := write(rulefile.Redirects,
		resolver.Rule{Key: "a", Value: "/b", Exact: true},
		resolver.Rule{Key: "c", Value: "https://example.com", Status: 301},
		resolver.Rule{Key: "d/e", Value: "/f?g#h", Status: 308},
		resolver.Rule{Key: "i", Value: "/j/", Status: 307},
		resolver.Rule{Key: "k", Value: "/"},
		resolver.Rule{Key: "l", Value: "gone"},
		resolver.Rule{Key: "m", Value: "gone", Exact: true})
	const want = `/a /b 302
/m /410 410
/d/e /f?g#h 308
/d/e/* /f/:splat?g#h 308
/c/* https://example.com/:splat 301
/i/* /j/:splat 307
/k/* /:splat 302
/l/* /410 410
`
	if err != nil || got != want {
		t.Errorf("got %v\n%s", err, got)
	}
}

func TestARuleWhoseLineWouldEndItsOwnWayIsNotWritten(t *testing.T) {
	all := resolver.Rule{Key: "{+all}", Value: "/0", Exact: true}
	const want = `key "{+all}": the line of a _redirects file would be a rule for 0, too, which ` +
		"has one; write json or csv"
	for _, exact := range []bool{true, false} {
		got, err := write(rulefile.Redirects, resolver.Rule{Key: "0", Value: "pass", Exact: exact}, all)
		if exact && (errorText(err) != want || got != "/0 /0 200\n") {
			t.Errorf("got %v\n%s", err, got)
		}
		if !exact && (err != nil || got != "/0/* /0/:splat 200\n/* /0 302\n") {
			t.Errorf("got %v\n%s", err, got)
		}
	}
}

func TestWriteRedirectsWritesPathsAloneFirstAndLongerKeysBeforeShorterOnes(t *testing.T) {
	got, err := write(rulefile.Redirects,
		resolver.Rule{Key: "a", Value: "/1"},
		resolver.Rule{Key: "a/b", Value: "/2"},
		resolver.Rule{Key: "x", Value: "/3", Exact: true},
		resolver.Rule{Key: "a/b/c", Value: "/4", Exact: true},
		resolver.Rule{Key: "ab/c", Value: "/5"},
		resolver.Rule{Key: "x/y", Value: "/6"})
	const want = `/x /3 302
/a/b/c /4 302
/a/b /2 302
/a/b/* /2/:splat 302
/ab/c /5 302
/ab/c/* /5/:splat 302
/x/y /6 302
/x/y/* /6/:splat 302
/a /1 302
/a/* /1/:splat 302
`
	if err != nil || got != want {
		t.Errorf("got %v\n%s", err, got)
	}
}

func TestWriteRedirectsWritesPlaceholdersAndMoreSpecificFirst(t *testing.T) {
	got, err := write(rulefile.Redirects,
		resolver.Rule{Key: "{x}", Value: "https://1.example/{x}"},
		resolver.Rule{Key: "a/{x}", Value: "/2?x={x}", Exact: true},
		resolver.Rule{Key: "a/v{x}", Value: "/3/{x}"},
		resolver.Rule{Key: "a/v", Value: "/3/"},
		resolver.Rule{Key: "a/{x}/{y}", Value: "gone"},
		resolver.Rule{Key: "a/b", Value: "/4/"})
	const want = `/a/:x/:y/* /410 410
/a/v/* /3/:splat 302
/a/b/* /4/:splat 302
/a/v* /3/:splat 302
/a/:x /2?x=:x 302
/:x https://1.example/:x 302
/:x/* https://1.example/:x/:splat 302
`
	if err != nil || got != want {
		t.Errorf("got %v\n%s", err, got)
	}
}

func TestALineWithAQueryOfItsOwnIsWrittenForARuleThatIgnores(t *testing.T) {
	rule := resolver.Rule{Key: "a", Value: "/b?c", Exact: true, Query: resolver.QueryIgnore}
	if got, err := write(rulefile.Redirects, rule); err != nil || got != "/a /b?c 302\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestWhatTablesBecomeIsWrittenBackAsTheyWere(t *testing.T) {
	for _, text := range []string{
		"/a /b 302\n/c/* /d/:splat 301\n/e/:x/f /g/:x 301\n/h /410 410\n",
		"/a /x 301\n/a/* /b/:splat 301\n/:y/old /new 301\n/b/c /d 301\n",
		"/pre-c /e 301\n/pre-* /c/:splat 301\n",
		"/news /blog 301\n/news/* /blog 301\n",
	} {
		rules, _, err := readLines(rulefile.Reading{}, text)
		if err != nil {
			t.Fatal(err)
		}
		written, err := write(rulefile.Redirects, rules...)
		checkLeftOut(t, err)
		again, _, err := readLines(rulefile.Reading{}, written)
		if err != nil || !slices.Equal(rulesByKey(again), rulesByKey(rules)) {
			t.Errorf("%s%v\nis written as\n%s%v, %v", text, rules, written, again, err)
		}
	}
}

// checkLeftOut checks that no rules were left out but those that lines make together with others:
// for a path with a slash at its end, and for what is below a segment that begins with a text.
func checkLeftOut(t *testing.T, err error) {
	t.Helper()
	isMade := regexp.MustCompile(`^redirects:\d+:1: key "(.*/": a _redirects file cannot have it: ` +
		`its line would be the rule from|a\d+-\{_splat\}/\{\+_rest\}": a _redirects file has ` +
		`placeholders only for whole segments,) `)
	leftOut, ok := errors.AsType[rulefile.Errors](err)
	if err != nil && !ok {
		t.Fatal(err)
	}
	for _, e := range leftOut {
		if !isMade.MatchString(e.Error()) {
			t.Error(e)
		}
	}
}

// rulesByKey returns rules in the order of their keys, without those for paths with a slash at
// their end, which lines tell apart from others only where they lead on.
func rulesByKey(rules []resolver.Rule) []resolver.Rule {
	rules = slices.DeleteFunc(withoutPositions(rules), func(rule resolver.Rule) bool {
		return strings.HasSuffix(rule.Key, "/")
	})
	slices.SortFunc(rules, func(a, b resolver.Rule) int { return strings.Compare(a.Key, b.Key) })
	return rules
}

func TestWriteRedirectsLeavesOutWhatNoLineSaysAndListsIt(t *testing.T) {
	const noModes = "a _redirects file has no query modes; a line whose destination has a query " +
		"means ignore"
	const cannot = "a _redirects file cannot have it: "
	tests := map[string]struct {
		rule resolver.Rule
		want string
	}{
		"a note": {resolver.Rule{Key: "a", Value: "/b", Note: "why"},
			"a _redirects file has no notes; remove the note"},
		"an unlisted rule": {resolver.Rule{Key: "a", Value: "/b", Unlisted: true},
			"a _redirects file has no unlisted rules"},
		"a query mode": {
			resolver.Rule{Key: "a", Value: "/b?c", Query: resolver.QueryMerge}, noModes},
		"a query that is dropped": {
			resolver.Rule{Key: "a", Value: "https://b.example#c?d", Query: resolver.QueryIgnore}, noModes},
		"a space": {resolver.Rule{Key: "a", Value: "/b c", Exact: true},
			"a _redirects file has no spaces in paths and destinations; write %20"},
		"a line end": {resolver.Rule{Key: "a\n/b", Value: "/c", Exact: true},
			"a _redirects file has no spaces in paths and destinations; write %20"},
		"a placeholder that is none": {resolver.Rule{Key: ":a", Value: "/b", Exact: true},
			cannot + `its line would be the rule from "{_a}" to "/b"`},
		"a star that is none": {resolver.Rule{Key: "a/*", Value: "/b", Exact: true},
			cannot + `its line would be the rule from "a/{+splat}" to "/b"`},
		"a variable of many segments": {resolver.Rule{Key: "a/{+b}", Value: "/c/{+b}",
			Exact: true}, "the line of a _redirects file would be a rule for a, too; add one for that key"},
		"a variable within a word": {resolver.Rule{Key: "{a}b", Value: "/c/{a}", Exact: true},
			"a _redirects file has placeholders only for whole segments, and \"*\" after text at the " +
				"end of a path"},
		"an unusual name": {resolver.Rule{Key: "a/{b.c}", Value: "/c", Exact: true},
			"a _redirects file has only variables like {name} and {+name}"},
		"a word that looks like one": {resolver.Rule{Key: "a/{b}", Value: "/c/:b", Exact: true},
			cannot + `its line would be the rule from "a/{b}" to "/c/{+b}"`},
		"a splat that is none": {resolver.Rule{Key: "a/*", Value: "/b/:splat", Exact: true},
			cannot + `its line would be the rule from "a" to "/b/"`},
		"a key with a slash": {resolver.Rule{Key: "a/", Value: "/b", Exact: true},
			cannot + `its line would be the rule from "a" to "/b"`},
		"a loop": {resolver.Rule{Key: "a", Value: "/a"},
			cannot + `its line would be the rule from "a" to "pass"`},
		"a rule that is gone, with a status": {resolver.Rule{Key: "a", Value: "gone", Status: 301},
			cannot + `its line would be the rule from "a" to "gone"`},
		"no key": {resolver.Rule{Value: "/b", Exact: true},
			cannot + `a key cannot be empty, so no rule matches "/"; use Caddy's redir`},
		"no destination": {resolver.Rule{Key: "a", Exact: true},
			cannot + `"302" is not a destination; it begins with "/", "http://" or "https://"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.rule.Position = resolver.Position{Source: "links.json", Line: 7}
			text, err := write(rulefile.Redirects, tt.rule, resolver.Rule{Key: "good", Value: "/x"})
			if !strings.HasPrefix(errorText(err), "links.json:7: key ") ||
				!strings.HasSuffix(errorText(err), ": "+tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			if text != "/good /x 302\n/good/* /x/:splat 302\n" {
				t.Errorf("written is\n%s", text)
			}
		})
	}
}

// What was read makes a ruleset, unless a destination is no URL; and what is written of it answers
// as it does.
func FuzzRedirects(f *testing.F) {
	f.Add("/a /b 302\n/c/* https://example.com/:splat 301!\n/c/d/ /e/?f#g\n")
	f.Add("\uFEFF# c\r\n/a /b/\r\n/a/* /b/:splat\r\n/a /b/ # again\r\n/a/*\t/b/:splat\r\n")
	f.Add("/* /b\n/:a /b/:a\nhttps://x/* /:splat\n/a b=c /d 200 Country=de\n")
	f.Add("/a /b\n/a/c /d\n/a/* /b/:splat\n/a/e /f\n/ab /b")
	f.Add("/a /410.html 410\n/b/* /:x 410!\n/c/:x /410 410\n/d-* /410 410\n/a/* /410 410")
	f.Add("//a/ //b\n/c/* /:splat?d\n/e:f /g")
	f.Add("/p1-* /b/:splat\n/:x-s /b/:x\n/b/* /c\n/:x/:y-a/c /d\n/x\u202e /\u009b\n/p1-x-s /b")
	f.Add("/a/:b/c-:d /:d?e=:b\n/a/:b/* /f/:splat\n/:g/h /i\n/j-* /k/:splat\n/o/* /p")
	f.Add("/:0/* /0:splat")
	f.Add("/:0  /*")
	f.Fuzz(func(t *testing.T, text string) {
		rules, _, err := readLines(rulefile.Reading{SkipUnsupported: true}, text)
		checkPositions(t, text, nil, err)
		ruleset, err := resolver.Compile(rules, resolver.Options{})
		if errors.Is(err, resolver.ErrDuplicateKey) {
			t.Fatalf("%v\n%v", rules, err)
		}
		written, unwritten := write(rulefile.Redirects, rules...)
		if err != nil || unwritten != nil {
			return
		}
		again, _, err := readLines(rulefile.Reading{}, written)
		if err != nil {
			t.Fatalf("%v are written as\n%s\n%v", rules, written, err)
		}
		other, err := resolver.Compile(again, resolver.Options{})
		if err != nil {
			t.Fatalf("%v are written as\n%s\n%v", rules, written, err)
		}
		withoutSlash := strings.NewReplacer("/\n", "\n", "/#", "#", "/?", "?")
		variable := regexp.MustCompile(`\{[^}]*\}`)
		for _, rule := range rules {
			// lines do not tell a key from that with a slash at its end, and no line has an empty segment
			key := strings.TrimSuffix(variable.ReplaceAllString(rule.Key, "v"), "/")
			for _, below := range []string{"", "/", "/w", "/w/"} {
				url := "https://site.example/" + key + below
				got, want := other.Resolve(url), ruleset.Resolve(url)
				if want.Outcome == resolver.Failed {
					continue // a line's way to itself ends, which a rule's does not
				}
				if withoutSlash.Replace(got.Destination+"\n") != withoutSlash.Replace(want.Destination+"\n") ||
					got.Outcome != want.Outcome {
					t.Fatalf("%v\nare written as\n%s%v\n%s leads to %+v, not to %+v", rules, written, again, url,
						got, want)
				}
			}
		}
	})
}

// What took the square or the cube of their length does not end in the time of a test.
func TestLongLinesAreReadSoon(t *testing.T) {
	for name, lines := range map[string]string{
		"captures":              "/:a /x" + strings.Repeat("/:a", 20_000) + "\n",
		"captures and the rest": "/a/:x/* /x" + strings.Repeat("/:x", 1000) + "/:splat\n",
		"segments": "/a/:x/* /" + strings.Repeat("a/", 15_000) + ":splat\n/a/* /b/:splat\n/" +
			strings.Repeat("a/", 15_000) + "* /c/:splat\n",
	} {
		if _, err := (rulefile.Reading{SkipUnsupported: true}).Read(strings.NewReader(lines),
			rulefile.Redirects, "redirects", func(resolver.Rule) {}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLinesThatDoubleAPathWithEachStepAreReadSoon(t *testing.T) {
	// Without a limit this does not end.
	lines := "/x /a/b\n/a/* /b/:splat/:splat\n/b/* /a/:splat/:splat\n"
	rules, _, err := readLines(rulefile.Reading{}, lines)
	if len(rules) != 5 || err != nil {
		t.Errorf("%v %v", rules, err)
	}
}

func TestTheFirstOfSeveralLinesWithoutAnEquivalentSaysHowToSkipThemAll(t *testing.T) {
	const lines = "/a /b 302 Country=us\n/c /d 302 Country=de\n"
	err := rulefile.Read(strings.NewReader(lines), rulefile.Redirects, "redirects",
		func(resolver.Rule) {})
	const skip = "unsupported skip in the source's block"
	first, others, _ := strings.Cut(errorText(err), "\n")
	if !strings.Contains(first, skip) || others == "" || strings.Contains(others, skip) {
		t.Errorf("got %v", err)
	}
}

// Cloudflare does so for all lines that it does not compare as texts.
func TestCloudflareMergesSlashesOfDestinationsBehindAWildcard(t *testing.T) {
	const text = "/a /x//y\n/b/:s //z///:s?u=v//w\n/c /x//y\n/d https://e.example//f\n"
	var got []string
	for _, dialect := range []rulefile.Dialect{rulefile.Cloudflare, rulefile.Netlify} {
		reading := rulefile.Reading{Dialect: dialect}
		_, err := reading.Read(strings.NewReader(text), rulefile.Redirects, "t", func(r resolver.Rule) {
			if r.Value != resolver.PassValue {
				got = append(got, r.Value)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	const want = "/x//y /z/{+s}?u=v/w /x/y https://e.example//f " +
		"/x//y //z///{+s}?u=v//w /x//y https://e.example//f"
	if strings.Join(got, " ") != want {
		t.Errorf("got %q", got)
	}
}
