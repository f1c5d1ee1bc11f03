package resolver

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// begunAnew are the fields of a ruleset that a derivation does not begin with as they are.
var begunAnew = map[string]string{
	"table.arena":         "a branch of it, for records behind those that both share",
	"table.slots":         "a branch of them: a page is copied before a slot in it changes",
	"table.internalRules": "it is empty but while chains are followed",
	"compiled.shadowed":   "the map is copied before it changes",
}

func TestADerivationBeginsWithEveryFieldOfARuleset(t *testing.T) {
	before := rulesetWithEverything(t)
	now := eachField(reflect.ValueOf(before.compiler().next).Elem())
	fields := eachField(reflect.ValueOf(before).Elem())
	for name := range begunAnew {
		if _, there := fields[name]; !there {
			t.Errorf("there is no field %s; remove it from begunAnew", name)
		}
	}
	for name, was := range fields {
		is, there := now[name]
		switch {
		case begunAnew[name] != "":
		case !there:
			t.Errorf("%s is not carried over; if it begins anew, say why in begunAnew", name)
		case was.IsZero():
			t.Errorf("%s is zero in the ruleset of this test; add rules that fill it in", name)
		case !reflect.DeepEqual(was.Interface(), is.Interface()):
			t.Errorf("%s was %v, and the compiler begins with %v", name, was, is)
		}
	}
}

func TestADerivationRunsTheStagesThatItsChangesConcern(t *testing.T) {
	c, err := NewCompiler(Options{NoLines: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		c.Add(Rule{Key: fmt.Sprint("key", i), Value: "https://x.example"})
	}
	c.Add(Rule{Key: "a", Value: "/key1"})
	c.Add(Rule{Key: "b", Value: "/t/5/x"})
	c.Add(Rule{Key: "t/{n}/{x}", Value: "/key{n}/{x}"})
	c.Add(Rule{Key: "u/{x}", Value: "/key7/{x}"})
	before, err := c.Compile()
	if err != nil {
		t.Fatal(err)
	}
	const withoutChains = "table check check check digest lines"
	const withChains = "table internal rules check concerns chain ends template chains check " +
		"records check digest lines"
	for key, why := range map[string]string{
		"key1": "a rule leads to it", "t/5": "it is above where a rule leads to",
		"key5": "a rule leads to it through a template", "key7": "a template leads to it",
	} {
		if got := stagesOfAnEdit(t, before, key); got != withChains {
			t.Errorf("%s runs %s; %s", key, got, why)
		}
	}
	others := 0
	for i := range 80 {
		switch got := stagesOfAnEdit(t, before, fmt.Sprint("key", 10+i)); got {
		case withChains: // as the key shares a bit with another one
			others++
		case withoutChains:
		default:
			t.Fatalf("it runs %s", got)
		}
	}
	if others > 20 {
		t.Errorf("%d of 80 keys that no chain leads to are taken for others", others)
	}
}

// stagesOfAnEdit returns the names of the stages that an edit of a key runs.
func stagesOfAnEdit(t *testing.T, before *Ruleset, key string) string {
	t.Helper()
	d := derivation{before: before}
	if _, _, err := d.derive([]RuleChange{{Rule: &Rule{Key: key, Value: "gone"}}}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, stage := range d.c.changed.stages() {
		names = append(names, stage.name)
	}
	return strings.Join(names, " ")
}

// rulesetWithEverything returns a ruleset that has been derived, in which every part has something.
func rulesetWithEverything(t *testing.T) *Ruleset {
	t.Helper()
	c, err := NewCompiler(Options{NoLines: true, Digest: true, FoldCase: true})
	if err != nil {
		t.Fatal(err)
	}
	for rank := range 2 {
		for _, rule := range []Rule{
			{Key: "docs", Value: "https://docs.example/", Query: QueryPreserve},
			{Key: "loop", Value: "/loop"}, {Key: "home", Value: "/start"}, {Key: "a", Value: "/site/b"},
			{Key: "site", Value: "https://site.example"},
			{Key: "t/{x}", Value: "/t/{x}"}, {Key: "u/{x}", Value: "/docs/{x}"},
		} {
			rule.Position.Source = []string{"first", "second"}[rank]
			c.Add(rule)
		}
		c.NextSource()
	}
	rs, err := c.Compile()
	if err != nil {
		t.Fatal(err)
	}
	gone := Rule{Key: "docs", Value: GoneValue}
	if rs, _, err = rs.With([]RuleChange{{Key: "docs", Rule: &gone}}); err != nil {
		t.Fatal(err)
	}
	return rs
}

// eachField returns the fields of a struct, and those of the structs that rules are compiled to, by
// the name of the struct and their own.
func eachField(v reflect.Value) map[string]reflect.Value {
	fields := map[string]reflect.Value{}
	inside := []reflect.Type{
		reflect.TypeFor[compiled](), reflect.TypeFor[table](), reflect.TypeFor[chains](),
		reflect.TypeFor[extent](), reflect.TypeFor[digest](), reflect.TypeFor[numbering](),
	}
	for field, value := range v.Fields() {
		if slices.Contains(inside, field.Type) {
			for name, value := range eachField(value) {
				fields[name] = value
			}
			continue
		}
		name := v.Type().Name() + "." + field.Name
		fields[name] = reflect.NewAt(field.Type, unsafe.Pointer(value.UnsafeAddr())).Elem()
	}
	return fields
}
