package page_test

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

var textArea = regexp.MustCompile(`(?s)<textarea[^>]* name="table"[^>]*>\n?(.*?)</textarea>`)

// importOf returns the fields of the form of an import, as a browser without JavaScript sends them.
func importOf(t *testing.T, page string) url.Values {
	t.Helper()
	fields := testcaddy.FieldsOf(page)
	fields.Del("file")
	table := textArea.FindStringSubmatch(page)
	if table == nil {
		t.Fatalf("there is no table in %s", page)
	}
	fields.Set("table", strings.ReplaceAll(html.UnescapeString(table[1]), "\n", "\r\n"))
	return fields
}

func TestATableIsImportedOnceItsUserHasSeenWhatItDoes(t *testing.T) {
	s, file := servePage(t,
		`{"docs": {"to": "https://old.example", "note": "why"}, "d": "/docs", "x": "/d"}`, "")
	before := testcaddy.ReadFile(t, file)
	form := importOf(t, s.Get(t, "/.links/import", testcaddy.AsAnn, testcaddy.AsHTML).Body)
	form.Set("table", "key,destination,note\nx,/d\ndocs,https://new.example,\nnew,https://n.example,\"a, <b>\"\n")
	shown := s.Post(t, "/.links/import", form.Encode(), testcaddy.AsHTML)
	shown.Wants(t, 428, "This adds 1 link and changes 1 link", "302 https://new.example/", "docs (note)",
		`<code><bdi>d</bdi></code>`, ">Import</button>")
	if testcaddy.ReadFile(t, file) != before {
		t.Fatal("it is imported before its user has seen what it does")
	}
	form = importOf(t, shown.Body)
	s.Post(t, "/.links/new", "key=d&to=/x&confirm=no&digest=").Wants(t, 409)
	if got := s.Post(t, "/.links/import", form.Encode(), testcaddy.AsHTML).Location(); got != "303 ./" {
		t.Error("the import was answered with", got)
	}
	if got := s.Get(t, "/x").Location(); got != "302 https://new.example/" {
		t.Error("a link leads to", got)
	}
	s.Get(t, "/.links/key/new", testcaddy.AsAnn, testcaddy.AsHTML).Wants(t, 200, "a, &lt;b&gt;")
	again := s.Post(t, "/.links/import", form.Encode(), testcaddy.AsHTML)
	if again.Status != 303 {
		t.Error("an import that is sent again was answered with", again.Status)
	}
	form.Del("digest")
	s.Post(t, "/.links/import", form.Encode(), testcaddy.AsHTML).
		Wants(t, 428, "All of these links are there already", "Show what it would do")
}

func TestWhatAnImportDoesIsShownAnewIfThatHasChanged(t *testing.T) {
	s, _ := servePage(t, `{"docs": "https://old.example"}`, "")
	form := url.Values{"table": {"docs,https://new.example"}}
	form = importOf(t, s.Post(t, "/.links/import", form.Encode(), testcaddy.AsHTML).Body)
	s.Post(t, "/.links/new", "key=other&to=/docs").Wants(t, 201)
	s.Post(t, "/.links/import", form.Encode(), testcaddy.AsHTML).
		Wants(t, 428, `<code><bdi>other</bdi></code>`)
	form.Set("table", strings.Repeat("\n", 2)+"more,/docs")
	s.Post(t, "/.links/import", form.Encode(), testcaddy.AsHTML).Wants(t, 428, "This adds 1 link")
}

func TestWhatCannotBeImportedIsToldByLine(t *testing.T) {
	s, file := servePage(t, someRules, "")
	before := testcaddy.ReadFile(t, file)
	for table, want := range map[string][]string{
		"key,to\ngood,/docs\nbad,nowhere\nworse,ftp://x": {"line 3: key", "line 4: key"},
		"key,to\na,/docs\na,/d":                          {"line 3: the key &#34;a&#34; stands twice"},
		"key,to,status\na,/docs,999":                     {"line 2: this column holds"},
		"{\n\"a\": 1}":                                   {"line 2: the value of"},
		" ":                                              {"there is no link"},
		"docs,/d":                                        {"loop"},
	} {
		got := s.Post(t, "/.links/import", url.Values{"table": {table}}.Encode(), testcaddy.AsHTML)
		got.Wants(t, 422, append(want, "Nothing is imported", `role="alert"`)...)
		if kept := importOf(t, got.Body).Get("table"); kept != strings.ReplaceAll(table, "\n", "\r\n") &&
			table != " " {
			t.Errorf("of %q the form has %q", table, kept)
		}
	}
	if testcaddy.ReadFile(t, file) != before {
		t.Error("something is imported")
	}
}

func TestOfALargeImportTheFirstLinesAreShown(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	var table strings.Builder
	for i := range 250 {
		fmt.Fprintf(&table, "k%03d,https://k.example/%d\n", i, i)
	}
	form := url.Values{"table": {table.String()}}
	got := s.Post(t, "/.links/import", form.Encode(), testcaddy.AsHTML)
	got.Wants(t, 428, "This adds 250 links", "<bdi>k199</bdi>", "50 more are not listed here")
	lacks(t, got, "<bdi>k200</bdi>")
}

func TestAFileIsImported(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	body := strings.ReplaceAll("--x\nContent-Disposition: form-data; name=\"table\"\n\n\n--x\n"+
		"Content-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\nContent-Type: text/csv\n\n"+
		"key,destination\nfresh,https://f.example\n\n--x--\n", "\n", "\r\n")
	got := postAs(t, s, "/.links/import", "multipart/form-data; boundary=x", body)
	got.Wants(t, 428, `"added":1`, `"key":"fresh"`)
	postAs(t, s, "/.links/import", "text/csv", "a,/b").Wants(t, 422, "there is no link")
	bom := "\ufeff{\"fresh\": \"https://f.example\"}"
	s.Post(t, "/.links/import", url.Values{"table": {bom}}.Encode(), testcaddy.AsJSON).
		Wants(t, 428, `"key":"fresh"`)
	long := "table=" + strings.Repeat("a", 8<<20)
	s.Post(t, "/.links/import", long).Wants(t, 413, "import it in parts")
}

func TestAnImportTellsProgramsWhatItDoes(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	s.Post(t, "/.links/import", "table=a,/docs", testcaddy.AsJSON).Wants(t, 428, `"saved":false`,
		`"added":1`, `"changes":[{"kind":"added","key":"a"`)
	s.Post(t, "/.links/import", "table=a,/docs", testcaddy.AsJSON, `If-Match: "other"`).Wants(t, 412,
		"the rules have changed")
	s.Get(t, "/.links/import", testcaddy.AsAnn).Wants(t, 200, "POST the field table")
}

func TestNobodyImportsWhoMayNotEdit(t *testing.T) {
	s, _ := servePage(t, someRules, "write nobody")
	s.Get(t, "/.links/import", testcaddy.AsAnn, testcaddy.AsHTML).
		Wants(t, 200, "Nothing can be imported here")
	s.Post(t, "/.links/import", "table=a,/docs").Wants(t, 403, "write nobody")
	s.Post(t, "/.links/import", "table=a,/docs", "Origin: http://other.example").Wants(t, 403, "another site")
}
