package schedule_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// windowVector is a vector of testdata/conformance with the time of its request.
type windowVector struct {
	Name    string          `json:"name"`
	Section string          `json:"section"`
	Ruleset json.RawMessage `json:"ruleset"`
	At      string          `json:"at"`
	Request string          `json:"request"`
	Expect  struct {
		Outcome     string `json:"outcome"`
		Destination string `json:"destination"`
		Key         string `json:"key"`
		Hops        int    `json:"hops"`
		Error       string `json:"error"`
		Invalid     []struct {
			Key   string `json:"key"`
			Error string `json:"error"`
		} `json:"invalid"`
	} `json:"expect"`
}

func TestEveryVectorOfWindowsHolds(t *testing.T) {
	content, err := os.ReadFile("../../resolver/testdata/conformance/extension-windows.json")
	if err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Title     string         `json:"title"`
		About     string         `json:"about"`
		Extension bool           `json:"extension"`
		Vectors   []windowVector `json:"vectors"`
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&suite); err != nil || len(suite.Vectors) < 15 {
		t.Fatal(err, len(suite.Vectors))
	}
	for _, v := range suite.Vectors {
		t.Run(v.Name, v.run)
	}
}

func (v *windowVector) run(t *testing.T) {
	var rules []resolver.Rule
	err := rulefile.ReadJSON(bytes.NewReader(v.Ruleset), "", func(rule resolver.Rule) {
		rules = append(rules, rule)
	})
	if len(v.Expect.Invalid) > 0 {
		wrong, is := errors.AsType[rulefile.Errors](err)
		if !is || len(wrong) != len(v.Expect.Invalid) {
			t.Errorf("got %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	at, err := schedule.ParseTime(v.At)
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := schedule.NewCompiler(resolver.Options{}, at)
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules {
		compiler.Add(rule)
	}
	compiled, err := compiler.Compile()
	if err != nil {
		t.Fatal(err)
	}
	got, want := compiled.Ruleset.Resolve(v.Request), v.Expect
	if got.Outcome.String() != want.Outcome || got.Destination != want.Destination {
		t.Errorf("got %v %s", got.Outcome, got.Destination)
	}
	if want.Error != "" {
		if got.Err == nil || !strings.Contains(got.Err.Error(), want.Error) {
			t.Errorf("got %v", got.Err)
		}
	} else if got.Key != want.Key || got.Hops != want.Hops {
		t.Errorf("got %s after %d hops", got.Key, got.Hops)
	}
}
