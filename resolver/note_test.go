package resolver

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

// notedRules are rules of each kind, with notes.
func notedRules() []Rule {
	return []Rule{
		{Key: "absolute", Value: "https://x.example/?b#c", Note: "one"},
		{Key: "odd", Value: "https://x.example/é b", Status: 301, Query: QueryIgnore, Note: "two"},
		{Key: "%6Fdd2", Value: "http://X.example", Unlisted: true, Note: strings.Repeat("é", 250)},
		{Key: "internal", Value: "/absolute?d", Exact: true, Note: "three"},
		{Key: "loop", Value: "/loop", Note: "four"},
		{Key: "gone", Value: GoneValue, Note: "five"},
		{Key: "pass", Value: PassValue, Note: "six"},
		{Key: "t/{x}", Value: "/internal/{x}", Note: "seven"},
		{Key: "none", Value: "/gone"},
	}
}

func TestARulesetGivesNotesBackAndResultsHaveNone(t *testing.T) {
	rules := notedRules()
	rs := mustCompile(t, rules, Options{Digest: true})
	isSame := func(from string, rule Rule) {
		t.Helper()
		at := slices.IndexFunc(rules, func(r Rule) bool { return r.Key == rule.Key })
		if rule != rules[at] {
			t.Errorf("%s gives %+v, want %+v", from, rule, rules[at])
		}
	}
	again := rs.Reread()
	again.Source(0)
	for _, rule := range rules {
		request, err := ParseRequest("https://go.example/" + strings.ReplaceAll(rule.Key, "{x}", "y"))
		if err != nil {
			t.Fatal(err)
		}
		isSame("Explain", rs.Explain(request).Walk[0].Rule)
		found, _ := rs.RuleOf(0, rule.Key)
		isSame("RuleOf", found)
		number, _ := rs.NumberOf(rule.Key)
		numbered, _ := rs.Numbered(number)
		isSame("Numbered", numbered)
		again.Add(rule)
	}
	for rule := range rs.Rules() {
		isSame("Rules", rule)
	}
	for rule := range rs.RulesBelow("") {
		isSame("RulesBelow", rule)
	}
	anew, err := rs.Recompile()
	if err != nil || anew.Digest() != rs.Digest() {
		t.Errorf("compiled anew: %v, %s", err, anew.Digest())
	}
	next, difference, err := again.derive()
	if err != nil || next.Digest() != rs.Digest() || difference.Changed > 0 {
		t.Errorf("read again: %v, %+v", err, difference)
	}
}

func TestANoteCountsInTheDigestAndIsNoChangeForClients(t *testing.T) {
	rules := notedRules()
	before := mustCompile(t, rules, Options{NoLines: true, Digest: true})
	var changes []RuleChange
	for i := range rules {
		rules[i].Note = "other"
		changes = append(changes, RuleChange{Rule: &rules[i]})
	}
	next, difference, err := before.With(changes)
	if err != nil || difference.Changed != len(rules) || next.Digest() == before.Digest() {
		t.Errorf("%d changes, %v", difference.Changed, err)
	}
	for _, got := range [][]string{resultTexts(difference.Results()), changesBetween(before, next)} {
		if got != nil {
			t.Errorf("clients get something else: %q", got)
		}
	}
}

func TestARuleOfWhichOnlyTheNoteDiffersIsAffected(t *testing.T) {
	rules := []Rule{{Key: "a", Value: "/b"}, {Key: "t/{x}", Value: "/b/{x}"},
		{Key: "b", Value: "https://x.example"}}
	before := mustCompile(t, rules, Options{})
	rules[0].Note, rules[1].Note, rules[2].Value = "why", "why", "https://y.example"
	kinds := map[string]ChangeKind{}
	CompareResults(before, mustCompile(t, rules, Options{}), func(c Change) {
		kinds[c.Rule.Key] = c.Kind
	})
	want := map[string]ChangeKind{"a": ChangeAffected, "t/{x}": ChangeAffected, "b": ChangeEdited}
	if !maps.Equal(kinds, want) {
		t.Errorf("%v", kinds)
	}
}

func TestTheDigestsOfNotesAndOfRulesWithoutStay(t *testing.T) {
	rules := []Rule{
		{Key: "a", Value: "https://x.example/?b", Query: QueryIgnore},
		{Key: "b", Value: "/a?c", Status: 301, Exact: true, Unlisted: true},
		{Key: "c/{x}", Value: "gone"},
	}
	const without = "9ceb29ff9b86dd74add4d53e60be7d50355cd65f74b14c13ae4145b648d04937"
	const with = "3476d30c17075cdb11640749ff00be124543fe6b19b6b264a16309be23dd15f4"
	// from before rules had notes
	if got := digestOf(t, rules, Options{}); got != without {
		t.Errorf("without notes: %s", got)
	}
	for i := range rules {
		rules[i].Note = "why é"
	}
	if got := digestOf(t, rules, Options{}); got != with {
		t.Errorf("with notes: %s", got)
	}
}

func TestARuleWithoutANoteTakesNoByteMore(t *testing.T) {
	size := func(note string) int {
		rules := notedRules()[:7]
		for i := range rules {
			rules[i].Note = note
		}
		return mustCompile(t, rules, Options{}).Size()
	}
	// from before rules had notes
	if got := size(""); got != 408 {
		t.Errorf("%d bytes without notes", got)
	}
	if got := size("note") - size(""); got > 7*len("0#note0") {
		t.Errorf("7 notes of 4 bytes take %d bytes", got)
	}
}

func TestABadNoteIsAnErrorThatSaysWhatToWrite(t *testing.T) {
	for note, want := range map[string]string{
		strings.Repeat("n", 501): "note: it has 501 bytes, and may have 500; shorten it",
		"\xff":                   "note: it is not valid UTF-8; write it as UTF-8",
		"a\nb": "note: it is one line, without control characters; write a space for a line end or " +
			"a tab",
		"\u009b": "note: it is one line, without control characters; write a space for a line end or " +
			"a tab",
	} {
		for key, value := range map[string]string{"a": "/b", "g": GoneValue, "t/{x}": "/{x}"} {
			rule := Rule{Key: key, Value: value, Note: note}
			_, err := Compile([]Rule{rule}, Options{})
			if err == nil || err.Error() != `key "`+key+`": `+want || !errors.Is(err, ErrInvalidNote) {
				t.Errorf("%v\nwant %s", err, want)
			}
			if NewRuleChecker().Check(rule) == nil {
				t.Errorf("the checker takes %q", note)
			}
		}
	}
}
