package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/vectors"
)

// ofURITemplates makes a table of the official suite of RFC 6570.
func ofURITemplates(folder string) ([]made, error) {
	t := vectors.Table{
		Suite:   "uri-templates/uritemplate-test",
		Licence: "Apache-2.0",
		Columns: []string{
			"template", "variables", "expansion, several of which one is right, or null for an error",
		},
	}
	for _, file := range []string{
		"spec-examples", "spec-examples-by-section", "extended-tests", "negative-tests",
	} {
		groups, err := read[map[string]struct {
			Variables map[string]json.RawMessage
			Testcases [][2]json.RawMessage
		}](filepath.Join(folder, file+".json"))
		if err != nil {
			return nil, err
		}
		for _, name := range sorted(groups) {
			for _, testcase := range groups[name].Testcases {
				var template string
				if err := json.Unmarshal(testcase[0], &template); err != nil {
					return nil, err
				}
				expected := testcase[1]
				if string(expected) == "false" {
					expected = json.RawMessage("null")
				}
				t.Add(template, named(groups[name].Variables, template), expected)
			}
		}
	}
	return []made{{"uritemplate/testdata/official.json", t}}, nil
}

// named returns the variables that occur in a template.
func named(variables map[string]json.RawMessage, template string) map[string]json.RawMessage {
	some := map[string]json.RawMessage{}
	for name, value := range variables {
		if strings.Contains(template, name) {
			some[name] = value
		}
	}
	return some
}

// fedifyCase is a test case of Fedify's two implementations.
type fedifyCase struct {
	ID          int
	Kind        string
	Mode        string
	Template    string
	URL         string
	Vars        json.RawMessage
	Expected    json.RawMessage
	RFCConflict bool            `json:"rfc_conflict"`
	RFCExpected json.RawMessage `json:"rfc_expected"`
	Correct     json.RawMessage `json:"what_a_correct_matcher_returns"`
	ExpectedURL string          `json:"expected_url"`
	ByteEqual   *bool           `json:"expected_byte_equal"`
}

// ofFedify makes a table of the tests of Fedify's URI templates. Answers follow RFC 6570 where
// Fedify differs. The tests of its router are left out.
func ofFedify(file string) ([]made, error) {
	t := vectors.Table{
		Suite:   "fedify-dev/fedify: tests of packages/uri-template, and of its prototype",
		Licence: "MIT",
		Columns: []string{
			"number", "kind", "template", "variables or URL",
			"expansion or values, null for none, or whether what matches expands to the URL again",
		},
	}
	suite, err := read[struct{ Cases []fedifyCase }](file)
	if err != nil {
		return nil, err
	}
	for _, c := range suite.Cases {
		switch c.Kind {
		case "route", "route_build", "variables":
		case "expand":
			expected := c.Expected
			if c.RFCConflict {
				expected = c.RFCExpected
			}
			t.Add(c.ID, "expand", c.Template, c.Vars, expected)
		case "error", "parse_error":
			t.Add(c.ID, "expand", c.Template, c.Vars, nil)
		case "match":
			expected := c.Expected
			if expected == nil {
				expected = c.Correct
			}
			kind := "match"
			if c.Mode == "opaque" {
				kind = "match opaque"
			}
			t.Add(c.ID, kind, c.Template, c.URL, expected)
		case "match_then_expand":
			var again any // null: no match
			if string(c.Correct) != "null" {
				again = c.ByteEqual == nil || *c.ByteEqual
			}
			t.Add(c.ID, "match and expand", c.Template, c.URL, again)
		case "expand_then_match":
			t.Add(c.ID, "expand and match", c.Template, c.Vars, c.ExpectedURL)
		default:
			return nil, fmt.Errorf("case %d is of the kind %s", c.ID, c.Kind)
		}
	}
	return []made{{"uritemplate/testdata/fedify.json", t}}, nil
}
