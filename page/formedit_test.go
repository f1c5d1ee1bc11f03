package page

import (
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

func TestAnEditIsMadeOfTheRuleThatItsFormShows(t *testing.T) {
	rule := func(change func(*resolver.Rule)) *resolver.Rule {
		r := &resolver.Rule{Key: "a", Value: "/one"}
		change(r)
		return r
	}
	shown := rule(func(*resolver.Rule) {})
	for name, tt := range map[string]struct {
		from, now *resolver.Rule
		isMade    bool
	}{
		"it is as it was":         {shown, rule(func(*resolver.Rule) {}), true},
		"it is spelled otherwise": {shown, rule(func(r *resolver.Rule) { r.Key = "%61" }), true},
		"it stands elsewhere":     {shown, rule(func(r *resolver.Rule) { r.Position.Line = 2 }), true},
		"it leads elsewhere":      {shown, rule(func(r *resolver.Rule) { r.Value = "/two" }), false},
		"its status is another":   {shown, rule(func(r *resolver.Rule) { r.Status = 301 }), false},
		"its note is another":     {shown, rule(func(r *resolver.Rule) { r.Note = "fair" }), false},
		"it is gone":              {shown, nil, false},
		"it is new":               {nil, nil, true},
		"it is new and there":     {nil, shown, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := &formEdit{key: "a", isFrom: true, from: tt.from}
			if err := e.check(tt.now); (err == nil) != tt.isMade {
				t.Errorf("got %v", err)
			}
		})
	}
}
