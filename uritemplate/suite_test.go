package uritemplate

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// shared returns a file of the public test suites, which lie beside the project.
func shared(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../../shared/testdata", name))
	if err != nil {
		t.Skip("the public test suites do not lie beside the project: ", err)
	}
	return content
}

// valueOf returns the value that JSON stands for; objects keep their order.
func valueOf(t *testing.T, raw json.RawMessage) Value {
	t.Helper()
	var decoded any
	if err := json.Unmarshal(raw, &decoded); err != nil {
		t.Fatal(err)
	}
	switch value := decoded.(type) {
	case nil:
		return Value{}
	case string:
		return String(value)
	case []any:
		var members []string
		for _, member := range value {
			if member != nil { // one that is undefined is ignored (RFC 6570 2.3)
				members = append(members, fmt.Sprint(member))
			}
		}
		return List(members...)
	case map[string]any:
		return Pairs(orderedPairs(t, raw)...)
	}
	return String(string(raw)) // a number
}

func orderedPairs(t *testing.T, raw json.RawMessage) (namesAndValues []string) {
	t.Helper()
	d := json.NewDecoder(bytesReader(raw))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	for d.More() {
		name, inName := d.Token()
		value, inValue := d.Token()
		if err := errors.Join(inName, inValue); err != nil {
			t.Fatal(err)
		}
		if value != nil {
			namesAndValues = append(namesAndValues, fmt.Sprint(name), fmt.Sprint(value))
		}
	}
	return namesAndValues
}

// suiteCase is a case of the official suite: one of some URIs is expected, or none.
type suiteCase struct {
	template string
	values   map[string]Value
	want     []string
}

// officialSuite returns all cases.
func officialSuite(t *testing.T) (cases []suiteCase) {
	t.Helper()
	for _, file := range []string{"spec-examples", "spec-examples-by-section", "extended-tests", "negative-tests"} {
		var groups map[string]struct {
			Variables map[string]json.RawMessage
			Testcases [][2]json.RawMessage
		}
		if err := json.Unmarshal(shared(t, "uritemplate-test/"+file+".json"), &groups); err != nil {
			t.Fatal(err)
		}
		for _, group := range groups {
			values := map[string]Value{}
			for name, raw := range group.Variables {
				values[name] = valueOf(t, raw)
			}
			for _, testcase := range group.Testcases {
				c := suiteCase{values: values}
				if err := json.Unmarshal(testcase[0], &c.template); err != nil {
					t.Fatal(err)
				}
				if string(testcase[1]) != "false" && json.Unmarshal(testcase[1], &c.want) != nil {
					var one string
					if err := json.Unmarshal(testcase[1], &one); err != nil {
						t.Fatal(err)
					}
					c.want = []string{one}
				}
				cases = append(cases, c)
			}
		}
	}
	return cases
}

func TestTheOfficialSuiteExpandsAsItSays(t *testing.T) {
	cases := officialSuite(t)
	if len(cases) != 270 {
		t.Errorf("the suite has %d cases", len(cases))
	}
	for _, c := range cases {
		template, err := Parse(c.template)
		var got string
		if err == nil {
			got, err = template.Expand(c.values)
		}
		switch {
		case c.want == nil && err == nil:
			t.Errorf("%s gives %q, not an error", c.template, got)
		case c.want != nil && (err != nil || !slices.Contains(c.want, got)):
			t.Errorf("%s gives %q, %v; want one of %q", c.template, got, err, c.want)
		}
	}
}

func TestTheOfficialSuiteReversedGivesEachURIAgain(t *testing.T) {
	reversed, refused := 0, 0
	for _, c := range officialSuite(t) {
		if c.want == nil {
			continue
		}
		reversed++
		template, err := Parse(c.template)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := template.Matcher(); err != nil {
			refused++
		}
		for _, uri := range c.want {
			found, ok := template.GreedyMatcher().Match(uri, nil)
			if !ok {
				t.Errorf("%s does not match %s", c.template, uri)
				continue
			}
			if again, err := template.AppendExpand(nil, found); err != nil || string(again) != uri {
				t.Errorf("%s on %s finds %v, which gives %s", c.template, uri, found, again)
			}
		}
	}
	if reversed != 234 {
		t.Errorf("the suite has %d URIs", reversed)
	}
	t.Logf("%d of them are matched by a template that is ambiguous", refused)
}
