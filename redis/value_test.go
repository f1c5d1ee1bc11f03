package redis

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestAValueIsADestinationOrAnObject(t *testing.T) {
	at := resolver.Position{Source: "redis links"}
	for value, want := range map[string]resolver.Rule{
		"https://example.com/":                  {Value: "https://example.com/"},
		"/guide":                                {Value: "/guide"},
		"gone":                                  {Value: "gone"},
		`{"to":"pass","exact":true}`:            {Value: "pass", Exact: true},
		" {not JSON":                            {Value: " {not JSON"}, // which the resolver refuses
		"":                                      {},                    // and this
		"{\n\"to\": \"/guide\"}":                {Value: "/guide"},
		`{"to": "/guide?a", "query": "ignore"}`: {Value: "/guide?a", Query: resolver.QueryIgnore},
		`{"to": "gone", "note": "why"}`:         {Value: "gone", Note: "why"},
		`{"to": "/guide", "status": 301, "exact": true, "unlisted": true}`: {Value: "/guide", Status: 301,
			Exact: true, Unlisted: true},
	} {
		t.Run(value, func(t *testing.T) {
			want.Key, want.Position = "docs", at
			rules, err := parseRules([]field{{"docs", value}}, "redis links")
			if err != nil || len(rules) != 1 || rules[0] != want {
				t.Errorf("%+v, %v", rules, err)
			}
		})
	}
}

func TestAValueCanBeAnArrayOfTimes(t *testing.T) {
	const value = `[{"to":"/a","until":"2027-03-01"},{"to":"gone","since":"2027-03-01"}]`
	rules, err := parseRules([]field{{"fair", value}}, "redis links")
	if err != nil || len(rules) != 1 || rules[0].Windows != value || valueOf(rules[0]) != value {
		t.Errorf("%+v, %v", rules, err)
	}
}

func TestABadValueIsToldWithItsKey(t *testing.T) {
	for value, message := range map[string]string{
		"{":                   `redis links: key "docs": the value begins with "{" but is no JSON object: `,
		`[{"to":"/"]`:         `redis links: key "docs": the value begins with "[" but is no JSON array: `,
		`{}`:                  `redis links: key "docs": the value of "docs" has no "to", which is the destination`,
		`{"to": 1}`:           `redis links: key "docs": "to" in the value of "docs" takes a string, not 1`,
		`{"to": "/", "x": 1}`: `redis links: key "docs": the value of "docs" has a member "x"`,
		"\xff":                `redis links: key "docs": the value is not Unicode text`,
		"{\"to\": \"/\xff\"}": `redis links: key "docs": the value is not Unicode text`,
		`{"to": "/\ud800"}`:   `redis links: key "docs": this string is not Unicode text`,
	} {
		t.Run(value, func(t *testing.T) {
			_, err := parseRules([]field{{"docs", value}}, "redis links")
			if err == nil || !strings.HasPrefix(err.Error(), message) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestAValueCannotAddRulesOfItsOwn(t *testing.T) {
	rules, err := parseRules(
		[]field{{"docs", `{"to": "/guide"}, "admin": "https://evil.test/"`},
			{"docs2", `{"to": "/guide"}}`}}, "redis links")
	if wrong, _ := errors.AsType[rulefile.Errors](err); len(wrong) != 2 {
		t.Errorf("the rules are %v, the error %v", rules, err)
	}
}

func TestAKeyThatIsNoTextIsAnError(t *testing.T) {
	_, err := parseRules([]field{{"\xff", "/guide"}}, "redis links")
	if err == nil ||
		err.Error() != `redis links: key "\xff": the key is not Unicode text; write its bytes percent-encoded` {
		t.Errorf("the error is %v", err)
	}
}

func TestManyObjectsKeepTheirKeysAndErrorsInOrder(t *testing.T) {
	var fields []field
	for i := range 5000 {
		value := fmt.Sprintf("/plain/%d", i)
		if i%2 == 0 {
			value = fmt.Sprintf(`{"to": "/object/%d"}`, i)
		}
		fields = append(fields, field{fmt.Sprintf("key \"%d\"", i), value})
	}
	rules, err := parseRules(fields, "redis links")
	if err != nil {
		t.Fatal(err)
	}
	for i, rule := range rules {
		want := fmt.Sprintf("/plain/%d", i)
		if i%2 == 0 {
			want = fmt.Sprintf("/object/%d", i)
		}
		if rule.Key != fields[i].key || rule.Value != want {
			t.Fatalf("rule %d is %+v", i, rule)
		}
	}

	fields[1000].value, fields[3001].value, fields[4000].value = `{"to": 1000}`, "{", `{"to": 4000}`
	_, err = parseRules(fields, "redis links")
	wrong, _ := errors.AsType[rulefile.Errors](err)
	if len(wrong) != 3 {
		t.Fatalf("the error is %v", err)
	}
	for i, number := range []string{"1000", "3001", "4000"} {
		if !strings.Contains(wrong[i].Message, number) {
			t.Errorf("error %d is %v", i, wrong[i])
		}
	}
}
