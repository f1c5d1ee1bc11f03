package shortlink

import (
	"strings"
	"testing"
)

// FuzzLink holds that a shortlink is seen behind whatever other links come first, and that links are cut without end or loss.
func FuzzLink(f *testing.F) {
	for _, line := range []string{`</a>; rel=next`, `</a>; rel="next"; title="a,b;c\\"d"`, `</a>; rel=x,`, `;;,<`, `<a`, `</a>;rel`, `</a>; rel="x`, `a, <b>; rel=shortlink`} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for rest := line; rest != ""; {
			_, next := cutLink(rest)
			if len(next) >= len(rest) {
				t.Fatalf("%q is not shorter than %q", next, rest)
			}
			rest = next
		}
		if strings.Count(line, `"`) > 0 || strings.Contains(line, "<") {
			return // what is open may hold what follows
		}
		if !namesShortlink([]string{line + `, <https://go.example/k>; rel="shortlink"`}) {
			t.Errorf("%q hides the link behind it", line)
		}
	})
}
