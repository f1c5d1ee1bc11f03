package rulefile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/vectors"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// The tables of testdata/answers are what running programs answered by tables of theirs. How the
// programs were set up is said in the head of each. Where the rules answer something else, in one
// of the ways that docs/moving.md names, the table has both.

// compileConverted returns the ruleset of another program's table.
func compileConverted(
	t *testing.T, reading rulefile.Reading, from rulefile.Format, text string,
	query resolver.QueryMode,
) (*resolver.Ruleset, rulefile.Conversion) {
	t.Helper()
	var rules strings.Builder
	done, err := reading.Convert(&rules, rulefile.JSON, strings.NewReader(text), from, "file")
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := resolver.NewCompiler(resolver.Options{Query: query})
	if err != nil {
		t.Fatal(err)
	}
	err = rulefile.Read(strings.NewReader(rules.String()), rulefile.JSON, "rules", compiler.Add)
	if err != nil {
		t.Fatal(err)
	}
	ruleset, err := compiler.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return ruleset, done
}

// answerTo returns status and Location of a request to the site, which has no pages of its own.
func answerTo(ruleset *resolver.Ruleset, request string) string {
	switch result := ruleset.Resolve("http://" + siteHost + request); result.Outcome {
	case resolver.Redirect:
		to := strings.TrimPrefix(result.Destination, "http://"+siteHost)
		return fmt.Sprintf("%d %s", result.Status, to)
	case resolver.Gone:
		return "410"
	case resolver.Pass:
		return "404"
	}
	return "error"
}

func TestRulesAnswerAsARunningApache(t *testing.T) {
	rows, err := vectors.Read("testdata/answers/htaccess.json")
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for _, row := range rows {
		var table, request, here string
		var answers []string
		if err := row.Scan(&table, &request, &answers, &here); err != nil {
			t.Fatal(err)
		}
		want := here
		if want == "" {
			want, same = answers[len(answers)-1], same+1
		}
		ruleset, done := compileConverted(t, rulefile.Reading{Hosts: []string{siteHost}},
			rulefile.Htaccess, table+"\n", resolver.QueryPreserve)
		if done.Approximated.Count+done.Refused.Count > 0 {
			t.Errorf("%s: %+v", table, done)
		}
		if got := answerTo(ruleset, request); got != want {
			t.Errorf("%s\n%s: %s, not %s; Apache: %q", table, request, got, want, answers)
		}
	}
	if same < 150 {
		t.Errorf("%d of %d rows are the same", same, len(rows))
	}
}

func TestListsAreAnsweredAsTheirProgramsDo(t *testing.T) {
	rows, err := vectors.Read("testdata/answers/lists.json")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, row := range rows {
		var program string
		var list json.RawMessage
		var requests [][]string
		if err := row.Scan(&program, &list, &requests); err != nil {
			t.Fatal(err)
		}
		reading := rulefile.Reading{Query: resolver.QueryPreserve}
		if program == "bulk" {
			reading.Query = resolver.QueryDefault
		}
		ruleset, done := compileConverted(t, reading, rulefile.Array, string(list),
			resolver.QueryDefault)
		if said := reportsOf(done.Refused) + reportsOf(done.Approximated); said != "" {
			t.Errorf("%s %s: %s", program, list, said)
		}
		for _, r := range requests {
			asked++
			if got, want := answerTo(ruleset, r[0]), r[len(r)-1]; got != want {
				t.Errorf("%s %s: %s is answered %s, not %s", program, list, r[0], got, want)
			}
		}
	}
	if asked < 600 {
		t.Errorf("%d requests", asked)
	}
}

// mapAnswers are a map, and what a program answers by it.
type mapAnswers struct {
	program, text string
	requests      []string // each with its answer, and perhaps with that of the rules and the reason
}

// readMapAnswers reads a table whose head says what stands there.
func readMapAnswers(t *testing.T) (all []mapAnswers) {
	t.Helper()
	content, err := os.ReadFile("testdata/answers/maps.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, tables, _ := strings.Cut(string(content), "\n== ")
	for table := range strings.SplitSeq(tables, "\n== ") {
		program, rest, _ := strings.Cut(table, "\n")
		text, requests, isTable := strings.Cut(rest, "\n--\n")
		if !isTable {
			t.Fatalf("a table of %s has no requests", program)
		}
		all = append(all, mapAnswers{program: program, text: text + "\n",
			requests: strings.Split(strings.TrimSpace(requests), "\n")})
	}
	return all
}

func TestMapsAnswerAsTheirProgramsDo(t *testing.T) {
	asked := 0
	for _, m := range readMapAnswers(t) {
		isExact := m.program != "haproxy_beg"
		reading := rulefile.Reading{Status: 301, Query: resolver.QueryIgnore, Exact: &isExact}
		ruleset, _ := compileConverted(t, reading, rulefile.Map, m.text, resolver.QueryDefault)
		for _, line := range m.requests {
			cells := strings.Split(line, "\t")
			if len(cells) != 2 && len(cells) != 4 {
				t.Fatalf("%q has %d cells", line, len(cells))
			}
			want := "301 " + cells[len(cells)/2] // which is the rules' where the program's differs
			if want == "301 -" {
				want = "404"
			}
			if asked++; answerTo(ruleset, cells[0]) != want {
				t.Errorf("%s\n%s%s is answered %s, not %s", m.program, m.text, cells[0],
					answerTo(ruleset, cells[0]), want)
			}
		}
	}
	if asked < 250 {
		t.Errorf("%d requests", asked)
	}
}
