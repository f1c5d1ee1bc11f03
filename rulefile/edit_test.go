package rulefile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

func edited(t testing.TB, content string, format Format, e Edit) (string, error) {
	t.Helper()
	_, after, err := planned(content, format, e)
	return after, err
}

// planned returns the plan of an edit, too.
func planned(content string, format Format, e Edit) (*Plan, string, error) {
	old := strings.NewReader(content)
	plan, err := e.Plan(old, format, "links")
	if err != nil {
		return nil, "", err
	}
	var b bytes.Buffer
	err = plan.Copy(&b, old)
	return plan, b.String(), err
}

func TestAnEditChangesItsRuleAndNothingElse(t *testing.T) {
	site := &resolver.Rule{Key: "b", Value: "https://new.example"}
	full := &resolver.Rule{Key: "b", Value: "https://new.example", Status: 301, Exact: true, Unlisted: true}
	exact := &resolver.Rule{Key: "b", Value: "https://new.example", Exact: true}
	ignoring := &resolver.Rule{Key: "b", Value: "/y?z", Query: resolver.QueryIgnore}
	noted := &resolver.Rule{Key: "b", Value: "gone", Note: `why, "é"`}
	gone := &resolver.Rule{Key: "b", Value: "gone"}
	pass := &resolver.Rule{Key: "b", Value: "pass", Exact: true}
	for name, tt := range map[string]struct {
		format        Format
		content, want string
		rule          *resolver.Rule // of the key b
	}{
		"JSON: replaced, with the space that there is": {JSON, "{\n  \"a\" : \"/x\",\n  \"b\" :  {\"to\": \"/y\"} ,\n  \"c\": \"/z\"}", "{\n  \"a\" : \"/x\",\n  \"b\" :  \"https://new.example\" ,\n  \"c\": \"/z\"}", site},
		"JSON: replaced with more to say":              {JSON, `{"b":"/y"}`, `{"b":{"to":"https://new.example","status":301,"exact":true,"unlisted":true}}`, full},
		"JSON: replaced with a note": {
			JSON, `{"b":"/y"}`, `{"b":{"to":"gone","note":"why, \"é\""}}`, noted},
		"CSV: replaced with a note": {
			CSV, "key;note;to\nb;old;/y\n", "key;note;to\nb;\"why, \"\"é\"\"\";gone\n", noted},
		"JSON: replaced with a query mode": {
			JSON, `{"b":"/y"}`, `{"b":{"to":"/y?z","query":"ignore"}}`, ignoring},
		"CSV: replaced with a query mode": {
			CSV, "key,to,query\nb,/y,merge\n", "key,to,query\nb,/y?z,ignore\n", ignoring},
		"JSON: added, indented as the others are": {JSON, "{\r\n    \"a\": \"/x\",\r\n    \"c\": \"/z\"\r\n}\r\n", "{\r\n    \"a\": \"/x\",\r\n    \"c\": \"/z\",\r\n    \"b\": \"https://new.example\"\r\n}\r\n", site},
		"JSON: added to one":                      {JSON, `{"a":"/x"}`, `{"a":"/x","b":"https://new.example"}`, site},
		"JSON: added to none":                     {JSON, "\ufeff{}\n", "\ufeff{\n\t\"b\": \"https://new.example\"\n}\n", site},
		"JSON: added where commas stand in front": {JSON, "{\"a\": \"/x\"\n, \"c\": \"/z\"\n}", "{\"a\": \"/x\"\n, \"c\": \"/z\"\n, \"b\": \"https://new.example\"\n}", site},
		"JSON: gone":                              {JSON, `{"b":"/y"}`, `{"b":"gone"}`, gone},
		"JSON: pass":                              {JSON, `{"a":"gone","b":"gone"}`, `{"a":"gone","b":{"to":"pass","exact":true}}`, pass},
		"CSV: gone":                               {CSV, "a,/x\nb,/y,301\n", "a,/x\nb,gone\n", gone},
		"CSV: pass":                               {CSV, "a,gone\n", "a,gone\nb,pass,,exact\n", pass},
		"_redirects: gone": {
			Redirects, "/b/c /y\n/d /old 410\n", "/b/c /y\n/d /old 410\n/b/* /410 410\n", gone},
		"_redirects: gone no more":        {Redirects, "/b/* /410 410\n", "/b https://new.example 302\n", exact},
		"JSON: the first removed":         {JSON, "{\n\t\"b\": \"/y\",\n\t\"c\": \"/z\"\n}", "{\n\t\"c\": \"/z\"\n}", nil},
		"JSON: one in the middle removed": {JSON, `{"a":"/x", "b":"/y", "c":"/z"}`, `{"a":"/x", "c":"/z"}`, nil},
		"JSON: the last removed":          {JSON, "{\n\t\"a\": \"/x\",\n\t\"b\": \"/y\"\n}", "{\n\t\"a\": \"/x\"\n}", nil},
		"JSON: the only one removed":      {JSON, "{\n\t\"b\": \"/y\"\n}\n", "{}\n", nil},

		"CSV: replaced, in the order of the header":      {CSV, "to;from;\n/x;a\n/y;b\n/z;c\n", "to;from;\n/x;a\nhttps://new.example;b;\n/z;c\n", site},
		"CSV: added with the line end that there is":     {CSV, "a,/x\r\nc,/z\r\n", "a,/x\r\nc,/z\r\nb,https://new.example\r\n", site},
		"CSV: added behind a line without an end":        {CSV, "a,/x", "a,/x\nb,https://new.example\n", site},
		"CSV: added behind such a line, with CRLF":       {CSV, "c,/z\r\na,/x", "c,/z\r\na,/x\r\nb,https://new.example\r\n", site},
		"CSV: replaced on a line without an end":         {CSV, "a,/x\nb,/y", "a,/x\nb,https://new.example", site},
		"CSV: added to nothing":                          {CSV, "", "b,https://new.example\n", site},
		"CSV: added with all columns":                    {CSV, "a\t/x\n", "a\t/x\nb\thttps://new.example\t301\texact\tunlisted\n", full},
		"CSV: replaced with its slash":                   {CSV, "a,/x\n/b,/y\nc,/z\n", "a,/x\n/b,https://new.example\nc,/z\n", site},
		"CSV: replaced without a slash":                  {CSV, "/a,/x\nb,/y\n/c,/z\n", "/a,/x\nb,https://new.example\n/c,/z\n", site},
		"CSV: removed where it has a slash":              {CSV, "/a,/x\n/b,/y\n", "/a,/x\n", nil},
		"CSV: added with the slash of the last row":      {CSV, "a,/x\n/c,/z\n", "a,/x\n/c,/z\n/b,https://new.example\n", site},
		"CSV: comments stay":                             {CSV, "# ours\na,/x\n\n# theirs\nb,/y\n", "# ours\na,/x\n\n# theirs\n", nil},
		"_redirects: replaced":                           {Redirects, "# one\n/a /x\n/b /y # why\n/c /z\n", "# one\n/a /x\n/b https://new.example 302\n/c /z\n", exact},
		"_redirects: added":                              {Redirects, "/a /x\r\n", "/a /x\r\n/b https://new.example 302\r\n", exact},
		"_redirects: added behind a line without an end": {Redirects, "/c /z\r\n/a /x", "/c /z\r\n/a /x\r\n/b https://new.example 302\r\n", exact},
		"_redirects: both lines of a rule removed":       {Redirects, "/b https://b.example/\n# below\n/b/* https://b.example/:splat\n/c /z\n", "# below\n/c /z\n", nil},
		"_redirects: one for all below goes behind them": {Redirects, "/b /x\n/b/c /y\n/d /z\n", "/b/c /y\n/d /z\n/b/* https://new.example/:splat 302\n", site},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := edited(t, tt.content, tt.format, Edit{Key: "b", Rule: tt.rule})
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v\nwant %q", got, err, tt.want)
			}
		})
	}
}

