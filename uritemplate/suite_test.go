package uritemplate

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/vectors"
)

// readRows returns the rows of a table of vectors in testdata.
func readRows(t *testing.T, name string) []vectors.Row {
	t.Helper()
	rows, err := vectors.Read(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return rows
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
	for _, row := range readRows(t, "official.json") {
		var c suiteCase
		var variables map[string]json.RawMessage
		var want json.RawMessage
		if err := row.Scan(&c.template, &variables, &want); err != nil {
			t.Fatal(err)
		}
		c.values = valuesOf(t, variables)
		if json.Unmarshal(want, &c.want) != nil {
			c.want = []string{""}
			if err := json.Unmarshal(want, &c.want[0]); err != nil {
				t.Fatal(err)
			}
		}
		cases = append(cases, c)
	}
	return cases
}

func valuesOf(t *testing.T, variables map[string]json.RawMessage) map[string]Value {
	values := map[string]Value{}
	for name, raw := range variables {
		values[name] = valueOf(t, raw)
	}
	return values
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
