package uritemplate

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// fedifyCase is a case of the tests of Fedify's two implementations.
type fedifyCase struct {
	id             int
	kind, template string
	input          json.RawMessage // variables, or a URL
	want           json.RawMessage
}

// otherwise are the cases that are answered otherwise here, and why.
var otherwise = map[int]string{
	281: `"'" is a literal, by RFC 6570's erratum and the official suite`,
	436: "%GZ is not allowed in a URI; Fedify's lenient mode accepts it",
	521: "pairs can have a name twice, where a JavaScript object cannot",
	431: "the other bytes that are expected are those of an encoder that leaves triplets in data",
}

func TestFedifysCasesAreAnsweredAsTheRFCHasThem(t *testing.T) {
	rows := readRows(t, "fedify.json")
	for _, row := range rows {
		var c fedifyCase
		if err := row.Scan(&c.id, &c.kind, &c.template, &c.input, &c.want); err != nil {
			t.Fatal(err)
		}
		var ok bool
		switch c.kind {
		case "expand":
			ok = c.expands(t)
		case "match", "match opaque":
			ok = c.matches(t)
		case "match and expand":
			ok = c.matchesAgain(t)
		case "expand and match":
			ok = c.comesBack(t)
		default:
			t.Errorf("case %d is of the kind %s", c.id, c.kind)
		}
		if why, is := otherwise[c.id]; ok == is {
			t.Errorf("case %d (%s %s %s %s): answered as expected: %t; %s",
				c.id, c.kind, c.template, c.input, c.want, ok, why)
		}
	}
	if len(rows) != 482 {
		t.Errorf("there are %d cases", len(rows))
	}
}

func (c *fedifyCase) values(t *testing.T) map[string]Value {
	var variables map[string]json.RawMessage
	if err := json.Unmarshal(c.input, &variables); err != nil {
		t.Fatal(err)
	}
	return valuesOf(t, variables)
}

func (c *fedifyCase) url(t *testing.T) (url string) {
	if err := json.Unmarshal(c.input, &url); err != nil {
		t.Fatal(err)
	}
	return url
}

// expands reports whether the template expands as it should, or is an error that should be one.
func (c *fedifyCase) expands(t *testing.T) bool {
	var want *string
	if err := json.Unmarshal(c.want, &want); err != nil {
		t.Fatal(err)
	}
	template, err := Parse(c.template)
	var got string
	if err == nil {
		got, err = template.Expand(c.values(t))
	}
	if want == nil {
		return err != nil
	}
	return err == nil && got == *want
}

// matches reports whether the URL has the values that it should have.
func (c *fedifyCase) matches(t *testing.T) bool {
	m := mustParse(t, c.template).GreedyMatcher()
	found, ok := m.Match(c.url(t), nil)
	if string(c.want) == "null" {
		if _, cooked := m.Cooked(c.url(t)); ok && c.kind != "match opaque" {
			ok = cooked
		}
		return !ok
	}
	var expected map[string]json.RawMessage
	if err := json.Unmarshal(c.want, &expected); err != nil {
		t.Fatal(err)
	}
	return ok && hasValues(t, m.template, found, expected)
}

// hasValues reports whether values are the expected ones: raw, decoded, or both.
func hasValues(
	t *testing.T, template *Template, found []Value, expected map[string]json.RawMessage,
) bool {
	for slot, name := range template.Names() {
		raw, is := expected[name]
		if !is {
			if found[slot].Defined() {
				return false
			}
			continue
		}
		var both struct{ Raw, Decoded *string }
		if json.Unmarshal(raw, &both) == nil && both.Raw != nil {
			decoded, _ := found[slot].Decoded()
			if found[slot].text != *both.Raw || decoded.text != *both.Decoded {
				return false
			}
			continue
		}
		if !sameFlat(found[slot], valueOf(t, raw)) {
			return false
		}
	}
	return true
}

// sameFlat reports whether a raw value, as it is or decoded, holds the texts of another. A list of
// names and values is what a URI has of pairs that are not exploded, and what is undefined expands
// to nothing, as an empty text can.
func sameFlat(found, want Value) bool {
	decoded, _ := found.Decoded()
	return slices.Equal(flat(found), flat(want)) || slices.Equal(flat(decoded), flat(want))
}

func flat(v Value) []string {
	if members, ok := v.Members(); ok {
		return members
	}
	if all, ok := v.NamesAndValues(); ok {
		return all
	}
	s, _ := v.Text()
	return strings.Split(s, ",")
}

// matchesAgain reports whether what was matched expands to the URL, or rightly nothing matched.
func (c *fedifyCase) matchesAgain(t *testing.T) bool {
	template := mustParse(t, c.template)
	found, ok := template.GreedyMatcher().Match(c.url(t), nil)
	if string(c.want) == "null" {
		return !ok
	}
	again, err := template.AppendExpand(nil, found)
	return ok && err == nil && (string(again) == c.url(t)) == (string(c.want) == "true")
}

// comesBack reports whether matching what was expanded gives the values again.
func (c *fedifyCase) comesBack(t *testing.T) bool {
	template := mustParse(t, c.template)
	var url string
	if err := json.Unmarshal(c.want, &url); err != nil {
		t.Fatal(err)
	}
	expanded, err := template.Expand(c.values(t))
	if err != nil || expanded != url {
		return false
	}
	m := template.GreedyMatcher()
	found, ok := m.decoded(expanded)
	for slot, name := range template.Names() {
		ok = ok && sameValue(found[slot], c.values(t)[name])
	}
	return ok
}
