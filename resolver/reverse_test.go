package resolver

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// pageOf is a request for a page.
func pageOf(t testing.TB, url string) *Request {
	t.Helper()
	page, err := ParseRequest(url)
	if err != nil {
		t.Fatal(err)
	}
	page.OverHTTP = true
	return &page
}

// shortURL returns the best short URL of a page, "" for none.
func shortURL(t testing.TB, rs *Ruleset, page, short string) string {
	t.Helper()
	rs.reverse = newReverseIndex(rs)
	url, ok := rs.AppendShortURL(nil, pageOf(t, page), short)
	if ok != (len(url) > 0) {
		t.Errorf("%s: %q, %v", page, url, ok)
	}
	return string(url)
}

func TestAPageHasTheShortURLThatIsProvedToLeadToIt(t *testing.T) {
	const own = "https://go.example"
	for _, test := range []struct {
		name  string
		rules []Rule
		page  string
		short string // "" for the page's origin
		want  string
	}{
		{"a key", []Rule{{Key: "g", Value: "/docs/guide"}}, own + "/docs/guide", "", own + "/g"},
		{"another page", []Rule{{Key: "g", Value: "/docs/guide"}}, own + "/docs/other", "", ""},
		{"the front page", []Rule{{Key: "home", Value: "/"}}, own + "/", "", own + "/home"},
		{"an absolute value on the same site",
			[]Rule{{Key: "b", Value: "https://GO.EXAMPLE:443/page"}}, own + "/page", "",
			own + "/b"},
		{"an absolute value on another site",
			[]Rule{{Key: "b", Value: "https://other.example/page"}}, own + "/page", "", ""},
		{"another scheme", []Rule{{Key: "b", Value: "http://go.example/page"}}, own + "/page", "",
			""},
		{"another port", []Rule{{Key: "b", Value: "https://go.example:8443/page"}}, own + "/page",
			"", ""},
		{"a page on a port", []Rule{{Key: "b", Value: "/page"}}, own + ":8443/page", "",
			own + ":8443/b"},
		{"fewest octets", []Rule{{Key: "guide", Value: "/page"}, {Key: "g", Value: "/page"},
			{Key: "gu", Value: "/page"}}, own + "/page", "", own + "/g"},
		{"then fewest segments", []Rule{{Key: "a/b", Value: "/page"}, {Key: "abc", Value: "/page"}},
			own + "/page", "", own + "/abc"},
		{"then alphabetical order",
			[]Rule{{Key: "gb", Value: "/page"}, {Key: "ga", Value: "/page"},
				{Key: "gc", Value: "/page"}}, own + "/page", "", own + "/ga"},
		{"octets count as they are sent",
			[]Rule{{Key: "é", Value: "/page"}, {Key: "abc", Value: "/page"}}, own + "/page", "",
			own + "/abc"},
		{"a target that another key captures",
			[]Rule{{Key: "g", Value: "/docs/guide"},
				{Key: "docs", Value: "https://other.example/d"}}, own + "/docs/guide", "", ""},
		{"the end of a chain", []Rule{{Key: "a", Value: "/b/c"}, {Key: "b", Value: "/p"}},
			own + "/p/c", "", own + "/a"},
		{"the middle of a chain", []Rule{{Key: "a", Value: "/b/c"}, {Key: "b", Value: "/p"}},
			own + "/b/c", "", ""},
		{"a loop", []Rule{{Key: "a", Value: "/b"}, {Key: "b", Value: "/a"}}, own + "/a", "", ""},
		{"a query in a value", []Rule{{Key: "a", Value: "/page?x=1"}}, own + "/page?x=1", "",
			own + "/a"},
		{"a page without the value's query", []Rule{{Key: "a", Value: "/page?x=1"}}, own + "/page",
			"", ""},
		{"a page with another query", []Rule{{Key: "a", Value: "/page"}}, own + "/page?x=1", "",
			""},
		{"a query that the draft spells in another way",
			[]Rule{{Key: "a", Value: "/page?x=a%20b&c"}}, own + "/page?x=a%20b&c", "", ""},
		{"a query as the draft spells it", []Rule{{Key: "a", Value: "/page?x=a%20b&c"}},
			own + "/page?x=a+b&c=", "", own + "/a"},
		{"a fragment in a value", []Rule{{Key: "a", Value: "/page#s"}}, own + "/page", "", ""},
		{"a bare fragment", []Rule{{Key: "a", Value: "https://go.example/page#"}}, own + "/page",
			"", own + "/a"},
		{"a slash at the end of a value", []Rule{{Key: "a", Value: "/page/"}}, own + "/page", "",
			""},
		{"a slash at the end of a page", []Rule{{Key: "a", Value: "/page/"}}, own + "/page/", "",
			own + "/a"},
		{"another spelling of the value", []Rule{{Key: "c", Value: "/%70age/%7eme"}},
			own + "/page/~me", "", own + "/c"},
		{"another spelling of the page", []Rule{{Key: "c", Value: "/caf%c3%a9"}}, own + "/café", "",
			own + "/c"},
		{"an encoded slash", []Rule{{Key: "c", Value: "/a%2Fb"}}, own + "/a/b", "", ""},
		{"the case of a path", []Rule{{Key: "c", Value: "/Page"}}, own + "/page", "", ""},
		{"a prefix", []Rule{{Key: "gh", Value: "/projects"}}, own + "/projects/x", "",
			own + "/gh/x"},
		{"a prefix at its own page", []Rule{{Key: "gh", Value: "/projects"}}, own + "/projects", "",
			own + "/gh"},
		{"a prefix with a slash at the end", []Rule{{Key: "gh", Value: "/projects/"}},
			own + "/projects/x/", "", own + "/gh/x/"},
		{"a prefix above everything", []Rule{{Key: "r", Value: "/"}}, own + "/projects/x", "", ""},
		{"a prefix that makes nothing shorter",
			[]Rule{{Key: "projects-of-mine", Value: "/projects"}}, own + "/projects/x", "", ""},
		{"a prefix of the same length", []Rule{{Key: "project5", Value: "/projects"}},
			own + "/projects/x", "", ""},
		{"a prefix that is shadowed", []Rule{{Key: "a", Value: "/page"}, {Key: "a/b", Value: "/z"}},
			own + "/page/b", "", ""},
		{"the next best where a prefix is shadowed",
			[]Rule{{Key: "a", Value: "/page"}, {Key: "a/b", Value: "/z"},
				{Key: "cc", Value: "/page"}}, own + "/page/b", "", own + "/cc/b"},
		{"beside what is shadowed", []Rule{{Key: "a", Value: "/page"}, {Key: "a/b", Value: "/z"}},
			own + "/page/c", "", own + "/a/c"},
		{"an exact rule", []Rule{{Key: "a", Value: "/page", Exact: true}}, own + "/page/c", "", ""},
		{"an exact rule at its page", []Rule{{Key: "a", Value: "/page", Exact: true}},
			own + "/page", "", own + "/a"},
		{"a prefix with a query", []Rule{{Key: "a", Value: "/page?x=1"}}, own + "/page/c?x=1", "",
			own + "/a/c"},
		{"an unlisted rule", []Rule{{Key: "a", Value: "/page", Unlisted: true},
			{Key: "long", Value: "/page"}}, own + "/page", "", own + "/long"},
		{"a key with a comma", []Rule{{Key: "a,b", Value: "/page"}, {Key: "a;b", Value: "/page"},
			{Key: "a|b", Value: "/page"}, {Key: "long", Value: "/page"}}, own + "/page", "",
			own + "/long"},
		{"a rest with a comma", []Rule{{Key: "a", Value: "/page"}}, own + "/page/b,c", "", ""},
		{"another short host", []Rule{{Key: "a", Value: own + "/page"}}, own + "/page",
			"https://s.example", "https://s.example/a"},
		{"another short host and an internal value", []Rule{{Key: "a", Value: "/page"}},
			own + "/page", "https://s.example", ""},
		{"a longer short host", []Rule{{Key: "a", Value: own + "/pages"}}, own + "/pages/b",
			"https://a-longer-name.example", ""},
		{"a template", []Rule{{Key: "s/{id}", Value: "/story/{id}"}}, own + "/story/17", "",
			own + "/s/17"},
		{"a template and what is below", []Rule{{Key: "s/{id}", Value: "/story/{id}"}},
			own + "/story/17/print", "", own + "/s/17/print"},
		{"a template with text around it",
			[]Rule{{Key: "s{id}", Value: "/story/no-{id}.html", Exact: true}},
			own + "/story/no-17.html", "", own + "/s17"},
		{"a template that does not match", []Rule{{Key: "s{id}", Value: "/story/no-{id}.html"}},
			own + "/story/17.html", "", ""},
		{"a template that spans segments",
			[]Rule{{Key: "f/{+p}", Value: "/files/{+p}/raw", Exact: true}}, own + "/files/a/b/raw",
			"", own + "/f/a/b"},
		{"a template with a query", []Rule{{Key: "q/{x}", Value: "/search?words={x}&page=1"}},
			own + "/search?words=a+b&page=1", "", own + "/q/a%20b"},
		{"a template that drops a variable", []Rule{{Key: "s/{id}/{x}", Value: "/story/{id}"}},
			own + "/story/17", "", ""},
		{"a template that a key shadows",
			[]Rule{{Key: "s/{id}", Value: "/story/{id}"}, {Key: "s/17", Value: "/other"}},
			own + "/story/17", "", ""},
		{"a template that is longer", []Rule{{Key: "stories/{id}", Value: "/story/{id}"}},
			own + "/story/17", "", ""},
		{"a template through a chain",
			[]Rule{{Key: "s/{id}", Value: "/t/{id}"}, {Key: "t", Value: "/the/story"}},
			own + "/the/story/17", "", own + "/s/17"},
		{"a template with a slash at its end", []Rule{{Key: "s/{x}", Value: "/long/{x}/"}},
			own + "/long/7/more", "", own + "/s/7/more"},
		{"two variables in one segment", []Rule{{Key: "s/{x}/{y}", Value: "/story/{x}-{y}"}},
			own + "/story/5-6", "", own + "/s/5/6"},
		{"a span that is one segment of the page", []Rule{{Key: "{+x}/k", Value: "/longlong/{x}"}},
			own + "/longlong/7/more", "", own + "/7/k/more"},
		{"what a destination escapes", []Rule{{Key: "s/{x}", Value: "/story/{x}"}},
			own + "/story/a%40b", "", own + "/s/a@b"},
		{"a page at the key's own path with a query",
			[]Rule{{Key: "{x}", Value: "/longer/{x}?q={x}"}, {Key: "longer", Value: "/"}},
			own + "/a?q=a", "", own + "/a"},
		{"an unlisted template", []Rule{{Key: "s/{id}", Value: "/story/{id}", Unlisted: true}},
			own + "/story/17", "", ""},
		{"a key beats a longer template",
			[]Rule{{Key: "s/{id}", Value: "/story/{id}"}, {Key: "me", Value: "/story/17"}},
			own + "/story/17", "", own + "/me"},
		{"a page without a host", []Rule{{Key: "a", Value: "/page"}}, "", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			rs := mustCompile(t, test.rules, Options{Reverse: true})
			if test.page == "" {
				page, _ := NewRequest("https", "", "/page")
				if url, ok := rs.AppendShortURL(nil, &page, test.short); ok {
					t.Errorf("got %s", url)
				}
				return
			}
			if got := shortURL(t, rs, test.page, test.short); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestWithAnOriginInternalValuesArePagesThere(t *testing.T) {
	rs := mustCompile(t, []Rule{{Key: "a", Value: "/page"}}, Options{Origin: "https://www.example"})
	if got := shortURL(t, rs, "https://www.example/page",
		"https://www.example"); got != "https://www.example/a" {
		t.Errorf("got %q", got)
	}
	if got := shortURL(t, rs, "https://www.example/page",
		"https://s.example"); got != "https://s.example/a" {
		t.Errorf("got %q", got)
	}
	if got := shortURL(t, rs, "https://evil.example/page", "https://www.example"); got != "" {
		t.Errorf("got %q for a host that is not the origin's", got)
	}
}

func TestFoldedKeysAreAdvertisedInLowerCase(t *testing.T) {
	rs := mustCompile(t, []Rule{{Key: "Guide", Value: "/docs/Guide"}}, Options{FoldCase: true})
	if got := shortURL(t, rs, "https://go.example/docs/Guide/X",
		""); got != "https://go.example/guide/X" {
		t.Errorf("got %q", got)
	}
}

// plainShortURL tries every key with every end of the page's path, and returns the best that leads
// to the page.
func plainShortURL(rs *Ruleset, page *Request, short string) string {
	canonical := string(weburl.AppendCanonicalPath(nil, page.Target.Pathname))
	origin, _ := weburl.AppendOrigin(nil, page.Scheme, page.Host)
	if short == "" {
		short = string(origin)
	}
	best := ""
	try := func(path string, hasPart bool) {
		url := short + path
		request, err := ParseRequest(url)
		if err != nil || !isPlainPath([]byte(path)) || hasPart &&
			len(url) >= len(origin)+len(canonical)+len(page.Target.Search) {
			return
		}
		request.OverHTTP = true
		destination, result := rs.AppendDestination(nil, &request)
		led, err := weburl.Parse(string(destination))
		if path == canonical && short == string(origin) && page.Target.Search == "" {
			return
		}
		if rule, ok := rs.Numbered(result.Rule); !ok || rule.Unlisted {
			return
		}
		if result.Outcome != Redirect || err != nil || led.Origin() != string(origin) ||
			led.Search() != page.Target.Search || led.HasFragment {
			return
		}
		if led.Canonical().Path == canonical && (best == "" || compareShort(path, best) < 0) {
			best = path
		}
	}
	for rule := range rs.Rules() {
		if rule.Unlisted {
			continue
		}
		key := "/" + string(weburl.AppendCanonicalPath(nil,
			CanonicalKey(rule.Key, rs.opts.foldCase)))
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

// reversible are random rules, and pages that they may lead to.
func reversible(seed uint64) (rules []Rule, opts Options, pages []string) {
	r := newRandom(seed)
	opts = r.options()
	rules = r.ruleset(opts)
	for i := range rules {
		rules[i].Unlisted = r.IntN(8) == 0
		pages = append(pages, strings.ReplaceAll(rules[i].Value, "https://x.example",
			"https://go.example"))
	}
	for range 6 {
		page := "https://go.example"
		if r.IntN(3) == 0 {
			page = "https://x.example"
		}
		for range r.IntN(4) {
			page += "/" + []string{"a", "b", "c", "x", "%61", "é", "", "z"}[r.IntN(8)]
		}
		pages = append(pages, page+[]string{"", "", "", "?a=1", "/"}[r.IntN(5)])
	}
	for _, page := range pages[:len(rules)] {
		pages = append(pages, page+"/r")
	}
	return rules, opts, pages
}

func TestTheBestShortURLIsFoundForRandomRulesetsAndPages(t *testing.T) {
	found, none := 0, 0
	for seed := range uint64(3000) {
		rules, opts, pages := reversible(seed)
		opts.Reverse = true
		rs, err := Compile(rules, opts)
		if err != nil {
			continue
		}
		for i, url := range pages {
			if strings.HasPrefix(url, "/") {
				url = "https://go.example" + url
			}
			page, err := ParseRequest(url)
			if err != nil {
				continue
			}
			page.OverHTTP, page.Target.Hash = true, ""
			short := []string{"", "https://go.example", "https://s.example"}[i%3]
			want := plainShortURL(rs, &page, short)
			if url, _ := rs.AppendShortURL(nil, &page, short); string(url) != want {
				t.Fatalf("seed %d\nrules %+v\noptions %+v\npage %s\ngot  %q\nwant %q", seed, rules,
					opts, pages[i], url, want)
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
		rules, opts := fuzzedRuleset(seed, text)
		opts.Reverse = true
		rs := mustCompile(t, rules, opts)
		page, ok := NewRequest("https", "go.example", target)
		if !ok {
			return
		}
		page.OverHTTP, page.Target.Hash = true, ""
		if u, err := weburl.Parse(short); err != nil || u.Origin() != short ||
			!isPlainOrigin([]byte(short)) {
			short = ""
		}
		url, ok := rs.AppendShortURL(nil, &page, short)
		if !ok {
			return
		}
		request, err := ParseRequest(string(url))
		if err != nil || strings.ContainsAny(string(url), "<>\" ,;") {
			t.Fatalf("%q is no URL for a header: %v", url, err)
		}
		request.OverHTTP = true
		destination, result := rs.AppendDestination(nil, &request)
		led, err := weburl.Parse(string(destination))
		if result.Outcome != Redirect || err != nil {
			t.Fatalf("rules %+v, page %q: %q leads to %q, %v", rules, target, url, destination,
				result)
		}
		want, _ := weburl.Parse("https://go.example" + page.Target.Pathname + page.Target.Search)
		if led.Canonical() != want.Canonical() || led.HasFragment {
			t.Errorf("rules %+v, page %q: %q leads to %q", rules, target, url, destination)
		}
		if number, ok := rs.NumberOf(result.Key); ok {
			if rule, _ := rs.Numbered(number); rule.Unlisted {
				t.Errorf("%q is of an unlisted rule", url)
			}
		}
	})
}

func TestAPageWithoutAShortURLCostsNoAllocation(t *testing.T) {
	rules := append(benchRules(1000),
		Rule{Key: "s/{id}", Value: "https://www.example.com/story/{id}"}, Rule{Key: "h",
			Value: "/"})
	rs := mustCompile(t, rules, Options{Reverse: true})
	for _, target := range []string{"/docs/guide/install", "/story/17/a?b=c", "/caf%C3%A9", "/"} {
		page, _ := NewRequest("https", "www.example.com", target)
		page.OverHTTP = true
		dst := make([]byte, 0, 256)
		if n := testing.AllocsPerRun(100, func() {
			if _, ok := rs.AppendShortURL(dst, &page, "https://go.example"); ok {
				t.Error(target)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations", target, n)
		}
	}
}

func TestAShortURLByATemplateFollowsAChangeOfAnotherRule(t *testing.T) {
	rules := benchRules(100) // so that there is room for changes
	rules = append(rules, Rule{Key: "b/{x}", Value: "/a/{x}/"},
		Rule{Key: "a", Value: "https://x.example/"})
	rs := mustCompile(t, rules, Options{NoLines: true, Reverse: true})
	exact := Rule{Key: "a", Value: "https://x.example/", Exact: true}
	rs, _, err := rs.With([]RuleChange{{Key: "a", Rule: &exact}})
	if err != nil {
		t.Fatal(err)
	}
	short, _ := rs.AppendShortURL(nil, pageOf(t, "https://go.example/a/1/"), "")
	if want := "https://go.example/b/1"; string(short) != want {
		t.Errorf("the short URL is %q, want %s", short, want)
	}
}

func TestManyAskForShortURLsAtOnce(t *testing.T) {
	rules := []Rule{{Key: "a", Value: "/page"}, {Key: "s/{x}", Value: "/story/{x}"}}
	rs := mustCompile(t, rules, Options{Reverse: true})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 500 {
				n := strconv.Itoa(i)
				for target, want := range map[string]string{"/page/" + n: "https://go.example/a/" +
					n, "/story/" + n: "https://go.example/s/" + n, "/none/" + n: ""} {
					if url, _ := rs.AppendShortURL(nil, pageOf(t, "https://go.example"+target),
						""); string(url) != want {
						t.Errorf("%s: got %q", target, url)
					}
				}
			}
		})
	}
	all.Wait()
}

func BenchmarkReverse(b *testing.B) {
	for _, n := range []int{1000, 1_000_000} {
		rules := benchRules(n)
		r := rand.New(rand.NewPCG(1, 1))
		for i := range 1000 {
			rules[r.IntN(n)].Value = "https://www.example.com/docs/page" + strings.Repeat("x", i%30)
		}
		rs := mustCompile(b, rules, Options{Reverse: true})
		b.Run("rules="+strconv.Itoa(n)+"/build", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				newReverseIndex(rs)
			}
		})
		var one []Rule // page to which many keys lead, and not to what is below it
		for i := range n {
			one = append(one, Rule{Key: benchKey(i), Value: "https://www.example.com/docs",
				Exact: i%2 == 0}, Rule{Key: benchKey(i) + "/%2F", Value: "/"})
		}
		manyKeys := mustCompile(b, one, Options{Reverse: true})
		dst := make([]byte, 0, 256)
		hostile, _ := NewRequest("https", "www.example.com", "/docs/"+strings.Repeat("%2F", 5300))
		b.Run("rules="+strconv.Itoa(n)+"/hostile", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				manyKeys.AppendShortURL(dst, &hostile, "https://s.example")
			}
		})
		for name, target := range map[string]string{"none": "/docs/guide/install",
			"found": "/docs/pagexxx", "deep": strings.Repeat("/a", 20)} {
			page, _ := NewRequest("https", "www.example.com", target)
			page.OverHTTP = true
			b.Run("rules="+strconv.Itoa(n)+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					rs.AppendShortURL(dst, &page, "https://go.example")
				}
			})
		}
	}
}
