package formats_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/migrate/formats"
	"github.com/caddy-shortlink/shortlink/internal/migrate/migratetest"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// ours are the formats of sources.
var ours = []rulefile.Format{rulefile.JSON, rulefile.CSV, rulefile.Redirects}

// convert converts a text between formats.
func convert(
	t *testing.T, from, to rulefile.Format, text string,
) (out string, done migrate.Conversion) {
	t.Helper()
	return migratetest.Convert(t, rulefile.Reading{SkipUnsupported: true}, formatOf(t, from), to, text)
}

// formatOf returns the format with a name.
func formatOf(t *testing.T, name rulefile.Format) migrate.Format {
	t.Helper()
	format, err := formats.Parse(string(name))
	if err != nil {
		t.Fatal(err)
	}
	return format
}

func TestWhatCouldNotBeLoadedIsRefusedInEveryDirection(t *testing.T) {
	for _, tt := range []struct {
		name, message string
		from          rulefile.Format
		text          string
		exact         int
	}{
		{"a key", `file:2:1: key "a?b": the key contains "?"`, rulefile.CSV, "a,/b\na?b,/c\n", 1},
		{"a key", `file:2:2: key "//a": the key begins with "/"; write`,
			rulefile.JSON, "{\"b\": \"/c\",\n \"//a\": \"/b\"}", 1},
		{"a destination with a backslash", `destination contains "\"`, rulefile.Redirects,
			"/a /b\\c\n/d /e\n", 1},
		{"a destination", `file:1:1: key "a": the destination "b" is neither a URL`,
			rulefile.CSV, "a,b\n", 0},
		{"a key that stands already", `key "a": the key is already defined at file:1:1; remove one`,
			rulefile.CSV, "a,/b\nc,/d\na,/e\n", 2},
		{"a key in another spelling", `key "%61": the key matches the same paths as that at file:1:1`,
			rulefile.CSV, "a,/b\n%61,/e\n", 1},
		{"a template with another variable", `file:2:1: key "a/{y}": the key matches the same paths`,
			rulefile.CSV, "a/{x},/b/{x}\na/{y},/b/{y}\n", 1},
		{"several things", "the key contains \"#\"", rulefile.CSV, "a#b,c\n", 0},
	} {
		for _, to := range ours {
			out, done := convert(t, tt.from, to, tt.text)
			good := done.Exact + done.Approximated.Count
			if good != tt.exact || done.Refused.Count != 1 ||
				!strings.Contains(migratetest.ReportsOf(done.Refused), tt.message) {
				t.Errorf("%s, to %s: %+v", tt.name, to, done)
			}
			if err := migratetest.Loads(to, out); err != nil {
				t.Errorf("%s, to %s: it does not load: %v\n%s", tt.name, to, err, out)
			}
		}
	}
}

func TestAConversionCountsLines(t *testing.T) {
	for _, tt := range []struct {
		name                 string
		from, to             rulefile.Format
		text                 string
		exact, near, refused int
	}{
		{"one that makes two rules", rulefile.Redirects, rulefile.JSON, "# blog\n\n/a/* /b\n", 1, 0, 0},
		{"two that make one rule", rulefile.Redirects, rulefile.JSON,
			"/a https://a.example/\n/a/* https://a.example/:splat\n", 2, 0, 0},
		{"one of whose rules neither is read", rulefile.Redirects, rulefile.CSV, "/a/* /b\\c\n", 0, 0, 1},
		{"a rule of which two things are wrong", rulefile.CSV, rulefile.JSON, "a#b,c\nd,e\nf,/g\n", 1,
			0, 2},
		{"a row of which two fields are wrong", rulefile.CSV, rulefile.JSON, "a,/b,x,y\n", 0, 0, 1},
		{"rules on one line", rulefile.JSON, rulefile.Redirects, `{"a": "/b", "b": "x", "c": {"to":
			"/d", "status": 301}}`, 1, 1, 1},
		{"one that is approximated and refused", rulefile.JSON, rulefile.Redirects,
			`{"a": {"to": "/b", "unlisted": true}}`, 0, 0, 1},
	} {
		_, done := convert(t, tt.from, tt.to, tt.text)
		if done.Exact != tt.exact || done.Approximated.Count != tt.near ||
			done.Refused.Count != tt.refused || len(done.Approximated.Reports) != tt.near {
			t.Errorf("%s: %+v", tt.name, done)
		}
	}
}

