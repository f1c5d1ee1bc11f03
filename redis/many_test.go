package redis_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// patchOf returns an edit by a merge patch.
func patchOf(patch string) *live.Edit {
	return &live.Edit{Make: func(serving *live.Loaded) ([]live.Change, error) {
		return live.ChangesFor(serving, false, func(
			now func(string) (resolver.Rule, bool), change func(resolver.Rule, bool),
		) error {
			return rulefile.ReadJSONPatch(strings.NewReader(patch), "", now, change)
		})
	}}
}

func TestAPatchIsMadeAsOneOfWhatOthersHaveWrittenMeanwhile(t *testing.T) {
	eachKind(t, func(t *testing.T, f *faulty) {
		isFirst := true
		f.beforeEach(func(_ int, command string) error {
			if command == "multi" && isFirst {
				isFirst = false
				f.write("5", "/theirs")
			}
			return nil
		})
		var patch []string
		for i := range 10 {
			patch = append(patch, fmt.Sprintf(`"%d": {"note": "mine"}, "%d": null, "new%[1]d": "/new"`, i, i+10))
		}
		digest := f.Serving().Digest
		if _, err := f.Preview(t.Context(), patchOf("{"+strings.Join(patch, ",")+"}")); err != nil ||
			f.Serving().Digest != digest || !isFirst {
			t.Fatalf("a preview is answered with %v, or has written something", err)
		}
		if _, err := f.Apply(t.Context(), patchOf("{"+strings.Join(patch, ",")+"}")); err != nil || isFirst {
			t.Fatal(err)
		}
		for key, want := range map[string]string{"4": "/old", "5": "/theirs", "14": "", "new9": "/new"} {
			if got := f.leads(key); got != want {
				t.Errorf("%s leads to %q, want %q", key, got, want)
			}
		}
		if rule, _ := f.Serving().Ruleset.RuleOf(1, "5"); rule.Note != "mine" {
			t.Errorf("the note is %q", rule.Note)
		}
		served := f.Serving().Digest
		f.Reload(t.Context())
		settle()
		if f.Serving().Digest != served || f.LastLoad().Err != nil {
			t.Errorf("what is stored is not what serves: %v", f.LastLoad().Err)
		}
	})
}
