package reverse

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

func TestEveryKeyThatLeadsToAURLIsFound(t *testing.T) {
	ruleset := compile(t, rules{
		{Key: "g", Value: "https://docs.example/guide"},
		{Key: "guide", Value: "https://DOCS.example:443/%67uide#top", Unlisted: true},
		{Key: "docs", Value: "https://docs.example"},
		{Key: "chain", Value: "/docs/guide"},
		{Key: "lang", Value: "https://docs.example/guide?lang=en"},
		{Key: "t/{page}", Value: "https://docs.example/{page}", Exact: true},
		{Key: "drop/{x}", Value: "https://docs.example/guide"},
		{Key: "docs/guide", Value: "https://elsewhere.example"},
		{Key: "home", Value: "/"},
		{Key: "about", Value: "/pages/about"},
		{Key: "loop", Value: "/loop/x"},
		{Key: "m/{x}/{y}", Value: "https://more.example/p/{x}-{y}/"},
		{Key: "l/{o}/{r}", Value: "https://long.example/{o}/{r}.pdf?x", Exact: true},
		{Key: "q/{id}/{slug}", Value: "https://w.example/questions/{id}"},
		{Key: "s/{x}", Value: "https://w.example/story/{x}?ref=go"},
		{Key: "d/{y}/{m}", Value: "https://w.example/{y}-{m}"},
		{Key: "span/{+p}", Value: "https://span.example/{+p}"},
		{Key: "f/{x}", Value: "https://more.example/f/{x}#top"},
	}, resolver.Options{})
	for _, test := range []struct {
		url   string
		below bool
		want  []string
	}{
		{"https://docs.example/guide", false, []string{"/g", "/guide", "/t/guide", "/drop/{x}"}},
		{"https://docs.example/guide#top", false, []string{"/guide"}},
		{"https://docs.example/guide?lang=en", false, []string{"/lang"}},
		{"https://docs.example/install/linux", false, []string{"/docs/install/linux"}},
		{"https://docs.example/", true,
			[]string{"/g", "/docs", "/lang", "/guide", "/drop/{x}", "/t/{page}"}},
		{"https://docs.example/guide", true,
			[]string{"/g", "/lang", "/guide", "/t/guide", "/drop/{x}"}},
		{"https://elsewhere.example/", false, []string{"/chain", "/docs/guide"}},
		{"https://go.example/pages/about", false, []string{"/about", "/home/pages/about"}},
		{"https://go.example/", true, []string{"/home", "/about"}},
		{"https://docs.example/install/linux", true, []string{"/docs/install/linux"}},
		{"https://docs.example/guide/sub", false,
			[]string{"/g/sub", "/guide/sub", "/drop/{x}/sub"}},
		{"https://more.example/p/5-6/more", false, []string{"/m/5/6/more"}},
		{"https://more.example/f/7", false, []string{"/f/7"}},
		{"https://w.example/questions/17", false, []string{"/q/17/{slug}"}},
		{"https://w.example/questions/17/x", false, []string{"/q/17/{slug}/x"}},
		{"https://w.example/story/17/print", true, []string{"/s/{x}"}},
		{"https://w.example/--5", false, []string{"/d/-/5"}},
		{"https://long.example/a", true, []string{"/l/{o}/{r}"}},
		{"https://long.example/a/b.pdf", true, []string{"/l/{o}/{r}"}},
		{"https://long.example/a/c.html", true, nil},
		{"https://more.example/p", true, []string{"/m/{x}/{y}"}},
		{"https://more.example/p/5-6", true, []string{"/m/{x}/{y}"}},
		{"https://more.example/p/56", true, nil},
		{"https://more.example/f/7/8", true, []string{"/f/7/8"}},
		{"https://span.example/a/b/c", true, []string{"/span/a/b/c"}},
		{"https://span.example/a", true, []string{"/span/a"}},
		{"https://nobody.example/", true, nil},
	} {
		request, err := resolver.ParseRequest(test.url)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for lead := range LeadsTo(ruleset, request, "https://go.example", test.below) {
			got = append(got, lead.Path)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s, below %v: got %q, want %q", test.url, test.below, got, test.want)
		}
	}
}

