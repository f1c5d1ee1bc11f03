package uritemplate

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// fedifyCase is a case of the tests of Fedify's two implementations.
type fedifyCase struct {
	ID          int
	Kind        string
	Mode        string
	Template    string
	URL         string
	Vars        map[string]json.RawMessage
	Expected    json.RawMessage
	RFCConflict bool            `json:"rfc_conflict"`
	RFCExpected string          `json:"rfc_expected"`
	Correct     json.RawMessage `json:"what_a_correct_matcher_returns"`
	ExpectedURL string          `json:"expected_url"`
	ByteEqual   *bool           `json:"expected_byte_equal"`
}

// otherwise are the cases that are answered otherwise here, and why.
var otherwise = map[int]string{
	281: `"'" is a literal, by RFC 6570's erratum and the official suite`,
	436: "%GZ is no part of a URI; Fedify's lenient mode takes it",
	521: "pairs can have a name twice, where a JavaScript object cannot",
	431: "the other bytes that are expected are those of an encoder that leaves triplets in data",
}

func TestFedifysCasesAreAnsweredAsTheRFCHasThem(t *testing.T) {
	var file struct{ Cases []fedifyCase }
	if err := json.Unmarshal(shared(t, "fedify-uri-template-cases.json"), &file); err != nil {
		t.Fatal(err)
	}
	answered, conflicts := 0, 0
	for _, c := range file.Cases {
		var ok bool
		switch c.Kind {
		case "route", "route_build", "variables":
			continue // of a router, which this is none
		case "expand":
			ok = c.expands(t)
		case "error", "parse_error":
			ok = c.fails(t)
		case "match":
			ok = c.matches(t)
		case "match_then_expand":
			ok = c.matchesAgain(t)
		case "expand_then_match":
			ok = c.comesBack(t)
		default:
			t.Errorf("case %d is of the kind %s", c.ID, c.Kind)
		}
		answered++
		if c.RFCConflict {
			conflicts++
		}
		if why, is := otherwise[c.ID]; ok == is {
			t.Errorf("case %d (%s %s %s %s): answered as expected: %t; %s", c.ID, c.Kind, c.Template, c.URL, c.Expected, ok, why)
		}
	}
	t.Logf("%d cases, %d of them with the RFC's answer in the place of Fedify's", answered, conflicts)
}

func (c *fedifyCase) values(t *testing.T) map[string]Value {
	values := map[string]Value{}
	for name, raw := range c.Vars {
		values[name] = valueOf(t, raw)
	}
	return values
}

// expands reports whether the template expands as it should.
func (c *fedifyCase) expands(t *testing.T) bool {
	want := c.RFCExpected
	if !c.RFCConflict {
		if err := json.Unmarshal(c.Expected, &want); err != nil {
			t.Fatal(err)
		}
	}
	template, err := Parse(c.Template)
	if err != nil {
		return false
	}
	got, err := template.Expand(c.values(t))
	return err == nil && got == want
}

// fails reports whether the template does not parse or expand.
func (c *fedifyCase) fails(t *testing.T) bool {
	template, err := Parse(c.Template)
	if err == nil {
		_, err = template.Expand(c.values(t))
	}
	return err != nil
}

// matches reports whether the URL has the values that it should have.
func (c *fedifyCase) matches(t *testing.T) bool {
	want := c.Expected
	if want == nil {
		want = c.Correct
	}
	m := mustParse(t, c.Template).GreedyMatcher()
	found, ok := m.Match(c.URL, nil)
	if string(want) == "null" {
		if _, cooked := m.Cooked(c.URL); ok && c.Mode != "opaque" {
			ok = cooked
		}
		return !ok
	}
	var expected map[string]json.RawMessage
	if err := json.Unmarshal(want, &expected); err != nil {
		t.Fatal(err)
	}
	return ok && hasValues(t, m.template, found, expected)
}

// hasValues reports whether values are the expected ones: raw, decoded, or both.
func hasValues(t *testing.T, template *Template, found []Value, expected map[string]json.RawMessage) bool {
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

// sameFlat reports whether a raw value, as it is or decoded, holds the texts of another: a list of names and values is what a URI has of
// pairs that are not exploded, and what is undefined expands to nothing, as an empty text can.
func sameFlat(found, want Value) bool {
	decoded, _ := found.Decoded()
	return slices.Equal(flat(found), flat(want)) || slices.Equal(flat(decoded), flat(want))
}

func flat(v Value) []string {
	if v.kind == text || v.kind == undefined {
		return strings.Split(v.text, ",")
	}
	return v.list
}

// matchesAgain reports whether expanding what was matched gives the URL, or whether there is no match where there should be none.
func (c *fedifyCase) matchesAgain(t *testing.T) bool {
	template := mustParse(t, c.Template)
	found, ok := template.GreedyMatcher().Match(c.URL, nil)
	if string(c.Correct) == "null" {
		return !ok
	}
	again, err := template.AppendExpand(nil, found)
	return ok && err == nil && (string(again) == c.URL) == (c.ByteEqual == nil || *c.ByteEqual)
}

// comesBack reports whether matching what was expanded gives the values again.
func (c *fedifyCase) comesBack(t *testing.T) bool {
	template := mustParse(t, c.Template)
	expanded, err := template.Expand(c.values(t))
	if err != nil || expanded != c.ExpectedURL {
		return false
	}
	m := template.GreedyMatcher()
	found, ok := m.decoded(expanded)
	for slot, name := range template.Names() {
		ok = ok && sameValue(found[slot], c.values(t)[name])
	}
	return ok
}
