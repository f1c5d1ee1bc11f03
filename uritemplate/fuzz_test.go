package uritemplate

import (
	"slices"
	"strings"
	"testing"
)

var fuzzTemplates = []string{"/repos{/owner,repo}{?q,lang}", "{+path}/edit", "X{.x*}", "{;x,y*}",
	"/{x:3}/{x}", "é{a}-{b}", "{#f}{&m*}", "{a}{b}{c,d}"}

// A template that parses is that of its parts, and expands without values.
func FuzzParse(f *testing.F) {
	for _, template := range fuzzTemplates {
		f.Add(template)
	}
	f.Fuzz(func(t *testing.T, template string) {
		parsed, err := Parse(template)
		if err != nil {
			if wrong := err.(*SyntaxError); wrong.Offset < 0 || wrong.Offset > len(template) {
				t.Fatalf("%q is wrong at %d", template, wrong.Offset)
			}
			return
		}
		if parsed.String() != template {
			t.Fatalf("%q is %q", template, parsed)
		}
		if _, err := parsed.Expand(nil); err != nil {
			t.Fatal(err)
		}
	})
}

// What matches, expands to the URI again, with raw values; and cooked values match again.
func FuzzMatch(f *testing.F) {
	for _, template := range fuzzTemplates {
		for _, uri := range []string{"/repos/a/b?q=1", "a/b/edit", "X.a=b.c", ";x;y=1", "/abc/abcd",
			"%C3%A91-2", "#a&b=c", "a,b"} {
			f.Add(template, uri)
		}
	}
	f.Fuzz(func(t *testing.T, template, uri string) {
		parsed, err := Parse(template)
		if err != nil {
			return
		}
		matchers := []*Matcher{parsed.GreedyMatcher()}
		if m, err := parsed.Matcher(); err == nil {
			matchers = append(matchers, m)
		}
		for _, m := range matchers {
			found, ok := m.Match(uri, nil)
			if !ok {
				continue
			}
			if again, err := parsed.AppendExpand(nil, found); err != nil || string(again) != uri {
				t.Fatalf("%q on %q finds %q, which gives %q, %v", template, uri, texts(found), again, err)
			}
			cooked, ok := m.Cooked(uri)
			if !ok {
				continue
			}
			expanded, err := parsed.AppendExpand(nil, cooked)
			if err != nil {
				t.Fatal(err)
			}
			if again, ok := m.Cooked(string(expanded)); !ok || !slices.EqualFunc(cooked, again, sameValue) {
				t.Fatalf("%q on %q: %q, and again %q", template, uri, texts(cooked), texts(again))
			}
		}
	})
}

// For templates of the invertible class, matching what was expanded gives the same values.
func FuzzExpandThenMatch(f *testing.F) {
	for _, template := range fuzzTemplates {
		f.Add(template, "a/b", "é %41", "")
	}
	f.Fuzz(func(t *testing.T, template, a, b, c string) {
		parsed, err := Parse(template)
		if err != nil || !isInvertible(parsed) {
			return
		}
		values := valuesOfClass(parsed, []string{a, b, c})
		if values == nil {
			return
		}
		expanded, err := parsed.AppendExpand(nil, values)
		if err != nil {
			t.Fatal(err)
		}
		m, err := parsed.Matcher()
		if err != nil {
			t.Fatal(err)
		}
		found, ok := m.decoded(string(expanded))
		if !ok || !slices.EqualFunc(values, found, sameValue) {
			t.Fatalf("%q with %q gives %q, which gives %q, %t", template, texts(values), expanded,
				texts(found), ok)
		}
	})
}

// isInvertible reports whether a template is of the class for which matching what was expanded
// gives the same values. RFC 6570 makes the same URI of different values: of a list with one member
// and of that member, of a value that holds what the operator puts between values, and so on.
func isInvertible(t *Template) bool {
	if _, err := t.Matcher(); err != nil {
		return false
	}
	seen := make([]bool, len(t.names))
	for _, part := range t.parts {
		if e := part.Expression; e != nil && !e.isInvertible(seen) {
			return false
		}
	}
	return true
}

// isInvertible is the same for an expression; seen are the slots of the variables in front of it.
func (e *Expression) isInvertible(seen []bool) bool {
	for i, v := range e.Variables {
		explodedInFront := v.Explode && !e.Operator.Named() && i < len(e.Variables)-1
		holdsCommas := v.Explode && e.Operator.AllowsReserved()
		if seen[v.Slot] || v.Prefix > 0 || explodedInFront || holdsCommas {
			return false
		}
		seen[v.Slot] = true
	}
	return e.Operator != Label && !(e.Operator.AllowsReserved() && len(e.Variables) > 1)
}

// valuesOfClass returns values that the invertible class promises something for, or nil.
func valuesOfClass(t *Template, strs []string) []Value {
	values := make([]Value, len(t.Names()))
	for _, part := range t.Parts() {
		if part.Expression == nil {
			continue
		}
		e := part.Expression
		for i, v := range e.Variables {
			s := strings.ToValidUTF8(strs[(v.Slot+i)%len(strs)], "")
			if !e.Operator.Named() && s == "" {
				return nil
			}
			if e.Operator.AllowsReserved() && strings.Contains(s, "%") {
				return nil
			}
			values[v.Slot] = String(s)
			if v.Explode {
				values[v.Slot] = List(s, s+"x")
			}
		}
	}
	return values
}
