package rulefile

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// redirectLinesOf returns n lines of each kind, with their number for "#".
func redirectLinesOf(n int, kinds ...string) string {
	var b strings.Builder
	for _, kind := range kinds {
		for i := range n {
			b.WriteString(strings.ReplaceAll(kind, "#", fmt.Sprint(i)) + "\n")
		}
	}
	return b.String()
}

func readRedirectsFile(text string) (*redirectsFile, error) {
	file := newRedirectsFile()
	err := file.read(newLineReader(strings.NewReader(text), "redirects"))
	return file, err
}

func TestALineIsComparedInAFewStepsHoweverLongTheFile(t *testing.T) {
	const n = 3000
	for name, text := range map[string]string{
		"ends of segments before plain paths": redirectLinesOf(n, "/p#-* /b/:splat", "/x# /b"),
		"plain paths before ends of segments": redirectLinesOf(n, "/x# /b", "/p#-* /b/:splat"),
		"ends of segments before others":      redirectLinesOf(n, "/p#-* /b/:splat", "/q#-* /b/:splat"),
		"starts of segments before others":    redirectLinesOf(n, "/:x-s# /b/:x", "/:x-r# /b/:x"),
		"starts of segments before paths":     redirectLinesOf(n, "/:x-s# /b/:x", "/x# /b"),
		"plain paths before placeholders":     redirectLinesOf(n, "/b#/c /b", "/:x/a# /b/:x"),
		"placeholders before plain paths":     redirectLinesOf(n, "/:x/a# /b/:x", "/b#/c /b"),
		"placeholders in another place":       redirectLinesOf(n, "/b#/:x/d /b", "/:x/c#/d /b"),
		"all below paths, before others":      redirectLinesOf(n, "/b#/* /b/:splat", "/:x-a#/c /b/:x"),
		"below which others differ":           redirectLinesOf(n, "/b#/zz/* /b/:splat", "/:x/c/a# /b/:x"),
		"one place for all below a path":      redirectLinesOf(n, "/b#/* /b", "/:x-a#/c /b/:x"),
		"lines that are refused":              redirectLinesOf(n, "/b#/* /b", "/:x/:y/a# /b/:x"),
		"lines that overlap":                  redirectLinesOf(n, "/:x/a# /b/:x", "/b#/* /b"),
	} {
		t.Run(name, func(t *testing.T) {
			file, err := readRedirectsFile(text)
			if err != io.EOF || file.index.lines < 2*n-1 {
				t.Fatalf("%d lines, %v", file.index.lines, err)
			}
			if steps := file.index.work / file.index.lines; steps > 20 {
				t.Errorf("%d steps a line", steps)
			}
		})
	}
}

func TestLinesInTooManyFormsEndTheReading(t *testing.T) {
	var lines []string
	for i := range 2000 {
		first, second := strings.Repeat("p", i/40), strings.Repeat("q", i%40)
		lines = append(lines, fmt.Sprintf("/%s:x/%s:y /b/:x/:y", first, second))
	}
	slices.Reverse(lines) // the better ones first
	file, err := readRedirectsFile(strings.Join(lines, "\n"))
	if err == nil || !strings.HasSuffix(err.Error(), ":1: "+tooManyForms) || file.errs != nil {
		t.Errorf("got %v, %v", file.errs, err)
	}
}

func TestTheIndexFindsTheLineThatComparingAllWouldFind(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	found := 0
	for range 3000 {
		file := newRedirectsFile()
		var earlier []keyedRule
		for line := range 12 {
			key := pick("a", "ab", "{x}", "a{x}", "{x}b", "a{x}b", "aab")
			if r.IntN(2) == 0 {
				key += "/" + pick("a", "ab", "{y}", "a{y}", "{y}b")
			}
			key += pick("", "", "/c", "/{+splat}")
			at := resolver.Position{Line: line + 1}
			k := newKeyedRule(resolver.Rule{Key: key, Exact: r.IntN(2) == 0, Position: at})
			want := 0
			for _, e := range slices.Backward(earlier) {
				either := k.key.template || e.key.template
				if _, both := k.key.overlap(e.key); both && either && k.key.compare(e.key) < 0 {
					want = e.rule.Position.Line
				}
			}
			got, _ := file.index.firstOutdone(k.key)
			if got.at.Line != want {
				t.Fatalf("%v behind %v: line %d, not %d", k.key, earlier, got.at.Line, want)
			}
			if want > 0 {
				found++
				continue
			}
			file.index.add(k)
			earlier = append(earlier, k)
		}
	}
	if found < 1000 {
		t.Errorf("only %d were found", found)
	}
}

func TestADeepPathIsComparedWithThoseAboveItInOneReading(t *testing.T) {
	deep := "/" + strings.Repeat("a/", 30_000)
	text := deep + "b/* /c/:splat\n" + strings.Repeat(deep+"b/d /e\n", 5)
	file, err := readRedirectsFile(text)
	if err != io.EOF || len(file.errs) != 5 {
		t.Fatalf("%d errors, %v", len(file.errs), err)
	}
	const want = "no request gets to this line, as that at redirects:1:1 comes first and takes all"
	for _, err := range file.errs {
		if !strings.HasPrefix(err.Message, want) {
			t.Error(err)
		}
	}
}

func TestALineOfManyPlaceholdersIsRefusedSoon(t *testing.T) {
	names := strings.ReplaceAll(redirectLinesOf(50_000, "/:a#"), "\n", "")
	file, _ := readRedirectsFile(names + " /b" + names)
	want := "redirects:1:1: a path has at most 64 placeholders"
	if !strings.HasPrefix(file.errs.Error(), want) {
		t.Errorf("got %v, want %s", file.errs, want)
	}
}
