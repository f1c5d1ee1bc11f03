package rulefile_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// plainLine is a line of a _redirects file as a regular expression, and where it leads.
type plainLine struct {
	matches *regexp.Regexp
	to      string
}

func newPlainLine(from, to string) plainLine {
	expression, below := strings.CutSuffix(from, "/*")
	expression = strings.Replace(expression, "*", "(?P<splat>.+)", 1)
	expression = regexp.MustCompile(`(/):(\w+)`).ReplaceAllString(expression, "$1(?P<$2>[^/]+)")
	if below {
		expression += "(?:/(?P<splat>.+))?"
	}
	return plainLine{regexp.MustCompile("^" + expression + "$"), to}
}

func (l plainLine) destination(path string) (to string, ok bool) {
	values := l.matches.FindStringSubmatch(path)
	if values == nil {
		return "", false
	}
	to = l.to
	for i, name := range l.matches.SubexpNames() {
		if name == "splat" && values[i] == "" {
			to = strings.ReplaceAll(to, "/:splat", "")
		}
		if name != "" {
			to = strings.ReplaceAll(to, ":"+name, values[i])
		}
	}
	return to, true
}

func TestRulesOfPlaceholdersAnswerAsTheFirstLineThatMatches(t *testing.T) {
	pick := func(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }
	answered, refused := 0, 0
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 3))
		var text strings.Builder
		var lines []plainLine
		for i := range 2 + r.IntN(3) {
			from := pick(r, "/a", "/:x", "/b", "/v:x") + pick(r, "", "/a", "/b", "/:y", "/:y/b") + pick(r, "", "", "/c", "/*")
			to := "https://to.example/" + string(rune('0'+i)) + pick(r, "", "/:splat", "/:splat/z", "/q:x", "/:y/:x", "/x")
			text.WriteString(from + " " + to + "\n")
			lines = append(lines, newPlainLine(from, to))
		}
		rules, err := read(rulefile.Redirects, text.String())
		if err != nil {
			refused++
			continue
		}
		ruleset, err := resolver.Compile(rules, resolver.Options{})
		if err != nil {
			t.Fatalf("seed %d\n%smakes no ruleset: %v", seed, text.String(), err)
		}
		for range 20 {
			path := ""
			for range 1 + r.IntN(4) {
				path += "/" + pick(r, "a", "b", "c", "v", "va", "z")
			}
			want := ""
			for _, line := range lines {
				if to, ok := line.destination(path); ok {
					want = to
					break
				}
			}
			got := ruleset.Resolve("https://from.example" + path).Destination
			if strings.TrimSuffix(got, "/") != strings.TrimSuffix(want, "/") {
				t.Fatalf("seed %d\n%srules %v\n%s leads to %q, not to %q", seed, text.String(), rules, path, got, want)
			}
			if got != "" {
				answered++
			}
		}
	}
	if answered < 1000 || refused > 0 {
		t.Errorf("%d requests were answered, and %d files refused", answered, refused)
	}
}
