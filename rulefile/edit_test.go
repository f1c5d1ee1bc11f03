package rulefile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

func edited(t testing.TB, content string, format Format, changes ...Change) (string, error) {
	t.Helper()
	_, after, err := planned(content, format, changes...)
	return after, err
}

// planned returns the plan of an edit, too.
func planned(content string, format Format, changes ...Change) (*Plan, string, error) {
	old := strings.NewReader(content)
	plan, err := Edit{Changes: changes}.Plan(old, format, "links")
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
			got, err := edited(t, tt.content, tt.format, Change{Key: "b", Rule: tt.rule})
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v\nwant %q", got, err, tt.want)
			}
		})
	}
}

// changesFrom returns changes that set keys to destinations, or remove them, as texts say it.
func changesFrom(texts string) (changes []Change) {
	for text := range strings.FieldsSeq(texts) {
		key, value, isSet := strings.Cut(text, "=")
		change := Change{Key: key}
		if isSet {
			change.Rule = &resolver.Rule{Key: key, Value: value, Exact: strings.HasSuffix(value, "!")}
			change.Rule.Value = strings.TrimSuffix(value, "!")
		}
		changes = append(changes, change)
	}
	return changes
}

func TestChangesOfSeveralRulesAreMadeTogether(t *testing.T) {
	const three = "{\n\t\"a\": \"/x\",\n\t\"b\": \"/y\",\n\t\"c\": \"/z\"\n}\n"
	for name, tt := range map[string]struct {
		format                 Format
		content, changes, want string
	}{
		"JSON: one of each": {JSON, three, "d=/new b=/w a",
			"{\n\t\"b\": \"/w\",\n\t\"c\": \"/z\",\n\t\"d\": \"/new\"\n}\n"},
		"JSON: neighbours removed":         {JSON, three, "b a", "{\n\t\"c\": \"/z\"\n}\n"},
		"JSON: the last ones removed":      {JSON, three, "b c", "{\n\t\"a\": \"/x\"\n}\n"},
		"JSON: the first and last removed": {JSON, three, "a c", "{\n\t\"b\": \"/y\"\n}\n"},
		"JSON: all removed":                {JSON, three, "a c b", "{}\n"},
		"JSON: all replaced": {JSON, three, "c=/1 b=/2 a=/3",
			"{\n\t\"a\": \"/3\",\n\t\"b\": \"/2\",\n\t\"c\": \"/1\"\n}\n"},
		"JSON: all removed and others added": {JSON, three, "a b c d=/1 e=/2",
			"{\n\t\"d\": \"/1\",\n\t\"e\": \"/2\"\n}\n"},
		"JSON: the last replaced": {JSON, "{\"a\":\"/x\" , \"b\":\"/y\"}", "b d=/1 e=/2",
			"{\"a\":\"/x\" , \"d\":\"/1\" , \"e\":\"/2\"}"},
		"JSON: several to none": {JSON, "{}", "a=/1 b=/2", "{\n\t\"a\": \"/1\",\n\t\"b\": \"/2\"\n}"},

		"CSV: one of each": {CSV, "a,/x\r\nb,/y\r\n/c,/z\r\n", "d=/new b=/w a",
			"b,/w\r\n/c,/z\r\n/d,/new\r\n"},
		"CSV: behind a line without an end": {CSV, "a,/x", "b=/1 c=/2", "a,/x\nb,/1\nc,/2\n"},
		"CSV: beside a line without an end": {CSV, "a,/x\nb,/y", "b=/w c=/z",
			"a,/x\nb,/w\nc,/z"},
		"CSV: instead of one without": {CSV, "a,/x\nb,/y", "b c=/z d=/w",
			"a,/x\nc,/z\nd,/w"},
		"CSV: all removed and others added": {CSV, "a,/x\nb,/y\n", "a b c=/z", "c,/z\n"},
		"CSV: several added to a header": {CSV, "key,to\n", "a=/1 b=/2",
			"key,to\na,/1\nb,/2\n"},
		"CSV: comments between them": {CSV, "# 1\na,/x\n# 2\nb,/y\n", "a b c=/z",
			"# 1\n# 2\nc,/z\n"},
		"_redirects: one of each": {Redirects, "/a /x\n/b /y\n/c /z\n", "d=/new! b=/w! a",
			"/b /w 302\n/c /z\n/d /new 302\n"},
		"_redirects: in the order of their keys": {
			Redirects, "# ours\n", "docs=/d docs/a=/x! docs/a/b=/y!",
			"# ours\n/docs/a /x 302\n/docs/a/b /y 302\n/docs /d 302\n/docs/* /d/:splat 302\n"},
		"_redirects: around one that is removed": {
			Redirects, "/docs/* /d/:splat\n/x /y\n", "docs docs/a=/x!",
			"/x /y\n/docs/a /x 302\n"},
		"_redirects: both rules of a line removed": {Redirects, "/a/* /b\n/c /d\n", "a a/{+splat}",
			"/c /d\n"},
		"_redirects: both rules of a line replaced": {Redirects, "/a/* /b\n/c /d\n", "a/{+splat}=/w! a=/x!",
			"/a /x 302\n/a/* /w 302\n/c /d\n"},
		"_redirects: the last line without an end": {Redirects, "/a /x\n/b /y", "b=/w! c=/z!",
			"/a /x\n/b /w 302\n/c /z 302"},
	} {
		t.Run(name, func(t *testing.T) {
			plan, got, err := planned(tt.content, tt.format, changesFrom(tt.changes)...)
			if err != nil || got != tt.want {
				t.Fatalf("got %q, %v\nwant %q", got, err, tt.want)
			}
			if _, err := plan.Read(strings.NewReader(got), func(resolver.Rule) {}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAllThatIsWrongWithChangesIsToldAtOnce(t *testing.T) {
	changes := changesFrom("x a=/1 y")
	changes = append(changes,
		Change{Key: "b", Rule: &resolver.Rule{Key: "b", Value: "/y", Status: 200}},
		Change{Key: "c", Rule: &resolver.Rule{Key: "c", Value: "/y", Status: 600}})
	contents := map[Format]string{JSON: `{"a": "/"}`, CSV: "a,/\n", Redirects: "/a /\n"}
	for format, content := range contents {
		_, err := edited(t, content, format, changes...)
		_, isOfRules := errors.AsType[Errors](err)
		if !errors.Is(err, ErrNoRule) || !isOfRules {
			t.Fatalf("%s: %v", format, err)
		}
		for _, want := range []string{`key "x"`, `key "y"`, `key "b"`, "not 200", `key "c"`, "not 600"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: nothing of %s in %v", format, want, err)
			}
		}
	}
}

func TestALineGoesInFrontOfTheOneThatTakesItsPathWhole(t *testing.T) {
	rule := &resolver.Rule{Key: "docs/new", Value: "/guide", Exact: true}
	got, err := edited(t, "/a /x\n/docs/* https://docs.example/:splat\n", Redirects,
		Change{Key: "docs/new", Rule: rule})
	if want := "/a /x\n/docs/new /guide 302\n/docs/* https://docs.example/:splat\n"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestAnEditThatCannotBeMadeSaysWhy(t *testing.T) {
	for name, tt := range map[string]struct {
		format  Format
		content string
		edit    Change
		want    string
	}{
		"a rule that is not there":   {JSON, `{"a": "/x"}`, Change{Key: "b"}, ErrNoRule.Error()},
		"a row that is not there":    {CSV, "a,/x\n", Change{Key: "b"}, ErrNoRule.Error()},
		"a line that is not there":   {Redirects, "/a /x\n", Change{Key: "b"}, ErrNoRule.Error()},
		"a file that does not parse": {JSON, "{\n\"a\": 5}", Change{Key: "b"}, `links:2:6: the value of "a" is 5`},
		"a table without the column": {CSV, "key,to\na,/x\n", Change{Key: "b", Rule: &resolver.Rule{Key: "b", Value: "/y", Status: 301}}, `key "b": the table has no column status; add it to the header`},
		"a table without a header": {CSV, "a,/x\n",
			Change{Key: "b", Rule: &resolver.Rule{Key: "b", Value: "/y", Query: resolver.QueryMerge}},
			"the table has no column query; add it to the header, or write one in front of the first row, such as key, " +
				"destination, status, exact, unlisted, query, note, since, until"},
		"what the format cannot say": {Redirects, "/a /x\n", Change{Key: "b", Rule: &resolver.Rule{Key: "b", Value: "/y", Unlisted: true}}, "no unlisted rules"},
		"a note of a line": {Redirects, "/a /x\n",
			Change{Key: "b", Rule: &resolver.Rule{Key: "b", Value: "/y", Note: "why"}},
			`key "b": a _redirects file has no notes; remove the note`},
		"what no format can say":              {JSON, "{}", Change{Key: "b", Rule: &resolver.Rule{Key: "b", Value: "/y", Status: 200}}, "not 200"},
		"a format that there is none of such": {"xml", "{}", Change{Key: "b"}, `not "xml"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := edited(t, tt.content, tt.format, tt.edit)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestAnEditCanSpellAKeyAnew(t *testing.T) {
	rule := &resolver.Rule{Key: "b", Value: "/z"}
	got, err := edited(t, `{"%62": "/y"}`, JSON, Change{Key: "%62", Rule: rule})
	if want := `{"b": "/z"}`; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestAnEditOfALineTakesAllLinesOfItsKey(t *testing.T) {
	lines := "/%41 https://x.example/\n/b /x\n/A https://y.example/\n"
	got, err := edited(t, lines, Redirects, Change{Key: "%41"})
	if want := "/b /x\n"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

// After any edit of any file, reading gives the old rules with those changes, in any order.
func FuzzEdit(f *testing.F) {
	f.Add("{\n\t\"a\": \"/x\",\n\t\"b\": {\"to\": \"/y\", \"exact\": true}\n}\n", uint8(0), "b", "https://example.com", uint16(301), true, false, "", uint16(0))
	f.Add("key;to\na;/x\r\nb;/y", uint8(1), "b", "/z", uint16(0), false, true, "", uint16(0))
	f.Add("# c\n/a/b /x\n/a/* /y/:splat 302\n", uint8(2), "a/c", "/z", uint16(302), true, false, "", uint16(0))
	f.Add("/a /y/\n/a/* /y/:splat\n", uint8(2), "a", "/z/", uint16(302), false, false, "", uint16(0))
	f.Add("/p1-* /b/:splat\n/:x-s /b/:x\n/b/* /c\n",
		uint8(2), "p1-{y}/c", "/d/{y}", uint16(301), true, false, "", uint16(0))
	f.Add("/a,/x\n/b,/y\n//c,/z\n", uint8(1), "b", "/z", uint16(0), false, false, "", uint16(0))
	f.Add("key,,to\na,,/x\n", uint8(1), "b", "/z", uint16(0), false, false, "", uint16(0))
	f.Add("/a /410 410\n/b/* /x/:splat\n", uint8(2), "b", "gone", uint16(0), false, false, "", uint16(0))
	f.Add("key;note;to\na;one;/x\nb;two;/y",
		uint8(1), "b", "/z", uint16(0), false, false, `é; "x" `, uint16(0))
	f.Add("{\"a\": {\"to\": \"/x\", \"note\": \"y\"}}",
		uint8(0), "b", "gone", uint16(0), false, false, "z", uint16(0))
	f.Add("{\"a\": \"/x\", \"b\": \"/y\", \"c\": \"/z\"}",
		uint8(0), "d", "/w", uint16(0), false, false, "", uint16(0b01_10_01))
	f.Add("a,/x\nb,/y\nc,/z", uint8(1), "d", "/w", uint16(0), false, false, "", uint16(0b01_10_01))
	f.Add("/a /x\n/b/* /y\n/c/* /z\n",
		uint8(2), "d", "/w", uint16(0), true, false, "", uint16(0b01_10_01))
	formats := []Format{JSON, CSV, Redirects}
	f.Fuzz(func(
		t *testing.T, content string, n uint8, key, value string, status uint16, exact, remove bool,
		note string, others uint16,
	) {
		format := formats[int(n)%len(formats)]
		before, err := readAll(content, format)
		if err != nil || hasDuplicate(before) {
			return
		}
		e := Change{Key: key}
		if !remove {
			e.Rule = &resolver.Rule{
				Key: key, Value: value, Status: int(status), Exact: exact, Note: note,
			}
		}
		changes := append(changesOf(before, key, others, value), e)
		plan, after, err := planned(content, format, changes...)
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
		want := slices.DeleteFunc(before, func(r resolver.Rule) bool { return plan.changeOf(r) != nil })
		for _, change := range plan.changes {
			if change.Rule != nil {
				want = append(want, *change.Rule)
			}
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

// changesOf returns changes of the first rules but that of a key, by two bits for each: 1 removes
// it, and 2 gives it a value.
func changesOf(rules []resolver.Rule, but string, bits uint16, value string) (changes []Change) {
	seen := map[string]bool{resolver.CanonicalKey(but, false): true}
	for _, rule := range rules {
		if key := resolver.CanonicalKey(rule.Key, false); !seen[key] {
			seen[key] = true
			switch bits & 3 {
			case 1:
				changes = append(changes, Change{Key: rule.Key})
			case 2:
				changed := resolver.Rule{Key: rule.Key, Value: value, Exact: rule.Exact}
				changes = append(changes, Change{Key: rule.Key, Rule: &changed})
			}
			bits >>= 2
		}
	}
	return changes
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

func TestManyMembersAreAddedAtTheCostOfOne(t *testing.T) {
	place := jsonPlace{last: memberSpan{1, 4, 5, 9}, kept: 9}
	added := slices.Repeat([]string{`"b": "/y"`}, 1000)
	pieces := testing.AllocsPerRun(1, func() {
		_, _ = place.end(added, strings.NewReader(`{"a":"/x"}`))
	})
	if pieces > 20 {
		t.Errorf("their text is made in %g pieces", pieces)
	}
}
