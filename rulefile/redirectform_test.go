package rulefile

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
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