func TestNoRuleThatLeadsToAURLIsPassedOver(t *testing.T) {
	found := 0
	for seed := range uint64(1200) {
		r := newRandom(seed)
		some, opts := r.ruleset(false)
		ruleset := compile(t, some, opts)
		for range 20 {
			site := r.one("https://go.example", "http://GO.example:80", "https://[::1]", "none")
			asked, err := resolver.ParseRequest(r.destinationOf(ruleset, some))
			if err != nil {
				continue
			}
			below := r.IntN(2) == 0
			l, all := newLeads(ruleset, asked, site, below), newLeads(ruleset, asked, site, below)
			for n, d := range ruleset.Destinations() {
				if l.mayLead(&d) {
					l.add(n, &d)
				}
				all.add(n, &d)
			}
			if found += len(l.found); !slices.Equal(l.found, all.found) {
				t.Fatalf("seed %d: %+v at %s, below %v, rules %+v\ngot  %+v\nwant %+v", seed,
					asked, site, below, some, l.found, all.found)
			}
		}
	}
	if found < 1200 {
		t.Errorf("only %d ways have been found", found)
	}
}

// destinationOf returns where rules lead, or something near that, in another spelling.
func (r random) destinationOf(ruleset *resolver.Ruleset, some rules) string {
	path := r.path(4)
	if len(some) > 0 {
		path = r.one(path, some[r.IntN(len(some))].Key+r.one("", "/a", "/"))
	}
	url := ruleset.Resolve("https://go.example/" + path).Destination
	if url == "" || r.IntN(8) == 0 {
		url = r.one("https://go.example/", "https://x.example/", "https://[::1]/") + r.path(3)
	}
	if r.IntN(3) == 0 {
		url, _, _ = strings.Cut(url, "#")
	}
	if r.IntN(3) == 0 {
		url, _, _ = strings.Cut(url, "?")
	}
	switch r.IntN(6) {
	case 0:
		url += "/"
	case 1:
		url += r.one("/a", "//", "?")
	case 2:
		url = url[:strings.LastIndexByte(url, '/')+r.IntN(2)]
	case 3:
		at := strings.LastIndexByte(url, '/') + 1
		if at < len(url) && url[at] != '%' {
			url = url[:at] + string(weburl.AppendTriplet(nil, url[at])) + url[at+1:]
		}
	}
	return strings.Replace(url, "example", r.one("example", "EXAMPLE", "ex%61mple"), 1)
}

// BenchmarkLeads finds the ways to a URL of which there are few, or none.
func BenchmarkLeads(b *testing.B) {
	for _, n := range []int{1000, 1_000_000} {
		rules := benchRules(n)
		r := rand.New(rand.NewPCG(1, 1))
		for i := range rules {
			switch i % 10 {
			case 0:
				rules[i].Value = "/" + rules[r.IntN(n)/10*10+1].Key + "/x"
			case 2:
				rules[i].Value = fmt.Sprintf(
					"https://ja.example/wiki/%%E7%%9F%%AD%%E3%%81%%%02X", i%256)
			}
		}
		ruleset := compile(b, rules, resolver.Options{})
		for name, url := range map[string]string{
			"one": benchURL(3), "none": "https://none.example/", "path": "https://go.example/none/x",
			"encoded": "https://ja.example/wiki/%E7%9F%AD%E3%81%AA",
		} {
			request, err := resolver.ParseRequest(url)
			if err != nil {
				b.Fatal(err)
			}
			b.Run("rules="+strconv.Itoa(n)+"/"+name, func(b *testing.B) {
				for b.Loop() {
					for range LeadsTo(ruleset, request, "https://go.example", false) {
					}
				}
			})
		}
	}
}
