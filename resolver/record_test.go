package resolver

import "testing"

func TestARulesetKeepsEveryStatusAndQueryMode(t *testing.T) {
	modes := []QueryMode{QueryDefault}
	for _, name := range QueryModeNames() {
		mode, err := ParseQueryMode(name)
		if err != nil {
			t.Fatal(err)
		}
		modes = append(modes, mode)
	}
	for status := range 600 {
		if !ValidStatus(status) && status != 0 {
			continue
		}
		for _, mode := range modes {
			rule := Rule{Key: "docs", Value: "https://docs.example/?a#b", Status: status, Query: mode}
			rs := mustCompile(t, []Rule{rule}, Options{Query: QueryPreserve})
			if got, ok := rs.RuleOf(0, "docs"); !ok || got != rule {
				t.Errorf("got %v, want %v", got, rule)
			}
			_, result := resolve(rs, "https://go.example/docs")
			if result.Status != status && (status != 0 || result.Status != 302) {
				t.Errorf("status %d redirects with %d", status, result.Status)
			}
		}
	}
}
