package reverse

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

type rules = []resolver.Rule

func compile(t testing.TB, rules rules, opts resolver.Options) *resolver.Ruleset {
	t.Helper()
	ruleset, err := resolver.Compile(rules, opts)
	if err != nil {
		t.Fatal(err)
	}
	return ruleset
}

// pageOf is a request for a page.
func pageOf(t testing.TB, url string) *resolver.Request {
	t.Helper()
	page, err := resolver.ParseRequest(url)
	if err != nil {
		t.Fatal(err)
	}
	page.OverHTTP = true
	return &page
}

// shortURL returns the best short URL of a page, "" for none.
func shortURL(t testing.TB, x *Index, page, short string) string {
	t.Helper()
	url, ok := x.AppendShortURL(nil, pageOf(t, page), short)
	if ok != (len(url) > 0) {
		t.Errorf("%s: %q, %v", page, url, ok)
	}
	return string(url)
}

func TestAPageHasTheShortURLThatIsProvedToLeadToIt(t *testing.T) {
	const own = "https://go.example"
	for _, test := range []struct {
		name  string
		rules rules
		page  string
		short string // "" for the page's origin
		want  string
	}{
		{"a key", rules{{Key: "g", Value: "/docs/guide"}}, own + "/docs/guide", "", own + "/g"},
		{"another page", rules{{Key: "g", Value: "/docs/guide"}}, own + "/docs/other", "", ""},
		{"the front page", rules{{Key: "home", Value: "/"}}, own + "/", "", own + "/home"},
		{"an absolute value on the same site",
			rules{{Key: "b", Value: "https://GO.EXAMPLE:443/page"}}, own + "/page", "",
			own + "/b"},
		{"an absolute value on another site",
			rules{{Key: "b", Value: "https://other.example/page"}}, own + "/page", "", ""},
		{"another scheme", rules{{Key: "b", Value: "http://go.example/page"}}, own + "/page", "",
			""},
		{"another port", rules{{Key: "b", Value: "https://go.example:8443/page"}}, own + "/page",
			"", ""},
		{"a page on a port", rules{{Key: "b", Value: "/page"}}, own + ":8443/page", "",
			own + ":8443/b"},
		{"fewest octets", rules{{Key: "guide", Value: "/page"}, {Key: "g", Value: "/page"},
			{Key: "gu", Value: "/page"}}, own + "/page", "", own + "/g"},
		{"then fewest segments", rules{{Key: "a/b", Value: "/page"}, {Key: "abc", Value: "/page"}},
			own + "/page", "", own + "/abc"},
		{"then alphabetical order",
			rules{{Key: "gb", Value: "/page"}, {Key: "ga", Value: "/page"},
				{Key: "gc", Value: "/page"}}, own + "/page", "", own + "/ga"},
		{"octets count as they are sent",
			rules{{Key: "é", Value: "/page"}, {Key: "abc", Value: "/page"}}, own + "/page", "",
			own + "/abc"},
		{"a target that another key captures",
			rules{{Key: "g", Value: "/docs/guide"},
				{Key: "docs", Value: "https://other.example/d"}}, own + "/docs/guide", "", ""},
		{"the end of a chain", rules{{Key: "a", Value: "/b/c"}, {Key: "b", Value: "/p"}},
			own + "/p/c", "", own + "/a"},
		{"the middle of a chain", rules{{Key: "a", Value: "/b/c"}, {Key: "b", Value: "/p"}},
			own + "/b/c", "", ""},
		{"a loop", rules{{Key: "a", Value: "/b"}, {Key: "b", Value: "/a"}}, own + "/a", "", ""},
		{"a query in a value", rules{{Key: "a", Value: "/page?x=1"}}, own + "/page?x=1", "",
			own + "/a"},
		{"a page without the value's query", rules{{Key: "a", Value: "/page?x=1"}}, own + "/page",
			"", ""},
		{"a page with another query", rules{{Key: "a", Value: "/page"}}, own + "/page?x=1", "",
			""},
		{"a query that the draft spells in another way",
			rules{{Key: "a", Value: "/page?x=a%20b&c"}}, own + "/page?x=a%20b&c", "", ""},
		{"a query as the draft spells it", rules{{Key: "a", Value: "/page?x=a%20b&c"}},
			own + "/page?x=a+b&c=", "", own + "/a"},
		{"a fragment in a value", rules{{Key: "a", Value: "/page#s"}}, own + "/page", "", ""},
		{"a bare fragment", rules{{Key: "a", Value: "https://go.example/page#"}}, own + "/page",
			"", own + "/a"},
		{"a slash at the end of a value", rules{{Key: "a", Value: "/page/"}}, own + "/page", "",
			""},
		{"a slash at the end of a page", rules{{Key: "a", Value: "/page/"}}, own + "/page/", "",
			own + "/a"},
		{"another spelling of the value", rules{{Key: "c", Value: "/%70age/%7eme"}},
			own + "/page/~me", "", own + "/c"},
		{"another spelling of the page", rules{{Key: "c", Value: "/caf%c3%a9"}}, own + "/café", "",
			own + "/c"},
		{"an encoded slash", rules{{Key: "c", Value: "/a%2Fb"}}, own + "/a/b", "", ""},
		{"the case of a path", rules{{Key: "c", Value: "/Page"}}, own + "/page", "", ""},
		{"a prefix", rules{{Key: "gh", Value: "/projects"}}, own + "/projects/x", "",
			own + "/gh/x"},
		{"a prefix at its own page", rules{{Key: "gh", Value: "/projects"}}, own + "/projects", "",
			own + "/gh"},
		{"a prefix with a slash at the end", rules{{Key: "gh", Value: "/projects/"}},
			own + "/projects/x/", "", own + "/gh/x/"},
		{"a prefix above everything", rules{{Key: "r", Value: "/"}}, own + "/projects/x", "", ""},
		{"a prefix that makes nothing shorter",
			rules{{Key: "projects-of-mine", Value: "/projects"}}, own + "/projects/x", "", ""},
		{"a prefix of the same length", rules{{Key: "project5", Value: "/projects"}},
			own + "/projects/x", "", ""},
		{"a prefix that is shadowed", rules{{Key: "a", Value: "/page"}, {Key: "a/b", Value: "/z"}},
			own + "/page/b", "", ""},
		{"the next best where a prefix is shadowed",
			rules{{Key: "a", Value: "/page"}, {Key: "a/b", Value: "/z"},
				{Key: "cc", Value: "/page"}}, own + "/page/b", "", own + "/cc/b"},
		{"beside what is shadowed", rules{{Key: "a", Value: "/page"}, {Key: "a/b", Value: "/z"}},
			own + "/page/c", "", own + "/a/c"},
		{"an exact rule", rules{{Key: "a", Value: "/page", Exact: true}}, own + "/page/c", "", ""},
		{"an exact rule at its page", rules{{Key: "a", Value: "/page", Exact: true}},
			own + "/page", "", own + "/a"},
		{"a prefix with a query", rules{{Key: "a", Value: "/page?x=1"}}, own + "/page/c?x=1", "",
			own + "/a/c"},
		{"an unlisted rule", rules{{Key: "a", Value: "/page", Unlisted: true},
			{Key: "long", Value: "/page"}}, own + "/page", "", own + "/long"},
		{"a key with a comma", rules{{Key: "a,b", Value: "/page"}, {Key: "a;b", Value: "/page"},
			{Key: "a|b", Value: "/page"}, {Key: "long", Value: "/page"}}, own + "/page", "",
			own + "/long"},
		{"a rest with a comma", rules{{Key: "a", Value: "/page"}}, own + "/page/b,c", "", ""},
		{"another short host", rules{{Key: "a", Value: own + "/page"}}, own + "/page",
			"https://s.example", "https://s.example/a"},
		{"another short host and an internal value", rules{{Key: "a", Value: "/page"}},
			own + "/page", "https://s.example", ""},
		{"a longer short host", rules{{Key: "a", Value: own + "/pages"}}, own + "/pages/b",
			"https://a-longer-name.example", ""},
		{"a template", rules{{Key: "s/{id}", Value: "/story/{id}"}}, own + "/story/17", "",
			own + "/s/17"},
		{"a template and what is below", rules{{Key: "s/{id}", Value: "/story/{id}"}},
			own + "/story/17/print", "", own + "/s/17/print"},
		{"a template with text around it",
			rules{{Key: "s{id}", Value: "/story/no-{id}.html", Exact: true}},
			own + "/story/no-17.html", "", own + "/s17"},
		{"a template that does not match", rules{{Key: "s{id}", Value: "/story/no-{id}.html"}},
			own + "/story/17.html", "", ""},
		{"a template that spans segments",
			rules{{Key: "f/{+p}", Value: "/files/{+p}/raw", Exact: true}}, own + "/files/a/b/raw",
			"", own + "/f/a/b"},
		{"a template with a query", rules{{Key: "q/{x}", Value: "/search?words={x}&page=1"}},
			own + "/search?words=a+b&page=1", "", own + "/q/a%20b"},
		{"a template that drops a variable", rules{{Key: "s/{id}/{x}", Value: "/story/{id}"}},
			own + "/story/17", "", ""},
		{"a template that a key shadows",
			rules{{Key: "s/{id}", Value: "/story/{id}"}, {Key: "s/17", Value: "/other"}},
			own + "/story/17", "", ""},
		{"a template that is longer", rules{{Key: "stories/{id}", Value: "/story/{id}"}},
			own + "/story/17", "", ""},
		{"a template through a chain",
			rules{{Key: "s/{id}", Value: "/t/{id}"}, {Key: "t", Value: "/the/story"}},
			own + "/the/story/17", "", own + "/s/17"},
		{"a template with a slash at its end", rules{{Key: "s/{x}", Value: "/long/{x}/"}},
			own + "/long/7/more", "", own + "/s/7/more"},
		{"two variables in one segment", rules{{Key: "s/{x}/{y}", Value: "/story/{x}-{y}"}},
			own + "/story/5-6", "", own + "/s/5/6"},
		{"a span that is one segment of the page", rules{{Key: "{+x}/k", Value: "/longlong/{x}"}},
			own + "/longlong/7/more", "", own + "/7/k/more"},
		{"what a destination escapes", rules{{Key: "s/{x}", Value: "/story/{x}"}},
			own + "/story/a%40b", "", own + "/s/a@b"},
		{"a page at the key's own path with a query",
			rules{{Key: "{x}", Value: "/longer/{x}?q={x}"}, {Key: "longer", Value: "/"}},
			own + "/a?q=a", "", own + "/a"},
		{"an unlisted template", rules{{Key: "s/{id}", Value: "/story/{id}", Unlisted: true}},
			own + "/story/17", "", ""},
		{"a key beats a longer template",
			rules{{Key: "s/{id}", Value: "/story/{id}"}, {Key: "me", Value: "/story/17"}},
			own + "/story/17", "", own + "/me"},
		{"a page without a host", rules{{Key: "a", Value: "/page"}}, "", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			x := New(compile(t, test.rules, resolver.Options{}))
			if test.page == "" {
				page, _ := resolver.NewRequest("https", "", "/page")
				if url, ok := x.AppendShortURL(nil, &page, test.short); ok {
					t.Errorf("got %s", url)
				}
				return
			}
			if got := shortURL(t, x, test.page, test.short); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestWithAnOriginInternalValuesArePagesThere(t *testing.T) {
	x := New(compile(t, rules{{Key: "a", Value: "/page"}},
		resolver.Options{Origin: "https://www.example"}))
	if got := shortURL(t, x, "https://www.example/page",
		"https://www.example"); got != "https://www.example/a" {
		t.Errorf("got %q", got)
	}
	if got := shortURL(t, x, "https://www.example/page",
		"https://s.example"); got != "https://s.example/a" {
		t.Errorf("got %q", got)
	}
	if got := shortURL(t, x, "https://evil.example/page", "https://www.example"); got != "" {
		t.Errorf("got %q for a host that is not the origin's", got)
	}
}

func TestFoldedKeysAreAdvertisedInLowerCase(t *testing.T) {
	x := New(compile(t, rules{{Key: "Guide", Value: "/docs/Guide"}},
		resolver.Options{FoldCase: true}))
	if got := shortURL(t, x, "https://go.example/docs/Guide/X",
		""); got != "https://go.example/guide/X" {
		t.Errorf("got %q", got)
	}
}

// plainShortURL tries every key with every end of the page's path, and returns the best that leads
// to the page.
func plainShortURL(
	ruleset *resolver.Ruleset, opts resolver.Options, page *resolver.Request, short string,
) string {
	canonical := string(weburl.AppendCanonicalPath(nil, page.Target.Pathname))
	origin, _ := weburl.AppendOrigin(nil, page.Scheme, page.Host)
	if short == "" {
		short = string(origin)
	}
	best := ""
	try := func(path string, hasPart bool) {
		url := short + path
		request, err := resolver.ParseRequest(url)
		if err != nil || !isPlain([]byte(path), "") || hasPart &&
			len(url) >= len(origin)+len(canonical)+len(page.Target.Search) {
			return
		}
		request.OverHTTP = true
		destination, result := ruleset.AppendDestination(nil, &request)
		led, err := weburl.Parse(string(destination))
		if path == canonical && short == string(origin) && page.Target.Search == "" {
			return
		}
		if rule, ok := ruleset.Numbered(result.Rule); !ok || rule.Unlisted {
			return
		}
		if result.Outcome != resolver.Redirect || err != nil || led.Origin() != string(origin) ||
			led.Search() != page.Target.Search || led.HasFragment {
			return
		}
		if led.Canonical().Path == canonical && (best == "" || compareShort(path, best) < 0) {
			best = path
		}
	}
	for rule := range ruleset.Rules() {
		if rule.Unlisted {
			continue
		}
		key := "/" + string(weburl.AppendCanonicalPath(nil,
			resolver.CanonicalKey(rule.Key, opts.FoldCase)))
		try(key, false)
		for i := range canonical {
			if rest := canonical[i:]; rest[0] == '/' {
				try(key+rest, true)
			}
		}
	}
	if best == "" {
		return ""
	}
	return short + best
}

// pages are those that rules may lead to, and some that they do not.
func (r random) pages(rules rules) (pages []string) {
	for _, rule := range rules {
		page := strings.ReplaceAll(rule.Value, "https://x.example", "https://go.example")
		page = strings.NewReplacer("{x}", r.segment(), "{+x}", r.path(2)).Replace(page)
		if strings.HasPrefix(page, "/") {
			page = "https://go.example" + page
		}
		pages = append(pages, page, page+"/r")
	}
	for range 6 {
		pages = append(pages, r.one("https://go.example/", "https://x.example/")+r.path(3)+
			r.one("", "", "?a=1", "/"))
	}
	return pages
}

func TestTheBestShortURLIsFoundForRandomRulesetsAndPages(t *testing.T) {
	found, none := 0, 0
	for seed := range uint64(2000) {
		r := newRandom(seed)
		rules, opts := r.ruleset(false)
		ruleset := compile(t, rules, opts)
		x := New(ruleset)
		for i, url := range r.pages(rules) {
			page, err := resolver.ParseRequest(url)
			if err != nil {
				continue
			}
			page.OverHTTP, page.Target.Hash = true, ""
			short := []string{"", "https://go.example", "https://s.example"}[i%3]
			want := plainShortURL(ruleset, opts, &page, short)
			if got, _ := x.AppendShortURL(nil, &page, short); string(got) != want {
				t.Fatalf("seed %d\nrules %+v\noptions %+v\npage %s\ngot  %q\nwant %q", seed, rules,
					opts, url, got, want)
			}
			if want == "" {
				none++
			} else {
				found++
			}
		}
	}
	if found < 3000 || none < 3000 {
		t.Errorf("%d pages have a short URL, and %d have none", found, none)
	}
}

// FuzzShortURL holds the promise that whatever is advertised leads to the page, and to nothing
// else.
func FuzzShortURL(f *testing.F) {
	f.Add(uint64(0), "a=>/page\nb=>/page/?x=1\ns/{x}=>/story/{x}\n!t{y}/{+z}=>/{+z}/{y}.html?q={y}",
		"/story/17", "")
	f.Add(uint64(1), "a=>/p\na/b=>/z\nc=>/a/b\nq/{x}=>/search?words={x}\nw/{x}=>https://go.example/{+x}/{x}", "/search?words=a+b", "https://s.example")
	f.Fuzz(func(t *testing.T, seed uint64, text, target, short string) {
		if len(target) > 1000 {
			return
		}
		rules, opts := newRandom(seed).ruleset(true)
		rules = valid(rules, linesOf(text), opts)
		ruleset := compile(t, rules, opts)
		x := New(ruleset)
		page, ok := resolver.NewRequest("https", "go.example", target)
		if !ok {
			return
		}
		page.OverHTTP, page.Target.Hash = true, ""
		if u, err := weburl.Parse(short); err != nil || u.Origin() != short ||
			!isPlain([]byte(short), "[]") {
			short = ""
		}
		url, ok := x.AppendShortURL(nil, &page, short)
		if !ok {
			return
		}
		request, err := resolver.ParseRequest(string(url))
		if err != nil || strings.ContainsAny(string(url), "<>\" ,;") {
			t.Fatalf("%q is no URL for a header: %v", url, err)
		}
		request.OverHTTP = true
		destination, result := ruleset.AppendDestination(nil, &request)
		led, err := weburl.Parse(string(destination))
		if result.Outcome != resolver.Redirect || err != nil {
			t.Fatalf("rules %+v, page %q: %q leads to %q, %v", rules, target, url, destination,
				result)
		}
		want, _ := weburl.Parse("https://go.example" + page.Target.Pathname + page.Target.Search)
		if led.Canonical() != want.Canonical() || led.HasFragment {
			t.Errorf("rules %+v, page %q: %q leads to %q", rules, target, url, destination)
		}
		if number, ok := ruleset.NumberOf(result.Key); ok {
			if rule, _ := ruleset.Numbered(number); rule.Unlisted {
				t.Errorf("%q is of an unlisted rule", url)
			}
		}
	})
}

func TestManyAskForShortURLsAtOnce(t *testing.T) {
	x := New(compile(t, rules{{Key: "a", Value: "/page"}, {Key: "s/{x}", Value: "/story/{x}"}},
		resolver.Options{}))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 500 {
				n := strconv.Itoa(i)
				for target, want := range map[string]string{"/page/" + n: "https://go.example/a/" +
					n, "/story/" + n: "https://go.example/s/" + n, "/none/" + n: ""} {
					if got := shortURL(t, x, "https://go.example"+target, ""); got != want {
						t.Errorf("%s: got %q", target, got)
					}
				}
			}
		})
	}
	all.Wait()
}

