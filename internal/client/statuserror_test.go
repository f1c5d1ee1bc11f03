package client

import (
	"errors"
	"fmt"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/refusal"
)

func TestWhyAnEditIsRefusedDecidesTheStatus(t *testing.T) {
	for reason, want := range map[refusal.Reason]int{
		refusal.NoRule: 404, refusal.NotEditable: 409, refusal.Changed: 412, refusal.Invalid: 422,
		refusal.Unavailable: 503, refusal.ClientGone: 499,
	} {
		if got := StatusOf(fmt.Errorf("so: %w", refusal.Errorf(reason, "so"))); got != want {
			t.Errorf("%d has the status %d, want %d", reason, got, want)
		}
	}
	if got := StatusOf(errors.New("no memory")); got != 500 {
		t.Errorf("what is no refusal has the status %d", got)
	}
	if got := StatusOf(Errorf(415, "no")); got != 415 {
		t.Errorf("a refusal has the status %d", got)
	}
}
