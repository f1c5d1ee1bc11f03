package client

import (
	"errors"
	"fmt"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/live"
)

func TestWhyAnEditIsRefusedDecidesTheStatus(t *testing.T) {
	for reason, want := range map[live.Reason]int{
		live.NoRule: 404, live.NotEditable: 409, live.Changed: 412, live.Invalid: 422,
		live.Unavailable: 503, live.ClientGone: 499,
	} {
		if got := StatusOf(fmt.Errorf("so: %w", &live.Refusal{Reason: reason})); got != want {
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
