package migratetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/vectors"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// SiteHost is the host that programs were asked on.
const SiteHost = "site.example"

// Program says how the tables of a program are read, and how its rules are asked.
type Program struct {
	Reader  migrate.Reader
	Reading rulefile.Reading
	Query   resolver.QueryMode // of rules without one
	// IsSaid lets something be said of lines: that they are approximated, or have no equivalent.
	IsSaid bool
}

// CheckAnswers asks the rules of all tables in a file what a running program answered by the same
// tables. It returns how many rows there are, and in how many of them both answer the same.
func CheckAnswers(t *testing.T, file string, programs map[string]Program) (rows, same int) {
	all, err := vectors.Read(file)
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
			program.IsSaid = program.IsSaid || strings.HasPrefix(why, "refused")
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
func (p *Program) compile(t *testing.T, table string) *resolver.Ruleset {
	t.Helper()
	in := migrate.Input{Reader: strings.NewReader(table + "\n"), Source: "table", Reading: p.Reading}
	var rules []resolver.Rule
	found, err := migrate.LinesOf(p.Reader)(in, func(rule resolver.Rule) {
		rules = append(rules, rule)
	})
	for _, w := range found.Warnings {
		isOfLine := w.Kind == rulefile.WarnApproximated || w.Kind == rulefile.WarnLeftOut
		if isOfLine && !p.IsSaid {
			t.Errorf("%s\n%s", table, w)
		}
	}
	if err != nil && !p.IsSaid {
		t.Errorf("%s\n%v", table, err)
	}
	compiler, err := resolver.NewCompiler(resolver.Options{Query: p.Query})
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

// answerTo returns status and Location of a request to the site, which has no pages of its own.
func answerTo(ruleset *resolver.Ruleset, request string) string {
	switch result := ruleset.Resolve("http://" + SiteHost + request); result.Outcome {
	case resolver.Redirect:
		to := strings.TrimPrefix(result.Destination, "http://"+SiteHost)
		return fmt.Sprintf("%d %s", result.Status, to)
	case resolver.Gone:
		return "410"
	case resolver.Pass:
		return "404"
	}
	return "error"
}
