package coverage

import (
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// checkCounts checks what holds of all counts, and that reading a file again counts the same.
func checkCounts(t *testing.T, content string) *Counts {
	c := NewCounts(Options{})
	err := c.Read("file", strings.NewReader(content))
	if err != nil {
		return c
	}
	var before []uint64
	for _, u := range c.urls {
		before = append(before, u.requests)
	}
	if err := c.Read("file", strings.NewReader(content)); err != nil || len(c.urls) != len(before) {
		t.Fatalf("read again, %d URLs are %d: %v", len(before), len(c.urls), err)
	}
	for i, u := range c.urls {
		path := u.path
		target, ok := weburl.SplitTarget(path)
		if !ok || string(weburl.AppendCanonicalPath(nil, target.Pathname)) != path ||
			target.Search != "" || target.Hash != "" {
			t.Fatalf("%q is not canonical", path)
		}
		if u.requests != 2*before[i] {
			t.Fatalf("%s: %d requests are %d", path, before[i], u.requests)
		}
	}
	return c
}

func FuzzRead(f *testing.F) {
	for kind := range inputs {
		content := string(inputOf(kind, 3, 5))
		f.Add(content)
		f.Add(packed(f, content))
	}
	f.Add("\x28\xb5\x2f\xfd\x04\x00\x19\x00\x00/a\n")
	f.Add("# a\n\nPage path,Views\n/a,1\n")
	f.Fuzz(func(t *testing.T, content string) { checkCounts(t, content) })
}

func FuzzSitemap(f *testing.F) {
	f.Add(string(inputOf("sitemap", 3, 5)))
	f.Add("<sitemapindex><sitemap><loc>/a</loc></sitemap></sitemapindex>")
	f.Fuzz(func(t *testing.T, content string) { checkCounts(t, "<"+content) })
}

func FuzzTable(f *testing.F) {
	f.Add("Top pages,Clicks\nhttps://h/a,2\n\"/b,c\",\"1,000\"\n")
	f.Add("id\tURL\thits\n1\t/a\t7\n")
	f.Add("/a,1\n/b,2")
	f.Fuzz(func(t *testing.T, content string) { checkCounts(t, content) })
}

func FuzzCommonLog(f *testing.F) {
	f.Add(combined)
	f.Add("www.h:80 " + strings.ReplaceAll(combined, "/a", `/\x22\"\\`))
	f.Fuzz(func(t *testing.T, line string) {
		l, ok := parseCommon([]byte(line))
		if ok && (l.status > 999 || !strings.Contains(line, string(l.request)) ||
			!strings.HasPrefix(line, string(l.host))) {
			t.Fatalf("%+v", l)
		}
		checkCounts(t, combined+line)
	})
}
