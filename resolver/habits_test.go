package resolver

import (
	"strings"
	"testing"
)

func TestHabitsOfOtherSystemsAreWarnedOfWithWhatToWrite(t *testing.T) {
	const regexp = "a key is no regular expression: it matches its own characters alone; "
	const urlKey = "a key is a path without scheme and host, which are those of the site; "
	for _, test := range []struct {
		key, value string
		kind       WarningKind
		message    string
		// better is what the message advises; a "" that there is none but in general.
		better Rule
	}{
		{"~^/blog/(.*)$", "https://x.example", WarnRegexp,
			regexp + "write blog, which matches everything below it, too", Rule{Key: "blog"}},
		{"^blog/(.*)$", "https://x.example", WarnRegexp,
			regexp + "write blog, which matches everything below it, too", Rule{Key: "blog"}},
		{"~*^/Blog/.*", "https://x.example", WarnRegexp,
			regexp + "write Blog, which matches everything below it, too", Rule{Key: "Blog"}},
		{"^docs$", "https://x.example", WarnRegexp, regexp + "write docs", Rule{Key: "docs"}},
		{"user/([0-9]+)/edit", "https://x.example", WarnRegexp,
			regexp + "write user/{x}/edit", Rule{Key: "user/{x}/edit", Value: "https://x.example/{x}"}},
		{"^v([^/]+)/(.*)/x[a-z]+$", "https://x.example", WarnRegexp,
			regexp + "write v{x}/{y}/x{z}", Rule{Key: "v{x}/{y}/x{z}", Value: "https://x.example/{x}{y}{z}"}},
		{"(atom|rss).xml", "https://x.example", WarnRegexp,
			regexp + "write a rule for each choice, such as atom.xml", Rule{Key: "atom.xml"}},
		{"item-[0-9]+", "https://x.example", WarnRegexp,
			regexp + "write item-{x}", Rule{Key: "item-{x}", Value: "https://x.example/{x}"}},
		{"^(.*)$", "https://x.example", WarnRegexp,
			regexp + "write {x}", Rule{Key: "{x}", Value: "https://x.example/{x}"}},
		{"^([a-z]+)([0-9]+)$", "https://x.example", WarnRegexp,
			regexp + "write the path, with variables such as {x} for what differs", Rule{}},
		{"blog/:id", "https://x.example", WarnLiteralVariable,
			"the :id of the key stands for itself; write blog/{id}",
			Rule{Key: "blog/{id}", Value: "https://x.example/{id}"}},
		{":lang/docs/:path*", "https://x.example", WarnLiteralVariable,
			"the :lang of the key stands for itself; write {lang}/docs/{+path}",
			Rule{Key: "{lang}/docs/{+path}", Value: "https://x.example/{lang}/{+path}"}},
		{"blog/$1/$2", "https://x.example", WarnLiteralVariable,
			"the $1 of the key stands for itself; write blog/{x}/{y}",
			Rule{Key: "blog/{x}/{y}", Value: "https://x.example/{x}{y}"}},
		{"blog", "https://x.example/news/$1", WarnLiteralVariable,
			"the $1 of the destination stands for itself; the rest of the path is appended anyway: write https://x.example/news",
			Rule{Value: "https://x.example/news"}},
		{"blog", "/news/:splat", WarnLiteralVariable,
			"the :splat of the destination stands for itself; the rest of the path is appended anyway: write /news",
			Rule{Value: "/news"}},
		{"blog", "https://x.example/?id=:id", WarnLiteralVariable,
			"the :id of the destination stands for itself; write {id}, and a key that has this variable, such as docs/{id}",
			Rule{Key: "docs/{id}", Value: "https://x.example/?id={id}"}},
		{"blog", "/$1", WarnLiteralVariable,
			"the $1 of the destination stands for itself; write {x}, and a key that has this variable, such as docs/{x}",
			Rule{Key: "docs/{x}", Value: "/{x}"}},
		{"gh/{owner}", "https://x.example/$1{owner}", WarnLiteralVariable,
			"the $1 of the destination stands for itself; write a variable of the key, such as {owner}",
			Rule{Value: "https://x.example/{owner}"}},
		{"https://go.example//docs", "https://x.example", WarnURLKey, urlKey + "write docs", Rule{Key: "docs"}},
		{"http://go.example", "https://x.example", WarnURLKey,
			urlKey + "write a key such as docs, in the site of go.example", Rule{Key: "docs"}},
		{"docs:", "https://x.example", WarnPunctuation,
			`the ":" at the end is part of the key, and of every path that matches it; write docs`, Rule{Key: "docs"}},
		{"a/{x},", "https://x.example/{x}", WarnPunctuation,
			`the "," at the end is part of the key, and of every path that matches it; write a/{x}`, Rule{Key: "a/{x}"}},
		{"docs", "https://docs.example,", WarnPunctuation,
			`the "," at the end is part of the destination; write https://docs.example`, Rule{Value: "https://docs.example"}},
		{"docs", "/handbook;", WarnPunctuation,
			`the ";" at the end is part of the destination; write /handbook`, Rule{Value: "/handbook"}},
		{"docs", "https://example..com/x", WarnHostName,
			"no client finds the host example..com: a part between its dots is empty; write example.com",
			Rule{Value: "https://example.com/x"}},
		{"docs", "https://-x.example", WarnHostName,
			`no client finds the host -x.example: no part between dots begins or ends in "-"; remove it`, Rule{Value: "https://x.example"}},
		{"docs", "https://*.example/x", WarnHostName,
			`no client finds the host *.example: a host name has no "*"; remove it`, Rule{Value: "https://x.example/x"}},
		{"docs", "https://" + strings.Repeat("a", 64) + ".example", WarnHostName,
			"no client finds the host " + strings.Repeat("a", 64) + ".example: a part between dots has at most 63 characters; shorten it", Rule{Value: "https://a.example"}},
		{"docs", "https://" + strings.Repeat("a.", 130) + "example", WarnHostName,
			"no client finds the host " + strings.Repeat("a.", 130) + "example: a host name has at most 253 characters; shorten it", Rule{Value: "https://a.example"}},
	} {
		t.Run(test.key+" "+test.value, func(t *testing.T) {
			rule := Rule{Key: test.key, Value: test.value, Position: at}
			found := warnings(t, []Rule{rule}, Options{})
			if len(found) != 1 || found[0].Kind != test.kind || found[0].Message != test.message {
				t.Errorf("%q\nwant one of kind %q:\n%s", found, test.kind, test.message)
			}
			if test.better == (Rule{}) {
				return
			}
			if test.better.Key != "" {
				rule.Key = test.better.Key
			}
			if test.better.Value != "" {
				rule.Value = test.better.Value
			}
			if found := warnings(t, []Rule{rule}, Options{}); len(found) > 0 {
				t.Errorf("what is advised, %+v, is warned of: %q", rule, found)
			}
		})
	}
}

