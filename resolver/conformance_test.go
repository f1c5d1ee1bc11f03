package resolver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// fewestVectors guards against vectors that get lost.
const fewestVectors = 240

// suite is a file of conformance vectors; testdata/conformance/README.md describes it.
type suite struct {
	Title     string   `json:"title"`
	About     string   `json:"about"`
	Extension *bool    `json:"extension"`
	Vectors   []vector `json:"vectors"`
}

type vector struct {
	Name    string        `json:"name"`
	Section string        `json:"section"`
	Reading string        `json:"reading"`
	Ruleset vectorRules   `json:"ruleset"`
	Options vectorOptions `json:"options"`
	Request *string       `json:"request"`
	Expect  expectation   `json:"expect"`
}

// vectorRules are the rules of an object, in its order.
type vectorRules struct {
	rules    []Rule
	extended bool // some rule is an object
}

type vectorOptions struct {
	Status       int      `json:"status,omitempty"`
	Query        string   `json:"query,omitempty"`
	Protect      []string `json:"protect,omitempty"`
	Fold         bool     `json:"fold,omitempty"`
	MaxRedirects *int     `json:"max_redirects,omitempty"`
	Origin       string   `json:"origin,omitempty"`
}

// expectation is what a vector expects; nil is a member that it does not have.
type expectation struct {
	Outcome     string             `json:"outcome"`
	Destination *string            `json:"destination"`
	Key         *string            `json:"key"`
	Hops        *int               `json:"hops"`
	Status      *int               `json:"status"`
	Error       *string            `json:"error"`
	Invalid     []invalidityOfRule `json:"invalid"`
}

type invalidityOfRule struct {
	Key   string `json:"key"`
	Error string `json:"error"`
}

// kindsOfError are the errors under the names that vectors have for them.
var kindsOfError = map[string]error{
	"invalid key":                 ErrInvalidKey,
	"invalid value":               ErrInvalidValue,
	"invalid status":              ErrInvalidStatus,
	"invalid query mode":          ErrInvalidQuery,
	"duplicate key":               ErrDuplicateKey,
	"too many internal redirects": ErrTooManyRedirects,
	"unsafe path":                 ErrUnsafePath,
	"the path is too long":        ErrPathTooLong,
}

func TestEveryConformanceVectorHolds(t *testing.T) {
	files, err := filepath.Glob("testdata/conformance/*.json")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		if filepath.Base(file) == "extension-windows.json" {
			continue // package schedule runs it: here is no clock
		}
		suite := readSuite(t, file)
		for _, v := range suite.Vectors {
			t.Run(v.Name, func(t *testing.T) {
				if seen[v.Name] {
					t.Error("another vector has this name")
				}
				seen[v.Name] = true
				v.checkForm(t, *suite.Extension)
				v.run(t)
			})
		}
	}
	if len(seen) < fewestVectors {
		t.Errorf("%d vectors, want %d at the least", len(seen), fewestVectors)
	}
}

func readSuite(t *testing.T, file string) suite {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s suite
	if err := decodeStrictly(content, &s); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if s.Title == "" || s.About == "" || s.Extension == nil || len(s.Vectors) == 0 {
		t.Fatalf("%s: a member is missing", file)
	}
	return s
}

// decodeStrictly fails on a member that nobody understands.
func decodeStrictly(content []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	return decoder.Decode(v)
}

// UnmarshalJSON reads an object from key to value, or the description of a chain.
func (r *vectorRules) UnmarshalJSON(content []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(content))
	if _, err := decoder.Token(); err != nil {
		return err
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		if err := r.add(key.(string), value); err != nil {
			return fmt.Errorf("key %q: %w", key, err)
		}
	}
	return nil
}

func (r *vectorRules) add(key string, value []byte) error {
	if value[0] == '"' {
		rule := Rule{Key: key}
		r.rules = append(r.rules, rule)
		return json.Unmarshal(value, &r.rules[len(r.rules)-1].Value)
	}
	var chain struct {
		Length int    `json:"length"`
		To     string `json:"to"`
	}
	if key == "chain" && decodeStrictly(value, &chain) == nil && chain.Length > 0 {
		r.rules = append(r.rules, chainOf(chain.Length, chain.To)...)
		return nil
	}
	var object struct {
		To     string `json:"to"`
		Status int    `json:"status"`
		Exact  bool   `json:"exact"`
		Query  string `json:"query"`
	}
	err := decodeStrictly(value, &object)
	rule := Rule{Key: key, Value: object.To, Status: object.Status, Exact: object.Exact}
	if object.Query != "" {
		mode, wrong := ParseQueryMode(object.Query)
		rule.Query, err = mode, errors.Join(err, wrong)
	}
	r.rules = append(r.rules, rule)
	r.extended = true
	return err
}

