package migratetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// Case is a table of another program, and what becomes of it.
type Case = struct {
	Name, Text string
	Reading    rulefile.Reading
	// Rules are rows of CSV without header: key,destination,status,exact,unlisted,query.
	Rules string
	// Reports are parts of what is said, one a line, in the order in which it is said.
	Reports string
}

// Loads compiles what stands in a file, and returns what is wrong.
func Loads(format rulefile.Format, text string) error {
	compiler, err := resolver.NewCompiler(resolver.Options{})
	if err != nil {
		return err
	}
	if err := rulefile.Read(strings.NewReader(text), format, "out", compiler.Add); err != nil {
		return err
	}
	_, err = compiler.Compile()
	return err
}

// ReportsOf lists what is said of lines.
func ReportsOf(lines migrate.Lines) string {
	var all []string
	for _, report := range lines.Reports {
		all = append(all, report.String())
	}
	return strings.Join(all, "\n")
}

// Convert converts a text of the file "file".
func Convert(
	t testing.TB, reading rulefile.Reading, from migrate.Format, to rulefile.Format, text string,
) (out string, done migrate.Conversion) {
	t.Helper()
	var b strings.Builder
	in := migrate.Input{Reader: strings.NewReader(text), Source: "file", Reading: reading}
	done, err := migrate.Convert(&b, to, in, from)
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), done
}

// RulesOf returns rules as rows of CSV without a header, with what is said of the rest.
func RulesOf(t *testing.T, reading rulefile.Reading, from migrate.Format, text string) (
	rules string, done migrate.Conversion,
) {
	t.Helper()
	out, done := Convert(t, reading, from, rulefile.CSV, text)
	if err := Loads(rulefile.CSV, out); err != nil {
		t.Errorf("%q: %v", text, err)
	}
	_, rules, _ = strings.Cut(out, "\n")
	return strings.NewReplacer(",\n", "\n", ",,\n", "\n", ",,,\n", "\n").Replace(rules), done
}

// CheckAll converts tables of another program.
func CheckAll(t *testing.T, from migrate.Format, cases []Case) {
	for _, tt := range cases {
		t.Run(tt.Name, func(t *testing.T) {
			rules, done := RulesOf(t, tt.Reading, from, tt.Text)
			if rules != tt.Rules {
				t.Errorf("rules:\n%s\nwant:\n%s", rules, tt.Rules)
			}
			said := fmt.Sprintf("%s\n%s\n%s\n%s\n", ReportsOf(done.Approximated),
				ReportsOf(done.Refused), ReportsOf(done.Dropped), strings.Join(done.Remarks, "\n"))
			rest := said
			for want := range strings.SplitSeq(tt.Reports, "\n") {
				_, behind, ok := strings.Cut(rest, want)
				if rest = behind; !ok {
					t.Errorf("%q is not said in\n%s", want, said)
					return
				}
			}
			if tt.Reports == "" && strings.TrimSpace(said) != "" {
				t.Errorf("said:\n%s", said)
			}
		})
	}
}
