package weburl

import (
	"strings"
	"testing"
)

func TestATargetIsSplitAsURLSplitsIt(t *testing.T) {
	for target, want := range map[string]Target{
		"/":                    {"/", "", ""},
		"/a/b?c=d#e":           {"/a/b", "?c=d", "#e"},
		"/a?":                  {"/a", "", ""},
		"/a#":                  {"/a", "", ""},
		"/a?#":                 {"/a", "", ""},
		"/a?b?c#d#e?f":         {"/a", "?b?c", "#d#e?f"},
		"/a#b?c":               {"/a", "", "#b?c"},
		"//evil.test/x":        {"//evil.test/x", "", ""},
		"///":                  {"///", "", ""},
		`/\evil.test`:          {"//evil.test", "", ""},
		"/a%2Fb%3f%zz%":        {"/a%2Fb%3f%zz%", "", ""},
		"/a/../b":              {"/b", "", ""},
		"/a/.%2E":              {"/", "", ""},
		"/a/%2e/b":             {"/a/b", "", ""},
		"/..//x":               {"//x", "", ""},
		"/.../..a/.b/a.":       {"/.../..a/.b/a.", "", ""},
		"/%2e%2e%2e/%2":        {"/%2e%2e%2e/%2", "", ""},
		"/.?a":                 {"/", "?a", ""},
		"/a?/../b":             {"/a", "?/../b", ""},
		"/é?é#é":               {"/%C3%A9", "?%C3%A9", "#%C3%A9"},
		"/^'?^'#^'`":           {"/%5E'", "?^%27", "#^'%60"},
		"/a b \t":              {"/a%20b", "", ""},
		"/a?b \x01":            {"/a", "?b", ""},
		"/a# ":                 {"/a", "", ""},
		"/\t/a\nb":             {"//ab", "", ""},
		"/.\t./a":              {"/a", "", ""},
		"/a?\n":                {"/a", "", ""},
		"/a\xff?\xe2\x82#\x80": {"/a%EF%BF%BD", "?%EF%BF%BD", "#%EF%BF%BD"},
	} {
		got, ok := SplitTarget(target)
		if !ok || got != want {
			t.Errorf("%q is %+q (%t), want %+q", target, got, ok, want)
		}
	}
}

func TestATargetThatDoesNotBeginWithASlashIsRefused(t *testing.T) {
	for _, target := range []string{"", "*", "a", "?a", "#a", `\a`, " /a", "\t/a", "https://h/", "h:443", "%2Fa"} {
		if got, ok := SplitTarget(target); ok {
			t.Errorf("%q was split into %+q", target, got)
		}
	}
}

func TestAnOrdinaryTargetIsSplitWithoutAllocating(t *testing.T) {
	for _, target := range []string{
		"/", "/docs/guide/install?lang=en&v=2.0", "//a//b/..c/.d?e=(f)", "/a%2Fb/%C3%A9?q=%C3%A9#f",
	} {
		if n := testing.AllocsPerRun(100, func() { SplitTarget(target) }); n != 0 {
			t.Errorf("%q: %v allocations", target, n)
		}
	}
}

// FuzzSplitTarget compares the one pass with the parser of whole URLs.
func FuzzSplitTarget(f *testing.F) {
	for _, seed := range []string{
		"/a/../b?c#d", "/%2e%2E/.%2e", `/\..\x`, "/a\t/.\n.", "/a? \x00", "/\xe2\t\x82\xac", "/?#'`^", "//h/..", "/.",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, target string) {
		got, ok := SplitTarget(target)
		if ok != strings.HasPrefix(target, "/") {
			t.Fatalf("%q: %t", target, ok)
		}
		if !ok {
			return
		}
		u, err := Parse("http://h" + target)
		if err != nil {
			t.Fatalf("%q: %v", target, err)
		}
		if want := (Target{u.Path, u.Search(), u.Hash()}); got != want {
			t.Fatalf("%q is %+q, as a URL %+q", target, got, want)
		}
	})
}

func BenchmarkSplitTarget(b *testing.B) {
	for name, target := range map[string]string{
		"short":   "/docs/guide/install?lang=en&version=2.0&source=nav",
		"long":    "/" + strings.Repeat("segment/", 15) + "?" + strings.Repeat("name=value&", 6),
		"rewrite": "/docs/gu ide/../install?lang='en'&version=2.0",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				SplitTarget(target)
			}
		})
	}
}
