package formats_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/vectors"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// siteHost is the host in the requests to the programs.
const siteHost = "site.example"

// program describes how to read a program's tables and how to query its rules.
type program struct {
	from    rulefile.Format
	reading rulefile.Reading
	query   resolver.QueryMode // of rules without one
	// isSaid allows reports about lines: approximated, or without an equivalent.
	isSaid bool
}

func TestRulesAnswerAsARunningApache(t *testing.T) {
	rows, same := checkAnswers(t, "apache", map[string]program{"apache": {
		from: "htaccess", reading: rulefile.Reading{Hosts: []string{siteHost}},
		query: resolver.QueryPreserve,
	}})
	if same < 150 {
		t.Errorf("%d of %d rows are the same", same, rows)
	}
}

func TestListsAreAnsweredAsTheirProgramsDo(t *testing.T) {
	preserving := program{from: "array", reading: rulefile.Reading{Query: resolver.QueryPreserve}}
	rows, same := checkAnswers(t, "lists", map[string]program{"vercel": preserving,
		"next": preserving, "firebase": preserving, "bulk": {from: "array"}})
	if rows < 690 || same < 650 {
		t.Errorf("%d rows, of which %d are the same", rows, same)
	}
}

func TestMapsAnswerAsTheirProgramsDo(t *testing.T) {
	programs := map[string]program{}
	for _, name := range []string{
		"nginx", "haproxy", "haproxy_beg", "haproxy_reg", "rewritemap", "rewritemap_bare",
	} {
		isExact := name != "haproxy_beg"
		programs[name] = program{from: migrate.Map, isSaid: true,
			reading: rulefile.Reading{Status: 301, Query: resolver.QueryIgnore, Exact: &isExact}}
	}
	if rows, _ := checkAnswers(t, "maps", programs); rows < 250 {
		t.Errorf("%d requests", rows)
	}
}

func TestServersOfNginxAnswerAsNginxDoes(t *testing.T) {
	rows, same := checkAnswers(t, "servers", map[string]program{"nginx_server": {
		from: migrate.Map, query: resolver.QueryPreserve,
	}})
	if rows < 40 || same < 35 {
		t.Errorf("%d rows, of which %d are the same", rows, same)
	}
}

// checkAnswers compares the rules of all tables in a file with recorded answers of a running
// program. It returns the number of rows, and the number with equal answers.
func checkAnswers(t *testing.T, file string, programs map[string]program) (rows, same int) {
	t.Helper()
	all, err := vectors.Read("../testdata/answers/" + file + ".json")
	if err != nil {
		t.Fatal(err)
	}
	rulesets := map[string]*resolver.Ruleset{}
	for _, row := range all {
		var name, table, request, there, here, why string
		if err := row.Scan(&name, &table, &request, &there, &here, &why); err != nil {
			t.Fatal(err)
		}
		if (here == "") != (why == "") {
			t.Errorf("%s\n%s: a difference without a reason", table, request)
		}
		ruleset := rulesets[name+table]
		if ruleset == nil {
			program, isKnown := programs[name]
			if !isKnown {
				t.Fatalf("%s is no program", name)
			}
			program.isSaid = program.isSaid || strings.HasPrefix(why, "refused")
			ruleset = program.compile(t, table)
			rulesets[name+table] = ruleset
		}
		answers := strings.Split(there, " -> ")
		want := answers[len(answers)-1]
		if here == "" {
			same++
		} else {
			want = here
		}
		if got := answerTo(ruleset, request); got != want {
			t.Errorf("%s\n%s\n%s: %s, not %s; there: %s", name, table, request, got, want, there)
		}
	}
	return len(all), same
}

// compile returns the ruleset of a table.
func (p *program) compile(t *testing.T, table string) *resolver.Ruleset {
	t.Helper()
	in := migrate.Input{Reader: strings.NewReader(table + "\n"), Source: "table", Reading: p.reading}
	var rules []resolver.Rule
	found, err := formatOf(t, p.from).Read(in, func(rule resolver.Rule) {
		rules = append(rules, rule)
	})
	for _, w := range found.Warnings {
		isOfLine := w.Kind == rulefile.WarnApproximated || w.Kind == rulefile.WarnLeftOut
		if isOfLine && !p.isSaid {
			t.Errorf("%s\n%s", table, w)
		}
	}
	if err != nil && !p.isSaid {
		t.Errorf("%s\n%v", table, err)
	}
	compiler, err := resolver.NewCompiler(resolver.Options{Query: p.query})
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules {
		compiler.Add(rule)
	}
	ruleset, err := compiler.Compile()
	if err != nil {
		t.Fatalf("%s\n%v", table, err)
	}
	return ruleset
}

// answerTo returns the status and Location of a request to the site. The site has no pages of its
// own.
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
