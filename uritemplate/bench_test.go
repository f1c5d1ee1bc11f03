package uritemplate

import (
	"strings"
	"testing"
)

var benchTemplates = []struct{ template, uri string }{
	{"/u/{id}", "/u/12345"},
	{"/repos{/owner,repo}{?q,lang}", "/repos/caddyserver/caddy?q=a%20b&lang=en"},
	{"/files/{+path}", "/files/docs/guide/install.html"},
	{"/tags{?tags*}", "/tags?tags=a&tags=b&tags=c"},
}

func BenchmarkExpand(b *testing.B) {
	for _, bb := range benchTemplates {
		b.Run(bb.template, func(b *testing.B) {
			values, ok := mustMatcher(b, bb.template).Cooked(bb.uri)
			if !ok {
				b.Fatal("no match")
			}
			template := mustParse(b, bb.template)
			dst := make([]byte, 0, 256)
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if dst, err = template.AppendExpand(dst[:0], values); err != nil {
					b.Fatal(err)
				}
			}
			if string(dst) != bb.uri {
				b.Fatalf("%s", dst)
			}
		})
	}
}

func BenchmarkMatch(b *testing.B) {
	for _, bb := range benchTemplates {
		b.Run(bb.template, func(b *testing.B) {
			m := mustMatcher(b, bb.template)
			values := make([]Value, 0, 8)
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := m.Match(bb.uri, values); !ok {
					b.Fatal("no match")
				}
			}
		})
	}
	b.Run("miss", func(b *testing.B) {
		m := mustMatcher(b, "/repos{/owner,repo}{?q,lang}")
		values := make([]Value, 0, 8)
		b.ReportAllocs()
		for b.Loop() {
			if _, ok := m.Match("/users/caddyserver/caddy", values); ok {
				b.Fatal("a match")
			}
		}
	})
}

// hostile are templates and URIs of n bytes that cost matchers which try again and again much time.
func hostile(n int) map[string][2]string {
	return map[string][2]string{
		"many variables":       {"{a,b,c,d}", strings.Repeat("a,", n/2)},
		"many lists":           {"{a*,b*,c*}", strings.Repeat("a,", n/2)},
		"many spans":           {"{+a}/{+b}/{+c}/x", strings.Repeat("/", n)},
		"adjacent expressions": {"{a}{b}{c}{d}x", strings.Repeat("a", n)},
		"pairs":                {"{?m*,z}", "?" + strings.Repeat("a=b&", n/4)},
		"names":                {"{?a,b,c,d}", "?" + strings.Repeat("a=1&", n/4)},
		"triplets":             {"/{a}/{+b}", "/" + strings.Repeat("%41", n/3)},
		"labels":               {"X{.x*}", "X" + strings.Repeat(".a=b.", n/5)},
		"one label":            {"X{.x*}", "X.a=" + strings.Repeat(".", n)},
		"prefixes":             {"{/a:1,a:2,a}", strings.Repeat("/a", n/2)},
	}
}

func BenchmarkHostile(b *testing.B) {
	for name, input := range hostile(8 << 10) {
		b.Run(name, func(b *testing.B) {
			m := mustParse(b, input[0]).GreedyMatcher()
			b.ReportAllocs()
			for b.Loop() {
				m.Match(input[1], nil)
			}
		})
	}
}
