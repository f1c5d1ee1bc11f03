package lint

import (
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

func TestHabitsOfOtherSystemsAreWarnedOfWithWhatToWrite(t *testing.T) {
	const (
		page        = "https://x.example"
		regexp      = "this key looks like a regular expression, but keys match literally; "
		below       = ", which matches everything below it, too"
		ofKey       = " of the key stands for itself; "
		ofValue     = " of the destination stands for itself; "
		appended    = "the rest of the path is appended anyway: "
		variableKey = ", and a key that has this variable, such as "
		path        = "a key is a path without scheme and host, which are those of the site; "
		inKey       = " at the end is part of the key, and of every path that matches it; "
		inValue     = " at the end is part of the destination; "
		noHost      = "no client finds the host "
	)
	long, labels := strings.Repeat("a", 64)+".example", strings.Repeat("a.", 130)+"example"
	for _, test := range []struct {
		kind       Kind
		key, value string
		message    string
		better     []string // key and value as advised; none where the advice is a general one
	}{
		{WarnRegexp, "~^/blog/(.*)$", page, regexp + "write blog" + below, []string{"blog", page}},
		{WarnRegexp, "^blog/(.*)$", page, regexp + "write blog" + below, []string{"blog", page}},
		{WarnRegexp, "~*^/Blog/.*", page, regexp + "write Blog" + below, []string{"Blog", page}},
		{WarnRegexp, "^docs$", page, regexp + "write docs", []string{"docs", page}},
		{
			WarnRegexp, "user/([0-9]+)/edit", page,
			regexp + "write user/{x}/edit", []string{"user/{x}/edit", "/{x}"},
		},
		{
			WarnRegexp, "^v([^/]+)/(.*)/x[a-z]+$", page,
			regexp + "write v{x}/{y}/x{z}", []string{"v{x}/{y}/x{z}", "/{x}{y}{z}"},
		},
		{
			WarnRegexp, "(atom|rss).xml", page,
			regexp + "write a rule for each choice, such as atom.xml", []string{"atom.xml", page},
		},
		{WarnRegexp, "item-[0-9]+", page, regexp + "write item-{x}", []string{"item-{x}", "/{x}"}},
		{WarnRegexp, "^(.*)$", page, regexp + "write {x}", []string{"{x}", page + "/{x}"}},
		{
			WarnRegexp, "^([a-z]+)([0-9]+)$", page,
			regexp + "write the path, with variables such as {x} for what differs", nil,
		},
		{
			WarnLiteralVariable, "blog/:id", page,
			"the :id" + ofKey + "write blog/{id}", []string{"blog/{id}", "/{id}"},
		},
		{
			WarnLiteralVariable, ":lang/docs/:path*", page,
			"the :lang" + ofKey + "write {lang}/docs/{+path}",
			[]string{"{lang}/docs/{+path}", "/{lang}/{+path}"},
		},
		{
			WarnLiteralVariable, "blog/$1/$2", page,
			"the $1" + ofKey + "write blog/{x}/{y}", []string{"blog/{x}/{y}", "/{x}{y}"},
		},
		{
			WarnLiteralVariable, "blog", page + "/news/$1",
			"the $1" + ofValue + appended + "write https://x.example/news",
			[]string{"blog", page + "/news"},
		},
		{
			WarnLiteralVariable, "blog", "/news/:splat",
			"the :splat" + ofValue + appended + "write /news", []string{"blog", "/news"},
		},
		{
			WarnLiteralVariable, "blog", "/news?id=:id",
			"the :id" + ofValue + "write {id}" + variableKey + "docs/{id}",
			[]string{"docs/{id}", "/news?id={id}"},
		},
		{
			WarnLiteralVariable, "blog", "/$1",
			"the $1" + ofValue + "write {x}" + variableKey + "docs/{x}",
			[]string{"docs/{x}", "/{x}"},
		},
		{
			WarnLiteralVariable, "gh/{owner}", "/$1{owner}",
			"the $1" + ofValue + "write a variable of the key, such as {owner}",
			[]string{"gh/{owner}", "/{owner}"},
		},
		{WarnURLKey, "https://go.example//docs", page, path + "write docs", []string{"docs", page}},
		{
			WarnURLKey, "http://go.example", page,
			path + "write a key such as docs, in the site of go.example", []string{"docs", page},
		},
		{
			WarnURLKey, "https://docs.example/v2", "/docs",
			path + "write v2, or, if key and destination are exchanged, the key docs and the " +
				"destination https://docs.example/v2", []string{"docs", "https://docs.example/v2"},
		},
		{WarnPunctuation, "docs:", page, `the ":"` + inKey + "write docs", []string{"docs", page}},
		{
			WarnPunctuation, "a/{x},", "/{x}",
			`the ","` + inKey + "write a/{x}", []string{"a/{x}", "/{x}"},
		},
		{
			WarnPunctuation, "docs", page + ",",
			`the ","` + inValue + "write https://x.example", []string{"docs", page},
		},
		{
			WarnPunctuation, "docs", "/handbook;",
			`the ";"` + inValue + "write /handbook", []string{"docs", "/handbook"},
		},
		{
			WarnHostName, "docs", "https://a..example/x",
			noHost + "a..example: a part between its dots is empty; write a.example",
			[]string{"docs", "https://a.example/x"},
		},
		{
			WarnHostName, "docs", "https://-x.example",
			noHost + `-x.example: no part between dots begins or ends in "-"; remove it`,
			[]string{"docs", page},
		},
		{
			WarnHostName, "docs", "https://*.example/x",
			noHost + `*.example: the host name contains "*"; remove it`, nil,
		},
		{
			WarnHostName, "docs", "https://" + long,
			noHost + long + ": a part between dots has at most 63 characters; shorten it", nil,
		},
		{
			WarnHostName, "docs", "https://" + labels,
			noHost + labels + ": a host name has at most 253 characters; shorten it", nil,
		},
		{
			WarnHostName, "docs", "https:///foo/bar",
			"slashes in front of a host count as none, so the host is foo; write " +
				"https://foo/bar for another host, or /foo/bar for a path of this one",
			[]string{"docs", "/foo/bar"},
		},
		{
			WarnHostName, "docs", `http://\\/x.example`,
			"slashes in front of a host count as none, so the host is x.example; write " +
				"http://x.example for another host, or /x.example for a path of this one",
			[]string{"docs", "http://x.example"},
		},
	} {
		t.Run(test.key+" "+test.value, func(t *testing.T) {
			found := warnings(t, []resolver.Rule{{Key: test.key, Value: test.value}}, resolver.Options{})
			if len(found) != 1 || found[0].Kind != test.kind || found[0].Message != test.message {
				t.Errorf("%q\nwant one of kind %q:\n%s", found, test.kind, test.message)
			}
			if test.better == nil {
				return
			}
			better := []resolver.Rule{{Key: test.better[0], Value: test.better[1]}}
			if found := warnings(t, better, resolver.Options{}); len(found) > 0 {
				t.Errorf("what is advised, %q, is warned of: %q", test.better, found)
			}
		})
	}
}

func TestWhatOnlyLooksForeignIsNotWarnedOf(t *testing.T) {
	for key, value := range map[string]string{
		"~jo":                 "https://x.example/~jo",
		"wiki/Foo_(bar)":      "https://x.example/wiki/Foo_(bar)",
		"wiki/Header_(C++)":   "https://x.example/wiki/C++",
		"price/us$100":        "https://x.example/?price=$100",
		"a:b":                 "https://x.example:8443/a:b/c::d",
		"wiki/Help:Contents":  "https://x.example/#/room/%23a:b",
		"v1.x":                "https://x.example/0,1234,00.html",
		"[draft]":             "https://x.example/?a=1,",
		"go.example/docs":     "https://x.example/web/2020/https://a.example",
		"dots.":               "https://x.example./",
		"local":               "http://intranet/",
		"under":               "https://a_b.example/#;",
		"address":             "http://192.0.2.1/",
		"six":                 "http://[2001:db8::1]:8080/",
		"bücher":              "https://bücher.example/",
		"at":                  "https://x.example/@a,b;c=d",
		"text":                "https://x.example/#:~:text=a",
		"user":                "https://x.example/",
		"docs/(draft)/[a]/v.": "https://x.example/",
	} {
		rules := []resolver.Rule{{Key: key, Value: value}}
		if found := warnings(t, rules, resolver.Options{}); len(found) > 0 {
			t.Errorf("%s %s: %q", key, value, found)
		}
	}
}

func TestAnOriginThatNoClientFindsIsWarnedOf(t *testing.T) {
	for origin, want := range map[string]string{
		"https://*.example":   `origin: no client finds the host *.example: the host name contains "*"; remove it`,
		"https://go.example":  "",
		"http://[::1]:8080":   "",
		"":                    "",
		"https://a_b.example": "",
	} {
		found := warnings(t, []resolver.Rule{{Key: "a", Value: "/b"}}, resolver.Options{Origin: origin})
		switch {
		case want == "" && len(found) > 0:
			t.Errorf("%s is warned of: %q", origin, found)
		case want != "" && (len(found) != 1 || found[0].Message != want):
			t.Errorf("%s: got %q, want %s", origin, found, want)
		}
	}
}
