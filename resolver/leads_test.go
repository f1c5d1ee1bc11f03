package resolver

import (
	"slices"
	"testing"
)

func TestEveryKeyThatLeadsToAURLIsFound(t *testing.T) {
	rs := mustCompile(t, []Rule{
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
	}, Options{})
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
		request, err := ParseRequest(test.url)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for lead := range rs.LeadsTo(request, "https://go.example", test.below) {
			got = append(got, lead.Path)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s, below %v: got %q, want %q", test.url, test.below, got, test.want)
		}
	}
}
