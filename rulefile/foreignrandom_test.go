package rulefile_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// foreignService answers with the first line of a table that matches a path, with or without a
// slash at its end.
type foreignService []plainForeignLine

type plainForeignLine struct {
	foreignLine
	matches *regexp.Regexp
}

// captureMark is a capture in a line.
var captureMark = regexp.MustCompile("\x01(\\w+)\x02")

func newForeignService(lines []foreignLine) (s foreignService) {
	for _, l := range lines {
		s = append(s, plainForeignLine{l, foreignPath(l.Path)})
	}
	return s
}

// foreignPath returns the expression of a path.
func foreignPath(path string) *regexp.Regexp {
	path, hasSome := strings.CutSuffix(path, capturedSome)
	path, hasRest := strings.CutSuffix(path, capturedRest)
	path, isBelow := strings.CutSuffix(path, "/")
	expression := captureMark.ReplaceAllString(regexp.QuoteMeta(path), "(?P<$1>[^/]+)")
	switch {
	case hasSome && isBelow:
		expression += "/(?P<splat>.+)"
	case hasSome:
		expression += "(?P<splat>/?[^/].*)"
	case hasRest && isBelow:
		expression += "(?:/(?P<splat>.*))?"
	case hasRest:
		expression += "(?P<splat>.*)"
	default:
		expression += "/?"
	}
	return regexp.MustCompile("^" + expression + "$")
}

// answer is that of the first line that matches. Nobody leads to where a request is already.
func (s foreignService) answer(r request) answer {
	for _, l := range s {
		values := l.matches.FindStringSubmatch(r.path)
		if values == nil {
			continue
		}
		if l.IsGone {
			return answer{kind: isGone}
		}
		to := l.To
		rest := l.matches.SubexpIndex("splat")
		if rest > 0 && values[rest] == "/" {
			values[rest] = "" // the slash at the end of a path
		}
		if rest > 0 && strings.Trim(values[rest], "/") == "" && l.Itself != "" &&
			!(l.goesOn() && strings.HasSuffix(r.path, "/")) {
			to = l.Itself
		}
		for i, name := range l.matches.SubexpNames() {
			if name != "" {
				to = strings.ReplaceAll(to, captured(name), values[i])
			}
		}
		if strings.Trim(to, "/") == strings.Trim(r.path, "/") {
			return answer{kind: isPage}
		}
		return answer{isRedirect, l.Status, withQueryOf(r, to)}
	}
	return answer{kind: isPage}
}

// goesOn reports whether what is captured follows the destination of the path itself.
func (l plainForeignLine) goesOn() bool {
	return strings.Replace(l.To, "/"+capturedRest, "", 1) == l.Itself
}

// foreignTables makes random lines of few words.
type foreignTables struct{ randomTable }

func (r foreignTables) lines() (lines []foreignLine) {
	for range 1 + r.IntN(6) {
		line := foreignLine{Path: r.path(), Status: 301 + r.IntN(2)}
		if len(lines) > 0 && r.IntN(6) == 0 {
			line.Path = lines[r.IntN(len(lines))].Path
		}
		if line.IsGone = r.IntN(10) == 0; !line.IsGone {
			line.To = r.destination(line.Path)
			line.Itself = r.itself(line)
		}
		lines = append(lines, line)
	}
	return lines
}

// path returns a path with captures.
func (r foreignTables) path() string {
	x, y := captured("x"), captured("y")
	path := r.words(3, "a", "b", "c")
	switch r.IntN(6) {
	case 0:
		path = r.one("/a", "/b", "") + r.one("/"+x, "/"+x+"/"+y) + r.one("", "/a", "/b")
	case 1:
		path = r.one("/a", "") + "/" + r.one("a", "", "b-") + x + r.one("b", ".html", "") +
			r.one("", "/"+y, "/c")
	case 2:
		return r.words(2, "a", "b", x) + r.one("", "-", "/") +
			r.one(capturedRest, capturedSome)
	}
	return path + r.one("", "", "", "/", "/"+capturedRest, "/"+capturedRest)
}

// destination returns where a line leads, most often with what its path captures.
func (r foreignTables) destination(path string) string {
	path = strings.Replace(path, capturedSome, capturedRest, 1)
	names := captureMark.FindAllString(strings.TrimSuffix(path, capturedRest), -1)
	to := r.words(3, append([]string{"a", "b", "c", "z"}, names...)...)
	if len(names) > 0 && r.IntN(4) == 0 {
		to += r.one("-", "/d", "") + names[0] + r.one("", ".htm")
	}
	if strings.HasSuffix(path, capturedRest) && r.IntN(4) > 0 {
		to += r.one("/", "/", "/", "/p", "-", "") + capturedRest + r.one("", "", "", "/z", "/")
	}
	switch r.IntN(3) {
	case 0:
		to = "https://to.example" + to
	case 1:
		to = "https://" + siteHost + to
		to = strings.TrimPrefix(to, "https://"+siteHost)
	}
	if len(names) > 0 {
		to += r.rarely(8, "?v="+names[0])
	}
	if !strings.Contains(to, "?") {
		to += r.one("", "", "", "", "?q=1", "#f")
	}
	return to
}

