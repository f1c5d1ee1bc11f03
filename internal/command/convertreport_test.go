package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/migrate/formats"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// reported returns what a terminal shows after the conversion of a file.
func reported(t *testing.T, format, text string) string {
	t.Helper()
	from, err := formats.Parse(format)
	if err != nil {
		t.Fatal(err)
	}
	in := migrate.Input{Reader: strings.NewReader(text), Source: "file",
		Reading: rulefile.Reading{SkipUnsupported: true}}
	done, err := migrate.Convert(new(strings.Builder), rulefile.JSON, in, from)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	writeReasons(&out, done)
	return out.String()
}

func TestLinesWithTheSameReasonAreOneMessage(t *testing.T) {
	var lines strings.Builder
	for i := range 5 {
		fmt.Fprintf(&lines, "/%d /x%d 301 Country=de\n/a%d /b\n", i, i, i)
	}
	got := reported(t, "redirects", lines.String()+"/* /index.html 200\n")
	for _, want := range []string{
		"refused: 5 lines (file:1:12, 3:12, 5:12 and 2 more; --all has each), the first because a rule " +
			"has no condition Country; use Caddy's redir with a matcher; other lines get requests of " +
			"these\n",
		"\nconverted exactly: 5\napproximated:      1\nleft out:          5\n" +
			"to bring 5 more in: use Caddy's redir with a matcher\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not shown in\n%s", want, got)
		}
	}
}

func TestLinesForAHostAreOneMessageWithTheFlag(t *testing.T) {
	got := reported(t, "redirects", "https://a.example/x /x\nhttps://b.example/y /y\n"+
		"https://a.example/z /z\n/n /m?id=:id id=:id\n/o /p\n/o /q\n")
	for _, want := range []string{
		"refused: 2 lines for a.example: --line-host a.example, if it is this site's (file:1:1, 3:1)\n" +
			"refused: 1 line for b.example: --line-host b.example, if it is this site's (file:2:1)\n" +
			"refused: file:4:",
		"dropped: file:6:1: no request reaches this line",
		"left out:          4, and 1 that no request reaches\n" +
			"to bring 2 more in: --line-host a.example, if it is this site's\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not shown in\n%s", want, got)
		}
	}
}

func TestReasonsDifferByWhatIsWrongNotByWhere(t *testing.T) {
	got := reported(t, "yaml", "^/a(\\d+)$: /b\n^/c(\\d+)$: /d\n^/e.*x$: /f\n/c2: /g\n")
	n := strings.Count(got, "refused: ")
	if n != 2 || !strings.Contains(got, "; other lines get requests of these") {
		t.Errorf("there are %d reasons:\n%s", n, got)
	}
	if got := reported(t, "yaml", "/a: /b\n"); strings.Contains(got, "to bring") {
		t.Errorf("nothing is left out, but\n%s", got)
	}
}
