package weburl

import (
	"strconv"
	"strings"
	"testing"
)

const mebibyte = 1 << 20

// hostileURLs are the shapes that cost a careless parser time in the square of their length.
var hostileURLs = map[string]func(size int) string{
	"slashes":  func(size int) string { return "https://h/" + strings.Repeat("/", size) },
	"segments": func(size int) string { return "https://h/" + strings.Repeat("a/", size/2) },
	"rising": func(size int) string {
		return "https://h/" + strings.Repeat("a/", size/4) + strings.Repeat("../", size/6)
	},
	"dots":         func(size int) string { return "https://h/" + strings.Repeat(".", size) },
	"encoded dots": func(size int) string { return "https://h/" + strings.Repeat("%2e", size/3) },
	"percents":     func(size int) string { return "https://h/" + strings.Repeat("%", size) },
	"at signs":     func(size int) string { return "https://" + strings.Repeat("@", size) + "h/" },
	"slashes and ats": func(size int) string {
		return "https:" + strings.Repeat("/", size/2) + strings.Repeat("@", size/2) + "h"
	},
	"colons":         func(size int) string { return "https://" + strings.Repeat(":", size) + "@h" },
	"TABs":           func(size int) string { return "https://h/" + strings.Repeat("\t", size) + "a" },
	"spaces":         func(size int) string { return "https://h/" + strings.Repeat(" ", size) },
	"no UTF-8":       func(size int) string { return "https://h/" + strings.Repeat("\xe2\x82", size/2) },
	"one label":      func(size int) string { return "https://" + strings.Repeat("a", size) },
	"labels":         func(size int) string { return "https://" + strings.Repeat("a.", size/2) },
	"number":         func(size int) string { return "https://" + strings.Repeat("0", size) },
	"numbers":        func(size int) string { return "https://" + strings.Repeat("1.", size/2) },
	"port":           func(size int) string { return "https://h:" + strings.Repeat("0", size) },
	"IPv6":           func(size int) string { return "https://[" + strings.Repeat("0:", size/2) + "]" },
	"encoded host":   func(size int) string { return "https://" + strings.Repeat("%41", size/3) },
	"one wide label": func(size int) string { return "https://" + strings.Repeat("é", size/2) },
	"costly label":   costlyLabel,
	"wide labels":    func(size int) string { return "https://" + strings.Repeat("é.", size/3) },
	"puny labels":    func(size int) string { return "https://é." + strings.Repeat("xn--a.", size/6) },
	"queries":        func(size int) string { return "https://h/" + strings.Repeat("?'", size/2) },
	"fragments":      func(size int) string { return "https://h/" + strings.Repeat("#`", size/2) },
}

// costlyLabel is a label of different characters that fills the limit, the worst for Punycode. It
// does not grow beyond the limit.
func costlyLabel(int) string {
	b := []byte("https://")
	for r := '\u4E00'; len(b) < maxUnicodeDomain; r++ {
		b = append(b, string(r)...)
	}
	return string(b)
}

// The test has no clock, as a parser that takes quadratic time needs minutes for it. The benchmarks
// below show by how much time grows.
func TestAMebibyteOfAnythingIsAnsweredAtOnce(t *testing.T) {
	for name, shape := range hostileURLs {
		t.Run(name, func(t *testing.T) {
			input := shape(mebibyte)
			authority := strings.TrimPrefix(input, "https://")
			if u, err := Parse(input); err == nil && u.Href() == "" {
				t.Error("neither a URL nor an error")
			}
			AppendOrigin(nil, "https", authority)
			target, ok := SplitTarget("/" + authority)
			if !ok || !strings.HasPrefix(target.Pathname, "/") {
				t.Errorf("as a target it has the pathname %.20q (%t)", target.Pathname, ok)
			}
			AppendForm(nil, authority)
		})
	}
}

func BenchmarkHostile(b *testing.B) {
	for name, shape := range hostileURLs {
		for _, size := range []int{mebibyte / 16, mebibyte} {
			input := shape(size)
			b.Run(name+"/"+strconv.Itoa(size>>10)+"KiB", func(b *testing.B) {
				b.SetBytes(int64(len(input))) // the rate stays the same where time is linear
				b.ReportAllocs()
				for b.Loop() {
					_, _ = Parse(input)
				}
			})
		}
	}
}
