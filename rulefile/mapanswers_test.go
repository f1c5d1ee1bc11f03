package rulefile_test

import (
	"os"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// mapAnswers are a map, and what a program answers by it.
type mapAnswers struct {
	program, text string
	requests      []string // each with its answer, and perhaps with that of the rules and the reason
}

// readMapAnswers reads testdata/maps/answers.txt, whose head says what stands there.
func readMapAnswers(t *testing.T) (all []mapAnswers) {
	content, err := os.ReadFile("testdata/maps/answers.txt")
	if err != nil {
		t.Fatal(err)
	}
	for table := range strings.SplitSeq("\n"+string(content), "\n== ") {
		program, rest, _ := strings.Cut(table, "\n")
		text, requests, isTable := strings.Cut(rest, "\n--\n")
		if isTable {
			all = append(all, mapAnswers{
				program, text + "\n", strings.Split(strings.TrimSpace(requests), "\n"),
			})
		}
	}
	return all
}

// rules returns the rules of a map, which redirect with 301 and without a request's query.
func (m mapAnswers) rules(t *testing.T) *resolver.Ruleset {
	isExact := m.program != "haproxy_beg"
	reading := rulefile.Reading{Status: 301, Query: resolver.QueryIgnore, Exact: &isExact}
	var json strings.Builder
	_, err := reading.Convert(
		&json, rulefile.JSON, strings.NewReader(m.text), rulefile.Map, "answers.map")
	if err != nil {
		t.Fatal(err)
	}
	var rules []resolver.Rule
	_, err = rulefile.Reading{}.Read(strings.NewReader(json.String()), rulefile.JSON, "",
		func(rule resolver.Rule) { rules = append(rules, rule) })
	if err != nil {
		t.Fatal(err)
	}
	ruleset, err := resolver.Compile(rules, resolver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return ruleset
}

func TestMapsAnswerAsTheirProgramsDo(t *testing.T) {
	requests := 0
	for _, m := range readMapAnswers(t) {
		ruleset := m.rules(t)
		for _, line := range m.requests {
			cells := strings.Split(line, "\t")
			request, want, got := cells[0], cells[1], "-"
			if len(cells) == 4 {
				want = cells[2] // where the program answers otherwise
			}
			result := ruleset.Resolve("https://" + siteHost + request)
			if result.Outcome == resolver.Redirect {
				got = strings.TrimPrefix(result.Destination, "https://"+siteHost)
			}
			if requests++; got != want {
				t.Errorf("%s\n%s%s leads to %s, not to %s", m.program, m.text, request, got, want)
			}
		}
	}
	if requests < 250 {
		t.Errorf("%d requests", requests)
	}
}
