package rulefile_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/vectors"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// arrayRules returns what the rules of a program's list answer, or why it has none.
func arrayRules(t *testing.T, program, list string) (
	ask func(request string) string, refused string,
) {
	t.Helper()
	var out strings.Builder
	reading := rulefile.Reading{Query: resolver.QueryPreserve}
	if program == "bulk" {
		reading.Query = resolver.QueryDefault
	}
	done, err := reading.Convert(&out, rulefile.JSON, strings.NewReader(list), rulefile.Array, "list")
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := resolver.NewCompiler(resolver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rules := strings.NewReader(out.String())
	if err := rulefile.Read(rules, rulefile.JSON, "rules", compiler.Add); err != nil {
		t.Fatal(err)
	}
	ruleset, err := compiler.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return func(request string) string {
		result := ruleset.Resolve("https://" + siteHost + request)
		if result.Outcome != resolver.Redirect {
			return ""
		}
		to := strings.TrimPrefix(result.Destination, "https://"+siteHost)
		return fmt.Sprintf("%d %s", result.Status, to)
	}, reportsOf(done.Refused) + reportsOf(done.Approximated)
}

// The programs that the table names answered its requests. Next.js got its lists without "locale",
// which is there to tell them from Vercel's. An answer of the rules alone stands where they differ
// in a way that docs/moving.md says.
func TestListsAreAnsweredAsTheirProgramsDo(t *testing.T) {
	rows, err := vectors.Read("testdata/array.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		var program string
		var list json.RawMessage
		var requests [][]string
		if err := row.Scan(&program, &list, &requests); err != nil {
			t.Fatal(err)
		}
		ask, refused := arrayRules(t, program, string(list))
		if refused != "" {
			t.Errorf("%s %s: %s", program, list, refused)
			continue
		}
		for _, r := range requests {
			want := r[len(r)-1]
			if got := ask(r[0]); got != want {
				t.Errorf("%s %s: %s is answered %q, not %q", program, list, r[0], got, want)
			}
		}
	}
}
