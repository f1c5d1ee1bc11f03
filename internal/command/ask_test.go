package command

import (
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/show"
)

func TestAQuestionDoesNotSayThatNothingIsApplied(t *testing.T) {
	for a, want := range map[applying]string{
		{isAsked: true}: "2 added, 0 removed, 1 changed",
		{isDry: true}:   "not applied: 2 added, 0 removed, 1 changed",
	} {
		if got := a.summary(true, show.Changes{Added: 2, Changed: 1}); got != want {
			t.Errorf("%+v: %s", a, got)
		}
	}
}

func TestOnlyAYesApplies(t *testing.T) {
	for answer, want := range map[string]bool{
		"y\n": true, "Yes\n": true, "yes": true, "\n": false, "n\n": false, "": false, "yess\n": false,
	} {
		var w strings.Builder
		err := ask(strings.NewReader(answer), &w, "links")
		if (err == nil) != want || w.String() != "Apply this to links? [y/N] " {
			t.Errorf("%q is taken as %v, and it asked %q", answer, err, w.String())
		}
	}
}
