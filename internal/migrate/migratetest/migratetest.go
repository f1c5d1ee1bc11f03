// Package migratetest checks readers of other programs' tables: the rules and the messages for a
// text. Only tests import it.
package migratetest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// Text is a text, its rules, and a part of each message about it. A "|" separates rules and
// messages.
type Text = struct{ Text, Rules, Says string }

// Check reads texts. It ignores the remark on slashes, which every table of a program gets.
func Check(t *testing.T, read migrate.Reader, reading rulefile.Reading, texts []Text) {
	t.Helper()
	for _, tt := range texts {
		rules, warnings, errs := Read(read, reading, tt.Text)
		ofTable := func(warning string) bool { return strings.Contains(warning, "rules match both") }
		said := append(slices.DeleteFunc(warnings, ofTable), errs...)
		var want []string
		if tt.Says != "" {
			want = strings.Split(tt.Says, "|")
		}
		isSaid := len(said) == len(want)
		for i := 0; isSaid && i < len(want); i++ {
			isSaid = strings.Contains(said[i], want[i])
		}
		if got := strings.Join(rules, "|"); got != tt.Rules || !isSaid {
			t.Errorf("%s\nmakes %s\nsays %s", tt.Text, got, strings.Join(said, "\n     "))
		}
	}
}

// Read reads a text as the file "file". It returns its rules in short form, warnings and errors.
func Read(read migrate.Reader, reading rulefile.Reading, text string) (
	rules, warnings, errs []string,
) {
	in := migrate.Input{Reader: strings.NewReader(text), Source: "file", Reading: reading}
	found, err := migrate.LinesOf(read)(in, func(rule resolver.Rule) {
		rules = append(rules, InShort(rule))
	})
	for _, w := range found.Warnings {
		warnings = append(warnings, w.Position.String()+": "+w.Message)
	}
	if err != nil {
		errs = strings.Split(err.Error(), "\n")
	}
	return rules, warnings, errs
}

// Fuzz reads arbitrary texts, and compiles their rules.
func Fuzz(f *testing.F, read migrate.Reader, texts ...string) {
	for _, text := range texts {
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, hasDefaults bool) {
		isExact, reading := false, rulefile.Reading{Hosts: []string{"a.example"}}
		if hasDefaults {
			reading.Exact, reading.Status, reading.Query = &isExact, 303, resolver.QueryPreserve
		}
		compiler, err := resolver.NewCompiler(resolver.Options{})
		if err != nil {
			t.Fatal(err)
		}
		checker := resolver.NewRuleChecker()
		in := migrate.Input{Reader: strings.NewReader(text), Source: "file", Reading: reading,
			Loosely: hasDefaults}
		_, _ = migrate.LinesOf(read)(in, func(rule resolver.Rule) {
			if checker.Check(rule) == nil {
				compiler.Add(rule)
			}
		})
		if _, err := compiler.Compile(); err != nil && !checker.MayFailInChains() {
			t.Errorf("it does not load: %v", err)
		}
	})
}

// InShort returns a rule in one line of words.
func InShort(rule resolver.Rule) string {
	words := []string{rule.Key, rule.Value}
	if rule.Status != 0 {
		words = append(words, strconv.Itoa(rule.Status))
	}
	if rule.Exact {
		words = append(words, "exact")
	}
	if mode := rule.Query.String(); mode != "" {
		words = append(words, mode)
	}
	return strings.Join(words, " ")
}

// Case is a table of another program, with the expected rules and reports.
type Case = struct {
	Name, Text string
	Reading    rulefile.Reading
	// Rules are rows of CSV without a header: key,destination,status,exact,unlisted,query.
	Rules string
	// Reports are parts of the expected messages, one on a line, in order.
	Reports string
}

// Loads compiles the content of a file, and returns any error.
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

// ReportsOf lists the reports on lines.
func ReportsOf(lines migrate.Lines) string {
	var all []string
	for _, report := range lines.Reports {
		all = append(all, report.String())
	}
	return strings.Join(all, "\n")
}

// Convert converts a text as the file "file".
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

// RulesOf returns rules as rows of CSV without a header, and the conversion report.
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

// CheckAll converts tables of another program and checks the results.
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
