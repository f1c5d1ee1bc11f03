package rulefile_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// read reads a text, as if it stood in a file of the format's name.
func read(format rulefile.Format, text string) ([]resolver.Rule, error) {
	var rules []resolver.Rule
	err := rulefile.Read(strings.NewReader(text), format, string(format), func(rule resolver.Rule) {
		rules = append(rules, rule)
	})
	return rules, err
}

func write(format rulefile.Format, rules ...resolver.Rule) (string, error) {
	var file bytes.Buffer
	err := rulefile.Write(&file, format, slices.Values(rules))
	return file.String(), err
}

// writtenAndRead writes rules that were read, and reads them again. The rules have no positions.
func writtenAndRead(t *testing.T, format rulefile.Format, rules []resolver.Rule) []resolver.Rule {
	t.Helper()
	text, err := write(format, rules...)
	if err != nil {
		t.Fatalf("what was read is not written: %v", err)
	}
	again, err := read(format, text)
	if err != nil {
		t.Fatalf("what was written is refused: %v\n%s", err, text)
	}
	return withoutPositions(again)
}

func withoutPositions(rules []resolver.Rule) []resolver.Rule {
	plain := slices.Clone(rules)
	for i := range plain {
		plain[i].Position = resolver.Position{}
	}
	return plain
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestParseFormatSaysWhichFormatsThereAre(t *testing.T) {
	for _, format := range []rulefile.Format{rulefile.JSON, rulefile.CSV, rulefile.Redirects} {
		if got, err := rulefile.ParseFormat(string(format)); got != format || err != nil {
			t.Errorf("%s is read as %q, %v", format, got, err)
		}
	}
	const want = `the formats are json, csv and redirects, not "xml"`
	if _, err := rulefile.ParseFormat("xml"); errorText(err) != want {
		t.Errorf("got %v", err)
	}
	if _, err := read("xml", ""); !strings.Contains(errorText(err), `, not "xml"`) {
		t.Errorf("reading, got %v", err)
	}
	if _, err := write("xml"); errorText(err) != want {
		t.Errorf("writing, got %v", err)
	}
}

func TestADialectThatIsNoneIsAnError(t *testing.T) {
	reading := rulefile.Reading{Dialect: "foreign"}
	_, err := reading.Read(strings.NewReader("/a /b"), rulefile.Redirects, "file", nil)
	if err == nil || !strings.Contains(err.Error(), "the dialects are netlify and cloudflare") {
		t.Errorf("the error is %v", err)
	}
}

func TestFormatOfTellsTheFormatByTheNameOfAFile(t *testing.T) {
	tests := map[string]rulefile.Format{
		"links.json":            rulefile.JSON,
		"/srv/my.links.JSON":    rulefile.JSON,
		"links.csv":             rulefile.CSV,
		"links.tsv":             rulefile.CSV,
		"_redirects":            rulefile.Redirects,
		"/srv/site/_redirects":  rulefile.Redirects,
		"babel._redirects":      rulefile.Redirects,
		"site.redirects":        rulefile.Redirects,
		"redirects":             "",
		"links":                 "",
		"links.json.bak":        "",
		"/srv/links.csv/backup": "",
		"":                      "",
	}
	for path, want := range tests {
		if got, ok := rulefile.FormatOf(path); got != want || ok != (want != "") {
			t.Errorf("%q is said to be %q, %v", path, got, ok)
		}
	}
}

func TestAFileOfAnotherKindIsOneError(t *testing.T) {
	const (
		rows        = "\x00\xff\n\"\"x\n"
		spreadsheet = "this is a spreadsheet, or another file that is not text; save it as CSV, in UTF-8, " +
			"with the columns key and destination"
		object = "\uFEFF\n{\n  \"a\": \"/b\"\n}\n"
	)
	formats := []rulefile.Format{rulefile.JSON, rulefile.CSV, rulefile.Redirects}
	for _, tt := range []struct {
		name, text, want string
		formats          []rulefile.Format
	}{
		{"a spreadsheet", "PK\x03\x04\x14\x00" + rows, spreadsheet, formats},
		{"an old spreadsheet", "\xd0\xcf\x11\xe0" + rows, spreadsheet, formats},
		{"UTF-16", "\xfe\xff\x00{\x00}", "the text is UTF-16; save the file as UTF-8", formats},
		{"JSON", object, "this is JSON, not FORMAT; write the format json, or give the file a name " +
			"that ends in .json", formats[1:]},
		{"a list", `[{"source": "/a"}]`, "this is JSON, not FORMAT; write the format json, or give " +
			"the file a name that ends in .json", formats[1:]},
	} {
		for _, format := range tt.formats {
			_, err := read(format, tt.text)
			want := string(format) + ":1:1: " + strings.ReplaceAll(tt.want, "FORMAT", string(format))
			if got := errorText(err); got != want {
				t.Errorf("%s as %s: got\n%s\nwant\n%s", tt.name, format, got, want)
			}
		}
	}
	for _, text := range []string{"{x}/a,https://x.example/{x}", "[a],/b"} {
		if rules, err := read(rulefile.CSV, text); err != nil || len(rules) != 1 {
			t.Errorf("%s: %v, %v", text, rules, err)
		}
	}
}

func TestReadersAndWritersOwnErrorsAreToldFromTheFiles(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, format := range []rulefile.Format{rulefile.JSON, rulefile.CSV, rulefile.Redirects} {
		err := rulefile.Read(iotest.ErrReader(broken), format, "", func(resolver.Rule) {})
		if err != broken {
			t.Errorf("reading %s: %v", format, err)
		}
		rule := resolver.Rule{Key: "a", Value: "/b", Exact: true}
		rules := slices.Values([]resolver.Rule{rule})
		if err := rulefile.Write(brokenWriter{broken}, format, rules); err != broken {
			t.Errorf("writing %s: %v", format, err)
		}
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestEveryFormatReadsWhatItWrites(t *testing.T) {
	rules := []resolver.Rule{
		{Key: "a", Value: "https://example.com/?x=1&y=<é>#top", Status: 308, Exact: true, Query: resolver.QueryIgnore},
		{Key: "docs/café", Value: "/b", Status: 301},
		{Key: "c,;", Value: "https://example.com/", Status: 302},
		{Key: "d", Value: "https://example.com/d/", Status: 307},
		{Key: "e%2Ff", Value: "https://example.com/", Status: 303},
		{Key: "g", Value: "/h?i#j", Status: 301, Query: resolver.QueryIgnore},
		{Key: "p", Value: "pass"},
	}
	for _, format := range []rulefile.Format{rulefile.JSON, rulefile.CSV, rulefile.Redirects} {
		if again := writtenAndRead(t, format, rules); !slices.Equal(again, rules) {
			t.Errorf("%s: got\n%v", format, again)
		}
	}
}

func TestEveryFormatLeavesOutWhatNoFileHoldsAndListsIt(t *testing.T) {
	at := resolver.Position{Source: "links.json", Line: 3, Column: 2}
	const want = `links.json:3:2: key "a": files contain only UTF-8; write other bytes percent-encoded
key "b": the status must be 301, 302, 303, 307 or 308, not 200`
	for _, format := range []rulefile.Format{rulefile.JSON, rulefile.CSV, rulefile.Redirects} {
		good := resolver.Rule{Key: "good", Value: "/x", Status: 301}
		text, err := write(format,
			resolver.Rule{Key: "a", Value: "/caf\xE9", Position: at}, good, resolver.Rule{Key: "b", Value: "/c", Status: 200})
		if errorText(err) != want {
			t.Errorf("%s: got\n%v", format, err)
		}
		rules, err := read(format, text)
		if err != nil || !slices.Equal(withoutPositions(rules), []resolver.Rule{good}) {
			t.Errorf("%s: written are %v, %v", format, rules, err)
		}
	}
}

// checkPositions checks that rules and errors are said to stand inside of text, one behind the
// other.
func checkPositions(t *testing.T, text string, rules []resolver.Rule, err error) {
	t.Helper()
	lines := strings.Split(text, "\n")
	check := func(what string, at, last resolver.Position) {
		if at.Line < 1 || at.Line > len(lines) || at.Column < 1 || at.Column > len(lines[at.Line-1])+1 {
			t.Fatalf("%s is said to stand at %s", what, at)
		}
		if at.Line < last.Line {
			t.Fatalf("%s is said to stand at %s, before %s", what, at, last)
		}
	}
	var last resolver.Position
	for _, rule := range rules {
		check(rule.Key, rule.Position, last)
		last = rule.Position
	}
	last = resolver.Position{}
	errs, _ := errors.AsType[rulefile.Errors](err)
	for _, e := range errs {
		check(e.Message, e.Position, last)
		last = e.Position
	}
}