func TestAnObjectForEachLinkIsNoObjectOfRules(t *testing.T) {
	const golink = `{"Short":"cs","Long":"http://cs/","Created":"2022-06-17T18:05:43.562948451Z"}`
	for name, text := range map[string]string{
		"several":         golink + "\n" + golink + "\n",
		"one":             golink,
		"in several rows": "\n{\n\"Short\": \"cs\",\n\"Long\": \"http://cs/\"\n}\n",
		"of another kind": "{\"from\": \"a\", \"to\": \"https://a.example\"}\n{\"from\": \"b\"}\n",
	} {
		out, done := convert(t, rulefile.JSON, rulefile.JSON, text)
		if out != "{\n}\n" || done.Exact != 0 || done.Refused.Count != 1 ||
			!strings.HasPrefix(migratetest.ReportsOf(done.Refused), "file:1:1: this is an object for each "+
				"link, as") {
			t.Errorf("%s: %s%+v", name, out, done)
		}
	}
	rules := `{"Short": "https://short.example", "Long": "/long"}`
	if _, done := convert(t, rulefile.JSON, rulefile.JSON, rules); done.Exact != 2 {
		t.Errorf("two rules of these names: %+v", done)
	}
}

func TestRulesWhoseChainsMayBeTooLongTogetherAreToldOf(t *testing.T) {
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "k%d,/k%d/%s\n", i, i+1, strings.Repeat("x", 1000))
	}
	_, done := convert(t, rulefile.CSV, rulefile.JSON, text.String())
	if done.Exact != 100 || len(done.Remarks) != 1 ||
		!strings.Contains(done.Remarks[0], "run check on it") {
		t.Errorf("%+v", done)
	}
}

func TestAConversionReportsEachLineOfALongTable(t *testing.T) {
	text := "/a https://a.example\n" + strings.Repeat("/a https://b.example\n", 12_000)
	_, done := convert(t, rulefile.Redirects, rulefile.JSON, text)
	if done.Exact != 1 || done.Dropped.Count != 12_000 || len(done.Dropped.Reports) != 12_000 {
		t.Errorf("%d exact, %d dropped", done.Exact, done.Dropped.Count)
	}
}

func TestARuleWithHiddenCharactersIsNotConverted(t *testing.T) {
	text := "a\u202eb,/a\nb,/\u009b\nc,/c\u2069\nd\x1b,/d\n\u200ee,/e\n"
	got, done := convert(t, rulefile.CSV, rulefile.JSON, text)
	if got != "{\n\t\"\u200ee\": \"/e\"\n}\n" || done.Exact != 1 || done.Refused.Count != 4 {
		t.Errorf("got %s%+v", got, done)
	}
	for i, refused := range done.Refused.Reports {
		isRefused := strings.HasSuffix(refused.Message, "remove it, or write it percent-encoded")
		if refused.Position.Line != i+1 || !isRefused {
			t.Error(refused)
		}
	}
}

func TestTheQueryOfRequestsIsRemarkedWhereOthersKeepIt(t *testing.T) {
	for _, tt := range []struct {
		from, to rulefile.Format
		text     string
		remarks  int
	}{
		{rulefile.Redirects, rulefile.JSON, "/a /b", 1},
		{rulefile.Redirects, rulefile.CSV, "/a /b", 1},
		{rulefile.Redirects, rulefile.Redirects, "/a /b", 0},
		{rulefile.Redirects, rulefile.JSON, "/a b", 0},
		{rulefile.CSV, rulefile.JSON, "a,/b", 0},
	} {
		_, done := convert(t, tt.from, tt.to, tt.text)
		remarks := strings.Join(done.Remarks, "\n")
		if len(done.Remarks) != tt.remarks || strings.Count(remarks, "query preserve") != tt.remarks {
			t.Errorf("%s to %s: %q", tt.from, tt.to, done.Remarks)
		}
	}
}

