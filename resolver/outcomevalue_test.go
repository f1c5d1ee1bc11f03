package resolver

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestAStatusBehindGoneOrPassIsAnErrorThatSaysSo(t *testing.T) {
	_, err := Compile([]Rule{
		{Key: "a", Value: "gone", Status: 301}, {Key: "b/{x}", Value: "pass", Status: 308},
	}, Options{})
	const want = `key "a": gone is always answered with 410, and takes no status; remove 301, or ` +
		`write a destination` + "\n" + `key "b/{x}": pass leaves the answer to the next handler, ` +
		`and takes no status; remove 308, or write a destination`
	if err == nil || err.Error() != want || !errors.Is(err, ErrInvalidStatus) {
		t.Errorf("%v\nwant %s", err, want)
	}
}

func TestNoListOfHostsForbidsGoneOrPass(t *testing.T) {
	mustCompile(t, []Rule{
		{Key: "a", Value: "gone"}, {Key: "b", Value: "pass"}, {Key: "c/{x}", Value: "gone"},
	}, Options{AllowHosts: []string{"x.example"}})
}

func TestAWordNearGoneIsToldWhatToWrite(t *testing.T) {
	for value, want := range map[string]string{
		"Gone":   `write gone, or /Gone for a path`,
		`"pass"`: `write pass`,
		"gone,":  `write gone`,
		"goner":  `write /goner`,
	} {
		_, err := Compile([]Rule{{Key: "a", Value: value}}, Options{})
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", value, err, want)
		}
	}
}

func TestAChangeToOrFromGoneIsAChangeForClients(t *testing.T) {
	const url = "https://x.example"
	for _, tt := range []struct{ before, after, was, now string }{
		{url, GoneValue, "redirect", "gone"},
		{GoneValue, url, "gone", "redirect"},
		{url, PassValue, "redirect", "pass"},
		{PassValue, GoneValue, "pass", "gone"},
	} {
		before := mustCompile(t, []Rule{{Key: "a/b", Value: tt.before}, {Key: "c", Value: "/a/b"},
			{Key: "a", Value: url}}, Options{})
		after := mustCompile(t, []Rule{{Key: "a/b", Value: tt.after}, {Key: "c", Value: "/a/b"},
			{Key: "a", Value: url}}, Options{})
		got := map[string]string{}
		CompareResults(before, after, func(c Change) {
			got[c.Rule.Key] = fmt.Sprint(c.Kind, " ", c.Before.Below.Outcome, " ",
				c.After.Below.Outcome)
		})
		if got["a/b"] != "changed "+tt.was+" "+tt.now || got["c"] == "" || len(got) != 2 {
			t.Errorf("%s to %s: %v", tt.before, tt.after, got)
		}
		if before.Digest() != "" || !Compare(before, after, 1).sameCounts(0, 0, 1) {
			t.Errorf("%+v", Compare(before, after, 1))
		}
	}
}

func (d Difference) sameCounts(added, removed, changed int) bool {
	return d.Added == added && d.Removed == removed && d.Changed == changed
}

func TestAnExplanationOfGoneOrPassEndsAtTheRule(t *testing.T) {
	rules := []Rule{
		{Key: "a", Value: "/old/x"}, {Key: "b", Value: "/api/x#f"},
		{Key: "old", Value: "gone"}, {Key: "api", Value: "pass"}, {Key: "t/{x}", Value: "pass"},
	}
	for path, want := range map[string]Explanation{
		"/old/y": {Result: Result{Outcome: Gone, Key: "old"}, Walk: []Step{
			{Pathname: "/old/y", Rule: rules[2], Value: "gone", Remaining: "/y"}}},
		"/a/y": {Result: Result{Outcome: Gone, Key: "a", Hops: 1}, Walk: []Step{
			{Pathname: "/a/y", Rule: rules[0], Value: "/old/x", Remaining: "/y"},
			{Pathname: "/old/x", Rule: rules[2], Value: "gone", Remaining: "/x"}}},
		"/api": {Result: Result{Key: "api"}, Walk: []Step{
			{Pathname: "/api", Rule: rules[3], Value: "pass"}}},
		"/t/1": {Result: Result{Key: "t/{x}"}, Walk: []Step{{Pathname: "/t/1", Rule: rules[4],
			Value: "pass", Captures: []Capture{{"x", "1"}}}}},
		"/b/y": {Result: Result{Outcome: Redirect, Key: "b", Hops: 1, Status: 302,
			Destination: "https://go.example/api/x/y#f"}, Walk: []Step{
			{Pathname: "/b/y", Rule: rules[1], Value: "/api/x#f", Remaining: "/y"},
			{Pathname: "/api/x", Rule: rules[3], Value: "pass", Remaining: "/x"}},
			Origin: From{Kind: FromRequest}, Appended: "/y",
			Fragment: Fragment{Given: Given{Value: "#f", From: From{FromEmbedded, "b"}}}},
	} {
		got := explain(t, rules, Options{}, "https://go.example"+path)
		want.Request, want.Rule = got.Request, got.Rule
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got  %+v\nwant %+v", path, got, want)
		}
	}
}

func TestTheRulesOfARulesetSayGoneAndPassAsWritten(t *testing.T) {
	rules := []Rule{
		{Key: "a", Value: "gone", Exact: true}, {Key: "b/{x}", Value: "pass"},
		{Key: "c", Value: "/a"}, {Key: "é", Value: "pass", Unlisted: true},
	}
	rs := mustCompile(t, rules, Options{Digest: true})
	var got []Rule
	for rule := range rs.RulesBelow("") {
		got = append(got, rule)
	}
	slices.SortFunc(got, byPosition)
	slices.SortFunc(got, func(a, b Rule) int { return strings.Compare(a.Key, b.Key) })
	if !slices.Equal(got, rules) {
		t.Errorf("%+v", got)
	}
	if rs.Digest() == mustCompile(t, append(slices.Clone(rules[:3]),
		Rule{Key: "é", Value: "gone", Unlisted: true}), Options{Digest: true}).Digest() {
		t.Error("the digest does not tell gone from pass")
	}
}
