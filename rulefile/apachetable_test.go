package rulefile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/vectors"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// The table is what a running Apache answered: for a .htaccess and a request to the site, status
// and Location of each redirect up to the end of the chain, or a status that is none. A URL of the
// site stands there as its path. The last cell, where there is one, is what the rules answer: it
// differs from the last redirect in the ways that docs/moving.md names. How Apache was set up is
// said in the table's head; the rules have the query mode preserve.
func TestRulesAnswerAsARunningApache(t *testing.T) {
	rows, err := vectors.Read("testdata/apache/answers.json")
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
		if got := answerOfHtaccess(t, table, request); got != want {
			t.Errorf("%s\n%s: %s, not %s; Apache: %q", table, request, got, want, answers)
		}
	}
	if same < 150 {
		t.Errorf("%d of %d rows are the same", same, len(rows))
	}
}

// answerOfHtaccess returns what the rules of a .htaccess answer to a request.
func answerOfHtaccess(t *testing.T, table, request string) string {
	var out strings.Builder
	reading := rulefile.Reading{Hosts: []string{siteHost}}
	done, err := reading.Convert(&out, rulefile.JSON, strings.NewReader(table+"\n"),
		rulefile.Htaccess, "file")
	if err != nil || done.Approximated.Count+done.Refused.Count > 0 {
		t.Fatalf("%s: %v, %+v", table, err, done)
	}
	var rules []resolver.Rule
	err = rulefile.Read(strings.NewReader(out.String()), rulefile.JSON, "out",
		func(rule resolver.Rule) { rules = append(rules, rule) })
	if err != nil {
		t.Fatal(err)
	}
	ruleset, err := resolver.Compile(rules, resolver.Options{Query: resolver.QueryPreserve})
	if err != nil {
		t.Fatal(err)
	}
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