func TestDefaultsOfAFileCountWhereItSaysNothing(t *testing.T) {
	for _, tt := range []struct {
		reading rulefile.Reading
		from    rulefile.Format
		text    string
		want    string
	}{
		{rulefile.Reading{Status: 301, Query: resolver.QueryIgnore, Exact: new(true)}, rulefile.CSV,
			"key,destination,status,query\na,/b\nc,/d,308,merge\ne,gone\n",
			"a,/b,301,exact,,ignore\nc,/d,308,exact,,merge\ne,gone,,exact,,\n"},
		{rulefile.Reading{Status: 301, Query: resolver.QueryIgnore, Exact: new(true)}, rulefile.JSON,
			`{"a": "/b", "c": {"to": "/d", "exact": false, "status": 308}, "e": "pass"}`,
			"a,/b,301,exact,,ignore\nc,/d,308,,,ignore\ne,pass,,exact,,\n"},
		{rulefile.Reading{Exact: new(false)}, rulefile.CSV, "a,/b,,exact\nc,/d\n",
			"a,/b,,exact,\nc,/d,,,\n"},
		{rulefile.Reading{Query: resolver.QueryPreserve}, rulefile.Redirects, "/a /b\n/c /d?e\n",
			"a,/b,301,exact,,preserve\nc,/d?e,301,exact,,ignore\n"},
	} {
		out, _ := migratetest.Convert(t, tt.reading, formatOf(t, tt.from), rulefile.CSV, tt.text)
		if _, got, _ := strings.Cut(out, "\n"); got != tt.want {
			t.Errorf("%q: got\n%s, want\n%s", tt.text, got, tt.want)
		}
	}
}

func TestAConversionOfA410LineTellsThatItsPageIsLeftOut(t *testing.T) {
	out, c := convert(t, rulefile.Redirects, rulefile.JSON, "/a /410.html 410\n/b /c\n")
	if c.Exact != 1 || c.Approximated.Count != 1 || c.Refused.Count != 0 ||
		!strings.Contains(c.Approximated.Reports[0].Message, "handle_errors can answer") {
		t.Errorf("%+v", c)
	}
	const want = "{\n\t\"a\": {\"to\":\"gone\",\"exact\":true},\n\t\"b\": "
	if !strings.HasPrefix(out, want) {
		t.Error(out)
	}
}

func TestAFileOfAnotherKindIsOneErrorOfAConversion(t *testing.T) {
	const json = "file:1:1: this is JSON, not csv; write --from json for rules, or --from array " +
		"for a list of redirects"
	for text, want := range map[string]string{
		"\uFEFF\n{\n  \"a\": \"/b\"\n}\n": json,
		"[{\"source\": \"/a\"}]":          json,
		"PK\x03\x04\x14\x00\n":            "file:1:1: this is a spreadsheet, or another file",
	} {
		_, done := convert(t, rulefile.CSV, rulefile.JSON, text)
		if len(done.Refused.Reports) != 1 ||
			!strings.HasPrefix(done.Refused.Reports[0].String(), want) {
			t.Errorf("%q: %+v", text, done.Refused.Reports)
		}
	}
}

func TestTheNameOfAFileTellsItsFormat(t *testing.T) {
	for path, want := range map[string]rulefile.Format{
		"x/links.json": rulefile.JSON, "a.tsv": rulefile.CSV, "_redirects": rulefile.Redirects,
		"Vercel.json": "array", "netlify.toml": "netlify-toml", "x/.htaccess": "htaccess",
		"site.htaccess": "htaccess", "a.yml": "yaml", "moved.map": "map", "links": "", "a.toml": "",
		"docs/mkdocs.yml": "mkdocs", "book.toml": "mdbook", "web.config": "iis", "s3_website.yml": "s3",
		"staticwebapp.config.json": "azure", ".openpublishing.redirection.json": "openpublishing",
		"a.rediraffe": "rediraffe",
	} {
		if format, ok := formats.OfFile(path); format.Name != want || ok != (want != "") {
			t.Errorf("%s is of format %q", path, format.Name)
		}
	}
}