func TestNoShortURLIsGoneOrPasses(t *testing.T) {
	ruleset := compile(t, rules{
		{Key: "g", Value: "gone"}, {Key: "p", Value: "pass"}, {Key: "to-gone", Value: "/g"},
		{Key: "t/{x}", Value: "gone"}, {Key: "u/{x}", Value: "/t/{x}"},
		{Key: "long/er", Value: "/g/x", Exact: true},
	}, resolver.Options{Origin: "https://go.example"})
	x := New(ruleset)
	for _, path := range []string{"/g", "/p", "/t/1", "/g/x"} {
		page := pageOf(t, "https://go.example"+path)
		if url, ok := x.AppendShortURL(nil, page, ""); ok {
			t.Errorf("%s has the short URL %s", path, url)
		}
		for lead := range LeadsTo(ruleset, *page, "https://go.example", false) {
			t.Errorf("%s leads to %s", lead.Path, path)
		}
	}
}

func TestAShortURLLeadsToThePageInItsRulesOwnMode(t *testing.T) {
	x := New(compile(t, rules{
		{Key: "a", Value: "/page?flag&~", Query: resolver.QueryIgnore},
		{Key: "b", Value: "/page?flag&~"},
		{Key: "c", Value: "/b?x", Query: resolver.QueryIgnore},
		{Key: "t/{x}", Value: "/p?{x}&{x}", Query: resolver.QueryPreserve},
	}, resolver.Options{Origin: "https://go.example"}))
	for target, want := range map[string]string{
		"/page?flag&~":     "https://go.example/a",
		"/page?flag=&%7E=": "https://go.example/b",
		"/page?x":          "",
		"/p?1&1":           "https://go.example/t/1",
		"/p?1=":            "",
	} {
		if got := shortURL(t, x, "https://go.example"+target, ""); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
}