// itself returns the destination of a path without what is captured of its end.
func (r foreignTables) itself(line foreignLine) string {
	if !strings.HasSuffix(line.Path, "/"+capturedRest) || r.IntN(3) > 0 {
		return ""
	}
	if r.IntN(4) == 0 {
		return r.one("/z", "https://itself.example/")
	}
	return strings.Replace(line.To, "/"+capturedRest, "", 1)
}

// request returns one at, beside or below what a line takes.
func (r foreignTables) request(lines []foreignLine) string {
	if r.IntN(2) == 0 {
		path := lines[r.IntN(len(lines))].Path
		for _, name := range []string{"x", "y"} {
			path = strings.ReplaceAll(path, captured(name), r.one("a", "b", "z", "b-a", "a.html"))
		}
		path = strings.ReplaceAll(path, capturedSome, capturedRest)
		path = strings.ReplaceAll(path, capturedRest, r.one("", "a", "b/c", "b/c/"))
		return path + r.one("", "", "/", "/b", "x", "?q=2")
	}
	return r.one("/", r.words(4, "a", "b", "c", "ab", "z")) + r.rarely(4, "/") + r.rarely(6, "?q=2")
}

// isSameButForSlash is the difference that a slash at the end of a request's path need not stay.
func (e end) isSameButForSlash(here end) bool {
	if !strings.HasSuffix(e.been[0], "/") {
		return false
	}
	for _, url := range []*string{&e.url, &here.url} {
		path, rest := *url, ""
		if i := strings.IndexAny(path, "?#"); i >= 0 {
			path, rest = path[:i], path[i:]
		}
		*url = strings.TrimSuffix(path, "/") + rest
	}
	return e.isSame(here)
}

// foreignRules are lines, and the ruleset that they make.
type foreignRules struct {
	lines, kept []foreignLine
	rules       []resolver.Rule
	ruleset     *resolver.Ruleset
}

func newForeignRules(lines []foreignLine) (*foreignRules, error) {
	rules, kept, err := readForeign(lines)
	if err != nil {
		return nil, err
	}
	ruleset, err := resolver.Compile(rules, resolver.Options{})
	return &foreignRules{lines, kept, rules, ruleset}, err
}

// ask returns what is wrong with where a request gets, or "".
func (f *foreignRules) ask(path string) string {
	want := follow(rootless{newForeignService(f.kept)}, path)
	got := follow(rulesetService{f.ruleset}, path)
	if want.isSame(got) || want.isCircle(got) || want.isSameButForQuery(got) ||
		want.isSameButForSlash(got) || meetsItself(f.kept, want, got) {
		return ""
	}
	return fmt.Sprintf("%s gets to %+v, not to %+v; rules %v", path, got, want, f.rules)
}

// meetsItself reports whether a client got to a line that leads to a path that it takes.
func meetsItself(lines []foreignLine, ends ...end) bool {
	for _, line := range lines {
		matches := foreignPath(line.Path)
		isTaken := func(path string) bool { return matches.MatchString(path) }
		to := strings.ReplaceAll(line.To, "\x01", ":")
		if !slices.ContainsFunc(samplesOf(strings.ReplaceAll(to, "\x02", "")), isTaken) {
			continue
		}
		for _, e := range ends {
			if slices.ContainsFunc(e.been, isTaken) {
				return true
			}
		}
	}
	return false
}

// readForeign returns the rules of lines, and the lines that are not left out.
func readForeign(lines []foreignLine) (
	rules []resolver.Rule, kept []foreignLine, err error,
) {
	warned, err := readForeignLines(rulefile.Reading{}, lines, false, func(rule resolver.Rule) {
		rules = append(rules, rule)
	})
	for i, line := range lines {
		isLeftOut := func(w lint.Warning) bool {
			return w.Kind == rulefile.WarnLeftOut && w.Position.Line == i+1
		}
		if !slices.ContainsFunc(warned, isLeftOut) {
			kept = append(kept, line)
		}
	}
	return rules, kept, err
}

func TestRandomLinesOfOtherProgramsLeadWhereTheyLed(t *testing.T) {
	requests := 5000
	if os.Getenv("SHORTLINK_SLOW") != "" {
		requests = 20_000
	}
	for seed := range uint64(requests / requestsPerTable) {
		r := foreignTables{randomTable{rand.New(rand.NewPCG(seed, 16)), ""}}
		table, err := newForeignRules(r.lines())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for range requestsPerTable {
			path := r.request(table.lines)
			if strings.Contains(path, "//") || table.ask(path) == "" {
				continue
			}
			table = table.smallest(path)
			t.Fatalf("seed %d\n%s\n%s", seed, listForeign(table.lines), table.ask(path))
		}
	}
}

// smallest leaves out lines without which a request still differs.
func (f *foreignRules) smallest(path string) *foreignRules {
	for i := range f.lines {
		less, err := newForeignRules(slices.Delete(slices.Clone(f.lines), i, i+1))
		if err == nil && less.ask(path) != "" {
			return less.smallest(path)
		}
	}
	return f
}

// listForeign writes lines down for people.
func listForeign(lines []foreignLine) string {
	unmark := strings.NewReplacer("\x01", "{", "\x02", "}")
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%s -> %s itself %s gone %t %d\n", l.Path, l.To, l.Itself, l.IsGone, l.Status)
	}
	return unmark.Replace(b.String())
}
