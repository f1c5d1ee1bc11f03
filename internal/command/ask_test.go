package command

import (
	"strings"
	"testing"
)

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
