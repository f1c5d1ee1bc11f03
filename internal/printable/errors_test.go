package printable

import (
	"errors"
	"strings"
	"testing"
)

func TestOfAnErrorOfManyLinesTheFirstAreTold(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"one":             {"a", "a"},
		"as many as told": {strings.Repeat("a\n", 99) + "b", strings.Repeat("a\n", 99) + "b"},
		"one more":        {strings.Repeat("a\n", 100) + "b", strings.Repeat("a\n", 100) + "(1 more)"},
		"many more":       {strings.Repeat("a\n", 1000) + "b", strings.Repeat("a\n", 100) + "(901 more)"},
	} {
		t.Run(name, func(t *testing.T) {
			whole := errors.New(tt.text)
			if got := Shorten(whole).Error(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if !errors.Is(Shorten(whole), whole) {
				t.Error("the whole error is lost")
			}
		})
	}
}