func TestWhatOnlyLooksForeignIsNotWarnedOf(t *testing.T) {
	for _, rule := range []Rule{
		{Key: "~jo", Value: "https://x.example/~jo"},
		{Key: "wiki/Foo_(bar)", Value: "https://x.example/wiki/Foo_(bar)"},
		{Key: "wiki/Header_(C++)", Value: "https://x.example/wiki/C++"},
		{Key: "price/us$100", Value: "https://x.example/?price=$100"},
		{Key: "a:b", Value: "https://x.example:8443/a:b/c::d"},
		{Key: "wiki/Help:Contents", Value: "https://x.example/#/room/%23a:b"},
		{Key: "v1.x", Value: "https://x.example/0,1234,00.html"},
		{Key: "[draft]", Value: "https://x.example/?a=1,"},
		{Key: "go.example/docs", Value: "https://x.example/web/2020/https://a.example"},
		{Key: "dots.", Value: "https://x.example./"},
		{Key: "local", Value: "http://intranet/"},
		{Key: "under", Value: "https://a_b.example/#;"},
		{Key: "address", Value: "http://192.0.2.1/"},
		{Key: "six", Value: "http://[2001:db8::1]:8080/"},
		{Key: "bücher", Value: "https://bücher.example/"},
		{Key: "at", Value: "https://x.example/@a,b;c=d"},
		{Key: "text", Value: "https://x.example/#:~:text=a"},
	} {
		if found := warnings(t, []Rule{rule}, Options{}); len(found) > 0 {
			t.Errorf("%+v: %q", rule, found)
		}
	}
}
