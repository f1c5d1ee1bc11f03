package rulefile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/caddy-shortlink/shortlink/internal/vectors"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func readJSON(text string) ([]resolver.Rule, error) {
	var rules []resolver.Rule
	err := rulefile.ReadJSON(strings.NewReader(text), "links.json", func(rule resolver.Rule) {
		rules = append(rules, rule)
	})
	return rules, err
}

func at(line, column int) resolver.Position {
	return resolver.Position{Source: "links.json", Line: line, Column: column}
}

func TestReadJSONGivesEachRuleWithThePlaceOfItsKey(t *testing.T) {
	tests := map[string]struct {
		text string
		want []resolver.Rule
	}{
		"a string is the destination": {
			`{"gh": "https://github.com"}`,
			[]resolver.Rule{{Key: "gh", Value: "https://github.com", Position: at(1, 2)}},
		},
		"an object says more": {
			`{"a": {"to": "/b", "status": 308, "exact": true, "unlisted": true}}`,
			[]resolver.Rule{{Key: "a", Value: "/b", Status: 308, Exact: true, Unlisted: true, Position: at(1, 2)}},
		},
		"an object says a query mode": {
			`{"a": {"query": "ignore", "to": "/b?c"}}`,
			[]resolver.Rule{{Key: "a", Value: "/b?c", Query: resolver.QueryIgnore, Position: at(1, 2)}},
		},
		"an object says why": {
			`{"a": {"to": "gone", "note": "\u00e9, \"old\""}}`,
			[]resolver.Rule{{Key: "a", Value: "gone", Note: `é, "old"`, Position: at(1, 2)}},
		},
		"lines end with LF or CRLF": {
			"{\n  \"a\": \"/1\",\r\n\t\"b\"\n:\n\"/2\"\n,\"c\":\"/3\"}",
			[]resolver.Rule{
				{Key: "a", Value: "/1", Position: at(2, 3)},
				{Key: "b", Value: "/2", Position: at(3, 2)},
				{Key: "c", Value: "/3", Position: at(6, 2)},
			},
		},
		"columns are bytes": {
			`{"é": "/é", "b": "/b"}`,
			[]resolver.Rule{{Key: "é", Value: "/é", Position: at(1, 2)}, {Key: "b", Value: "/b", Position: at(1, 15)}},
		},
		"escapes are decoded, also where they shift columns": {
			`{"\u0061\ud83d\ude00": "\/x", "b": "/b"}`,
			[]resolver.Rule{{Key: "a😀", Value: "/x", Position: at(1, 2)}, {Key: "b", Value: "/b", Position: at(1, 31)}},
		},
		"a key that stands twice is given twice": {
			`{"a": "/1", "a": "/2"}`,
			[]resolver.Rule{{Key: "a", Value: "/1", Position: at(1, 2)}, {Key: "a", Value: "/2", Position: at(1, 13)}},
		},
		"a byte order mark is ignored": {
			"\uFEFF{\"a\": \"/b\"}",
			[]resolver.Rule{{Key: "a", Value: "/b", Position: at(1, 2)}},
		},
		"an empty object has no rules": {" {\n} \n", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := readJSON(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestReadJSONSaysWhatIsWrongAndWhere(t *testing.T) {
	const members = `; the members are "to", "status", "exact", "unlisted", "query", "note", "since" and "until"`
	tests := map[string]struct{ text, want string }{
		"an array":                    {`["a"]`, `links.json:1:1: rules are an object from key to destination, not an array; a list of redirects, such as Vercel's, is converted with --from array`},
		"a string":                    {`"a"`, `links.json:1:1: rules are an object from key to destination, not "a"`},
		"nothing":                     {``, `links.json:1:1: this is not JSON: it ends too early`},
		"an unfinished object":        {"{\n\"a\": \"/b\"", `links.json:2:10: this is not JSON: it ends too early`},
		"an unfinished string":        {`{"a": "/b`, `links.json:1:7: this is not JSON: it ends too early`},
		"a comma behind the last":     {"{\n\"a\": \"/b\",\n}", `links.json:3:1: this is not JSON: there is a "," too much in front of this "}"`},
		"a missing comma":             {"{\"a\": \"/b\"\n \"c\": \"/d\"}", `links.json:2:2: this is not JSON: in front of this a "," is missing`},
		"a comment":                   {"{\n// mine\n\"a\": \"/b\"}", `links.json:2:1: this is not JSON: JSON has no comments, and paths need quotation marks`},
		"a bare word":                 {`{"a": https}`, `links.json:1:7: this is not JSON: "https" is not a value; text needs quotation marks`},
		"text behind the object":      {`{"a": "/b"} x`, `links.json:1:13: this is not JSON: "x" is not a value; text needs quotation marks`},
		"an object behind the object": {"{\"a\": \"/b\"}\n{}", `links.json:2:1: nothing may follow the object of rules`},
		"a number for a value":        {`{"a": 301}`, `links.json:1:7: the value of "a" is 301: write the destination as a string, or as an object {"to": "…"}`},
		"null for a value":            {`{"a": null}`, `links.json:1:7: the value of "a" is null: write the destination as a string, or as an object {"to": "…"}`},
		"an array for a value": {`{"a": [["/b"], {}]}`, `links.json:1:8: the array of "a" has objects, each for a time, such as {"to": "https://x.example", "until": "2027-03-01"}, not an array
links.json:1:16: the value of "a" has no "to", which is the destination`},
		"an object without to":      {`{"a": {"status": 301}}`, `links.json:1:7: the value of "a" has no "to", which is the destination`},
		"an unknown member":         {`{"a": {"to": "/b", "code": [301]}}`, `links.json:1:20: the value of "a" has a member "code"; it is called "status" here`},
		"a member in other letters": {`{"a": {"to": "/b", "Exact": true}}`, `links.json:1:20: the value of "a" has a member "Exact"; it is called "exact" here`},
		"another name for to": {`{"a": {"status_code": 301, "destination": "/b"}}`,
			`links.json:1:8: the value of "a" has a member "status_code"; it is called "status" here
links.json:1:28: the value of "a" has a member "destination"; it is called "to" here`},
		"a status of what is gone":      {`{"a": {"to": "/b", "status": 410}}`, `links.json:1:30: "status" in the value of "a" takes 301, 302, 303, 307 or 308, not 410; write "a": "gone"`},
		"a status of what is not there": {`{"a": {"to": "/b", "status": 404}}`, `links.json:1:30: "status" in the value of "a" takes 301, 302, 303, 307 or 308, not 404; write "a": "pass", which lets the next handler answer, or "a": "gone" for 410`},
		"a status for a value":          {`{"a": 410}`, `links.json:1:7: the value of "a" is 410: write "a": "gone"`},
		"rules in a rule":               {`{"team": {"a\"": "/b", "c": {"to": "/d"}}, "e": {"f": {}}}`, nested("1:10", "team", `a\"`) + "\n" + nested("1:49", "e", "f")},
		"an unknown URL in a rule": {`{"a": {"owner": "/me", "to": "/b"}}`,
			`links.json:1:8: the value of "a" has a member "owner"` + members},
		"an unknown word in a rule": {`{"a": {"owner": "me"}}`,
			`links.json:1:7: the value of "a" has no "to", which is the destination` + "\n" +
				`links.json:1:8: the value of "a" has a member "owner"` + members},
		"an unknown member twice": {`{"a": {"x": 1, "x": 2, "to": "/b"}}`,
			"links.json:1:8: the value of \"a\" has a member \"x\"" + members + "\n" +
				"links.json:1:16: the value of \"a\" has a member \"x\"" + members},
		"a member twice":             {`{"a": {"to": "/b", "to": "/c"}}`, `links.json:1:20: "to" is given twice in the value of "a"`},
		"a status in quotes":         {`{"a": {"to": "/b", "status": "301"}}`, `links.json:1:30: "status" in the value of "a" takes 301, 302, 303, 307 or 308, not "301"`},
		"a status of no redirect":    {`{"a": {"to": "/b", "status": 200}}`, `links.json:1:30: "status" in the value of "a" takes 301, 302, 303, 307 or 308, not 200`},
		"a status of zero":           {`{"a": {"to": "/b", "status": 0}}`, `links.json:1:30: "status" in the value of "a" takes 301, 302, 303, 307 or 308, not 0`},
		"a fraction for a status":    {`{"a": {"to": "/b", "status": 301.5}}`, `links.json:1:30: "status" in the value of "a" takes 301, 302, 303, 307 or 308, not 301.5`},
		"a number for exact":         {`{"a": {"to": "/b", "exact": 1}}`, `links.json:1:29: "exact" in the value of "a" takes true or false, not 1`},
		"an object for unlisted":     {`{"a": {"to": "/b", "unlisted": {"x": [1]}}}`, `links.json:1:32: "unlisted" in the value of "a" takes true or false, not an object`},
		"a number for a note":        {`{"a": {"to": "/b", "note": 1}}`, `links.json:1:28: "note" in the value of "a" takes a string, not 1`},
		"half a pair in a note":      {`{"a": {"to": "/b", "note": "\ud83d"}}`, `links.json:1:28: this string is not Unicode text: save the file as UTF-8`},
		"null for to":                {`{"a": {"to": null}}`, `links.json:1:14: "to" in the value of "a" takes a string, not null`},
		"Latin-1":                    {"{\"a\": \"/caf\xe9\"}", `links.json:1:7: this string is not Unicode text: save the file as UTF-8`},
		"a missing colon":            {`{"a" "/b"}`, `links.json:1:6: this is not JSON: in front of this a ":" is missing`},
		"a missing value":            {`{"a": }`, `links.json:1:7: this is not JSON: before this a value is missing`},
		"a missing member":           {`{"a": {"to": , "exact": true}}`, `links.json:1:14: this is not JSON: before this a value is missing`},
		"a number for a key":         {`{1: "/b"}`, `links.json:1:2: this is not JSON: a name in quotation marks belongs here, not 1`},
		"a comma without a rule":     {`{, "a": "/b"}`, `links.json:1:2: this is not JSON: a name in quotation marks belongs here, not ","`},
		"a value cut off":            {"{\"a\": tr", `links.json:1:7: this is not JSON: "tr" is not a value; text needs quotation marks`},
		"a number with a zero first": {`{"a": {"to": "/b", "status": 0301}}`, `links.json:1:30: this is not JSON: "0301" is not a value; text needs quotation marks`},
		"an unknown escape":          {`{"a": "\docs"}`, `links.json:1:7: this is not JSON: the string has an unknown escape; for a backslash write \\`},
		"a line end in a string":     {"{\"a\": \"/b\n}", `links.json:1:7: this is not JSON: the string does not end on its line, or holds a control character; escape it, such as a tab as \t`},
		"a word for a status":        {`{"a": {"to": "/b", "status": true}}`, `links.json:1:30: "status" in the value of "a" takes 301, 302, 303, 307 or 308, not true`},
		"half a surrogate pair":      {`{"\ud83d": "/b"}`, `links.json:1:2: this string is not Unicode text: save the file as UTF-8`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := readJSON(tt.text)
			if err == nil {
				t.Fatal("no error")
			}
			if err.Error() != tt.want {
				t.Errorf("got  %s\nwant %s", err, tt.want)
			}
		})
	}
}

// nested is the error of a value at a place that has rules of its own, the first with a key.
func nested(place, of, key string) string {
	return fmt.Sprintf(`links.json:%s: rules are not nested: write "%s/%s" for the key "%s" in "%s", `+
		`or remove "%s" and its braces, if it only wraps the rules`, place, of, key, key, of, of)
}

func TestRulesInAWrapperAreToldOnce(t *testing.T) {
	var rules strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&rules, `,"k%d": "/k"`, i)
	}
	_, err := readJSON(`{"links": {` + rules.String()[1:] + `}}`)
	if want := nested("1:11", "links", "k0"); err == nil || err.Error() != want {
		t.Errorf("got %.300v\nwant %s", err, want)
	}
}

func TestReadJSONGoesOnBehindWhatIsWrong(t *testing.T) {
	rules, err := readJSON(`{
	"a": 1,
	"b": "/good",
	"c": {"to": 2, "status": 9, "x": {"y": ["}"]}},
	"d": "/good"
}`)
	want := `links.json:2:7: the value of "a" is 1: write the destination as a string, or as an object {"to": "…"}
links.json:4:14: "to" in the value of "c" takes a string, not 2
links.json:4:27: "status" in the value of "c" takes 301, 302, 303, 307 or 308, not 9
links.json:4:30: the value of "c" has a member "x"; the members are "to", "status", "exact", "unlisted", "query", "note", "since" and "until"`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	errs, ok := errors.AsType[rulefile.Errors](err)
	if !ok || len(errs) != 4 || errs[1].Position != at(4, 14) {
		t.Errorf("the error does not hold each position: %#v", err)
	}
	var keys []string
	for _, rule := range rules {
		keys = append(keys, rule.Key)
	}
	if !slices.Equal(keys, []string{"b", "d"}) {
		t.Errorf("got the rules %q, not the good ones alone", keys)
	}
}

func TestReadJSONAcceptsTheReplacementCharacterWhereItIsMeant(t *testing.T) {
	rules, err := readJSON(`{"a": "/\uFFFD", "b": "/` + "\uFFFD" + `"}`)
	if err != nil || len(rules) != 2 || rules[0].Value != "/\uFFFD" || rules[1].Value != "/\uFFFD" {
		t.Errorf("got %v, %v", rules, err)
	}
}

func TestReadJSONDoesNotHideAnErrorOfTheReader(t *testing.T) {
	broken := errors.New("disk on fire")
	half := io.MultiReader(strings.NewReader(`{"a": "/b", "c`), iotest.ErrReader(broken))
	err := rulefile.ReadJSON(half, "links.json", func(resolver.Rule) {})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestReadJSONGivesTheSameHoweverSlowlyBytesArrive(t *testing.T) {
	text := "\uFEFF{\n\"é\\n\": \"/1\",\n  \"b\": {\"to\": \"/2\", \"status\": 301, \"exact\": true}\n}\n"
	want, err := readJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	var got []resolver.Rule
	slow := iotest.OneByteReader(strings.NewReader(text))
	err = rulefile.ReadJSON(slow, "links.json", func(rule resolver.Rule) {
		got = append(got, rule)
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

func TestWriteJSONWritesNoMoreThanThereIsToSay(t *testing.T) {
	tests := map[string]struct {
		rules []resolver.Rule
		want  string
	}{
		"a destination alone is a string, and & stays &": {
			[]resolver.Rule{{Key: "a", Value: "/b?c=<1>&d", Position: at(1, 2)}},
			"{\n\t\"a\": \"/b?c=<1>&d\"\n}\n",
		},
		"order is kept, and each rule has its line": {
			[]resolver.Rule{{Key: "b", Value: "/1"}, {Key: "a", Value: "/2", Status: 301, Exact: true, Unlisted: true}, {Key: "c", Value: "/3", Exact: true}},
			"{\n\t\"b\": \"/1\",\n\t\"a\": {\"to\":\"/2\",\"status\":301,\"exact\":true,\"unlisted\":true},\n\t\"c\": {\"to\":\"/3\",\"exact\":true}\n}\n",
		},
		"a note is written as it is, also of what is gone": {
			[]resolver.Rule{
				{Key: "a", Value: "gone", Note: "<é> & \"u\""},
				{Key: "b", Value: "/c", Query: resolver.QueryMerge, Note: "why"},
			},
			"{\n\t\"a\": {\"to\":\"gone\",\"note\":\"<é> & \\\"u\\\"\"},\n" +
				"\t\"b\": {\"to\":\"/c\",\"query\":\"merge\",\"note\":\"why\"}\n}\n",
		},
		"a query mode is the last member but the note": {
			[]resolver.Rule{
				{Key: "a", Value: "/b", Status: 301, Query: resolver.QueryPreserve},
				{Key: "c", Value: "/d", Query: resolver.QueryMerge},
			},
			"{\n\t\"a\": {\"to\":\"/b\",\"status\":301,\"query\":\"preserve\"},\n" +
				"\t\"c\": {\"to\":\"/d\",\"query\":\"merge\"}\n}\n",
		},
		"no rules are an empty object": {nil, "{\n}\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := rulefile.WriteJSON(&b, slices.Values(tt.rules)); err != nil {
				t.Fatal(err)
			}
			if b.String() != tt.want {
				t.Errorf("got  %s\nwant %s", b.String(), tt.want)
			}
		})
	}
}

func TestWriteJSONReportsAWriterThatFails(t *testing.T) {
	file, writer := io.Pipe()
	file.CloseWithError(io.ErrClosedPipe)
	if err := rulefile.WriteJSON(writer, slices.Values([]resolver.Rule{{Key: "a", Value: "/b"}})); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}

func TestReadJSONReadsTheRedirectsOfGolangOrg(t *testing.T) {
	rows, err := vectors.Read("../testdata/rulesets/golang.json")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, row := range rows {
		lines = append(lines, fmt.Sprintf("\t%s: %s", row[0], row[1]))
	}
	text := "{\n" + strings.Join(lines, ",\n") + "\n}\n"
	line := 1 // the object's "{"
	err = rulefile.ReadJSON(strings.NewReader(text), "golang.json", func(rule resolver.Rule) {
		var key, destination string
		if err := rows[line-1].Scan(&key, &destination); err != nil {
			t.Fatal(err)
		}
		line++
		at := resolver.Position{Source: "golang.json", Line: line, Column: 2}
		if rule != (resolver.Rule{Key: key, Value: destination, Position: at}) {
			t.Fatalf("got %+v on line %d", rule, line)
		}
	})
	if err != nil {
		t.Error(err)
	}
	if line != 142 {
		t.Errorf("%d rules", line-1)
	}
}

// What was read and written again is read as the same rules.
func FuzzJSON(f *testing.F) {
	f.Add(`{"gh": "https://github.com", "a/b": {"to": "/c?d#e", "status": 308, "exact": true, "unlisted": true}}`)
	f.Add(`{"é\u0000\ud83d\ude00\\": "/<&>"}`)
	f.Add(`{"a": {"note": "\u00e9\n", "to": "gone"}, "b": {"to": "/", "note": ""}}`)
	f.Add("\uFEFF{\n}\n")
	f.Add(`{"a": "/b", "a": {"to": "", "to": 1}, "c": [`)
	f.Add(`{"a": {"to": "\ufffd", "status": 0}} x`)
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := readJSON(text)
		checkPositions(t, text, rules, err)
		checkAgainstLibrary(t, text, rules, err)
		again := writtenAndRead(t, rulefile.JSON, rules)
		if !slices.Equal(again, withoutPositions(rules)) {
			t.Fatalf("read %v\nthen %v", rules, again)
		}
	})
}

// checkAgainstLibrary checks that the standard library reads the same as JSON, and nothing more.
func checkAgainstLibrary(t *testing.T, text string, rules []resolver.Rule, err error) {
	text = strings.TrimPrefix(text, "\uFEFF")
	if err == nil && !json.Valid([]byte(text)) {
		t.Fatal("this is no JSON, and was read")
	}
	var destinations map[string]string
	if json.Unmarshal([]byte(text), &destinations) != nil || strings.Contains(text, "null") {
		return
	}
	if err != nil && !strings.Contains(err.Error(), "Unicode") {
		t.Fatalf("this is an object of strings, and was refused: %v", err)
	}
	for _, rule := range rules {
		if _, ok := destinations[rule.Key]; !ok {
			t.Fatalf("there is no key %q", rule.Key)
		}
		isLast := func(r resolver.Rule) bool {
			return r.Key == rule.Key && r.Value == destinations[r.Key]
		}
		if !slices.ContainsFunc(rules, isLast) && err == nil {
			t.Fatalf("%q leads to %q", rule.Key, destinations[rule.Key])
		}
	}
}

func TestAValueIsReadAsThatOfAMember(t *testing.T) {
	for name, tt := range map[string]struct {
		text, want string
	}{
		"a string":         {`"https://example.com"`, `{key https://example.com 0 false false    } <nil>`},
		"an object":        {"{\"to\": \"/a\",\n \"status\": 301, \"unlisted\": true}\n", `{key /a 301 false true    } <nil>`},
		"no value":         {``, `{key  0 false false    } body:1:1: this is not JSON: it ends too early`},
		"more than one":    {`"/a" "/b"`, `{key /a 0 false false    } body:1:6: nothing may follow the value`},
		"a closed object":  {`"/a"}, "b": "/b"`, `{key /a 0 false false    } body:1:5: nothing may follow the value`},
		"an unknown name":  {"{\"to\": \"/a\",\n \"host\": 1}", `{key  0 false false    } body:2:2: the value of "key" has a member "host"; the members are "to", "status", "exact", "unlisted", "query", "note", "since" and "until"`},
		"no Unicode":       {"\"/\xff\"", "{key  0 false false    } body:1:1: this string is not Unicode text: save the file as UTF-8"},
		"a member":         {`{"key": "/a"}`, `{key  0 false false    } body:1:1: the value of "key" has no "to", which is the destination` + "\n" + `body:1:2: the value of "key" has a member "key"; the members are "to", "status", "exact", "unlisted", "query", "note", "since" and "until"`},
		"nothing but null": {`null`, `{key  0 false false    } body:1:1: the value of "key" is null: write the destination as a string, or as an object {"to": "…"}`},
	} {
		t.Run(name, func(t *testing.T) {
			rule, err := rulefile.ReadJSONValue(strings.NewReader(tt.text), "body", "key")
			if got := fmt.Sprint(rule, " ", err); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// A value that is read can stand in an object of rules, and says the same there.
func FuzzJSONValue(f *testing.F) {
	f.Add(`"/a"`)
	f.Add(`{"to": "/a", "status": 301}`)
	f.Add(`"/a"}, "b": "/b"`)
	f.Add(`{"to": "gone", "note": "why"}`)
	f.Add(`{"a": 1, "a": 2, "to": "/b", "to": 3, "status": {"x": 1}}`)
	f.Fuzz(func(t *testing.T, text string) {
		rule, err := rulefile.ReadJSONValue(strings.NewReader(text), "", "key")
		if err != nil {
			return
		}
		var read []resolver.Rule
		err = rulefile.ReadJSON(strings.NewReader(`{"key": `+rulefile.JSONValue(rule)+`}`), "", func(rule resolver.Rule) {
			rule.Position = resolver.Position{}
			read = append(read, rule)
		})
		if err != nil || len(read) != 1 || read[0] != rule {
			t.Fatalf("%q is %+v, and as a member %+v, %v", text, rule, read, err)
		}
	})
}
