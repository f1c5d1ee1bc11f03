package rulefile_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/rulefile"
)

// cloudflareLines are the lines of a _redirects file as Cloudflare Pages reads them.
type cloudflareLines struct {
	// static are the lines without wildcards and placeholders above the first line with one. They
	// are looked up by their path before the others are tried.
	static  map[string]cloudflareLine
	dynamic []cloudflareLine // in their order
}

type cloudflareLine struct {
	matches *regexp.Regexp // nil for a static line, and one whose expression Cloudflare cannot compile
	to      string
	status  int
}

var cloudflarePlaceholder = regexp.MustCompile(`:[A-Za-z]\w*`)

// newCloudflareLines reads lines that are well-formed. Of two with the same path the first counts.
func newCloudflareLines(lines []string) service {
	all := cloudflareLines{static: make(map[string]cloudflareLine)}
	seen := make(map[string]bool)
	for _, text := range lines {
		words := strings.Fields(text)
		line, path := cloudflareLine{to: words[1], status: 302}, words[0]
		if len(words) > 2 {
			line.status, _ = strconv.Atoi(words[2])
		}
		if seen[path] {
			continue
		}
		seen[path] = true
		isStatic := !strings.Contains(path, "*") && !cloudflarePlaceholder.MatchString(path)
		if isStatic && len(all.dynamic) == 0 {
			all.static[path] = line
			continue
		}
		line.matches = cloudflarePath(path)
		all.dynamic = append(all.dynamic, line)
	}
	return all
}

// cloudflarePath translates a line's path. A "*" takes anything, a placeholder all up to the next
// slash. Names may not stand twice: with two "*" a line matches nothing.
func cloudflarePath(path string) *regexp.Regexp {
	expression := strings.ReplaceAll(regexp.QuoteMeta(path), `\*`, "(?P<splat>.*)")
	for _, placeholder := range cloudflarePlaceholder.FindAllString(path, -1) {
		group := "(?P<" + placeholder[1:] + ">[^/]+)"
		expression = strings.ReplaceAll(expression, placeholder, group)
	}
	matches := regexp.MustCompile("^" + expression + "$")
	names := slices.Sorted(slices.Values(matches.SubexpNames()[1:]))
	if len(slices.Compact(names)) < matches.NumSubexp() {
		return nil
	}
	return matches
}

// answer is the service's.
func (all cloudflareLines) answer(r request) answer {
	if line, ok := all.static[r.path]; ok {
		return line.answer(r, line.to)
	}
	for _, line := range all.dynamic {
		if line.matches == nil {
			continue
		}
		if values := line.matches.FindStringSubmatch(r.path); values != nil {
			to := line.to
			for i, name := range line.matches.SubexpNames()[1:] {
				to = strings.ReplaceAll(to, ":"+name, values[i+1])
			}
			return line.answer(r, to)
		}
	}
	return answer{kind: isPage}
}

func (l cloudflareLine) answer(r request, to string) answer {
	if l.status == 200 {
		return answer{kind: isPage}
	}
	return answer{isRedirect, l.status, withQueryOf(r, to)}
}

func TestCloudflareLinesMeanWhatTheyDoThere(t *testing.T) {
	tests := []struct{ lines, request, want string }{
		{"/a /b", "/a", "/b"},
		{"/a /b", "/a/", ""},
		{"/a /b\n/a/ /c", "/a/", "/c"},
		{"/a /b\n/a /c", "/a", "/b"},
		{"/a/* /b/:splat", "/a", ""},
		{"/a/* /b/:splat", "/a/", "/b/"},
		{"/a* /b/:splat", "/a/x", "/b//x"},
		{"/*/a /b/:splat", "/x/y/a", "/b/x/y"},
		{"/*/a/* /b", "/x/a/y", ""},
		{"/a/v:x.html /b/:x", "/a/v1.html", "/b/1"},
		{"/:x/:xy /b", "/1/2", ""},
		{"/:x/:y /:xy", "/1/2", "/1y"},
		{"/a/* /b\n/a/x /c", "/a/x", "/b"},
		{"/d /e\n/a/x /c\n/a/* /b", "/a/x", "/c"},
		{"/a /b?r=1", "/a?q=1", "/b?r=1"},
		{"/a /b#f", "/a?q=1", "/b?q=1#f"},
		{"/a/* /b 200\n/a/x /c", "/a/x", ""},
	}
	testLines(t, rulefile.Cloudflare, tests)
}