// chainOf returns rules c0, c1 and so on, each leading to the next one, the last one to a value.
func chainOf(length int, to string) []Rule {
	rules := make([]Rule, length)
	for i := range rules {
		rules[i] = Rule{Key: fmt.Sprint("c", i), Value: fmt.Sprint("/c", i+1)}
	}
	rules[length-1].Value = to
	return rules
}

func (o vectorOptions) options(t *testing.T) Options {
	t.Helper()
	mode, err := ParseQueryMode(o.Query)
	if err != nil {
		t.Fatal(err)
	}
	return Options{Status: o.Status, Query: mode, Protect: o.Protect, FoldCase: o.Fold,
		MaxRedirects: o.MaxRedirects, Origin: o.Origin}
}

var (
	sectionForm = regexp.MustCompile(`^[2-4](\.[1-9]){0,2}$`)
	readingForm = regexp.MustCompile(`^R([1-9]|1[0-8])$`)
)

// checkForm fails on a vector that says less or more than a vector of its kind does.
func (v vector) checkForm(t *testing.T, extension bool) {
	t.Helper()
	if v.Section == "" && v.Reading == "" {
		t.Error("neither section nor reading")
	}
	if v.Section != "" && !sectionForm.MatchString(v.Section) || v.Reading != "" &&
		!readingForm.MatchString(v.Reading) {
		t.Errorf("no such section or reading: %q %q", v.Section, v.Reading)
	}
	o := v.Options
	if !extension && (v.Ruleset.extended || o.Status != 0 || o.Query != "" || o.Protect != nil ||
		o.Fold || o.MaxRedirects != nil || o.Origin != "") {
		t.Error("an extension in a file that is said to have none")
	}
	if (v.Request == nil) != (v.Expect.Invalid != nil) {
		t.Error("a request, or an invalid ruleset: one of the two")
	}
	v.Expect.checkForm(t)
}

func (e expectation) checkForm(t *testing.T) {
	t.Helper()
	type members struct{ destination, key, hops, error bool }
	has := members{e.Destination != nil, e.Key != nil, e.Hops != nil, e.Error != nil}
	var good bool
	switch e.Outcome {
	case "redirect":
		good = has == members{destination: true, key: true, hops: true}
	case "gone":
		good = has == members{key: true, hops: true}
	case "pass":
		good = has == members{} || has == members{key: true, hops: true}
	case "error":
		good = has == members{error: true} && kindsOfError[*e.Error] != nil
	case "":
		good = has == members{} && len(e.Invalid) > 0
	}
	if !good || e.Status != nil && e.Outcome != "redirect" || e.Outcome != "" && e.Invalid != nil {
		t.Errorf("nobody understands the expectation %+v", e)
	}
}

func (v vector) run(t *testing.T) {
	t.Helper()
	rs, err := Compile(v.Ruleset.rules, v.Options.options(t))
	if v.Expect.Invalid != nil {
		v.checkInvalid(t, err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	destination, result := resolve(rs, *v.Request)
	if result.Outcome.String() != v.Expect.Outcome {
		t.Fatalf("outcome %v (%v) with destination %q, want %s", result.Outcome, result.Err,
			destination, v.Expect.Outcome)
	}
	v.checkResult(t, destination, result)
}

// checkResult compares what the expectation states. What a pass does not state is absent; an error
// may name a key.
func (v vector) checkResult(t *testing.T, destination string, result Result) {
	t.Helper()
	e := v.Expect
	if want := orZero(e.Destination); destination != want {
		t.Errorf("destination %q, want %q", destination, want)
	}
	if result.Outcome == Failed {
		if !errors.Is(result.Err, kindsOfError[*e.Error]) {
			t.Errorf("error %v, want %v", result.Err, *e.Error)
		}
		return
	}
	if result.Key != orZero(e.Key) || result.Hops != orZero(e.Hops) {
		t.Errorf("key %q, %d hops, want %q, %d hops", result.Key, result.Hops, orZero(e.Key),
			orZero(e.Hops))
	}
	if e.Status != nil && result.Status != *e.Status {
		t.Errorf("status %d, want %d", result.Status, *e.Status)
	}
}

// orZero returns what p points at, or nothing.
func orZero[T any](p *T) T {
	if p == nil {
		p = new(T)
	}
	return *p
}

// checkInvalid compares errors with those expected, whatever their order.
func (v vector) checkInvalid(t *testing.T, err error) {
	t.Helper()
	found, ok := errors.AsType[RuleErrors](err)
	if !ok {
		t.Fatalf("error %v, want errors of rules", err)
	}
	for _, want := range v.Expect.Invalid {
		i := slices.IndexFunc(found, func(e *RuleError) bool {
			return e.Key == want.Key && errors.Is(e, kindsOfError[want.Error])
		})
		if i < 0 {
			t.Errorf("no %s of %q in:\n%v", want.Error, want.Key, err)
			continue
		}
		found = slices.Delete(slices.Clone(found), i, i+1)
	}
	if len(found) > 0 {
		t.Errorf("errors that the vector does not name:\n%v", found)
	}
}