func TestALineGoesInFrontOfTheOneThatTakesItsPathWhole(t *testing.T) {
	rule := &resolver.Rule{Key: "docs/new", Value: "/guide", Exact: true}
	got, err := edited(t, "/a /x\n/docs/* https://docs.example/:splat\n", Redirects, Edit{Key: "docs/new", Rule: rule})
	if want := "/a /x\n/docs/new /guide 302\n/docs/* https://docs.example/:splat\n"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestAnEditThatCannotBeMadeSaysWhy(t *testing.T) {
	for name, tt := range map[string]struct {
		format  Format
		content string
		edit    Edit
		want    string
	}{
		"a rule that is not there":   {JSON, `{"a": "/x"}`, Edit{Key: "b"}, ErrNoRule.Error()},
		"a row that is not there":    {CSV, "a,/x\n", Edit{Key: "b"}, ErrNoRule.Error()},
		"a line that is not there":   {Redirects, "/a /x\n", Edit{Key: "b"}, ErrNoRule.Error()},
		"a file that does not parse": {JSON, "{\n\"a\": 5}", Edit{Key: "b"}, `links:2:6: the value of "a" is 5`},
		"a table without the column": {CSV, "key,to\na,/x\n", Edit{Key: "b", Rule: &resolver.Rule{Key: "b", Value: "/y", Status: 301}}, `key "b": the table has no column status; add it to the header`},
		"a table without a header": {CSV, "a,/x\n",
			Edit{Key: "b", Rule: &resolver.Rule{Key: "b", Value: "/y", Query: resolver.QueryMerge}},
			"the table has no column query; write a header in front of its first row, such as key, " +
				"destination, status, exact, unlisted, query, note"},
		"what the format cannot say": {Redirects, "/a /x\n", Edit{Key: "b", Rule: &resolver.Rule{Key: "b", Value: "/y", Unlisted: true}}, "no unlisted rules"},
		"a note of a line": {Redirects, "/a /x\n",
			Edit{Key: "b", Rule: &resolver.Rule{Key: "b", Value: "/y", Note: "why"}},
			`key "b": a _redirects file has no notes; remove the note`},
		"what no format can say":              {JSON, "{}", Edit{Key: "b", Rule: &resolver.Rule{Key: "b", Value: "/y", Status: 200}}, "not 200"},
		"a format that there is none of such": {"xml", "{}", Edit{Key: "b"}, `not "xml"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := edited(t, tt.content, tt.format, tt.edit)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestAnEditKnowsItsKeyInAnotherSpelling(t *testing.T) {
	same := func(key string) bool { return strings.EqualFold(key, "b") }
	got, err := edited(t, `{"B": "/y"}`, JSON, Edit{Key: "b", Rule: &resolver.Rule{Key: "b", Value: "/z"}, Same: same})
	if want := `{"b": "/z"}`; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestAnEditOfALineTakesAllLinesOfItsKey(t *testing.T) {
	lines := "/%41 https://x.example/\n/b /x\n/A https://y.example/\n"
	got, err := edited(t, lines, Redirects, Edit{Key: "%41"})
	if want := "/b /x\n"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

// After any edit of any file, reading gives the old rules with that one change, in any order.
func FuzzEdit(f *testing.F) {
	f.Add("{\n\t\"a\": \"/x\",\n\t\"b\": {\"to\": \"/y\", \"exact\": true}\n}\n", uint8(0), "b", "https://example.com", uint16(301), true, false, "")
	f.Add("key;to\na;/x\r\nb;/y", uint8(1), "b", "/z", uint16(0), false, true, "")
	f.Add("# c\n/a/b /x\n/a/* /y/:splat 302\n", uint8(2), "a/c", "/z", uint16(302), true, false, "")
	f.Add("/a /y/\n/a/* /y/:splat\n", uint8(2), "a", "/z/", uint16(302), false, false, "")
	f.Add("/p1-* /b/:splat\n/:x-s /b/:x\n/b/* /c\n",
		uint8(2), "p1-{y}/c", "/d/{y}", uint16(301), true, false, "")
	f.Add("/a,/x\n/b,/y\n//c,/z\n", uint8(1), "b", "/z", uint16(0), false, false, "")
	f.Add("key,,to\na,,/x\n", uint8(1), "b", "/z", uint16(0), false, false, "")
	f.Add("/a /410 410\n/b/* /x/:splat\n", uint8(2), "b", "gone", uint16(0), false, false, "")
	f.Add("key;note;to\na;one;/x\nb;two;/y",
		uint8(1), "b", "/z", uint16(0), false, false, `é; "x" `)
	f.Add("{\"a\": {\"to\": \"/x\", \"note\": \"y\"}}",
		uint8(0), "b", "gone", uint16(0), false, false, "z")
	formats := []Format{JSON, CSV, Redirects}
	f.Fuzz(func(
		t *testing.T, content string, n uint8, key, value string, status uint16, exact, remove bool,
		note string,
	) {
		format := formats[int(n)%len(formats)]
		before, err := readAll(content, format)
		if err != nil || hasDuplicate(before) {
			return
		}
		e := Edit{Key: key}
		if !remove {
			e.Rule = &resolver.Rule{
				Key: key, Value: value, Status: int(status), Exact: exact, Note: note,
			}
		}
		plan, after, err := planned(content, format, e)
		if err != nil {
			return
		}
		var passed []resolver.Rule
		_, err = plan.Read(strings.NewReader(after), func(rule resolver.Rule) {
			rule.Position = resolver.Position{}
			passed = append(passed, rule)
		})
		if err != nil {
			return // which is told, and nothing is written
		}
		got, err := readAll(after, format)
		if !slices.Equal(passed, got) {
			t.Fatalf("the edit passes %v, and reading %v", passed, got)
		}
		if err != nil {
			t.Fatalf("%q became %q, which does not parse: %v", content, after, err)
		}
		want := slices.DeleteFunc(before, func(r resolver.Rule) bool { return plan.edit.isOf(r.Key) })
		if e.Rule != nil {
			rule := *e.Rule
			if format == Redirects {
				rule = withStatus(rule, resolver.DefaultStatus)
			}
			want = append(want, rule)
		}
		if format == Redirects { // which does not tell all rules apart
			for _, rules := range [][]resolver.Rule{got, want} {
				for i := range rules {
					rules[i] = asRead(rules[i])
				}
			}
		}
		if sortedRules(got) != sortedRules(want) {
			t.Fatalf("%q became %q: the rules are\n%s, and not\n%s", content, after, sortedRules(got), sortedRules(want))
		}
	})
}

func readAll(content string, format Format) (rules []resolver.Rule, err error) {
	err = Read(strings.NewReader(content), format, "links", func(rule resolver.Rule) {
		rule.Position = resolver.Position{}
		rules = append(rules, rule)
	})
	return rules, err
}

func hasDuplicate(rules []resolver.Rule) bool {
	seen := map[string]bool{}
	for _, rule := range rules {
		if seen[rule.Key] {
			return true
		}
		seen[rule.Key] = true
	}
	return false
}

func sortedRules(rules []resolver.Rule) string {
	var lines []string
	for _, rule := range rules {
		lines = append(lines, fmt.Sprintf("%q %q %d %t %t %s %q", rule.Key, rule.Value, rule.Status,
			rule.Exact, rule.Unlisted, rule.Query, rule.Note))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
