package rulefile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// foreignTest is a table of another program, and what becomes of it.
type foreignTest struct {
	name, text string
	reading    rulefile.Reading
	// rules are rows of CSV without header: key,destination,status,exact,unlisted,query.
	rules string
	// reports are parts of what is said, one a line, in the order in which it is said.
	reports string
}

// rulesOf returns rules as rows of CSV without a header, with what is said of the rest.
func rulesOf(t *testing.T, reading rulefile.Reading, from rulefile.Format, text string) (
	rules string, done rulefile.Conversion,
) {
	t.Helper()
	var out strings.Builder
	done, err := reading.Convert(&out, rulefile.CSV, strings.NewReader(text), from, "file")
	if err != nil {
		t.Fatal(err)
	}
	if err := loads(rulefile.CSV, out.String()); err != nil {
		t.Errorf("%q: %v", text, err)
	}
	_, rules, _ = strings.Cut(out.String(), "\n")
	return strings.NewReplacer(",\n", "\n", ",,\n", "\n", ",,,\n", "\n").Replace(rules), done
}

// testForeign reads tables of another program.
func testForeign(t *testing.T, from rulefile.Format, tests []foreignTest) {
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rules, done := rulesOf(t, tt.reading, from, tt.text)
			if rules != tt.rules {
				t.Errorf("rules:\n%s\nwant:\n%s", rules, tt.rules)
			}
			said := fmt.Sprintf("%s\n%s\n%s\n%s\n", reportsOf(done.Approximated),
				reportsOf(done.Refused), reportsOf(done.Dropped), strings.Join(done.Remarks, "\n"))
			rest := said
			for want := range strings.SplitSeq(tt.reports, "\n") {
				_, behind, ok := strings.Cut(rest, want)
				if rest = behind; !ok {
					t.Errorf("%q is not said in\n%s", want, said)
					return
				}
			}
			if tt.reports == "" && strings.TrimSpace(said) != "" {
				t.Errorf("said:\n%s", said)
			}
		})
	}
}

// fuzzForeign reads any text as a table of another program, and loads what it makes.
func fuzzForeign(f *testing.F, from rulefile.Format, texts ...string) {
	for _, text := range texts {
		f.Add(text, uint8(0))
		f.Add(text, uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, how uint8) {
		no, reading := false, rulefile.Reading{Hosts: []string{"a.example"}}
		if how%2 == 1 {
			reading.Exact, reading.Status, reading.Query = &no, 303, resolver.QueryPreserve
		}
		var out strings.Builder
		done, err := reading.Convert(&out, rulefile.JSON, strings.NewReader(text), from, "file")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(reportsOf(done.Refused), "written all the same") {
			return
		}
		if err := loads(rulefile.JSON, out.String()); err != nil {
			t.Errorf("it does not load: %v\n%s", err, out.String())
		}
		if done.Exact < 0 {
			t.Errorf("%+v", done)
		}
	})
}