// FuzzConvert converts any text, from and to any format.
func FuzzConvert(f *testing.F) {
	for i, text := range []string{
		"{\"a\": \"/b\", \"b/{x}\": {\"to\": \"gone\", \"exact\": true}}", "a,/b,301,exact\n%61,/c\n",
		"/a/* /b/:splat 301\n/a /c\n/:x/y /z/:x 302!\n/w /v 410\n",
	} {
		f.Add(uint8(i*3), text)
	}
	f.Fuzz(func(t *testing.T, direction uint8, text string) {
		from, to := ours[direction/3%3], ours[direction%3]
		out, done := convert(t, from, to, text)
		if strings.Contains(strings.Join(done.Remarks, ""), "the chains of the new file") {
			return
		}
		if err := migratetest.Loads(to, out); err != nil {
			t.Errorf("%s to %s does not load: %v\n%s", from, to, err, out)
		}
		if done.Exact < 0 {
			t.Errorf("%+v", done)
		}
	})
}

func TestObjectsOfOneLineCountEachForItself(t *testing.T) {
	for _, from := range []rulefile.Format{"array", "golink"} {
		_, done := convert(t, from, rulefile.JSON, "{\"Short\":1,\"to\":1} {\"Short\":2,\"to\":2}\n")
		if done.Exact != 0 || done.Refused.Count != 2 {
			t.Errorf("%s: %d exact, %d refused", from, done.Exact, done.Refused.Count)
		}
	}
}

func TestANoteMayHoldWhatADestinationMayNotAlsoInAWindow(t *testing.T) {
	const note = `{"to": "/b", "note": "\u202ex", "until": "2027-03-01"}`
	if out, done := convert(t, rulefile.JSON, rulefile.CSV, `{"a": `+note+`}`); done.Exact != 1 {
		t.Errorf("it is %+v\n%s", done, out)
	}
	const bad = `[{"to": "/b", "until": "2027-03-01"}, {"to": "/\u202ex", "since": "2027-04-01"}]`
	out, done := convert(t, rulefile.JSON, rulefile.CSV, `{"a": `+bad+`}`)
	if done.Refused.Count != 1 {
		t.Errorf("it is %+v\n%s", done, out)
	}
}

func TestTheReportSaysForEveryFormatHowManyRulesAreExactAndWhy(t *testing.T) {
	no := false
	for _, tt := range []struct {
		from       rulefile.Format
		text, want string
		exact      *bool
	}{
		{"json", `{"/a": "/b", "c": "/d"}`, `1 of 2; where the file does not say it, keys that begin ` +
			`with "/" or are URLs make exact rules; --exact and --exact=false change that`, nil},
		{"csv", "from,to\n/a,/b\nc,/d\n", `1 of 2; where the file does not say it, keys that begin ` +
			`with "/" or are URLs make exact rules; --exact and --exact=false change that`, nil},
		{"csv", "from,to\n/a,/b\n", "0 of 1; where the file does not say it, --exact=false does; " +
			"--exact=true is the opposite", &no},
		{"redirects", "/a /b\n/c/* /d/:splat\n", "1 of 2; each line of the file says it; to change " +
			"it, edit the new rules", nil},
		{"yaml", "/a: /b\n", "1 of 1; where the file does not say it, rules are exact; " +
			"--exact=false changes that", nil},
		{"golink", `{"Short": "a", "Long": "https://a.example"}`, "0 of 1; where the file does not " +
			"say it, rules match below their paths as well; --exact changes that", nil},
		{"yaml", "/a: x\n", "", nil},
	} {
		in := migrate.Input{Reader: strings.NewReader(tt.text), Source: "file",
			Reading: rulefile.Reading{Exact: tt.exact}}
		var out strings.Builder
		done, err := migrate.Convert(&out, rulefile.JSON, in, formatOf(t, tt.from))
		if tt.want != "" {
			tt.want = "exact rules, which match nothing below their paths: " + tt.want
		}
		if err != nil || done.Exactness != tt.want {
			t.Errorf("%s: %s, %v", tt.text, done.Exactness, err)
		}
	}
}
